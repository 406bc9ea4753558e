/* The Python side of pictures: takes arguments, checks them, lets other threads run, calls the core.
 *
 * Lines are capsules: made once and then only read. What the GUI draws within some milliseconds may keep the
 * interpreter's lock (`alone`): to get it back can take longer than the drawing. app/graph/core_drawing.py is the documented face.
 */
#include "pictures.h"

#include <stdlib.h>

#include "arrays.h"
#include "lanes.h"
#include "raster.h"

#define LINES "scriptorium.lines"

/* Lines, and the arrays that they are made of until they are closed. */
typedef struct {
    Lines *lines;
    Arrays arrays;
} Drawing;

static void forget(Drawing *drawing) {
    if (!drawing) return;
    lines_free(drawing->lines);
    give_back(&drawing->arrays);
    free(drawing);
}

static void forget_lines(PyObject *capsule) {
    forget(PyCapsule_GetPointer(capsule, LINES));
}

static int is_size(Py_ssize_t width, Py_ssize_t height) {
    if (0 < width && width <= LARGEST_SIDE && 0 < height && height <= LARGEST_SIDE) return 1;
    PyErr_Format(PyExc_ValueError, "a picture of %zd x %zd pixels: needs 1 to %d on each side", width, height,
                 LARGEST_SIDE);
    return 0;
}

/* Takes the arrays of a look; 0, or -1 with a Python error set. */
static int take_look(Arrays *arrays, PyObject **given, LineLook *look) {
    Py_ssize_t nodes, edges, classes;
    int is_none;
    if (!(look->at = take_array(arrays, given[0], "at", FLOAT32, -1, 2, 0, &nodes)) ||
        !(look->ends = take_array(arrays, given[1], "edges", INT32, -1, 2, 0, &edges)) ||
        !(look->light = take_array(arrays, given[2], "light", FLOAT32, edges, 0, 0, NULL)) ||
        !(look->breadth = take_array(arrays, given[3], "breadth", FLOAT32, edges, 0, 0, NULL)) ||
        !(look->color_class = take_array(arrays, given[4], "classes", INT16, edges, 0, 0, NULL)) ||
        !(look->colors = take_array(arrays, given[5], "colors", UINT8, -1, 3, 0, &classes)))
        return -1;
    look->dashed = take_optional(arrays, given[6], "dashed", UINT8, edges, 0, &is_none);
    if (!look->dashed && !is_none) return -1;
    look->shown_ends = take_optional(arrays, given[7], "shown", UINT8, nodes, 0, &is_none);
    if (!look->shown_ends && !is_none) return -1;
    look->nodes = (int)nodes;
    look->edges = (int)edges;
    look->classes = (int)classes;
    return 0;
}

PyObject *new_lines(PyObject *module, PyObject *args) {
    PyObject *given[8];
    LineLook look;
    int width, height;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOOOiiffd", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &given[7], &width, &height, &look.reach, &look.ratio, &look.budget))
        return NULL;
    if (!is_size(width, height)) return NULL;
    Drawing *drawing = calloc(1, sizeof(Drawing));
    if (!drawing) return PyErr_NoMemory();
    if (take_look(&drawing->arrays, given, &look) < 0) goto failed;
    Py_BEGIN_ALLOW_THREADS
    drawing->lines = lines_new(look, width, height);
    Py_END_ALLOW_THREADS
    if (!drawing->lines) {
        PyErr_NoMemory();
        goto failed;
    }
    PyObject *capsule = PyCapsule_New(drawing, LINES, forget_lines);
    if (!capsule) goto failed;
    return Py_BuildValue("Nii", capsule, drawing->lines->part_count, drawing->lines->bands);
failed:
    forget(drawing);
    return NULL;
}

