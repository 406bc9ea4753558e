/* The Python side: takes arguments, checks them, lets other threads run, calls the core.
 *
 * Trees are capsules. A tree is built by one thread at a time while nobody reads it. app/graph/core_bindings.py is
 * the documented face of all this; pictures have theirs in pictures.c.
 */
#include "arrays.h"
#include "clustering.h"
#include "overlaps.h"
#include "pictures.h"
#include "swarm.h"

#define TREE "scriptorium.tree"

/* Raised with every change of a function's arguments: an extension left over from before is not used. */
#define INTERFACE 6

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
    PyObject *starts, *neighbors, *weight_given, *at_given, *force_given, *result = NULL;
    Arrays arrays = {0};
    Links links;
    Py_ssize_t halves;
    float linear, near, rate;
    int first, last;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOfffiiO", &starts, &neighbors, &weight_given, &at_given, &linear, &near,
                          &rate, &first, &last, &force_given))
        return NULL;
    const float *weight, *at;
    float *force;
    if (take_links(&arrays, starts, neighbors, &links, &halves) < 0 ||
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
    PyObject *starts, *neighbors, *given[3], *at_given, *force_given, *result = NULL;
    Arrays arrays = {0};
    Links links;
    Py_ssize_t halves;
    float rate;
    int first, last;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOfiiO", &starts, &neighbors, &given[0], &given[1], &given[2],
                          &at_given, &rate, &first, &last, &force_given))
        return NULL;
    const float *strength, *share, *rest, *at;
    float *force;
    if (take_links(&arrays, starts, neighbors, &links, &halves) < 0 ||
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
    PyObject *starts, *neighbors, *weight_given, *mass_given, *order_given, *label_given, *result = NULL;
    Arrays arrays = {0};
    Links links;
    Py_ssize_t halves;
    float cap;
    int rounds, status, inside = 1;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOfiO", &starts, &neighbors, &weight_given, &mass_given, &order_given,
                          &cap, &rounds, &label_given))
        return NULL;
    const float *weight, *mass;
    const int32_t *order;
    int32_t *label;
    if (take_links(&arrays, starts, neighbors, &links, &halves) < 0 ||
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

static PyObject *file_discs(PyObject *module, PyObject *args) {
    PyObject *given[4], *result = NULL;
    Arrays arrays = {0};
    Py_ssize_t count;
    float gap;
    int status;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOfO", &given[0], &given[1], &given[2], &gap, &given[3])) return NULL;
    const float *x = take_array(&arrays, given[0], "x", FLOAT32, -1, 0, 0, &count);
    if (!x) goto done;
    const float *radius = take_array(&arrays, given[1], "radius", FLOAT32, count, 0, 0, NULL);
    const int32_t *order = radius ? take_array(&arrays, given[2], "order", INT32, count, 0, 0, NULL) : NULL;
    float *y = order ? take_array(&arrays, given[3], "y", FLOAT32, count, 0, 1, NULL) : NULL;
    if (!y) goto done;
    Py_BEGIN_ALLOW_THREADS
    status = swarm((int)count, x, radius, order, gap, y);
    Py_END_ALLOW_THREADS
    result = status < 0 ? PyErr_NoMemory() : Py_BuildValue("");
done:
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
     "attract(starts, neighbors, weight, at, linear, near, rate, first, last, force)"},
    {"spring", pull_to_rest, METH_VARARGS,
     "spring(starts, neighbors, strength, share, rest, at, rate, first, last, force)"},
    {"step", move, METH_VARARGS,
     "step(at, velocity, fixed, gravity, damping, longest, first, last) -> longest step taken"},
    {"cluster", label_bodies, METH_VARARGS,
     "cluster(starts, neighbors, weight, mass, order, cap, rounds, label)"},
    {"separate", part_discs, METH_VARARGS, "separate(at, radius, gap) -> largest overlap before"},
    {"swarm", file_discs, METH_VARARGS, "swarm(x, radius, order, gap, y)"},
    {"lines", new_lines, METH_VARARGS,
     "lines(at, edges, light, breadth, classes, colors, dashed, shown, width, height, reach, ratio, budget)"
     " -> (lines, parts, bands)"},
    {"take_lines", take_lines, METH_VARARGS, "take_lines(lines, part)"},
    {"close_lines", close_lines, METH_VARARGS, "close_lines(lines) -> (count, length, share)"},
    {"draw_band", draw_band, METH_VARARGS, "draw_band(lines, band, alpha, pixels)"},
    {"draw_discs", draw_discs, METH_VARARGS,
     "draw_discs(at, radius, opacity, color, order, lit, view, unlit, ground, ratio, top, bottom, alone,"
     " pixels)"},
    {"disc_at", find_disc, METH_VARARGS, "disc_at(at, radius, opacity, view, x, y, reach) -> row or -1"},
    {"first_seen", find_seen, METH_VARARGS,
     "first_seen(at, radius, opacity, order, view, rectangle, least_radius, least_opacity, rows) -> count"},
    {"lay", lay, METH_VARARGS, "lay(layer, left, top, zoom, opacity, ground, first, last, alone, pixels)"},
    {"draw_strokes", draw_strokes, METH_VARARGS, "draw_strokes(ends, breadth, color, opacity, pixels)"},
    {"stamp", stamp, METH_VARARGS, "stamp(images, corners, opacity, pixels)"},
    {"place_names", put_names, METH_VARARGS,
     "place_names(names, discs, width, forced, most, insistent, side)"},
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
