#include "swarm.h"

#include <stdlib.h>

#include "lanes.h"

#define MOST_COLUMNS (1 << 20)
#define TOUCH 1e-4

/* The discs whose middles are in one upright strip of the plane, from small y to large. */
typedef struct {
    int count, room;
    int32_t *rows;
} Column;

/* Strips that are as broad as the largest disc: what is in a disc's way is in its own or one beside it. */
typedef struct {
    int count;
    float low, breadth, largest, gap;
    const float *x, *radius;
    float *y;
    Column *columns;
} Strips;

static int column_of(const Strips *strips, float x) {
    const float place = (x - strips->low) / strips->breadth;
    return place > 0.0f ? (int)smaller(place, (float)(strips->count - 1)) : 0;
}

/* How many discs of a column are above `y`. */
static int above(const Strips *strips, const Column *column, double y) {
    int low = 0, high = column->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (strips->y[column->rows[middle]] < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How far disc `row` at `y` must go in a direction, 1 or -1, to be past all that it touches there; `y` when
 * it touches none. */
static double past(const Strips *strips, int row, double y, int direction) {
    const int home = column_of(strips, strips->x[row]);
    const double most = (double)strips->radius[row] + strips->largest + strips->gap;
    double end = y;
    for (int c = home > 0 ? home - 1 : 0; c <= home + 1 && c < strips->count; c++) {
        const Column *column = &strips->columns[c];
        for (int k = above(strips, column, y - most); k < column->count; k++) {
            const int other = column->rows[k];
            const double down = strips->y[other] - y, across = (double)strips->x[other] - strips->x[row];
            if (down > most) break;
            const double reach = (double)strips->radius[row] + strips->radius[other] + strips->gap;
            if (down * down + across * across >= (reach - TOUCH) * (reach - TOUCH)) continue;
            const double edge = strips->y[other] + direction * sqrt(reach * reach - across * across);
            if ((edge - end) * direction > 0.0) end = edge;
        }
    }
    return end;
}

/* The nearest free place in a direction, unless it is farther away than `most`. */
static double free_place(const Strips *strips, int row, double wanted, int direction, double most) {
    double y = wanted;
    for (;;) {
        const double next = past(strips, row, y, direction);
        if (next == y || (next - wanted) * direction > most) return next;
        y = next;
    }
}

/* Files the disc where its y belongs; 0, or -1 without memory. */
static int put(Strips *strips, int row) {
    Column *column = &strips->columns[column_of(strips, strips->x[row])];
    if (column->count == column->room) {
        const int room = column->room ? 2 * column->room : 16;
        int32_t *rows = realloc(column->rows, (size_t)room * sizeof(int32_t));
        if (!rows) return -1;
        column->rows = rows;
        column->room = room;
    }
    const int place = above(strips, column, strips->y[row]);
    memmove(column->rows + place + 1, column->rows + place, (size_t)(column->count - place) * sizeof(int32_t));
    column->rows[place] = row;
    column->count++;
    return 0;
}

static int is_usable(const Strips *strips, int row) {
    return is_place(strips->x[row], strips->y[row]) && strips->radius[row] >= 0.0f &&
           strips->radius[row] <= FARTHEST;
}

static void measure(Strips *strips, int count) {
    float high = 0.0f;
    int is_first = 1;
    for (int row = 0; row < count; row++) {
        if (!is_usable(strips, row)) continue;
        strips->low = is_first ? strips->x[row] : smaller(strips->low, strips->x[row]);
        high = is_first ? strips->x[row] : larger(high, strips->x[row]);
        strips->largest = larger(strips->largest, strips->radius[row]);
        is_first = 0;
    }
    const float across = high - strips->low;
    strips->breadth = larger(2.0f * strips->largest + strips->gap, across / MOST_COLUMNS * 1.01f);
    strips->breadth = larger(strips->breadth, 1e-6f);
    strips->count = (int)(across / strips->breadth) + 1;
}

int swarm(int count, const float *x, const float *radius, const int32_t *order, float gap, float *y) {
    Strips strips = {.x = x, .radius = radius, .y = y, .gap = gap > 0.0f ? gap : 0.0f};
    int status = 0;
    measure(&strips, count);
    strips.columns = calloc((size_t)strips.count, sizeof(Column));
    if (!strips.columns) return -1;
    for (int k = 0; k < count && status == 0; k++) {
        const int row = order[k];
        if ((unsigned)row >= (unsigned)count || !is_usable(&strips, row)) continue;
        const double wanted = y[row];
        const double below = free_place(&strips, row, wanted, 1, FARTHEST);
        const double over = free_place(&strips, row, wanted, -1, below - wanted);
        y[row] = (float)(wanted - over < below - wanted ? over : below);
        status = put(&strips, row);
    }
    for (int c = 0; c < strips.count; c++) free(strips.columns[c].rows);
    free(strips.columns);
    return status;
}
