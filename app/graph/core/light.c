/* Lines as light: summed in a plane for each band of rows, then developed. */
#include <stdlib.h>

#include "raster.h"
#include "tone.h"

/* Pixels that a plane has beyond its band on each side: lines overstep by one, broad ones are cut. */
#define PAD 4
#define GAP_BY_DASH 0.7f
/* A pixel, in the fixed point numbers of a run. */
#define ONE ((int64_t)65536)
/* Lines that are called for before their turn. */
#define AHEAD 6

/* The rows top … bottom-1 of a picture, as light and light times each channel, in units. */
typedef struct {
    Ints4 *pixels;
    int top, bottom, width;
    ptrdiff_t stride;
} Plane;

EVERY Ints4 *pixel_of(const Plane *plane, int row, int column) {
    return plane->pixels + (ptrdiff_t)(row - plane->top + PAD) * plane->stride + column + PAD;
}

/* A run with its light in units, on blue, green, red and all together; one that is thin is one pixel broad. */
typedef struct {
    int first, count, upright, thin;
    int32_t start, slope;
    Floats4 light;
    Floats8 twice;      /* the same, for two pixels */
    float breadth;
} Beam;

EVERY Beam beam_of(const Run *run, float unit) {
    const Floats4 color = (Floats4){run->blue, run->green, run->red, 255.0f} / 255.0f;
    const int thin = run->breadth < 1.5f;
    float light = run->light * unit;
    if (thin) light *= run->breadth;
    return (Beam){.first = run->first,
                  .count = run->count,
                  .upright = run->way & UPRIGHT,
                  .thin = thin,
                  .start = run->start,
                  .slope = run->slope,
                  .light = light * color,
                  .twice = light * (Floats8){color[0], color[1], color[2], 1.0f, color[0], color[1], color[2], 1.0f},
                  .breadth = run->breadth};
}

