/* The Python side: takes arguments, checks them, lets other threads run, calls the core.
 *
 * Trees and lines are capsules. A tree is built by one thread at a time while nobody reads it; lines are
 * made once and then only read. app/graph/native.py is the documented face of all this.
 */
#include "arrays.h"
#include "clustering.h"
#include "overlaps.h"
#include "raster.h"

#define TREE "scriptorium.tree"
#define LINES "scriptorium.lines"

/* Raised with every change of a function's arguments: an extension left over from before is not used. */
#define INTERFACE 1

static PyObject *interface(PyObject *module, PyObject *args) {
    (void)module;
    return PyArg_ParseTuple(args, "") ? Py_BuildValue("i", INTERFACE) : NULL;
}

static PyObject *compiler(PyObject *module, PyObject *args) {
    (void)module;
#ifdef __clang__
    return PyArg_ParseTuple(args, "") ? Py_BuildValue("s", "clang " __clang_version__) : NULL;
#else
    return PyArg_ParseTuple(args, "") ? Py_BuildValue("s", "gcc " __VERSION__) : NULL;
#endif
}

/* ---- Layout */

static void forget_tree(PyObject *capsule) {
    tree_free(PyCapsule_GetPointer(capsule, TREE));
}

static PyObject *new_tree(PyObject *module, PyObject *args) {
    (void)module;
    if (!PyArg_ParseTuple(args, "")) return NULL;
    Tree *tree = tree_new();
    if (!tree) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(tree, TREE, forget_tree);
    if (!capsule) tree_free(tree);
    return capsule;
}

static PyObject *build(PyObject *module, PyObject *args) {
    PyObject *capsule, *at_given, *mass_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count;
    int is_none, status;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO", &capsule, &at_given, &mass_given)) return NULL;
    Tree *tree = PyCapsule_GetPointer(capsule, TREE);
    if (!tree) return NULL;
    const float *at = take_array(&arrays, at_given, "at", FLOAT32, -1, 2, 0, &count);
    if (!at) goto done;
    const float *mass = take_optional(&arrays, mass_given, "mass", FLOAT32, count, 0, &is_none);
    if (!mass && !is_none) goto done;
    if (tree->readers || tree->is_building) {
        PyErr_Format(PyExc_RuntimeError, "the tree is in use in another thread");
        goto done;
    }
    tree->is_building = 1;
    Py_BEGIN_ALLOW_THREADS
    status = tree_build(tree, (int)count, at, mass);
    Py_END_ALLOW_THREADS
    tree->is_building = 0;
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("i", tree->leaf_count);
done:
    give_back(&arrays);
    return result;
}

/* The tree to read, with one reader more; NULL with an error while it is being built. */
static Tree *read_tree(PyObject *capsule) {
    Tree *tree = PyCapsule_GetPointer(capsule, TREE);
    if (!tree) return NULL;
    if (tree->is_building) {
        PyErr_Format(PyExc_RuntimeError, "the tree is being built in another thread");
        return NULL;
    }
    tree->readers++;
    return tree;
}

static PyObject *push(PyObject *module, PyObject *args) {
    PyObject *capsule, *force_given, *result = NULL;
    Arrays arrays = {0};
    int first, last, status;
    Push how;
    (void)module;
    if (!PyArg_ParseTuple(args, "OiiifffO", &capsule, &first, &last, &how.kernel, &how.strength,
                          &how.softness, &how.opening, &force_given))
        return NULL;
    Tree *tree = read_tree(capsule);
    if (!tree) return NULL;
    float *force = take_array(&arrays, force_given, "force", FLOAT32, tree->count, 2, 1, NULL);
    if (!force || !is_range(first, last, tree->leaf_count)) goto done;
    Py_BEGIN_ALLOW_THREADS
    status = push_leaves(tree, first, last, how, force);
    Py_END_ALLOW_THREADS
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("");
done:
    tree->readers--;
    give_back(&arrays);
    return result;
}

static PyObject *push_at_places(PyObject *module, PyObject *args) {
    PyObject *capsule, *at_given, *force_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count;
    int status;
    Push how;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOifffO", &capsule, &at_given, &how.kernel, &how.strength, &how.softness,
                          &how.opening, &force_given))
        return NULL;
    Tree *tree = read_tree(capsule);
    if (!tree) return NULL;
    const float *at = take_array(&arrays, at_given, "at", FLOAT32, -1, 2, 0, &count);
    if (!at) goto done;
    float *force = take_array(&arrays, force_given, "force", FLOAT32, count, 2, 1, NULL);
    if (!force) goto done;
    Py_BEGIN_ALLOW_THREADS
    status = push_places(tree, (int)count, at, how, force);
    Py_END_ALLOW_THREADS
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("");
done:
    tree->readers--;
    give_back(&arrays);
    return result;
}

