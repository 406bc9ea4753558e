/* Single lines over a picture: those of the node under the pointer. */
#include "lanes.h"
#include "raster.h"

/* first · (256 - share) + second · share, with a share of 0 to 256. */
static inline uint32_t mixed_pixel(uint32_t first, uint32_t second, uint32_t share) {
    const uint32_t even = ((first & 0xff00ffu) * (256 - share) + (second & 0xff00ffu) * share) >> 8 & 0xff00ffu;
    const uint32_t odd = (first >> 8 & 0xff00ffu) * (256 - share) + (second >> 8 & 0xff00ffu) * share;
    return even | (odd & 0xff00ff00u);
}

/* Each step along the line covers the pixels across that its breadth does, those at its rims in part. */
static void stroke(const Run *run, uint32_t color, float whole, int width, int height, uint8_t *pixels) {
    const int upright = run->way & UPRIGHT, limit = upright ? width : height;
    const size_t along = 4 * (upright ? (size_t)width : 1), across = 4 * (upright ? 1 : (size_t)width);
    const float half = 0.5f * run->breadth;
    for (int i = 0; i < run->count; i++) {
        const float middle = (float)(run->start + (int64_t)i * run->slope) * (1.0f / 65536.0f);
        const float low = larger(middle - half, 0.0f), high = smaller(middle + half, (float)limit);
        uint8_t *place = pixels + (size_t)(run->first + i) * along + (size_t)low * across;
        for (int k = (int)low; (float)k < high; k++, place += across) {
            const float cover = smaller(high, (float)(k + 1)) - larger(low, (float)k);
            uint32_t pixel;
            memcpy(&pixel, place, 4);
            pixel = mixed_pixel(pixel, color, (uint32_t)(cover * whole));
            memcpy(place, &pixel, 4);
        }
    }
}

void strokes_draw(const Strokes *strokes, int width, int height, uint8_t *pixels) {
    const float whole = 256.0f * smaller(larger(strokes->opacity, 0.0f), 1.0f);
    for (int k = 0; k < strokes->count; k++) {
        Run run;
        if (run_between(strokes->ends + 4 * (size_t)k, width, height, strokes->breadth, &run))
            stroke(&run, strokes->color, whole, width, height, pixels);
    }
}
