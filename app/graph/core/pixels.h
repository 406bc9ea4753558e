/* Four pixels at a time, their channels in 16-bit lanes. Pixels are 0xAARRGGBB, as every machine that Qt runs
 * on reads blue, green, red, alpha bytes. */
#ifndef SCRIPTORIUM_PIXELS_H
#define SCRIPTORIUM_PIXELS_H

#include "lanes.h"

typedef uint32_t Pixels4 __attribute__((vector_size(16)));
typedef uint16_t Shorts8 __attribute__((vector_size(16)));

/* Eight of them: one vector where the machine has wide ones, else two. */
typedef uint32_t Pixels8 __attribute__((vector_size(32)));
typedef uint16_t Shorts16 __attribute__((vector_size(32)));

#define CHANNELS 0x00ff00ffu

static inline Pixels4 pixels_at(const uint8_t *place) {
    Pixels4 pixels;
    memcpy(&pixels, place, sizeof pixels);
    return pixels;
}

static inline void put_pixels(uint8_t *place, Pixels4 pixels) {
    memcpy(place, &pixels, sizeof pixels);
}

static inline Pixels4 same_pixels(uint32_t pixel) {
    return (Pixels4){pixel, pixel, pixel, pixel};
}

/* first · (256 - share) + second · share, with a share of 0 to 256 for each pixel. */
EVERY Pixels4 mixed(Pixels4 first, Pixels4 second, Pixels4 share) {
    const Shorts8 more = (Shorts8)(share | share << 16), less = 256 - more;
    const Shorts8 even = ((Shorts8)(second & CHANNELS) * more + (Shorts8)(first & CHANNELS) * less) >> 8;
    const Shorts8 odd = (Shorts8)(second >> 8 & CHANNELS) * more + (Shorts8)(first >> 8 & CHANNELS) * less;
    return (Pixels4)even | ((Pixels4)odd & ~CHANNELS);
}

EVERY Pixels8 eight_at(const uint8_t *place) {
    Pixels8 pixels;
    memcpy(&pixels, place, sizeof pixels);
    return pixels;
}

EVERY void put_eight(uint8_t *place, Pixels8 pixels) {
    memcpy(place, &pixels, sizeof pixels);
}

EVERY Pixels8 eight_same(uint32_t pixel) {
    return (Pixels8){pixel, pixel, pixel, pixel, pixel, pixel, pixel, pixel};
}

/* The same as `mixed`. */
EVERY Pixels8 mixed_eight(Pixels8 first, Pixels8 second, Pixels8 share) {
    const Shorts16 more = (Shorts16)(share | share << 16), less = 256 - more;
    const Shorts16 even = ((Shorts16)(second & CHANNELS) * more + (Shorts16)(first & CHANNELS) * less) >> 8;
    const Shorts16 odd = (Shorts16)(second >> 8 & CHANNELS) * more + (Shorts16)(first >> 8 & CHANNELS) * less;
    return (Pixels8)even | ((Pixels8)odd & ~CHANNELS);
}

/* Premultiplied pixels over solid ones. */
EVERY Pixels4 laid_over(Pixels4 above, Pixels4 ground) {
    const Pixels4 alpha = above >> 24, left = 256 - (alpha + (alpha >> 7));
    const Shorts8 share = (Shorts8)(left | left << 16);
    const Shorts8 even = ((Shorts8)(ground & CHANNELS) * share) >> 8;
    const Shorts8 odd = (Shorts8)(ground >> 8 & CHANNELS) * share;
    return above + ((Pixels4)even | ((Pixels4)odd & ~CHANNELS));
}

#endif
