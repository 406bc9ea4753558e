#include <stdlib.h>

#include "raster.h"
#include "tone.h"

/* Pixels that a plane has beyond its band on each side: lines overstep by one, broad ones are cut. */
#define PAD 4
#define BROADEST 64.0f
#define LARGEST_SUM 1.0e9
#define FINEST_UNIT 16384.0f
#define MOST_BOOST 64.0f
#define FEW_EDGES 4096
#define DASH 6.0f
#define GAP_BY_DASH 0.7f
/* A pixel, in the fixed point numbers of a run. */
#define ONE ((int64_t)65536)

/* ---- Which lines, and where they are inside the picture */

/* Cuts a line at the picture's rim (Liang and Barsky); whether anything is left. */
static int cut_at_rim(float limit_x, float limit_y, Line *line) {
    const float start[2] = {line->x0, line->y0};
    const float apart[2] = {line->x1 - line->x0, line->y1 - line->y0};
    const float limit[2] = {limit_x, limit_y};
    float enter = 0.0f, leave = 1.0f;
    for (int axis = 0; axis < 2; axis++) {
        if (fabsf(apart[axis]) < 1e-6f) {
            if (start[axis] < 0.0f || start[axis] > limit[axis]) return 0;
            continue;
        }
        const float a = -start[axis] / apart[axis], b = (limit[axis] - start[axis]) / apart[axis];
        enter = larger(enter, smaller(a, b));
        leave = smaller(leave, larger(a, b));
    }
    if (!(enter < leave)) return 0;
    line->x0 = smaller(larger(start[0] + enter * apart[0], 0.0f), limit_x);
    line->y0 = smaller(larger(start[1] + enter * apart[1], 0.0f), limit_y);
    line->x1 = smaller(larger(start[0] + leave * apart[0], 0.0f), limit_x);
    line->y1 = smaller(larger(start[1] + leave * apart[1], 0.0f), limit_y);
    return 1;
}

/* One line of the look, or 0 where it is hidden, outside or has no place. */
static int line_of(const LineLook *look, int k, float limit_x, float limit_y, Line *line) {
    const int a = look->ends[2 * k], b = look->ends[2 * k + 1], class = look->color_class[k];
    const float light = look->light[k];
    if (!(light > 0.0f) || (unsigned)a >= (unsigned)look->nodes || (unsigned)b >= (unsigned)look->nodes ||
        (unsigned)class >= (unsigned)look->classes)
        return 0;
    if (look->shown_ends && !(look->shown_ends[a] && look->shown_ends[b])) return 0;
    const float *p = look->at + 2 * (size_t)a, *q = look->at + 2 * (size_t)b;
    if ((p[0] < 0.0f && q[0] < 0.0f) || (p[1] < 0.0f && q[1] < 0.0f) || (p[0] > limit_x && q[0] > limit_x) ||
        (p[1] > limit_y && q[1] > limit_y))
        return 0;
    if (!is_place(p[0], p[1]) || !is_place(q[0], q[1])) return 0;
    *line = (Line){p[0], p[1], q[0], q[1], 0.0f, 0.0f, -1.0f, 0, 0, 0, 0};
    const float dx = q[0] - p[0], dy = q[1] - p[1];
    const float length = sqrtf(dx * dx + dy * dy);
    if (!cut_at_rim(limit_x, limit_y, line)) return 0;
    const float reach = look->reach * look->ratio;
    line->light = smaller(light, 1000.0f) * (length > reach ? sqrtf(reach / length) : 1.0f);
    if (look->dashed && look->dashed[k]) line->dashed = hypotf(line->x0 - p[0], line->y0 - p[1]);
    line->breadth = smaller(larger(look->breadth[k] * look->ratio, 0.0f), BROADEST);
    const uint8_t *color = look->colors + 3 * (size_t)class;
    line->red = color[0];
    line->green = color[1];
    line->blue = color[2];
    return 1;
}

static float run_of(const Line *line) {
    return larger(fabsf(line->x1 - line->x0), fabsf(line->y1 - line->y0));
}

