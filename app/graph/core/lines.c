/* Which lines a picture has, and where they are inside it. */
#include <stdlib.h>

#include "lanes.h"
#include "raster.h"

#define BROADEST 64.0f
#define LARGEST_SUM 1.0e9
#define FINEST_UNIT 16384.0f
#define MOST_BOOST 64.0f
#define FEW_EDGES 4096
#define DASH 6.0f
#define AHEAD 16

/* One line: its ends inside the picture. */
typedef struct {
    float x0, y0, x1, y1;
} Line;

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

/* The ends of edge `k` inside the picture, and how long it is with what lies outside; 0 where it is hidden,
 * outside or has no place. */
static int line_of(const LineLook *look, int k, float limit_x, float limit_y, Line *line, float *length) {
    const int a = look->ends[2 * k], b = look->ends[2 * k + 1];
    if (!(look->light[k] > 0.0f) || (unsigned)a >= (unsigned)look->nodes || (unsigned)b >= (unsigned)look->nodes ||
        (unsigned)look->color_class[k] >= (unsigned)look->classes)
        return 0;
    if (look->shown_ends && !(look->shown_ends[a] && look->shown_ends[b])) return 0;
    const float *p = look->at + 2 * (size_t)a, *q = look->at + 2 * (size_t)b;
    if ((p[0] < 0.0f && q[0] < 0.0f) || (p[1] < 0.0f && q[1] < 0.0f) || (p[0] > limit_x && q[0] > limit_x) ||
        (p[1] > limit_y && q[1] > limit_y))
        return 0;
    if (!is_place(p[0], p[1]) || !is_place(q[0], q[1])) return 0;
    *line = (Line){p[0], p[1], q[0], q[1]};
    const float dx = q[0] - p[0], dy = q[1] - p[1];
    *length = sqrtf(dx * dx + dy * dy);
    return cut_at_rim(limit_x, limit_y, line);
}

static float run_of(const Line *line) {
    return larger(fabsf(line->x1 - line->x0), fabsf(line->y1 - line->y0));
}

/* Takes over what a line owes to its place. */
static void lead(Run *run, const Line *line) {
    const int upright = fabsf(line->y1 - line->y0) > fabsf(line->x1 - line->x0);
    float major0 = upright ? line->y0 : line->x0, minor0 = upright ? line->x0 : line->y0;
    float major1 = upright ? line->y1 : line->x1, minor1 = upright ? line->x1 : line->y1;
    run->way = upright ? UPRIGHT : 0;
    if (major1 < major0) {
        const float major = major0, minor = minor0;
        major0 = major1;
        minor0 = minor1;
        major1 = major;
        minor1 = minor;
        run->way |= BACKWARDS;
    }
    const float length = larger(major1 - major0, 1e-3f);
    const float slope = smaller(larger((minor1 - minor0) / length, -1.0f), 1.0f);
    const int first = (int)major0;
    run->first = (uint16_t)first;
    run->count = (uint16_t)((int)major1 - first + 1);
    run->slope = (int32_t)(slope * 65536.0f);
    run->start = (int32_t)((minor0 + slope * ((float)first + 0.5f - major0)) * 65536.0f);
    run->breadth *= sqrtf(1.0f + slope * slope);
}

/* The bands whose rows a line may touch: half the breadth and a pixel beyond its ends. */
static void span(Run *run, const Line *line, float breadth, int bands) {
    const float beyond = 0.75f * breadth + 2.0f;
    const float low = smaller(line->y0, line->y1) - beyond, high = larger(line->y0, line->y1) + beyond;
    const int bottom = (int)high / BAND_ROWS;
    run->top = (uint16_t)(low > 0.0f ? (int)low / BAND_ROWS : 0);
    run->bottom = (uint16_t)(bottom < bands ? bottom : bands - 1);
}

/* Edge `k` as it is drawn; 0 where nothing of it is. `*length` is how many pixels it runs over. */
static int run_for(const Lines *lines, int k, Run *run, float *length) {
    const LineLook *look = &lines->look;
    const float limit_x = (float)lines->width - 0.01f, limit_y = (float)lines->height - 0.01f;
    float whole;
    Line line;
    if (!line_of(look, k, limit_x, limit_y, &line, &whole)) return 0;
    const float reach = look->reach * look->ratio;
    run->light = smaller(look->light[k], 1000.0f) * (whole > reach ? sqrtf(reach / whole) : 1.0f) * lines->boost;
    run->dashed = -1.0f;
    if (look->dashed && look->dashed[k]) {
        const float *p = look->at + 2 * (size_t)look->ends[2 * k];
        run->dashed = hypotf(line.x0 - p[0], line.y0 - p[1]);
    }
    run->breadth = smaller(larger(look->breadth[k] * look->ratio, 0.0f), BROADEST);
    span(run, &line, run->breadth, lines->bands);
    lead(run, &line);
    const uint8_t *color = look->colors + 3 * (size_t)look->color_class[k];
    run->red = color[0];
    run->green = color[1];
    run->blue = color[2];
    *length = run_of(&line);
    return 1;
}

int run_between(const float *ends, int width, int height, float breadth, Run *run) {
    Line line = {ends[0], ends[1], ends[2], ends[3]};
    if (!is_place(line.x0, line.y0) || !is_place(line.x1, line.y1) ||
        !cut_at_rim((float)width - 0.01f, (float)height - 0.01f, &line))
        return 0;
    run->breadth = smaller(larger(breadth, 0.0f), BROADEST);
    lead(run, &line);
    return 1;
}

