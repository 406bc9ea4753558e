/* From light to pixels. */
#ifndef SCRIPTORIUM_TONE_H
#define SCRIPTORIUM_TONE_H

#include "lanes.h"

/* Overwrites `count` premultiplied pixels: opacity saturates with the light, and the color is the mean of what
 * adds up.
 *
 * light: sums of light times blue, green and red, and of the light itself; per pixel.
 * rate: the logarithm of what one unit of light lets through; below 0. */
void develop(const Ints4 *light, int count, float rate, uint8_t *pixels);

#endif
