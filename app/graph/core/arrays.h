/* Array arguments, checked: a wrong one is a clear Python error, never a crash. */
#ifndef SCRIPTORIUM_ARRAYS_H
#define SCRIPTORIUM_ARRAYS_H

#include "stable_abi.h"

#include "forces.h"

#define MOST_ARRAYS 10

/* The arrays of one call; all are given back together. */
typedef struct {
    Py_buffer views[MOST_ARRAYS];
    int held;
} Arrays;

enum { FLOAT32, INT32, INT16, UINT8 };

/* The data of `object`, C-contiguous numbers of `type`, or NULL with a Python error set.
 *
 * rows: how many there have to be, or -1 for any; `*found` (may be NULL) gets how many there are.
 * columns: 0 for one dimension, else the second dimension.
 * An array without elements has data all the same, so NULL is always an error. */
void *take_array(Arrays *arrays, PyObject *object, const char *name, int type, Py_ssize_t rows, int columns,
                 int writable, Py_ssize_t *found);

/* As above, but NULL without an error for None: look at `*is_none`. */
void *take_optional(Arrays *arrays, PyObject *object, const char *name, int type, Py_ssize_t rows,
                    int columns, int *is_none);

/* The rows × columns × 4 bytes of a picture. */
uint8_t *take_picture(Arrays *arrays, PyObject *object, Py_ssize_t *height, Py_ssize_t *width);

/* Links whose starts ascend and whose neighbors are rows; `*halves` gets how many neighbors there are.
 * 0, or -1 with a Python error set. */
int take_links(Arrays *arrays, PyObject *starts, PyObject *neighbors, Links *links, Py_ssize_t *halves);

/* Whether 0 <= first <= last <= count; else a Python error is set. */
int is_range(int first, int last, Py_ssize_t count);

void give_back(Arrays *arrays);

#endif
