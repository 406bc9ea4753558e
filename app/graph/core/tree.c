#include "tree.h"

#include <stdlib.h>

#include "lanes.h"

#define LEAF_SIZE 16
#define HEAVIEST 1e12f
#define TOP_BIT 30

Tree *tree_new(void) {
    return calloc(1, sizeof(Tree));
}

static void free_bodies(Tree *tree) {
    free(tree->x);
    free(tree->y);
    free(tree->mass);
    free(tree->row);
    free(tree->key);
    free(tree->spare_row);
    free(tree->spare_key);
    tree->x = tree->y = tree->mass = NULL;
    tree->row = tree->spare_row = NULL;
    tree->key = tree->spare_key = NULL;
    tree->room = 0;
}

void tree_free(Tree *tree) {
    if (!tree) return;
    free_bodies(tree);
    free(tree->cells);
    free(tree->leaves);
    free(tree);
}

static int make_room(Tree *tree, int count) {
    if (count <= tree->room) return 0;
    free_bodies(tree);
    const size_t room = (size_t)count + 8;
    tree->x = malloc(room * sizeof(float));
    tree->y = malloc(room * sizeof(float));
    tree->mass = malloc(room * sizeof(float));
    tree->row = malloc(room * sizeof(int32_t));
    tree->key = malloc(room * sizeof(uint32_t));
    tree->spare_row = malloc(room * sizeof(int32_t));
    tree->spare_key = malloc(room * sizeof(uint32_t));
    if (!tree->x || !tree->y || !tree->mass || !tree->row || !tree->key || !tree->spare_row ||
        !tree->spare_key) {
        free_bodies(tree);
        return -1;
    }
    tree->room = count;
    return 0;
}

/* The box that holds every place, as its low corner and the longer side. */
typedef struct {
    float low_x, low_y, side;
} Box;

static Box box_of(int count, const float *at) {
    float low_x = FARTHEST, low_y = FARTHEST, high_x = -FARTHEST, high_y = -FARTHEST;
    for (int i = 0; i < count; i++) {
        const float x = at[2 * i], y = at[2 * i + 1];
        if (!is_place(x, y)) continue;
        if (x < low_x) low_x = x;
        if (x > high_x) high_x = x;
        if (y < low_y) low_y = y;
        if (y > high_y) high_y = y;
    }
    if (low_x > high_x) return (Box){0.0f, 0.0f, 1.0f};
    const float wide = high_x - low_x, tall = high_y - low_y;
    const float side = (wide > tall ? wide : tall) * 1.0001f + 1e-6f;
    return (Box){low_x, low_y, side};
}

/* The 16 bits of `x`, a zero before each. */
static uint32_t spread_bits(uint32_t x) {
    x = (x | (x << 8)) & 0x00ff00ffu;
    x = (x | (x << 4)) & 0x0f0f0f0fu;
    x = (x | (x << 2)) & 0x33333333u;
    return (x | (x << 1)) & 0x55555555u;
}

static uint32_t to_grid(float distance, float scale) {
    const float cell = distance * scale;
    if (!(cell > 0.0f)) return 0;
    return cell < 65535.0f ? (uint32_t)cell : 65535u;
}

/* Morton keys, sorted by four passes of eight bits; equal keys keep the order of their rows. */
static void sort_by_key(Tree *tree, int count, const float *at, Box box) {
    static const int passes = 4;
    uint32_t starts[4][256];
    const float scale = 65535.0f / box.side;
    memset(starts, 0, sizeof starts);
    for (int i = 0; i < count; i++) {
        const float x = at[2 * i], y = at[2 * i + 1];
        uint32_t key = 0;
        if (is_place(x, y))
            key = spread_bits(to_grid(x - box.low_x, scale)) | spread_bits(to_grid(y - box.low_y, scale)) << 1;
        tree->key[i] = key;
        tree->row[i] = i;
        for (int pass = 0; pass < passes; pass++) starts[pass][(key >> (8 * pass)) & 255]++;
    }
    uint32_t *key = tree->key, *other_key = tree->spare_key;
    int32_t *row = tree->row, *other_row = tree->spare_row;
    for (int pass = 0; pass < passes; pass++) {
        uint32_t sum = 0;
        for (int digit = 0; digit < 256; digit++) {
            const uint32_t here = starts[pass][digit];
            starts[pass][digit] = sum;
            sum += here;
        }
        for (int i = 0; i < count; i++) {
            const uint32_t to = starts[pass][(key[i] >> (8 * pass)) & 255]++;
            other_key[to] = key[i];
            other_row[to] = row[i];
        }
        uint32_t *const swapped_key = key;
        int32_t *const swapped_row = row;
        key = other_key;
        row = other_row;
        other_key = swapped_key;
        other_row = swapped_row;
    }
}