/* The lines that may touch rows of a band: half the breadth and a pixel beyond their ends. */
static void bands_of(const Lines *lines, const Line *line, int *first, int *last) {
    const float beyond = 0.75f * line->breadth + 2.0f;
    const float low = smaller(line->y0, line->y1) - beyond, high = larger(line->y0, line->y1) + beyond;
    const int top = low > 0.0f ? (int)low / BAND_ROWS : 0;
    const int bottom = (int)high / BAND_ROWS;
    *first = top;
    *last = bottom < lines->bands ? bottom : lines->bands - 1;
}

static int list_by_band(Lines *lines) {
    lines->starts = calloc((size_t)lines->bands + 2, sizeof(int32_t));
    if (!lines->starts) return -1;
    int first, last;
    for (int i = 0; i < lines->count; i++) {
        bands_of(lines, &lines->lines[i], &first, &last);
        for (int band = first; band <= last; band++) lines->starts[band + 2]++;
    }
    for (int band = 0; band < lines->bands; band++) lines->starts[band + 2] += lines->starts[band + 1];
    lines->listed = malloc(((size_t)lines->starts[lines->bands + 1] + 1) * sizeof(int32_t));
    if (!lines->listed) return -1;
    for (int i = 0; i < lines->count; i++) {
        bands_of(lines, &lines->lines[i], &first, &last);
        for (int band = first; band <= last; band++) lines->listed[lines->starts[band + 1]++] = i;
    }
    return 0;
}

/* Whether edge `k` is in a fair sample: the same ones for the same share, and those of a smaller share among
 * those of a larger one, so that a picture does not flicker while the budget changes. */
static int is_in_share(int k, float share) {
    return (float)((uint32_t)k * 2654435769u >> 8) < share * 16777216.0f;
}

/* Takes the share of the edges that is in the sample; the pixels that they run over. */
static double take_lines(const LineLook *look, Lines *lines, float share) {
    const float limit_x = (float)lines->width - 0.01f, limit_y = (float)lines->height - 0.01f;
    double length = 0.0;
    lines->count = 0;
    for (int k = 0; k < look->edges; k++) {
        if (share < 1.0f && !is_in_share(k, share)) continue;
        Line *line = &lines->lines[lines->count];
        if (!line_of(look, k, limit_x, limit_y, line)) continue;
        length += run_of(line);
        lines->count++;
    }
    return length;
}

/* Takes as many edges as the budget allows, judged by a small sample; what is taken shines for the rest. */
static void take_within_budget(const LineLook *look, Lines *lines) {
    const float probe = look->edges > FEW_EDGES ? 1.0f / 16.0f : 1.0f;
    lines->length = take_lines(look, lines, probe) / probe;
    if (lines->length > look->budget) lines->share = (float)(look->budget / lines->length);
    if (lines->share != probe) take_lines(look, lines, lines->share);
    const float boost = smaller(1.0f / powf(lines->share, 0.8f), MOST_BOOST);
    for (int i = 0; i < lines->count; i++) lines->lines[i].light *= boost;
}

static void choose_unit(Lines *lines) {
    double light = 0.0;
    for (int i = 0; i < lines->count; i++) light += lines->lines[i].light * 1.5 + 1e-3;
    lines->unit = light > 0.0 ? (float)fmin(FINEST_UNIT, LARGEST_SUM / light) : 1.0f;
}

Lines *lines_new(LineLook look, int width, int height) {
    Lines *lines = calloc(1, sizeof(Lines));
    if (lines) lines->lines = malloc(((size_t)look.edges + 1) * sizeof(Line));
    if (!lines || !lines->lines) {
        lines_free(lines);
        return NULL;
    }
    lines->width = width;
    lines->height = height;
    lines->bands = (height + BAND_ROWS - 1) / BAND_ROWS;
    lines->share = 1.0f;
    lines->dash = DASH * look.ratio;
    if (look.budget > 0.0)
        take_within_budget(&look, lines);
    else
        lines->length = take_lines(&look, lines, 1.0f);
    choose_unit(lines);
    if (list_by_band(lines) < 0) {
        lines_free(lines);
        return NULL;
    }
    return lines;
}