static PyObject *pull(PyObject *module, PyObject *args) {
    PyObject *starts, *neighbours, *weight_given, *at_given, *force_given, *result = NULL;
    Arrays arrays = {0};
    Links links;
    Py_ssize_t halves;
    float linear, near, rate;
    int first, last;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOfffiiO", &starts, &neighbours, &weight_given, &at_given, &linear, &near,
                          &rate, &first, &last, &force_given))
        return NULL;
    const float *weight, *at;
    float *force;
    if (take_links(&arrays, starts, neighbours, &links, &halves) < 0 ||
        !(weight = take_array(&arrays, weight_given, "weight", FLOAT32, halves, 0, 0, NULL)) ||
        !(at = take_array(&arrays, at_given, "at", FLOAT32, links.count, 2, 0, NULL)) ||
        !(force = take_array(&arrays, force_given, "force", FLOAT32, links.count, 2, 1, NULL)) ||
        !is_range(first, last, links.count))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    attract(links, weight, at, linear, near, rate, first, last, force);
    Py_END_ALLOW_THREADS
    result = Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

static PyObject *pull_to_rest(PyObject *module, PyObject *args) {
    PyObject *starts, *neighbours, *given[3], *at_given, *force_given, *result = NULL;
    Arrays arrays = {0};
    Links links;
    Py_ssize_t halves;
    float rate;
    int first, last;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOfiiO", &starts, &neighbours, &given[0], &given[1], &given[2],
                          &at_given, &rate, &first, &last, &force_given))
        return NULL;
    const float *strength, *share, *rest, *at;
    float *force;
    if (take_links(&arrays, starts, neighbours, &links, &halves) < 0 ||
        !(strength = take_array(&arrays, given[0], "strength", FLOAT32, halves, 0, 0, NULL)) ||
        !(share = take_array(&arrays, given[1], "share", FLOAT32, halves, 0, 0, NULL)) ||
        !(rest = take_array(&arrays, given[2], "rest", FLOAT32, halves, 0, 0, NULL)) ||
        !(at = take_array(&arrays, at_given, "at", FLOAT32, links.count, 2, 0, NULL)) ||
        !(force = take_array(&arrays, force_given, "force", FLOAT32, links.count, 2, 1, NULL)) ||
        !is_range(first, last, links.count))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    spring(links, strength, share, rest, at, rate, first, last, force);
    Py_END_ALLOW_THREADS
    result = Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

static PyObject *move(PyObject *module, PyObject *args) {
    PyObject *at_given, *velocity_given, *fixed_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count;
    float gravity, damping, longest, most;
    int first, last, is_none;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOfffii", &at_given, &velocity_given, &fixed_given, &gravity, &damping,
                          &longest, &first, &last))
        return NULL;
    float *at = take_array(&arrays, at_given, "at", FLOAT32, -1, 2, 1, &count), *velocity;
    if (!at || !(velocity = take_array(&arrays, velocity_given, "velocity", FLOAT32, count, 2, 1, NULL)))
        goto done;
    const uint8_t *fixed = take_optional(&arrays, fixed_given, "fixed", UINT8, count, 0, &is_none);
    if ((!fixed && !is_none) || !is_range(first, last, count)) goto done;
    Py_BEGIN_ALLOW_THREADS
    most = step(at, velocity, fixed, gravity, damping, longest, first, last);
    Py_END_ALLOW_THREADS
    result = Py_BuildValue("f", most);
done:
    give_back(&arrays);
    return result;
}