PyObject *take_lines(PyObject *module, PyObject *args) {
    PyObject *capsule;
    int part, status;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &part)) return NULL;
    const Drawing *drawing = PyCapsule_GetPointer(capsule, LINES);
    if (!drawing) return NULL;
    if (drawing->lines->is_closed || part < 0 || part >= drawing->lines->part_count) {
        PyErr_Format(PyExc_ValueError, "the lines have %d parts, and none once they are closed",
                     drawing->lines->part_count);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = lines_take(drawing->lines, part);
    Py_END_ALLOW_THREADS
    return status < 0 ? PyErr_NoMemory() : Py_BuildValue("");
}

PyObject *close_lines(PyObject *module, PyObject *args) {
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule)) return NULL;
    Drawing *drawing = PyCapsule_GetPointer(capsule, LINES);
    if (!drawing) return NULL;
    const Lines *lines = drawing->lines;
    if (!lines_close(drawing->lines)) {
        PyErr_Format(PyExc_ValueError, "only %d of %d parts of the lines are taken", lines->taken,
                     lines->part_count);
        return NULL;
    }
    give_back(&drawing->arrays);
    return Py_BuildValue("idf", lines->count, lines->length, lines->share);
}

PyObject *draw_band(PyObject *module, PyObject *args) {
    PyObject *capsule, *pixels_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t height, width;
    float alpha;
    int band, status;
    (void)module;
    if (!PyArg_ParseTuple(args, "OifO", &capsule, &band, &alpha, &pixels_given)) return NULL;
    const Drawing *drawing = PyCapsule_GetPointer(capsule, LINES);
    if (!drawing) return NULL;
    const Lines *lines = drawing->lines;
    uint8_t *pixels = take_picture(&arrays, pixels_given, &height, &width);
    if (!pixels) goto done;
    if (!lines->is_closed || height != lines->height || width != lines->width || band < 0 ||
        band >= lines->bands) {
        PyErr_Format(PyExc_ValueError, "the lines are for %d x %d pixels in %d bands, once they are closed",
                     lines->width, lines->height, lines->bands);
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    status = lines_draw_band(lines, band, alpha, pixels);
    Py_END_ALLOW_THREADS
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

static uint32_t opaque(const unsigned char color[3]) {
    return 0xff000000u | (uint32_t)color[0] << 16 | (uint32_t)color[1] << 8 | color[2];
}

PyObject *draw_discs(PyObject *module, PyObject *args) {
    PyObject *given[6], *pixels_given, *result = NULL;
    Arrays arrays = {0};
    DiscLook look;
    View *view = &look.view;
    Py_ssize_t nodes, shown, height, width;
    unsigned char ground[3];
    int top, bottom, alone, is_none;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOO(fffffff)f(bbb)fiipO", &given[0], &given[1], &given[2], &given[3],
                          &given[4], &given[5], &view->eye_x, &view->eye_y, &view->scale, &view->middle_x,
                          &view->middle_y, &view->growth, &view->least, &look.unlit, &ground[0], &ground[1],
                          &ground[2], &look.ratio, &top, &bottom, &alone, &pixels_given))
        return NULL;
    uint8_t *pixels;
    if (!(look.at = take_array(&arrays, given[0], "at", FLOAT32, -1, 2, 0, &nodes)) ||
        !(look.radius = take_array(&arrays, given[1], "radius", FLOAT32, nodes, 0, 0, NULL)) ||
        !(look.opacity = take_array(&arrays, given[2], "opacity", FLOAT32, nodes, 0, 0, NULL)) ||
        !(look.color = take_array(&arrays, given[3], "color", INT32, nodes, 0, 0, NULL)) ||
        !(look.order = take_array(&arrays, given[4], "order", INT32, -1, 0, 0, &shown)) ||
        !(pixels = take_picture(&arrays, pixels_given, &height, &width)) || !is_size(width, height) ||
        !is_range(top, bottom, height))
        goto done;
    look.lit = take_optional(&arrays, given[5], "lit", UINT8, nodes, 0, &is_none);
    if (!look.lit && !is_none) goto done;
    look.nodes = (int)nodes;
    look.shown = (int)shown;
    look.ground = opaque(ground);
    PyThreadState *state = alone ? NULL : PyEval_SaveThread();
    discs_draw(look, (int)width, top, bottom, pixels);
    if (state) PyEval_RestoreThread(state);
    result = Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

PyObject *find_disc(PyObject *module, PyObject *args) {
    PyObject *given[3], *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count;
    View view;
    float x, y, reach;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO(fffffff)fff", &given[0], &given[1], &given[2], &view.eye_x, &view.eye_y,
                          &view.scale, &view.middle_x, &view.middle_y, &view.growth, &view.least, &x, &y,
                          &reach))
        return NULL;
    const float *at, *radius, *opacity;
    if ((at = take_array(&arrays, given[0], "at", FLOAT32, -1, 2, 0, &count)) &&
        (radius = take_array(&arrays, given[1], "radius", FLOAT32, count, 0, 0, NULL)) &&
        (opacity = take_array(&arrays, given[2], "opacity", FLOAT32, count, 0, 0, NULL)))
        result = Py_BuildValue("i", disc_at((int)count, at, radius, opacity, &view, x, y, reach));
    give_back(&arrays);
    return result;
}