void lines_free(Lines *lines) {
    if (!lines) return;
    free(lines->lines);
    free(lines->starts);
    free(lines->listed);
    free(lines);
}

/* ---- Light */

/* The rows top … bottom-1 of a picture, as light and light times each channel, in units. */
typedef struct {
    Ints4 *pixels;
    int top, bottom, width;
    ptrdiff_t stride;
} Plane;

static inline Ints4 *pixel_of(const Plane *plane, int row, int column) {
    return plane->pixels + (ptrdiff_t)(row - plane->top + PAD) * plane->stride + column + PAD;
}

/* A line along its longer axis: at step i, from 0 to count-1, it is at `first + i` on that axis and at
 * `(start + i * slope) / 65536` on the other. In integers, so every band sees the same line. */
typedef struct {
    int first, count, upright;
    int64_t start, slope;
    Floats4 light;
    float breadth;
} Run;

static Run run_along(const Line *line, float unit) {
    const int upright = fabsf(line->y1 - line->y0) > fabsf(line->x1 - line->x0);
    float major0 = upright ? line->y0 : line->x0, minor0 = upright ? line->x0 : line->y0;
    float major1 = upright ? line->y1 : line->x1, minor1 = upright ? line->x1 : line->y1;
    if (major1 < major0) {
        const float major = major0, minor = minor0;
        major0 = major1;
        minor0 = minor1;
        major1 = major;
        minor1 = minor;
    }
    const float length = larger(major1 - major0, 1e-3f);
    const float slope = smaller(larger((minor1 - minor0) / length, -1.0f), 1.0f);
    Run run;
    run.upright = upright;
    run.first = (int)major0;
    run.count = (int)major1 - run.first + 1;
    run.slope = (int64_t)(slope * 65536.0f);
    run.start = (int64_t)((minor0 + slope * ((float)run.first + 0.5f - major0)) * 65536.0f);
    run.breadth = line->breadth * sqrtf(1.0f + slope * slope);
    float light = line->light * unit;
    if (run.breadth < 1.5f) {
        light *= run.breadth;
        run.breadth = 1.0f;
    }
    const Floats4 color = {line->blue / 255.0f, line->green / 255.0f, line->red / 255.0f, 1.0f};
    run.light = light * color;
    return run;
}