static int64_t floor_ratio(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* Narrows the steps from … to-1 to those at which `low <= start + i * slope < high`. */
EVERY void narrow(int64_t start, int64_t slope, int64_t low, int64_t high, int *from, int *to) {
    const int64_t begin = start + *from * slope, end = start + *to * slope;
    if (begin >= low && begin < high && end >= low && end < high) return;
    if (slope == 0) {
        if (start < low || start >= high) *to = *from;
        return;
    }
    int64_t enter, leave;
    if (slope > 0) {
        enter = -floor_ratio(start - low, slope);
        leave = -floor_ratio(start - high, slope);
    } else {
        enter = floor_ratio(start - high, -slope) + 1;
        leave = floor_ratio(start - low, -slope) + 1;
    }
    if (enter > *from) *from = enter < *to ? (int)enter : *to;
    if (leave < *to) *to = leave > *from ? (int)leave : *from;
}

/* How much of a pixel lies beyond a place. */
EVERY float part_beyond(int32_t place) {
    return (float)(place & 65535) * (1.0f / 65536.0f);
}

/* The steps `from` … `to`-1 of a thin line: each shares its light between two pixels, here one beside the other.
 * Both at once: what is beyond is taken from the first, by turning its bits and adding one, and added to the
 * second. */
EVERY void add_thin_upright(const Plane *plane, const Beam *beam, int from, int to) {
    const int32_t start = beam->start - 32768;
    if (plane->top > beam->first + from) from = plane->top - beam->first;
    if (plane->bottom < beam->first + to) to = plane->bottom - beam->first;
    narrow(start, beam->slope, -ONE, plane->width * ONE, &from, &to);
    if (from >= to) return;
    const Floats8 light = beam->twice;
    const Ints8 turned = {-1, -1, -1, -1, 0, 0, 0, 0};
    const Ints8 whole = (__builtin_convertvector(light, Ints8) & turned) - turned;
    Ints4 *row = pixel_of(plane, beam->first + from, 0);
    int32_t place = start + from * beam->slope;
    for (int i = from; i < to; i++, place += beam->slope, row += plane->stride) {
        const Ints8 beyond = __builtin_convertvector(light * part_beyond(place), Ints8);
        Ints4 *pixel = row + (place >> 16);
        Ints8 both;
        memcpy(&both, pixel, sizeof both);
        both += whole + (beyond ^ turned);
        memcpy(pixel, &both, sizeof both);
    }
}

/* The same where they lie one over the other. */
EVERY void add_thin_flat(const Plane *plane, const Beam *beam, int from, int to) {
    const int32_t start = beam->start - 32768;
    narrow(start, beam->slope, (plane->top - 1) * ONE, plane->bottom * ONE, &from, &to);
    if (from >= to) return;
    const Ints4 whole = __builtin_convertvector(beam->light, Ints4);
    const ptrdiff_t stride = plane->stride;
    Ints4 *column = pixel_of(plane, 0, beam->first + from);
    int32_t place = start + from * beam->slope;
    for (int i = from; i < to; i++, place += beam->slope, column++) {
        const Ints4 beyond = __builtin_convertvector(beam->light * part_beyond(place), Ints4);
        Ints4 *pixel = column + (place >> 16) * stride;
        pixel[0] += whole - beyond;
        pixel[stride] += beyond;
    }
}

/* A broad line: each step covers the pixels that its breadth does, those at the rims in part. */
static void add_broad(const Plane *plane, const Beam *beam, int from, int to) {
    const int low_limit = beam->upright ? 0 : plane->top;
    const int high_limit = beam->upright ? plane->width : plane->bottom;
    if (beam->upright) {
        if (plane->top > beam->first + from) from = plane->top - beam->first;
        if (plane->bottom < beam->first + to) to = plane->bottom - beam->first;
    }
    const ptrdiff_t across = beam->upright ? 1 : plane->stride;
    for (int i = from; i < to; i++) {
        const float middle = (float)(beam->start + (int64_t)i * beam->slope) * (1.0f / 65536.0f);
        const float low = middle - 0.5f * beam->breadth, high = middle + 0.5f * beam->breadth;
        int first = (int)floorf(low), last = (int)floorf(high);
        if (first < low_limit) first = low_limit;
        if (last >= high_limit) last = high_limit - 1;
        Ints4 *pixel = beam->upright ? pixel_of(plane, beam->first + i, first)
                                     : pixel_of(plane, first, beam->first + i);
        for (int k = first; k <= last; k++, pixel += across) {
            const float cover = smaller(high, (float)(k + 1)) - larger(low, (float)k);
            if (cover > 0.0f) *pixel += __builtin_convertvector(beam->light * cover, Ints4);
        }
    }
}

EVERY void add_steps(const Plane *plane, const Beam *beam, int from, int to) {
    if (!beam->thin)
        add_broad(plane, beam, from, to);
    else if (beam->upright)
        add_thin_upright(plane, beam, from, to);
    else
        add_thin_flat(plane, beam, from, to);
}

/* A line in dashes. They are counted from its first end, also where that lies outside the picture, and step
 * by step from the same place for every band. */
static void add_dashes(const Plane *plane, const Beam *beam, const Run *run, float dash) {
    const float slope = (float)beam->slope * (1.0f / 65536.0f), stride = sqrtf(1.0f + slope * slope);
    const float period = (1.0f + GAP_BY_DASH) * dash;
    const float phase = fmodf(run->dashed, period), total = phase + stride * (float)beam->count;
    for (int k = 0; (float)k * period < total; k++) {
        const float begin = (float)k * period - phase;
        int from = (int)(begin / stride), to = (int)((begin + dash) / stride);
        if (from < 0) from = 0;
        if (to > beam->count) to = beam->count;
        if (to <= from) continue;
        if (run->way & BACKWARDS)
            add_steps(plane, beam, beam->count - to, beam->count - from);
        else
            add_steps(plane, beam, from, to);
    }
}

/* The lines of one part that touch a band. */
WIDE_IF_ABLE void add_lines(const Lines *lines, const Part *part, int band, const Plane *plane) {
    const int end = part->starts[band + 1];
    for (int k = part->starts[band]; k < end; k++) {
        __builtin_prefetch(&part->runs[part->listed[k + AHEAD < end ? k + AHEAD : k]]);
        const Run *run = &part->runs[part->listed[k]];
        const Beam beam = beam_of(run, lines->unit);
        if (run->dashed >= 0.0f)
            add_dashes(plane, &beam, run, lines->dash);
        else
            add_steps(plane, &beam, 0, beam.count);
    }
}

int lines_draw_band(const Lines *lines, int band, float alpha, uint8_t *pixels) {
    const int top = band * BAND_ROWS;
    const int bottom = top + BAND_ROWS < lines->height ? top + BAND_ROWS : lines->height;
    Plane plane = {NULL, top, bottom, lines->width, lines->width + 2 * PAD};
    const size_t size = (size_t)plane.stride * (size_t)(bottom - top + 2 * PAD);
    plane.pixels = calloc(size, sizeof(Ints4));
    if (!plane.pixels) return -1;
    for (int part = 0; part < lines->part_count; part++)
        add_lines(lines, &lines->parts[part], band, &plane);
    const float rate = log1pf(-smaller(larger(alpha, 0.0f), 0.99f)) / lines->unit;
    for (int y = top; y < bottom; y++)
        develop(pixel_of(&plane, y, 0), lines->width, rate, pixels + 4 * (size_t)y * (size_t)lines->width);
    free(plane.pixels);
    return 0;
}
