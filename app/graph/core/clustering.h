/* Groups for coarser graphs: label propagation in which no label outgrows a cap. */
#ifndef SCRIPTORIUM_CLUSTERING_H
#define SCRIPTORIUM_CLUSTERING_H

#include <stdint.h>

#include "forces.h"

/* Gives every body a label, the row of some body, such that no label's mass is above `cap` (a heavier body
 * stays alone). `order` is the order in which bodies choose; it decides between equals, so the same order
 * gives the same labels. Bodies left alone beside full labels gather with others of the same strongest
 * neighbor. 0, or -1 without memory. */
int cluster(Links links, const float *weight, const float *mass, const int32_t *order, float cap, int rounds,
            int32_t *label);

#endif
