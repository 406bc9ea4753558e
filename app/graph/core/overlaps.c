#include "overlaps.h"

#include <stdlib.h>

#include "lanes.h"

#define MOST_SIDE 2048
#define SHARE_OF_OVERLAP 0.6f
/* Crowds of thousands in one square are thinned out over several calls. */
#define MOST_LOOKED_AT 4096

/* A disc as the pairs look at it: side by side in memory with its neighbors. */
typedef struct {
    float x, y, radius;
    int32_t row;        /* the caller's */
    float move_x, move_y;
} Disc;

/* Discs by squares of a grid. A disc that outgrows the squares is `large`: it looks for the others itself. */
typedef struct {
    float low_x, low_y, scale, large;
    int wide, tall;
    int32_t *starts;    /* of each square's discs */
    int32_t *square;    /* of each row */
    Disc *discs;        /* square by square */
} Grid;

static void free_grid(Grid *grid) {
    free(grid->starts);
    free(grid->square);
    free(grid->discs);
}

static int to_square(float distance, float scale, int side) {
    const float cell = distance * scale;
    if (!(cell > 0.0f)) return 0;
    return cell < (float)(side - 1) ? (int)cell : side - 1;
}

static float clean_radius(float radius) {
    return radius > 0.0f ? fminf(radius, 1e6f) : 0.0f;
}

/* The mean radius and a half more: nine in ten of a vault's notes are smaller. */
static float usual_radius(int count, const float *radius) {
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += clean_radius(radius[i]);
    return (float)(1.5 * sum / count);
}

static int make_grid(Grid *grid, int count, const float *at, const float *radius, float gap) {
    float low_x = FARTHEST, low_y = FARTHEST, high_x = -FARTHEST, high_y = -FARTHEST;
    for (int i = 0; i < count; i++) {
        const float x = at[2 * i], y = at[2 * i + 1];
        if (!is_place(x, y)) continue;
        low_x = fminf(low_x, x);
        high_x = fmaxf(high_x, x);
        low_y = fminf(low_y, y);
        high_y = fmaxf(high_y, y);
    }
    const float wide = fmaxf(high_x - low_x, 0.0f), tall = fmaxf(high_y - low_y, 0.0f);
    float side = 2.0f * usual_radius(count, radius) + gap + 1e-6f;
    side = fmaxf(side, fmaxf(wide, tall) / (MOST_SIDE - 1));
    *grid = (Grid){low_x, low_y, 1.0f / side, (side - gap) / 2.0f, 1, 1, NULL, NULL, NULL};
    grid->wide = to_square(wide, grid->scale, MOST_SIDE) + 1;
    grid->tall = to_square(tall, grid->scale, MOST_SIDE) + 1;
    const size_t squares = (size_t)grid->wide * (size_t)grid->tall;
    grid->starts = calloc(squares + 1, sizeof(int32_t));
    grid->square = malloc((size_t)count * sizeof(int32_t));
    grid->discs = malloc((size_t)count * sizeof(Disc));
    if (!grid->starts || !grid->square || !grid->discs) {
        free_grid(grid);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const int x = to_square(at[2 * i] - low_x, grid->scale, grid->wide);
        const int y = to_square(at[2 * i + 1] - low_y, grid->scale, grid->tall);
        grid->square[i] = y * grid->wide + x;
        grid->starts[grid->square[i] + 1]++;
    }
    for (size_t k = 0; k < squares; k++) grid->starts[k + 1] += grid->starts[k];
    for (int i = count - 1; i >= 0; i--) {
        const Disc disc = {at[2 * i], at[2 * i + 1], clean_radius(radius[i]), i, 0.0f, 0.0f};
        grid->discs[--grid->starts[grid->square[i] + 1]] = disc;
    }
    /* Each start was moved one square to the left while it was counted down: put them back. */
    for (size_t k = 0; k < squares; k++) grid->starts[k] = grid->starts[k + 1];
    grid->starts[squares] = count;
    return 0;
}

/* Two discs that overlap part, both from the places where they were; how far they overlapped. */
static float part_pair(Disc *one, Disc *other, float gap) {
    float dx = other->x - one->x, dy = other->y - one->y;
    const float reach = one->radius + other->radius + gap, squared = dx * dx + dy * dy;
    if (!(squared < reach * reach)) return 0.0f;
    float distance = sqrtf(squared);
    const float overlap = reach - distance;
    if (distance < 1e-6f) {
        /* In one place: each pair parts in a direction of its own. */
        dx = cosf((float)(one->row % 4096) * 2.4f + (float)(other->row % 4096));
        dy = sinf((float)(one->row % 4096) * 2.4f + (float)(other->row % 4096));
        distance = 1.0f;
    }
    const float weight = one->radius * one->radius, other_weight = other->radius * other->radius;
    const float area = weight + other_weight;
    const float share = area > 0.0f ? other_weight / area : 0.5f;
    const float push = SHARE_OF_OVERLAP * overlap / distance;
    one->move_x -= push * share * dx;
    one->move_y -= push * share * dy;
    other->move_x += push * (1.0f - share) * dx;
    other->move_y += push * (1.0f - share) * dy;
    return overlap;
}

/* Pairs of the disc at `place`: with others of its size in the squares around it once, with smaller ones if
 * it is large, as far as it reaches. The largest overlap. */
static float part_around(const Grid *grid, float gap, float largest_radius, int place) {
    Disc *disc = &grid->discs[place];
    const int is_large = disc->radius > grid->large;
    const float reach = is_large ? (disc->radius + largest_radius + gap) * grid->scale : 1.0f;
    const int around = reach < (float)MOST_SIDE ? (int)ceilf(reach) : MOST_SIDE;
    const int square = grid->square[disc->row];
    const int x = square % grid->wide, y = square / grid->wide;
    const int top = is_large && y > around ? y - around : is_large ? 0 : y;
    const int bottom = y + around < grid->tall ? y + around : grid->tall - 1;
    const int left = x > around ? x - around : 0;
    const int right = x + around < grid->wide ? x + around : grid->wide - 1;
    int patience = MOST_LOOKED_AT;
    float largest = 0.0f;
    for (int row = top; row <= bottom; row++) {
        int from = grid->starts[row * grid->wide + left];
        const int to = grid->starts[row * grid->wide + right + 1];
        /* Equals look ahead only: what stands before them has looked at them. */
        if (!is_large && from <= place) from = place + 1;
        for (int k = from; k < to && patience > 0; k++, patience--) {
            Disc *other = &grid->discs[k];
            const int other_large = other->radius > grid->large;
            if (is_large ? (k != place && (!other_large || place < k)) : !other_large)
                largest = fmaxf(largest, part_pair(disc, other, gap));
        }
    }
    return largest;
}

int separate(int count, float *at, const float *radius, float gap, float *largest) {
    Grid grid;
    *largest = 0.0f;
    if (count < 2) return 0;
    if (make_grid(&grid, count, at, radius, gap) < 0) return -1;
    float largest_radius = 0.0f;
    for (int k = 0; k < count; k++) largest_radius = fmaxf(largest_radius, grid.discs[k].radius);
    for (int k = 0; k < count; k++)
        if (is_place(grid.discs[k].x, grid.discs[k].y))
            *largest = fmaxf(*largest, part_around(&grid, gap, largest_radius, k));
    for (int k = 0; k < count; k++) {
        const Disc *disc = &grid.discs[k];
        at[2 * disc->row] += disc->move_x;
        at[2 * disc->row + 1] += disc->move_y;
    }
    free_grid(&grid);
    return 0;
}
