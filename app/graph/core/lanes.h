/* Small vectors, and what is true of every number in the core.
 *
 * Sums are taken in fixed lanes, never in an order that the compiler picks, and without fused operations
 * (-ffp-contract=off): so results are the same for any number of threads and, but for the last bits of
 * library functions, for any compiler.
 */
#ifndef SCRIPTORIUM_LANES_H
#define SCRIPTORIUM_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef float Floats4 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef int32_t Ints8 __attribute__((vector_size(32)));
typedef int32_t Ints4 __attribute__((vector_size(16)));

/* Into the wide body, too, of what calls it. */
#define EVERY static inline __attribute__((always_inline))

/* Where the loader can choose between two bodies of a function, the wide one is there too. Both give the same
 * numbers: lanes are fixed. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define WIDE_IF_ABLE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_IF_ABLE
#endif

/* As fminf and fmaxf, but in one instruction: those are calls, for the sake of numbers that are none. The
 * second one is the answer where one of them is none. */
static inline float smaller(float a, float b) {
    return a < b ? a : b;
}

static inline float larger(float a, float b) {
    return a > b ? a : b;
}

/* Places farther out than this, infinities and NaN are no places: they push nobody and get none. */
#define FARTHEST 1e15f

static inline int is_place(float x, float y) {
    return fabsf(x) <= FARTHEST && fabsf(y) <= FARTHEST;
}

EVERY float sum_of_lanes(const Floats8 *v) {
    const Floats8 a = *v;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

#endif
