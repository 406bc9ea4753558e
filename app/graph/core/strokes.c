/* Single lines over a picture: those of the node under the pointer. */
#include "lanes.h"
#include "raster.h"

/* first · (256 - share) + second · share, with a share of 0 to 256. */
static inline uint32_t mixed_pixel(uint32_t first, uint32_t second, uint32_t share) {
    const uint32_t even = ((first & 0xff00ffu) * (256 - share) + (second & 0xff00ffu) * share) >> 8 & 0xff00ffu;
    const uint32_t odd = (first >> 8 & 0xff00ffu) * (256 - share) + (second >> 8 & 0xff00ffu) * share;
    return even | (odd & 0xff00ff00u);
}

#define ONE 65536

static inline int32_t bounded(int32_t value, int32_t least, int32_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Each step along the line covers the pixels across that its breadth does, those at its rims in part. `whole` is
 * the share of one that is covered entirely, 0 to 256. */
static void stroke(const Run *run, uint32_t color, uint32_t whole, int width, int height, uint8_t *pixels) {
    const int upright = run->way & UPRIGHT;
    const int32_t limit = (upright ? width : height) * ONE, half = (int32_t)(run->breadth * (0.5f * ONE));
    const size_t along = 4 * (upright ? (size_t)width : 1), across = 4 * (upright ? 1 : (size_t)width);
    uint8_t *line = pixels + (size_t)run->first * along;
    for (int i = 0; i < run->count; i++, line += along) {
        const int32_t middle = run->start + i * run->slope;
        const int32_t low = bounded(middle - half, 0, limit), high = bounded(middle + half, 0, limit);
        uint8_t *place = line + (size_t)(low / ONE) * across;
        for (int32_t from = low; from < high; place += across) {
            const int32_t next = (from / ONE + 1) * ONE, to = next < high ? next : high;
            uint32_t pixel;
            memcpy(&pixel, place, 4);
            pixel = mixed_pixel(pixel, color, ((uint32_t)(to - from) >> 8) * whole >> 8);
            memcpy(place, &pixel, 4);
            from = to;
        }
    }
}

void strokes_draw(const Strokes *strokes, int width, int height, uint8_t *pixels) {
    const uint32_t whole = (uint32_t)(256.0f * smaller(larger(strokes->opacity, 0.0f), 1.0f));
    for (int k = 0; k < strokes->count; k++) {
        Run run;
        if (run_between(strokes->ends + 4 * (size_t)k, width, height, strokes->breadth, &run))
            stroke(&run, strokes->color, whole, width, height, pixels);
    }
}
