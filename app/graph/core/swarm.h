/* Discs that keep their x and take the nearest free y. */
#ifndef SCRIPTORIUM_SWARM_H
#define SCRIPTORIUM_SWARM_H

#include <stdint.h>

/* Gives each disc a y as near to the wanted one as those before it in `order` leave room, `gap` between rims.
 *
 * order: every row once; others are passed over. y: what is wanted, then what is taken. 0, or -1 without
 * memory. */
int swarm(int count, const float *x, const float *radius, const int32_t *order, float gap, float *y);

#endif