static void gather_bodies(Tree *tree, int count, const float *at, const float *mass, Box box) {
    for (int i = 0; i < count; i++) {
        const int row = tree->row[i];
        const float x = at[2 * row], y = at[2 * row + 1];
        const float weight = mass ? mass[row] : 1.0f;
        const int placed = is_place(x, y);
        tree->x[i] = placed ? x : box.low_x;
        tree->y[i] = placed ? y : box.low_y;
        tree->mass[i] = placed && weight > 0.0f ? fminf(weight, HEAVIEST) : 0.0f;
    }
}

static int new_cell(Tree *tree) {
    if (tree->cell_count >= tree->cell_room) {
        const int room = tree->cell_room ? 2 * tree->cell_room : 1024;
        Cell *cells = realloc(tree->cells, (size_t)room * sizeof(Cell));
        if (cells) tree->cells = cells;
        int32_t *leaves = realloc(tree->leaves, (size_t)room * sizeof(int32_t));
        if (leaves) tree->leaves = leaves;
        if (!cells || !leaves) return -1;
        tree->cell_room = room;
    }
    return tree->cell_count++;
}

/* Where the bodies of each quarter begin, among first … last-1 by their two key bits at `bit`. */
static void quarter(const Tree *tree, int first, int last, int bit, int bounds[5]) {
    bounds[0] = first;
    bounds[4] = last;
    for (uint32_t part = 1; part < 4; part++) {
        int low = bounds[part - 1], high = last;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (((tree->key[middle] >> bit) & 3u) < part)
                low = middle + 1;
            else
                high = middle;
        }
        bounds[part] = low;
    }
}

/* Sums that become a cell's mass and center. */
typedef struct {
    double x, y, mass;
} Weight;

static void close_cell(Tree *tree, int index, Weight sum, float side, int first, int last) {
    Cell *cell = &tree->cells[index];
    const int from = tree->cells[index].first;
    cell->mass = (float)sum.mass;
    cell->x = sum.mass > 0.0 ? (float)(sum.x / sum.mass) : tree->x[from];
    cell->y = sum.mass > 0.0 ? (float)(sum.y / sum.mass) : tree->y[from];
    cell->side_squared = side * side;
    cell->first = first;
    cell->last = last;
    cell->skip = tree->cell_count;
}

/* Build the cell of the bodies first … last-1 and all below it; its index, or -1 without memory.
 * A square whose bodies are all in one quarter is passed over, so there are fewer cells than bodies. */
static int build_cell(Tree *tree, int first, int last, int bit, float side) {
    int bounds[5];
    while (last - first > LEAF_SIZE && bit >= 0) {
        quarter(tree, first, last, bit, bounds);
        int filled = 0;
        for (int part = 0; part < 4; part++) filled += bounds[part + 1] > bounds[part];
        if (filled > 1) break;
        bit -= 2;
        side *= 0.5f;
    }
    const int index = new_cell(tree);
    if (index < 0) return -1;
    tree->cells[index].first = first;
    Weight sum = {0.0, 0.0, 0.0};
    if (last - first <= LEAF_SIZE || bit < 0) {
        for (int i = first; i < last; i++) {
            sum.x += (double)tree->x[i] * tree->mass[i];
            sum.y += (double)tree->y[i] * tree->mass[i];
            sum.mass += tree->mass[i];
        }
        tree->leaves[tree->leaf_count++] = index;
        close_cell(tree, index, sum, side, first, last);
        return index;
    }
    for (int part = 0; part < 4; part++) {
        if (bounds[part + 1] == bounds[part]) continue;
        const int child = build_cell(tree, bounds[part], bounds[part + 1], bit - 2, side * 0.5f);
        if (child < 0) return -1;
        const Cell *made = &tree->cells[child];
        sum.x += (double)made->x * made->mass;
        sum.y += (double)made->y * made->mass;
        sum.mass += made->mass;
    }
    close_cell(tree, index, sum, side, 0, 0);
    return index;
}

int tree_build(Tree *tree, int count, const float *at, const float *mass) {
    tree->count = tree->cell_count = tree->leaf_count = 0;
    if (count == 0) return 0;
    if (make_room(tree, count) < 0) return -1;
    const Box box = box_of(count, at);
    sort_by_key(tree, count, at, box);
    gather_bodies(tree, count, at, mass, box);
    if (build_cell(tree, 0, count, TOP_BIT, box.side) < 0) {
        tree->cell_count = tree->leaf_count = 0;
        return -1;
    }
    tree->count = count;
    return 0;
}