static PyObject *label_bodies(PyObject *module, PyObject *args) {
    PyObject *starts, *neighbours, *weight_given, *mass_given, *order_given, *label_given, *result = NULL;
    Arrays arrays = {0};
    Links links;
    Py_ssize_t halves;
    float cap;
    int rounds, status, inside = 1;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOfiO", &starts, &neighbours, &weight_given, &mass_given, &order_given,
                          &cap, &rounds, &label_given))
        return NULL;
    const float *weight, *mass;
    const int32_t *order;
    int32_t *label;
    if (take_links(&arrays, starts, neighbours, &links, &halves) < 0 ||
        !(weight = take_array(&arrays, weight_given, "weight", FLOAT32, halves, 0, 0, NULL)) ||
        !(mass = take_array(&arrays, mass_given, "mass", FLOAT32, links.count, 0, 0, NULL)) ||
        !(order = take_array(&arrays, order_given, "order", INT32, links.count, 0, 0, NULL)) ||
        !(label = take_array(&arrays, label_given, "label", INT32, links.count, 0, 1, NULL)))
        goto done;
    for (int i = 0; i < links.count; i++) inside &= (uint32_t)order[i] < (uint32_t)links.count;
    if (!inside) {
        PyErr_Format(PyExc_ValueError, "order: needs to be rows");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    status = cluster(links, weight, mass, order, cap, rounds, label);
    Py_END_ALLOW_THREADS
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

static PyObject *part_discs(PyObject *module, PyObject *args) {
    PyObject *at_given, *radius_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count;
    float gap, largest;
    int status;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOf", &at_given, &radius_given, &gap)) return NULL;
    float *at = take_array(&arrays, at_given, "at", FLOAT32, -1, 2, 1, &count);
    if (!at) goto done;
    const float *radius = take_array(&arrays, radius_given, "radius", FLOAT32, count, 0, 0, NULL);
    if (!radius) goto done;
    Py_BEGIN_ALLOW_THREADS
    status = separate((int)count, at, radius, gap, &largest);
    Py_END_ALLOW_THREADS
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("f", largest);
done:
    give_back(&arrays);
    return result;
}

/* ---- Pictures */

static void forget_lines(PyObject *capsule) {
    lines_free(PyCapsule_GetPointer(capsule, LINES));
}

static int is_size(Py_ssize_t width, Py_ssize_t height) {
    if (0 < width && width <= LARGEST_SIDE && 0 < height && height <= LARGEST_SIDE) return 1;
    PyErr_Format(PyExc_ValueError, "a picture of %zd x %zd pixels: needs 1 to %d on each side", width, height,
                 LARGEST_SIDE);
    return 0;
}

static PyObject *new_lines(PyObject *module, PyObject *args) {
    PyObject *given[7], *result = NULL;
    Arrays arrays = {0};
    LineLook look;
    Lines *lines;
    Py_ssize_t nodes, edges, classes;
    int width, height, is_none;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOOiiffd", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &width, &height, &look.reach, &look.ratio, &look.budget))
        return NULL;
    if (!is_size(width, height)) return NULL;
    if (!(look.at = take_array(&arrays, given[0], "at", FLOAT32, -1, 2, 0, &nodes)) ||
        !(look.ends = take_array(&arrays, given[1], "edges", INT32, -1, 2, 0, &edges)) ||
        !(look.light = take_array(&arrays, given[2], "light", FLOAT32, edges, 0, 0, NULL)) ||
        !(look.breadth = take_array(&arrays, given[3], "breadth", FLOAT32, edges, 0, 0, NULL)) ||
        !(look.color_class = take_array(&arrays, given[4], "classes", INT16, edges, 0, 0, NULL)) ||
        !(look.colors = take_array(&arrays, given[5], "colors", UINT8, -1, 3, 0, &classes)))
        goto done;
    look.shown_ends = take_optional(&arrays, given[6], "shown", UINT8, nodes, 0, &is_none);
    if (!look.shown_ends && !is_none) goto done;
    look.nodes = (int)nodes;
    look.edges = (int)edges;
    look.classes = (int)classes;
    Py_BEGIN_ALLOW_THREADS
    lines = lines_new(look, width, height);
    Py_END_ALLOW_THREADS
    result = lines ? PyCapsule_New(lines, LINES, forget_lines) : PyErr_NoMemory();
    if (lines && !result) lines_free(lines);
done:
    give_back(&arrays);
    return result;
}

static PyObject *facts_of_lines(PyObject *module, PyObject *args) {
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule)) return NULL;
    const Lines *lines = PyCapsule_GetPointer(capsule, LINES);
    return lines ? Py_BuildValue("iidf", lines->bands, lines->count, lines->length, lines->share) : NULL;
}

