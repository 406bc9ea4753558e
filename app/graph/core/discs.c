/* Nodes: discs over a picture, eight pixels at a time, and which of them is under a pixel. */
#include "pixels.h"
#include "raster.h"

#define WIDEST_DISC 20000.0f
#define RIM_FROM 3.2f
/* Below that a disc covers no pixel whole. */
#define SMALL 1.2071f
#define AHEAD 12
#define RIM 1.1f
/* Of a squared half chord, in pixels: from there on a row is worth to be filled. */
#define FILLED 36.0f
#define RIM_OPACITY 0.75f

/* A circle with a soft rim: how much of a pixel it covers falls to nothing at `radius` + 0.5, evenly with the
 * squared distance from the middle, so without a root; as steeply as leaves the circle its area. */
typedef struct {
    float outer_squared, slope;
    int32_t most;
} Circle;

EVERY Circle circle_of(float radius, uint32_t opacity) {
    const float outer = radius + 0.5f;
    if (radius <= 0.0f) return (Circle){-1.0f, 0.0f, 0};
    const float squared = outer * outer, whole = (float)opacity;
    if (radius < SMALL) {
        const float peak = 2.0f * radius * radius / squared;
        return (Circle){squared, whole * peak / squared, (int32_t)(whole * peak)};
    }
    return (Circle){squared, whole / (2.0f * radius + 0.5f), (int32_t)opacity};
}

/* Opacity, 0 to 256, of eight pixels at those squared distances; bounded without comparing, which not every
 * machine can do with eight at a time. */
EVERY Ints8 opacity_of(const Circle *circle, Floats8 squared) {
    const Ints8 cover = __builtin_convertvector((circle->outer_squared - squared) * circle->slope, Ints8);
    const Ints8 over = cover - circle->most, bounded = cover - (over & ~(over >> 31));
    return bounded & ~(bounded >> 31);
}

/* One node: a disc with a rim that parts it from what lies under it; hollow for a note not written. */
typedef struct {
    float x, y, radius, reach, solid_squared;
    uint32_t opacity;
    Pixels8 color, ground;
    Circle disc, hole, rim;
    int is_hollow, has_rim, is_solid, is_plain;
} Disc;

EVERY float radius_in(const View *view, float radius) {
    return smaller(larger(radius * view->growth, view->least), WIDEST_DISC);
}

/* Takes over what a disc owes to its radius and opacity; those of one radius come one after another. */
EVERY void shape(Disc *disc, float radius, uint32_t opacity, int is_hollow, float ratio) {
    if (disc->radius == radius && disc->opacity == opacity && disc->is_hollow == is_hollow) return;
    disc->radius = radius;
    disc->opacity = opacity;
    disc->is_hollow = is_hollow;
    disc->has_rim = !is_hollow && radius > RIM_FROM * ratio;
    disc->is_plain = !is_hollow && !disc->has_rim;
    disc->disc = circle_of(radius, opacity);
    disc->is_solid = opacity == 256 && !is_hollow && radius > 4.0f;
    disc->solid_squared = radius * radius - radius - 0.25f;
    disc->reach = radius + 0.5f;
    if (is_hollow)
        disc->hole = circle_of(radius - smaller(1.6f * ratio, larger(0.8f * ratio, 0.3f * radius)), opacity);
    if (disc->has_rim) {
        disc->rim = circle_of(radius + RIM * ratio, (uint32_t)(RIM_OPACITY * (float)opacity));
        disc->reach += RIM * ratio;
    }
}

/* What node `row` looks like; whether there is anything of it to be seen. */
EVERY int disc_of(const DiscLook *look, int row, Disc *disc) {
    float opacity = look->opacity[row];
    if (look->lit && !look->lit[row]) opacity *= look->unlit;
    if (!(opacity > 0.0f) || !(look->radius[row] > 0.0f)) return 0;
    const uint32_t color = look->color[row], whole = opacity < 1.0f ? (uint32_t)(opacity * 256.0f) : 256;
    shape(disc, radius_in(&look->view, look->radius[row]), whole, (color & HOLLOW) != 0, look->ratio);
    disc->color = eight_same(0xff000000u | color);
    return 1;
}

