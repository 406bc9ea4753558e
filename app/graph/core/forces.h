/* The forces of the layout.
 *
 * Two models, as in app/graph/forces.py. CHARGE is d3-force's: repulsion 1/distance and springs with a rest
 * length; it gives the large shape. BOUNDED is t-FDP (Zhong et al., "Force-directed graph layouts revisited:
 * a new force based on the t-distribution", 2023): repulsion d/(1+d²)² and attraction d·(a + b/(1+d²)); it
 * keeps neighbors together.
 *
 * Every function works on a range and writes to the rows of that range alone, so ranges can run in threads.
 */
#ifndef SCRIPTORIUM_FORCES_H
#define SCRIPTORIUM_FORCES_H

#include <stdint.h>

#include "tree.h"

enum { CHARGE = 0, BOUNDED = 1 };

/* Links as compressed rows: those of row i are starts[i] … starts[i+1]-1. The caller has checked that
 * starts ascend and that neighbors are rows. */
typedef struct {
    int count;
    const int32_t *starts;
    const int32_t *neighbors;
} Links;

/* How bodies push. `softness` is added to the squared distance (CHARGE) or divides it by a squared unit
 * (BOUNDED); `opening` is the squared accuracy: a cell is taken as one body when its squared side is below
 * `opening` times the squared distance. */
typedef struct {
    int kernel;
    float strength;
    float softness;
    float opening;
} Push;

/* Adds the push on the bodies of leaves first … last-1 to `force` (rows of the caller). 0, or -1 without
 * memory. */
int push_leaves(const Tree *tree, int first, int last, Push push, float *force);

/* Adds the push of all bodies in the tree at the `count` places `at` to `force`. 0, or -1 without memory. */
int push_places(const Tree *tree, int count, const float *at, Push push, float *force);

/* Adds t-FDP's attraction, times `rate`, to the rows first … last-1 of `force`. */
void attract(Links links, const float *weight, const float *at, float linear, float near, float rate,
             int first, int last, float *force);

/* Adds d3's springs, times `rate`: each pulls towards its rest length, by the share of this end. */
void spring(Links links, const float *strength, const float *share, const float *rest, const float *at,
            float rate, int first, int last, float *force);

/* Moves the rows first … last-1: velocity is drawn to the origin by `gravity`, damped, cut at `longest` and
 * added to `at`. Rows with `fixed` set stay; `fixed` may be NULL. A row without a place comes to the
 * origin. The longest step taken. */
float step(float *at, float *velocity, const uint8_t *fixed, float gravity, float damping, float longest,
           int first, int last);

#endif