static PyObject *draw_band(PyObject *module, PyObject *args) {
    PyObject *capsule, *pixels_given, *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t height, width;
    float alpha;
    int band, status;
    (void)module;
    if (!PyArg_ParseTuple(args, "OifO", &capsule, &band, &alpha, &pixels_given)) return NULL;
    const Lines *lines = PyCapsule_GetPointer(capsule, LINES);
    if (!lines) return NULL;
    uint8_t *pixels = take_picture(&arrays, pixels_given, &height, &width);
    if (!pixels) goto done;
    if (height != lines->height || width != lines->width || band < 0 || band >= lines->bands) {
        PyErr_Format(PyExc_ValueError, "the lines are for %d x %d pixels in %d bands", lines->width,
                     lines->height, lines->bands);
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

static PyObject *draw_discs(PyObject *module, PyObject *args) {
    PyObject *given[6], *pixels_given, *result = NULL;
    Arrays arrays = {0};
    DiscLook look;
    Py_ssize_t nodes, shown, classes, height, width;
    unsigned char ground[3];
    int top, bottom;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOO(bbb)fiiO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &ground[0], &ground[1], &ground[2], &look.ratio, &top, &bottom,
                          &pixels_given))
        return NULL;
    uint8_t *pixels;
    if (!(look.at = take_array(&arrays, given[0], "at", FLOAT32, -1, 2, 0, &nodes)) ||
        !(look.radius = take_array(&arrays, given[1], "radius", FLOAT32, nodes, 0, 0, NULL)) ||
        !(look.opacity = take_array(&arrays, given[2], "opacity", FLOAT32, nodes, 0, 0, NULL)) ||
        !(look.color_class = take_array(&arrays, given[3], "classes", INT16, nodes, 0, 0, NULL)) ||
        !(look.order = take_array(&arrays, given[4], "order", INT32, -1, 0, 0, &shown)) ||
        !(look.palette = take_array(&arrays, given[5], "palette", UINT8, -1, 4, 0, &classes)) ||
        !(pixels = take_picture(&arrays, pixels_given, &height, &width)) || !is_size(width, height) ||
        !is_range(top, bottom, height))
        goto done;
    look.nodes = (int)nodes;
    look.shown = (int)shown;
    look.classes = (int)classes;
    for (int channel = 0; channel < 3; channel++) look.ground[channel] = ground[channel];
    Py_BEGIN_ALLOW_THREADS
    discs_draw(look, (int)width, top, bottom, pixels);
    Py_END_ALLOW_THREADS
    result = Py_BuildValue("");
done:
    give_back(&arrays);
    return result;
}

static PyObject *find_disc(PyObject *module, PyObject *args) {
    PyObject *given[3], *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count;
    float x, y, reach;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOfff", &given[0], &given[1], &given[2], &x, &y, &reach)) return NULL;
    const float *at, *radius, *opacity;
    if ((at = take_array(&arrays, given[0], "at", FLOAT32, -1, 2, 0, &count)) &&
        (radius = take_array(&arrays, given[1], "radius", FLOAT32, count, 0, 0, NULL)) &&
        (opacity = take_array(&arrays, given[2], "opacity", FLOAT32, count, 0, 0, NULL)))
        result = Py_BuildValue("i", disc_at((int)count, at, radius, opacity, x, y, reach));
    give_back(&arrays);
    return result;
}

static PyMethodDef METHODS[] = {
    {"interface", interface, METH_VARARGS, "interface() -> the number of this set of functions."},
    {"compiler", compiler, METH_VARARGS, "compiler() -> what built it."},
    {"tree", new_tree, METH_VARARGS, "tree() -> tree: an empty one."},
    {"build", build, METH_VARARGS, "build(tree, at, mass) -> number of leaves."},
    {"push", push, METH_VARARGS, "push(tree, first, last, kernel, strength, softness, opening, force)"},
    {"push_places", push_at_places, METH_VARARGS,
     "push_places(tree, at, kernel, strength, softness, opening, force)"},
    {"attract", pull, METH_VARARGS,
     "attract(starts, neighbours, weight, at, linear, near, rate, first, last, force)"},
    {"spring", pull_to_rest, METH_VARARGS,
     "spring(starts, neighbours, strength, share, rest, at, rate, first, last, force)"},
    {"step", move, METH_VARARGS,
     "step(at, velocity, fixed, gravity, damping, longest, first, last) -> longest step taken"},
    {"cluster", label_bodies, METH_VARARGS,
     "cluster(starts, neighbours, weight, mass, order, cap, rounds, label)"},
    {"separate", part_discs, METH_VARARGS, "separate(at, radius, gap) -> largest overlap before"},
    {"lines", new_lines, METH_VARARGS,
     "lines(at, edges, light, breadth, classes, colors, shown, width, height, reach, ratio, budget) -> lines"},
    {"line_facts", facts_of_lines, METH_VARARGS, "line_facts(lines) -> (bands, count, length, share)"},
    {"draw_band", draw_band, METH_VARARGS, "draw_band(lines, band, alpha, pixels)"},
    {"draw_discs", draw_discs, METH_VARARGS,
     "draw_discs(at, radius, opacity, classes, order, palette, ground, ratio, top, bottom, pixels)"},
    {"disc_at", find_disc, METH_VARARGS, "disc_at(at, radius, opacity, x, y, reach) -> row or -1"},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{0, NULL}};

static PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_graphcore", "The graph's layout and pictures, in C.", 0, METHODS, SLOTS,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__graphcore(void) {
    return PyModuleDef_Init(&MODULE);
}
