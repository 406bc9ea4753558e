/* Keeps discs from lying on one another. */
#ifndef SCRIPTORIUM_OVERLAPS_H
#define SCRIPTORIUM_OVERLAPS_H

/* Pushes overlapping discs apart once: all at a time, from where they were, a small one giving way to a
 * large one. `gap` is kept between rims. `*largest` is the largest overlap before it. 0, or -1 without
 * memory. */
int separate(int count, float *at, const float *radius, float gap, float *largest);

#endif
