/* What the core needs of Python: a part of the stable ABI of 3.11.
 *
 * Where Python's headers are, they are used. Many machines have a Python without them (Debian's, without
 * python3-dev); the stable ABI promises that these declarations stay true, so there they are spelled out.
 * Free-threaded Pythons have no stable ABI before 3.15: for those the build asks for Python's own headers.
 */
#ifndef SCRIPTORIUM_STABLE_ABI_H
#define SCRIPTORIUM_STABLE_ABI_H

#if !defined(SCRIPTORIUM_WITHOUT_PYTHON_H) && defined(__has_include)
#if __has_include(<Python.h>)
#define SCRIPTORIUM_HAS_PYTHON_H
#endif
#endif

#ifdef SCRIPTORIUM_HAS_PYTHON_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#else

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define PyAPI_DATA(type) extern __declspec(dllimport) type
#define PyMODINIT_FUNC __declspec(dllexport) PyObject *
#else
#define PyAPI_DATA(type) extern type
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *
#endif

typedef intptr_t Py_ssize_t;
typedef struct PyObject {
    Py_ssize_t ob_refcnt;
    void *ob_type;
} PyObject;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef void (*PyCapsule_Destructor)(PyObject *);
typedef struct _ts PyThreadState;

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} Py_buffer;

typedef struct {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct {
    int slot;
    void *value;
} PyModuleDef_Slot;

typedef struct {
    PyObject ob_base;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
} PyModuleDef_Base;

typedef struct {
    PyModuleDef_Base m_base;
    const char *m_name;
    const char *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    void *m_traverse;
    void *m_clear;
    void *m_free;
} PyModuleDef;

#define PyModuleDef_HEAD_INIT {{1, NULL}, NULL, 0, NULL}
#define METH_VARARGS 0x0001
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)

PyAPI_DATA(PyObject *) PyExc_ValueError;
PyAPI_DATA(PyObject *) PyExc_TypeError;
PyAPI_DATA(PyObject *) PyExc_RuntimeError;

int PyArg_ParseTuple(PyObject *, const char *, ...);
PyObject *Py_BuildValue(const char *, ...);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_NoMemory(void);
void PyErr_Clear(void);
Py_ssize_t PyList_Size(PyObject *);
PyObject *PyList_GetItem(PyObject *, Py_ssize_t);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
PyObject *PyCapsule_New(void *, const char *, PyCapsule_Destructor);
void *PyCapsule_GetPointer(PyObject *, const char *);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
PyObject *PyModuleDef_Init(PyModuleDef *);
int Py_IsNone(PyObject *);

#define Py_BEGIN_ALLOW_THREADS { PyThreadState *_save = PyEval_SaveThread();
#define Py_END_ALLOW_THREADS PyEval_RestoreThread(_save); }

#endif
#endif