PyObject *find_seen(PyObject *module, PyObject *args) {
    PyObject *given[4], *rows_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t nodes, shown, most;
    Seen seen;
    View *view = &seen.view;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOO(fffffff)(ffff)ffO", &given[0], &given[1], &given[2], &given[3],
                          &view->eye_x, &view->eye_y, &view->scale, &view->middle_x, &view->middle_y,
                          &view->growth, &view->least, &seen.left, &seen.top, &seen.right, &seen.bottom,
                          &seen.least_radius, &seen.least_opacity, &rows_given))
        return NULL;
    const int32_t *order;
    int32_t *rows;
    if ((seen.at = take_array(&arrays, given[0], "at", FLOAT32, -1, 2, 0, &nodes)) &&
        (seen.radius = take_array(&arrays, given[1], "radius", FLOAT32, nodes, 0, 0, NULL)) &&
        (seen.opacity = take_array(&arrays, given[2], "opacity", FLOAT32, nodes, 0, 0, NULL)) &&
        (order = take_array(&arrays, given[3], "order", INT32, -1, 0, 0, &shown)) &&
        (rows = take_array(&arrays, rows_given, "rows", INT32, -1, 0, 1, &most)))
        result = Py_BuildValue("i", first_seen(&seen, (int)shown, order, (int)nodes, (int)most, rows));
    give_back(&arrays);
    return result;
}

PyObject *lay(PyObject *module, PyObject *args) {
    PyObject *layer_given, *pixels_given, *result = NULL;
    Arrays arrays = {0};
    Layer layer;
    Py_ssize_t layer_height, layer_width, height, width;
    unsigned char ground[3];
    float opacity;
    int top, bottom, alone, status;
    (void)module;
    if (!PyArg_ParseTuple(args, "Offff(bbb)iipO", &layer_given, &layer.left, &layer.top, &layer.zoom, &opacity,
                          &ground[0], &ground[1], &ground[2], &top, &bottom, &alone, &pixels_given))
        return NULL;
    uint8_t *pixels;
    if (!(layer.pixels = take_picture(&arrays, layer_given, &layer_height, &layer_width)) ||
        !(pixels = take_picture(&arrays, pixels_given, &height, &width)) || !is_size(width, height) ||
        !is_size(layer_width, layer_height) || !is_range(top, bottom, height))
        goto done;
    if (!(layer.zoom > 0.0f) || !is_place(layer.left, layer.top)) {
        PyErr_Format(PyExc_ValueError, "a layer needs a place and a zoom above 0");
        goto done;
    }
    layer.width = (int)layer_width;
    layer.height = (int)layer_height;
    layer.opacity = opacity > 0.0f ? (uint32_t)(opacity < 1.0f ? opacity * 256.0f : 256.0f) : 0;
    PyThreadState *state = alone ? NULL : PyEval_SaveThread();
    status = layer_lay(&layer, opaque(ground), (int)width, top, bottom, pixels);
    if (state) PyEval_RestoreThread(state);
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

PyObject *put_names(PyObject *module, PyObject *args) {
    PyObject *given[3], *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count, discs;
    Placing placing;
    int32_t *side;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOfiiiO", &given[0], &given[1], &placing.width, &placing.forced,
                          &placing.most, &placing.insistent, &given[2]))
        return NULL;
    if ((placing.names = take_array(&arrays, given[0], "names", FLOAT32, -1, 5, 0, &count)) &&
        (placing.boxes = take_array(&arrays, given[1], "discs", FLOAT32, -1, 4, 0, &discs)) &&
        (side = take_array(&arrays, given[2], "side", INT32, count, 0, 1, NULL))) {
        placing.count = (int)count;
        placing.discs = (int)discs;
        result = place_names(&placing, side) < 0 ? PyErr_NoMemory() : Py_BuildValue("");
    }
    give_back(&arrays);
    return result;
}