/* Whether edge `k` is in a fair sample: the same ones for the same share, and those of a smaller share among
 * those of a larger one, so that a picture does not flicker while the budget changes. */
static int is_in_share(int k, float share) {
    return share >= 1.0f || (float)((uint32_t)k * 2654435769u >> 8) < share * 16777216.0f;
}

/* Keeps as many edges as the budget allows, judged by a small sample; what is kept shines for the rest. */
static void keep_within_budget(Lines *lines) {
    const LineLook *look = &lines->look;
    const float probe = look->edges > FEW_EDGES ? 1.0f / 16.0f : 1.0f;
    const float limit_x = (float)lines->width - 0.01f, limit_y = (float)lines->height - 0.01f;
    float whole;
    Line line;
    for (int k = 0; k < look->edges; k++)
        if (is_in_share(k, probe) && line_of(look, k, limit_x, limit_y, &line, &whole))
            lines->length += run_of(&line) / probe;
    if (lines->length > look->budget) lines->share = (float)(look->budget / lines->length);
    lines->boost = smaller(1.0f / powf(lines->share, 0.8f), MOST_BOOST);
}

Lines *lines_new(LineLook look, int width, int height) {
    Lines *lines = calloc(1, sizeof(Lines));
    if (!lines) return NULL;
    lines->look = look;
    lines->width = width;
    lines->height = height;
    lines->bands = (height + BAND_ROWS - 1) / BAND_ROWS;
    lines->part_count = (look.edges + PART_EDGES - 1) / PART_EDGES;
    lines->share = lines->boost = lines->unit = 1.0f;
    lines->dash = DASH * look.ratio;
    lines->parts = calloc((size_t)lines->part_count + 1, sizeof(Part));
    if (!lines->parts) {
        lines_free(lines);
        return NULL;
    }
    if (look.budget > 0.0) keep_within_budget(lines);
    return lines;
}

void lines_free(Lines *lines) {
    if (!lines) return;
    for (int part = 0; lines->parts && part < lines->part_count; part++) {
        free(lines->parts[part].runs);
        free(lines->parts[part].starts);
        free(lines->parts[part].listed);
    }
    free(lines->parts);
    free(lines);
}

static int list_by_band(const Lines *lines, Part *part) {
    int32_t *starts = calloc((size_t)lines->bands + 2, sizeof(int32_t));
    if (!starts) return -1;
    for (int i = 0; i < part->count; i++)
        for (int band = part->runs[i].top; band <= part->runs[i].bottom; band++) starts[band + 2]++;
    for (int band = 0; band < lines->bands; band++) starts[band + 2] += starts[band + 1];
    part->listed = malloc(((size_t)starts[lines->bands + 1] + 1) * sizeof(uint16_t));
    part->starts = starts;
    if (!part->listed) return -1;
    for (int i = 0; i < part->count; i++)
        for (int band = part->runs[i].top; band <= part->runs[i].bottom; band++)
            part->listed[starts[band + 1]++] = (uint16_t)i;
    return 0;
}

/* Asks for the ends of an edge some turns before its turn: they are in no order of memory. */
EVERY void call_for(const LineLook *look, int k) {
    if (k >= look->edges) return;
    const int a = look->ends[2 * k], b = look->ends[2 * k + 1];
    if ((unsigned)a >= (unsigned)look->nodes || (unsigned)b >= (unsigned)look->nodes) return;
    __builtin_prefetch(look->at + 2 * (size_t)a);
    __builtin_prefetch(look->at + 2 * (size_t)b);
}

int lines_take(Lines *lines, int place) {
    Part *part = &lines->parts[place];
    const int from = place * PART_EDGES, edges = lines->look.edges;
    const int to = edges - from > PART_EDGES ? from + PART_EDGES : edges;
    float length;
    if (__atomic_exchange_n(&part->begun, 1, __ATOMIC_RELAXED)) return 0;
    part->runs = malloc((size_t)PART_EDGES * sizeof(Run));
    if (!part->runs) return -1;
    for (int k = from; k < to; k++) {
        Run *run = &part->runs[part->count];
        call_for(&lines->look, k + AHEAD);
        if (!is_in_share(k, lines->share) || !run_for(lines, k, run, &length)) continue;
        part->light += run->light * 1.5 + 1e-3;
        part->length += length;
        part->count++;
    }
    if (list_by_band(lines, part) < 0) return -1;
    __atomic_add_fetch(&lines->taken, 1, __ATOMIC_RELEASE);
    return 0;
}

int lines_close(Lines *lines) {
    double light = 0.0, length = 0.0;
    if (__atomic_load_n(&lines->taken, __ATOMIC_ACQUIRE) != lines->part_count) return 0;
    if (lines->is_closed) return 1;
    for (int part = 0; part < lines->part_count; part++) {
        light += lines->parts[part].light;
        length += lines->parts[part].length;
        lines->count += lines->parts[part].count;
    }
    if (!(lines->look.budget > 0.0)) lines->length = length;
    lines->unit = light > 0.0 ? (float)fmin(FINEST_UNIT, LARGEST_SUM / light) : 1.0f;
    return lines->is_closed = 1;
}
