#include "forces.h"

#include <stdlib.h>

#include "lanes.h"

/* The bodies and far cells that push a leaf, as columns padded to whole lanes. */
typedef struct {
    float *x, *y, *mass;
    int count, room;
} Sources;

static int sources_grow(Sources *sources, int more) {
    if (sources->count + more + 8 <= sources->room) return 0;
    int room = sources->room ? sources->room : 4096;
    while (room < sources->count + more + 8) room *= 2;
    float *columns = malloc((size_t)room * 3 * sizeof(float));
    if (!columns) return -1;
    if (sources->count) {
        const size_t used = (size_t)sources->count * sizeof(float);
        memcpy(columns, sources->x, used);
        memcpy(columns + room, sources->y, used);
        memcpy(columns + 2 * (size_t)room, sources->mass, used);
    }
    free(sources->x);
    sources->x = columns;
    sources->y = columns + room;
    sources->mass = columns + 2 * (size_t)room;
    sources->room = room;
    return 0;
}

/* Bodies without mass stand far away in the last lanes. */
static void sources_pad(Sources *sources) {
    for (int i = sources->count; i % 8; i++) sources->x[i] = sources->y[i] = sources->mass[i] = 0.0f;
}

/* A rectangle, as its middle and half its sides. */
typedef struct {
    float x, y, half_x, half_y;
} Frame;

static Frame frame_of(const Tree *tree, int first, int last) {
    float low_x = tree->x[first], high_x = low_x, low_y = tree->y[first], high_y = low_y;
    for (int i = first + 1; i < last; i++) {
        low_x = fminf(low_x, tree->x[i]);
        high_x = fmaxf(high_x, tree->x[i]);
        low_y = fminf(low_y, tree->y[i]);
        high_y = fmaxf(high_y, tree->y[i]);
    }
    return (Frame){0.5f * (low_x + high_x), 0.5f * (low_y + high_y), 0.5f * (high_x - low_x),
                   0.5f * (high_y - low_y)};
}

/* Everything that pushes what is inside `frame`. */
static int sources_collect(Sources *sources, const Tree *tree, Frame frame, float opening) {
    sources->count = 0;
    for (int i = 0; i < tree->cell_count;) {
        const Cell *cell = &tree->cells[i];
        const int bodies = cell->last - cell->first;
        const float dx = fmaxf(fabsf(cell->x - frame.x) - frame.half_x, 0.0f);
        const float dy = fmaxf(fabsf(cell->y - frame.y) - frame.half_y, 0.0f);
        if (sources_grow(sources, bodies > 1 ? bodies : 1) < 0) return -1;
        const int at = sources->count;
        if (cell->side_squared < opening * (dx * dx + dy * dy)) {
            sources->x[at] = cell->x;
            sources->y[at] = cell->y;
            sources->mass[at] = cell->mass;
            sources->count++;
            i = cell->skip;
        } else if (bodies) {
            const size_t bytes = (size_t)bodies * sizeof(float);
            memcpy(sources->x + at, tree->x + cell->first, bytes);
            memcpy(sources->y + at, tree->y + cell->first, bytes);
            memcpy(sources->mass + at, tree->mass + cell->first, bytes);
            sources->count += bodies;
            i = cell->skip;
        } else {
            i++;
        }
    }
    sources_pad(sources);
    return 0;
}

/* The push of all sources at (x, y); eight lanes, added up in a fixed order. */
static inline __attribute__((always_inline)) void push_at(const Sources *sources, Push push, float x, float y, float out[2]) {
    Floats8 sum_x = {0}, sum_y = {0};
    for (int i = 0; i < sources->count; i += 8) {
        Floats8 sx, sy, mass;
        memcpy(&sx, sources->x + i, sizeof sx);
        memcpy(&sy, sources->y + i, sizeof sy);
        memcpy(&mass, sources->mass + i, sizeof mass);
        const Floats8 dx = x - sx, dy = y - sy;
        const Floats8 squared = dx * dx + dy * dy;
        Floats8 weight;
        if (push.kernel == CHARGE) {
            weight = mass / (squared + push.softness);
        } else {
            const Floats8 fade = 1.0f + squared * push.softness;
            weight = mass / (fade * fade);
        }
        sum_x += dx * weight;
        sum_y += dy * weight;
    }
    out[0] = push.strength * sum_of_lanes(&sum_x);
    out[1] = push.strength * sum_of_lanes(&sum_y);
}