/* Lays the picture in `list` at `place` where it belongs; 0, or -1 with a Python error set. */
static int stamp_one(PyObject *list, Py_ssize_t place, Stamp stamp, int width, int height, uint8_t *pixels) {
    Arrays arrays = {0};
    Py_ssize_t own_height, own_width;
    PyObject *image = PyList_GetItem(list, place);
    if (!image) return -1;
    stamp.pixels = take_picture(&arrays, image, &own_height, &own_width);
    const int works = stamp.pixels && is_size(own_width, own_height);
    if (works) {
        stamp.width = (int)own_width;
        stamp.height = (int)own_height;
        stamp_put(&stamp, width, height, pixels);
    }
    give_back(&arrays);
    return works ? 0 : -1;
}

PyObject *stamp(PyObject *module, PyObject *args) {
    PyObject *list, *corners_given, *opacity_given, *pixels_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t height, width;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOO", &list, &corners_given, &opacity_given, &pixels_given)) return NULL;
    const Py_ssize_t count = PyList_Size(list);
    if (count < 0) return NULL;
    const int32_t *corners;
    const float *opacity;
    uint8_t *pixels;
    if (!(corners = take_array(&arrays, corners_given, "corners", INT32, count, 2, 0, NULL)) ||
        !(opacity = take_array(&arrays, opacity_given, "opacity", FLOAT32, count, 0, 0, NULL)) ||
        !(pixels = take_picture(&arrays, pixels_given, &height, &width)) || !is_size(width, height))
        goto done;
    for (Py_ssize_t i = 0; i < count; i++) {
        const float solid = smaller(larger(opacity[i], 0.0f), 1.0f);
        const Stamp one = {.left = corners[2 * i], .top = corners[2 * i + 1], .opacity = (uint32_t)(solid * 256.0f)};
        if (stamp_one(list, i, one, (int)width, (int)height, pixels) < 0) goto done;
    }
    result = Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

PyObject *draw_strokes(PyObject *module, PyObject *args) {
    PyObject *ends_given, *pixels_given, *result = NULL;
    Arrays arrays = {0};
    Strokes strokes;
    Py_ssize_t count, height, width;
    unsigned char color[3];
    (void)module;
    if (!PyArg_ParseTuple(args, "Of(bbb)fO", &ends_given, &strokes.breadth, &color[0], &color[1], &color[2],
                          &strokes.opacity, &pixels_given))
        return NULL;
    uint8_t *pixels;
    if ((strokes.ends = take_array(&arrays, ends_given, "ends", FLOAT32, -1, 4, 0, &count)) &&
        (pixels = take_picture(&arrays, pixels_given, &height, &width)) && is_size(width, height)) {
        strokes.count = (int)count;
        strokes.color = opaque(color);
        strokes_draw(&strokes, (int)width, (int)height, pixels);
        result = Py_BuildValue("");
    }
    give_back(&arrays);
    return result;
}