static int64_t floor_ratio(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* Narrows the steps from … to-1 to those at which `low <= start + i * slope < high`. */
static void narrow(const Run *run, int64_t low, int64_t high, int *from, int *to) {
    const int64_t begin = run->start + *from * run->slope, end = run->start + *to * run->slope;
    if (begin >= low && begin < high && end >= low && end < high) return;
    if (run->slope == 0) {
        if (run->start < low || run->start >= high) *to = *from;
        return;
    }
    int64_t enter, leave;
    if (run->slope > 0) {
        enter = -floor_ratio(run->start - low, run->slope);
        leave = -floor_ratio(run->start - high, run->slope);
    } else {
        enter = floor_ratio(run->start - high, -run->slope) + 1;
        leave = floor_ratio(run->start - low, -run->slope) + 1;
    }
    if (enter > *from) *from = enter < *to ? (int)enter : *to;
    if (leave < *to) *to = leave > *from ? (int)leave : *from;
}

/* The steps `from` … `to`-1 of a line one pixel broad: each shares its light between two pixels. */
static void add_thin(const Plane *plane, Run run, int from, int to) {
    run.start -= 32768;
    if (run.upright) {
        if (plane->top > run.first + from) from = plane->top - run.first;
        if (plane->bottom < run.first + to) to = plane->bottom - run.first;
        narrow(&run, -ONE, plane->width * ONE, &from, &to);
    } else {
        narrow(&run, (plane->top - 1) * ONE, plane->bottom * ONE, &from, &to);
    }
    if (from >= to) return;
    const Ints4 whole = __builtin_convertvector(run.light, Ints4);
    const ptrdiff_t along = run.upright ? plane->stride : 1, across = run.upright ? 1 : plane->stride;
    Ints4 *base = run.upright ? pixel_of(plane, run.first, 0) : pixel_of(plane, 0, run.first);
    int64_t place = run.start + from * run.slope;
    base += from * along;
    for (int i = from; i < to; i++, place += run.slope, base += along) {
        const float part = (float)(place & 65535) * (1.0f / 65536.0f);
        const Ints4 beyond = __builtin_convertvector(run.light * part, Ints4);
        Ints4 *pixel = base + (place >> 16) * across;
        pixel[0] += whole - beyond;
        pixel[across] += beyond;
    }
}

/* A broad line: each step covers the pixels that its breadth does, those at the rims in part. */
static void add_broad(const Plane *plane, const Run *run, int from, int to) {
    const int low_limit = run->upright ? 0 : plane->top;
    const int high_limit = run->upright ? plane->width : plane->bottom;
    if (run->upright) {
        if (plane->top > run->first + from) from = plane->top - run->first;
        if (plane->bottom < run->first + to) to = plane->bottom - run->first;
    }
    const ptrdiff_t across = run->upright ? 1 : plane->stride;
    for (int i = from; i < to; i++) {
        const float middle = (float)(run->start + i * run->slope) * (1.0f / 65536.0f);
        const float low = middle - 0.5f * run->breadth, high = middle + 0.5f * run->breadth;
        int first = (int)floorf(low), last = (int)floorf(high);
        if (first < low_limit) first = low_limit;
        if (last >= high_limit) last = high_limit - 1;
        Ints4 *pixel = run->upright ? pixel_of(plane, run->first + i, first)
                                    : pixel_of(plane, first, run->first + i);
        for (int k = first; k <= last; k++, pixel += across) {
            const float cover = smaller(high, (float)(k + 1)) - larger(low, (float)k);
            if (cover > 0.0f) *pixel += __builtin_convertvector(run->light * cover, Ints4);
        }
    }
}

static void add_part(const Plane *plane, const Run *run, int from, int to) {
    if (run->breadth == 1.0f)
        add_thin(plane, *run, from, to);
    else
        add_broad(plane, run, from, to);
}

/* A line in dashes. They are counted from its first end, also where that lies outside the picture, and step
 * by step from the same place for every band. */
static void add_dashes(const Plane *plane, const Run *run, const Line *line, float dash) {
    const float slope = (float)run->slope * (1.0f / 65536.0f), stride = sqrtf(1.0f + slope * slope);
    const float period = (1.0f + GAP_BY_DASH) * dash;
    const int is_back = run->upright ? line->y1 < line->y0 : line->x1 < line->x0;
    const float phase = fmodf(line->dashed, period), total = phase + stride * (float)run->count;
    for (int k = 0; (float)k * period < total; k++) {
        const float begin = (float)k * period - phase;
        int from = (int)(begin / stride), to = (int)((begin + dash) / stride);
        if (from < 0) from = 0;
        if (to > run->count) to = run->count;
        if (to <= from) continue;
        if (is_back)
            add_part(plane, run, run->count - to, run->count - from);
        else
            add_part(plane, run, from, to);
    }
}

int lines_draw_band(const Lines *lines, int band, float alpha, uint8_t *pixels) {
    const int top = band * BAND_ROWS;
    const int bottom = top + BAND_ROWS < lines->height ? top + BAND_ROWS : lines->height;
    Plane plane = {NULL, top, bottom, lines->width, lines->width + 2 * PAD};
    const size_t size = (size_t)plane.stride * (size_t)(bottom - top + 2 * PAD);
    plane.pixels = calloc(size, sizeof(Ints4));
    if (!plane.pixels) return -1;
    for (int k = lines->starts[band]; k < lines->starts[band + 1]; k++) {
        const Line *line = &lines->lines[lines->listed[k]];
        const Run run = run_along(line, lines->unit);
        if (line->dashed >= 0.0f)
            add_dashes(&plane, &run, line, lines->dash);
        else
            add_part(&plane, &run, 0, run.count);
    }
    const float rate = log1pf(-smaller(larger(alpha, 0.0f), 0.99f)) / lines->unit;
    for (int y = top; y < bottom; y++)
        develop(pixel_of(&plane, y, 0), lines->width, rate, pixels + 4 * (size_t)y * (size_t)lines->width);
    free(plane.pixels);
    return 0;
}