WIDE_IF_ABLE int push_leaves(const Tree *tree, int first, int last, Push push, float *force) {
    Sources sources = {0};
    for (int leaf = first; leaf < last; leaf++) {
        const Cell *cell = &tree->cells[tree->leaves[leaf]];
        const Frame frame = frame_of(tree, cell->first, cell->last);
        if (sources_collect(&sources, tree, frame, push.opening) < 0) {
            free(sources.x);
            return -1;
        }
        for (int i = cell->first; i < cell->last; i++) {
            float here[2];
            push_at(&sources, push, tree->x[i], tree->y[i], here);
            float *out = force + 2 * (size_t)tree->row[i];
            out[0] += here[0];
            out[1] += here[1];
        }
    }
    free(sources.x);
    return 0;
}

WIDE_IF_ABLE int push_places(const Tree *tree, int count, const float *at, Push push, float *force) {
    Sources sources = {0};
    for (int i = 0; i < count; i++) {
        const float x = at[2 * i], y = at[2 * i + 1];
        if (!is_place(x, y)) continue;
        if (sources_collect(&sources, tree, (Frame){x, y, 0.0f, 0.0f}, push.opening) < 0) {
            free(sources.x);
            return -1;
        }
        float here[2];
        push_at(&sources, push, x, y, here);
        force[2 * i] += here[0];
        force[2 * i + 1] += here[1];
    }
    free(sources.x);
    return 0;
}

void attract(Links links, const float *weight, const float *at, float linear, float near, float rate,
             int first, int last, float *force) {
    for (int i = first; i < last; i++) {
        const float x = at[2 * i], y = at[2 * i + 1];
        float sum_x = 0.0f, sum_y = 0.0f;
        for (int h = links.starts[i]; h < links.starts[i + 1]; h++) {
            const int j = links.neighbors[h];
            const float dx = at[2 * j] - x, dy = at[2 * j + 1] - y;
            const float pull = weight[h] * (linear + near / (1.0f + (dx * dx + dy * dy)));
            sum_x += dx * pull;
            sum_y += dy * pull;
        }
        force[2 * i] += rate * sum_x;
        force[2 * i + 1] += rate * sum_y;
    }
}

void spring(Links links, const float *strength, const float *share, const float *rest, const float *at,
            float rate, int first, int last, float *force) {
    for (int i = first; i < last; i++) {
        const float x = at[2 * i], y = at[2 * i + 1];
        float sum_x = 0.0f, sum_y = 0.0f;
        for (int h = links.starts[i]; h < links.starts[i + 1]; h++) {
            const int j = links.neighbors[h];
            const float dx = at[2 * j] - x, dy = at[2 * j + 1] - y;
            const float length = sqrtf(dx * dx + dy * dy) + 1e-6f;
            const float pull = (length - rest[h]) / length * strength[h] * share[h];
            sum_x += dx * pull;
            sum_y += dy * pull;
        }
        force[2 * i] += rate * sum_x;
        force[2 * i + 1] += rate * sum_y;
    }
}

float step(float *at, float *velocity, const uint8_t *fixed, float gravity, float damping, float longest,
           int first, int last) {
    float most = 0.0f;
    for (int i = first; i < last; i++) {
        float *p = at + 2 * (size_t)i, *v = velocity + 2 * (size_t)i;
        if (!is_place(p[0], p[1])) {
            p[0] = p[1] = v[0] = v[1] = 0.0f;
            continue;
        }
        if (fixed && fixed[i]) {
            v[0] = v[1] = 0.0f;
            continue;
        }
        float dx = (v[0] - gravity * p[0]) * damping, dy = (v[1] - gravity * p[1]) * damping;
        if (!is_place(dx, dy)) dx = dy = 0.0f;
        float length = sqrtf(dx * dx + dy * dy);
        if (length > longest) {
            dx *= longest / length;
            dy *= longest / length;
            length = longest;
        }
        v[0] = dx;
        v[1] = dy;
        p[0] += dx;
        p[1] += dy;
        if (length > most) most = length;
    }
    return most;
}
