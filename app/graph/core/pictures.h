/* The Python side of pictures; see pictures.c. */
#ifndef SCRIPTORIUM_PICTURES_H
#define SCRIPTORIUM_PICTURES_H

#include "stable_abi.h"

PyObject *new_lines(PyObject *module, PyObject *args);
PyObject *take_lines(PyObject *module, PyObject *args);
PyObject *close_lines(PyObject *module, PyObject *args);
PyObject *draw_band(PyObject *module, PyObject *args);
PyObject *draw_discs(PyObject *module, PyObject *args);
PyObject *find_disc(PyObject *module, PyObject *args);
PyObject *find_seen(PyObject *module, PyObject *args);
PyObject *lay(PyObject *module, PyObject *args);
PyObject *put_names(PyObject *module, PyObject *args);
PyObject *draw_strokes(PyObject *module, PyObject *args);
PyObject *stamp(PyObject *module, PyObject *args);

#endif
