#include "overlaps.h"

#include <stdlib.h>

#include "lanes.h"

#define MOST_SIDE 2048
#define SHARE_OF_OVERLAP 0.6f
/* Crowds of thousands in one square are thinned out over several calls. */
#define MOST_LOOKED_AT 4096

/* Discs by squares of a grid. A disc that outgrows the squares is `large`: it looks for the others itself. */
typedef struct {
    float low_x, low_y, scale, large;
    int wide, tall;
    int32_t *starts;
    int32_t *rows;
    int32_t *square;
} Grid;

static void free_grid(Grid *grid) {
    free(grid->starts);
    free(grid->rows);
    free(grid->square);
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
    grid->rows = malloc((size_t)count * sizeof(int32_t));
    grid->square = malloc((size_t)count * sizeof(int32_t));
    if (!grid->starts || !grid->rows || !grid->square) {
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
    for (int i = count - 1; i >= 0; i--) grid->rows[--grid->starts[grid->square[i] + 1]] = i;
    /* Each start was moved one square to the left while it was counted down: put them back. */
    for (size_t k = 0; k < squares; k++) grid->starts[k] = grid->starts[k + 1];
    grid->starts[squares] = count;
    return 0;
}

/* What pushes discs apart, all from the places where they were. */
typedef struct {
    const float *at, *radius;
    float gap, largest;
    float *move;
} Apart;

static void part_pair(Apart *apart, int i, int j) {
    const float ri = clean_radius(apart->radius[i]), rj = clean_radius(apart->radius[j]);
    float dx = apart->at[2 * j] - apart->at[2 * i], dy = apart->at[2 * j + 1] - apart->at[2 * i + 1];
    const float reach = ri + rj + apart->gap, squared = dx * dx + dy * dy;
    if (!(squared < reach * reach)) return;
    float distance = sqrtf(squared);
    const float overlap = reach - distance;
    if (overlap > apart->largest) apart->largest = overlap;
    if (distance < 1e-6f) {
        /* In one place: each pair parts in a direction of its own. */
        dx = cosf((float)(i % 4096) * 2.4f + (float)(j % 4096));
        dy = sinf((float)(i % 4096) * 2.4f + (float)(j % 4096));
        distance = 1.0f;
    }
    const float area = ri * ri + rj * rj;
    const float share = area > 0.0f ? rj * rj / area : 0.5f;
    const float push = SHARE_OF_OVERLAP * overlap / distance;
    apart->move[2 * i] -= push * share * dx;
    apart->move[2 * i + 1] -= push * share * dy;
    apart->move[2 * j] += push * (1.0f - share) * dx;
    apart->move[2 * j + 1] += push * (1.0f - share) * dy;
}

/* Pairs of disc `i`: with others of its size in the squares around it once, with smaller ones if it is
 * large, as far as it reaches. */
static void part_around(Apart *apart, const Grid *grid, float largest_radius, int i) {
    const float radius = clean_radius(apart->radius[i]);
    const int is_large = radius > grid->large;
    const float reach = is_large ? (radius + largest_radius + apart->gap) * grid->scale : 1.0f;
    const int around = reach < (float)MOST_SIDE ? (int)ceilf(reach) : MOST_SIDE;
    const int x = grid->square[i] % grid->wide, y = grid->square[i] / grid->wide;
    const int top = y > around ? y - around : 0;
    const int bottom = y + around < grid->tall ? y + around : grid->tall - 1;
    const int left = x > around ? x - around : 0;
    const int right = x + around < grid->wide ? x + around : grid->wide - 1;
    int patience = MOST_LOOKED_AT;
    for (int row = top; row <= bottom; row++) {
        const int from = grid->starts[row * grid->wide + left];
        const int to = grid->starts[row * grid->wide + right + 1];
        for (int k = from; k < to && patience > 0; k++, patience--) {
            const int j = grid->rows[k];
            const int other_large = clean_radius(apart->radius[j]) > grid->large;
            if (is_large ? (j != i && (!other_large || i < j)) : (!other_large && i < j))
                part_pair(apart, i, j);
        }
    }
}

int separate(int count, float *at, const float *radius, float gap, float *largest) {
    Grid grid;
    *largest = 0.0f;
    if (count < 2) return 0;
    if (make_grid(&grid, count, at, radius, gap) < 0) return -1;
    Apart apart = {at, radius, gap, 0.0f, calloc((size_t)count, 2 * sizeof(float))};
    if (!apart.move) {
        free_grid(&grid);
        return -1;
    }
    float largest_radius = 0.0f;
    for (int i = 0; i < count; i++) largest_radius = fmaxf(largest_radius, clean_radius(radius[i]));
    /* Square by square: what is looked at next is near in memory too. */
    for (int k = 0; k < count; k++) {
        const int i = grid.rows[k];
        if (is_place(at[2 * i], at[2 * i + 1])) part_around(&apart, &grid, largest_radius, i);
    }
    for (int k = 0; k < 2 * count; k++) at[k] += apart.move[k];
    *largest = apart.largest;
    free(apart.move);
    free_grid(&grid);
    return 0;
}