/* Eight pixels of row `dy` from column `x` on, over what is below. */
EVERY Pixels8 eight_of(const Disc *disc, int x, float dy, Pixels8 below) {
    const Floats8 steps = {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f};
    const Floats8 dx = steps + ((float)x - disc->x), squared = dx * dx + dy * dy;
    const Ints8 cover = opacity_of(&disc->disc, squared);
    if (disc->is_hollow) {
        const Ints8 hole = opacity_of(&disc->hole, squared);
        below = mixed_eight(below, disc->ground, (Pixels8)hole);
        return mixed_eight(below, disc->color, (Pixels8)(cover - hole));
    }
    if (disc->has_rim) {
        const Ints8 is_edge = (cover - disc->disc.most) >> 31;
        below = mixed_eight(below, disc->ground, (Pixels8)(opacity_of(&disc->rim, squared) & is_edge));
    }
    return mixed_eight(below, disc->color, (Pixels8)cover);
}

/* The pixels `from` … `to`-1 of a row and up to seven beyond, which are too far away to be changed; where the
 * row ends before those, by way of a copy. */
EVERY void draw_span(const Disc *disc, int from, int to, int width, float dy, uint8_t *row) {
    int x = from;
    for (; x < to && x + 8 <= width; x += 8) {
        uint8_t *place = row + 4 * (size_t)x;
        put_eight(place, eight_of(disc, x, dy, eight_at(place)));
    }
    if (x >= to) return;
    Pixels8 last = {0};
    const size_t size = 4 * (size_t)(width - x);
    memcpy(&last, row + 4 * (size_t)x, size);
    last = eight_of(disc, x, dy, last);
    memcpy(row + 4 * (size_t)x, &last, size);
}

/* One row of a disc; what lies well inside a solid one is filled, some of it twice. */
EVERY void draw_row(const Disc *disc, int left, int end, int width, float dy, uint8_t *row) {
    const float within = disc->is_solid ? disc->solid_squared - dy * dy : 0.0f;
    if (!(within > FILLED)) {
        draw_span(disc, left, end, width, dy, row);
        return;
    }
    const float half = sqrtf(within) - 0.5f;
    const int from = (int)smaller(larger(disc->x - half, (float)left), (float)end);
    const int to = (int)smaller(larger(disc->x + half, (float)from), (float)end);
    draw_span(disc, left, from, width, dy, row);
    int x = from;
    for (; x + 8 <= to; x += 8) put_eight(row + 4 * (size_t)x, disc->color);
    draw_span(disc, x, end, width, dy, row);
}

/* A disc without rim or hole, all of it inside the picture: most of those of a large graph. */
EVERY void draw_plain(const Disc *disc, int left, int end, int first, int last, int width, uint8_t *pixels) {
    const Floats8 steps = {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f};
    const Circle circle = disc->disc;
    const Pixels8 color = disc->color;
    const size_t stride = 4 * (size_t)width;
    for (int x = left; x < end; x += 8) {
        const Floats8 dx = steps + ((float)x - disc->x), across = dx * dx;
        uint8_t *place = pixels + (size_t)first * stride + 4 * (size_t)x;
        for (int y = first; y <= last; y++, place += stride) {
            const float dy = (float)y + 0.5f - disc->y;
            const Ints8 cover = opacity_of(&circle, across + dy * dy);
            put_eight(place, mixed_eight(eight_at(place), color, (Pixels8)cover));
        }
    }
}

/* Asks for what is needed of a node some turns before its turn: rows are in no order of memory. */
EVERY void call_for(const DiscLook *look, int k) {
    if (k >= look->shown || (unsigned)look->order[k] >= (unsigned)look->nodes) return;
    const size_t row = (size_t)look->order[k];
    __builtin_prefetch(look->at + 2 * row);
    __builtin_prefetch(look->radius + row);
    __builtin_prefetch(look->opacity + row);
    __builtin_prefetch(look->color + row);
}

/* A node that is seen, before its turn. */
typedef struct {
    int row;
    float x, y;
} Seat;

/* So many wait for their pixels, which come from far away while others are drawn. */
#define WAITING 8

