#include "arrays.h"

#include <string.h>

#define MOST_ROWS ((Py_ssize_t)1 << 29)

static const struct {
    const char *name, *formats;
    Py_ssize_t size;
} TYPES[] = {{"float32", "f", 4}, {"int32", "il", 4}, {"int16", "h", 2}, {"uint8", "B?", 1}};

static uint8_t nothing[16];

/* The type's letter, behind a mark for native byte order. */
static int is_type(const Py_buffer *view, int type) {
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=') format++;
    return view->itemsize == TYPES[type].size && *format && strchr(TYPES[type].formats, *format) &&
           !format[1];
}

static Py_buffer *take_view(Arrays *arrays, PyObject *object, const char *name, int type, int writable) {
    if (arrays->held == MOST_ARRAYS) {
        PyErr_Format(PyExc_RuntimeError, "too many arrays");
        return NULL;
    }
    Py_buffer *view = &arrays->views[arrays->held];
    const int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: needs a %sC-contiguous array of %s", name,
                     writable ? "writable, " : "", TYPES[type].name);
        return NULL;
    }
    arrays->held++;
    if (!is_type(view, type)) {
        PyErr_Format(PyExc_TypeError, "%s: needs %s, has items of type '%s'", name, TYPES[type].name,
                     view->format ? view->format : "B");
        return NULL;
    }
    return view;
}

void *take_array(Arrays *arrays, PyObject *object, const char *name, int type, Py_ssize_t rows, int columns,
                 int writable, Py_ssize_t *found) {
    const Py_buffer *view = take_view(arrays, object, name, type, writable);
    if (!view) return NULL;
    if (view->ndim != (columns ? 2 : 1) || (columns && view->shape[1] != columns)) {
        if (columns)
            PyErr_Format(PyExc_ValueError, "%s: needs the shape (n, %d)", name, columns);
        else
            PyErr_Format(PyExc_ValueError, "%s: needs one dimension, has %d", name, view->ndim);
        return NULL;
    }
    if ((rows >= 0 && view->shape[0] != rows) || view->shape[0] > MOST_ROWS) {
        PyErr_Format(PyExc_ValueError, "%s: needs %zd rows, has %zd", name, rows >= 0 ? rows : MOST_ROWS,
                     view->shape[0]);
        return NULL;
    }
    if (found) *found = view->shape[0];
    return view->shape[0] ? view->buf : nothing;
}

void *take_optional(Arrays *arrays, PyObject *object, const char *name, int type, Py_ssize_t rows,
                    int columns, int *is_none) {
    *is_none = Py_IsNone(object);
    return *is_none ? NULL : take_array(arrays, object, name, type, rows, columns, 0, NULL);
}

uint8_t *take_picture(Arrays *arrays, PyObject *object, Py_ssize_t *height, Py_ssize_t *width) {
    const Py_buffer *view = take_view(arrays, object, "pixels", UINT8, 1);
    if (!view) return NULL;
    if (view->ndim != 3 || view->shape[2] != 4 || view->shape[0] > MOST_ROWS || view->shape[1] > MOST_ROWS) {
        PyErr_Format(PyExc_ValueError, "pixels: needs the shape (height, width, 4)");
        return NULL;
    }
    *height = view->shape[0];
    *width = view->shape[1];
    return view->len ? view->buf : nothing;
}

int take_links(Arrays *arrays, PyObject *starts, PyObject *neighbors, Links *links, Py_ssize_t *halves) {
    Py_ssize_t count;
    const int32_t *from = take_array(arrays, starts, "starts", INT32, -1, 0, 0, &count);
    if (!from) return -1;
    const int32_t *to = take_array(arrays, neighbors, "neighbors", INT32, -1, 0, 0, halves);
    if (!to) return -1;
    if (count < 1 || from[0] != 0 || from[count - 1] != *halves) {
        PyErr_Format(PyExc_ValueError, "starts: needs n + 1 rows, from 0 to the number of neighbors");
        return -1;
    }
    const uint32_t rows = (uint32_t)(count - 1);
    int ascends = 1, inside = 1;
    for (Py_ssize_t i = 1; i < count; i++) ascends &= from[i] >= from[i - 1];
    for (Py_ssize_t h = 0; h < *halves; h++) inside &= (uint32_t)to[h] < rows;
    if (!ascends || !inside) {
        PyErr_Format(PyExc_ValueError, ascends ? "neighbors: need to be rows" : "starts: need to ascend");
        return -1;
    }
    *links = (Links){(int)rows, from, to};
    return 0;
}

int is_range(int first, int last, Py_ssize_t count) {
    if (0 <= first && first <= last && last <= count) return 1;
    PyErr_Format(PyExc_ValueError, "the range %d to %d is not inside 0 to %zd", first, last, count);
    return 0;
}

void give_back(Arrays *arrays) {
    while (arrays->held) PyBuffer_Release(&arrays->views[--arrays->held]);
}