/* The next node of the order, from `*k` on, that may be seen in these rows; asks for its pixels. 0 at the end. */
EVERY int next_seen(const DiscLook *look, int *k, int width, int top, int bottom, const uint8_t *pixels, Seat *seat) {
    const View *view = &look->view;
    for (; *k < look->shown; (*k)++) {
        call_for(look, *k + AHEAD);
        const int row = look->order[*k];
        if ((unsigned)row >= (unsigned)look->nodes) continue;
        const float x = (look->at[2 * (size_t)row] - view->eye_x) * view->scale + view->middle_x;
        const float y = (look->at[2 * (size_t)row + 1] - view->eye_y) * view->scale + view->middle_y;
        const float most = radius_in(view, look->radius[row]) + RIM * look->ratio + 1.0f;
        if (!(x + most > 0.0f && x - most < (float)width && y + most > (float)top && y - most < (float)bottom))
            continue;
        *seat = (Seat){row, x, y};
        const int left = (int)larger(x - most, 0.0f), right = (int)smaller(x + most, (float)(width - 1));
        const int first = (int)larger(y - most, (float)top), last = (int)smaller(y + most, (float)(bottom - 1));
        for (int line = first; line <= last; line++) {
            const uint8_t *place = pixels + 4 * (size_t)line * (size_t)width;
            __builtin_prefetch(place + 4 * (size_t)left);
            __builtin_prefetch(place + 4 * (size_t)right);
        }
        (*k)++;
        return 1;
    }
    return 0;
}

EVERY void draw_disc(const Disc *disc, int width, int top, int bottom, uint8_t *pixels) {
    const float reach = disc->reach;
    const int left = disc->x - reach > 0.0f ? (int)(disc->x - reach) : 0;
    const int end = disc->x + reach < (float)(width - 1) ? (int)(disc->x + reach) + 1 : width;
    const int first = disc->y - reach > (float)top ? (int)(disc->y - reach) : top;
    const int last = disc->y + reach < (float)(bottom - 1) ? (int)(disc->y + reach) : bottom - 1;
    if (disc->is_plain && end + 7 < width) {
        draw_plain(disc, left, end, first, last, width, pixels);
        return;
    }
    for (int y = first; y <= last; y++)
        draw_row(disc, left, end, width, (float)y + 0.5f - disc->y, pixels + 4 * (size_t)y * (size_t)width);
}

WIDE_IF_ABLE void discs_draw(DiscLook look, int width, int top, int bottom, uint8_t *pixels) {
    Disc disc = {.radius = -1.0f, .ground = eight_same(look.ground)};
    Seat seats[WAITING];
    int k = 0, come = 0, gone = 0, more = 1;
    while (more || gone < come) {
        while (more && come - gone < WAITING) {
            more = next_seen(&look, &k, width, top, bottom, pixels, &seats[come % WAITING]);
            come += more;
        }
        if (gone == come) break;
        const Seat *seat = &seats[gone++ % WAITING];
        disc.x = seat->x;
        disc.y = seat->y;
        if (disc_of(&look, seat->row, &disc)) draw_disc(&disc, width, top, bottom, pixels);
    }
}

int disc_at(int count, const float *at, const float *radius, const float *opacity, const View *view, float x,
            float y, float reach) {
    int best = -1;
    float nearest = reach;
    for (int i = 0; i < count; i++) {
        const float dx = (at[2 * i] - view->eye_x) * view->scale + view->middle_x - x;
        const float dy = (at[2 * i + 1] - view->eye_y) * view->scale + view->middle_y - y;
        const float own = radius_in(view, radius[i]), far = own + nearest;
        if (!(dx * dx + dy * dy <= far * far) || !(opacity[i] > 0.0f) || far < 0.0f) continue;
        const float rim = sqrtf(dx * dx + dy * dy) - own;
        if (best < 0 || rim < nearest) {
            nearest = rim;
            best = i;
        }
    }
    return best;
}

int first_seen(const Seen *seen, int shown, const int32_t *order, int nodes, int most, int32_t *rows) {
    const View *view = &seen->view;
    int found = 0;
    for (int k = 0; k < shown && found < most; k++) {
        const int row = order[k];
        if ((unsigned)row >= (unsigned)nodes || !(seen->opacity[row] > seen->least_opacity) ||
            !(radius_in(view, seen->radius[row]) >= seen->least_radius))
            continue;
        const float x = (seen->at[2 * (size_t)row] - view->eye_x) * view->scale + view->middle_x;
        const float y = (seen->at[2 * (size_t)row + 1] - view->eye_y) * view->scale + view->middle_y;
        if (x > seen->left && x < seen->right && y > seen->top && y < seen->bottom) rows[found++] = row;
    }
    return found;
}
