/* Where names go: beside their nodes, never one over another. */
#include <stdlib.h>

#include "lanes.h"
#include "raster.h"

enum { BELOW, ABOVE, RIGHT, LEFT, SIDES };

typedef struct {
    float left, top, right, bottom;
} Box;

static Box box_at(const float *name, int side) {
    const float x = name[0], y = name[1], radius = name[2], width = name[3], height = name[4];
    float left = x - 0.5f * width, top = y - 0.5f * height;
    if (side == BELOW) top = y + radius + 0.5f;
    if (side == ABOVE) top = y - radius - height + 1.5f;
    if (side == RIGHT) left = x + radius - 0.5f;
    if (side == LEFT) left = x - radius - width + 0.5f;
    return (Box){left, top, left + width, top + height};
}

static int is_free(Box box, const Box *others, int count) {
    int touches = 0;
    for (int i = 0; i < count; i++)
        touches |= (box.left < others[i].right) & (others[i].left < box.right) &
                   (box.top < others[i].bottom) & (others[i].top < box.bottom);
    return !touches;
}

/* The side on which a name finds room, or -1. */
static int side_of(const Placing *placing, const float *name, int last, const Box *taken, int count,
                   int insists) {
    const Box *discs = (const Box *)placing->boxes;
    const int is_inside = name[2] < name[0] && name[0] < placing->width - name[2];
    for (int turn = -1; turn < SIDES; turn++) {
        const int side = turn < 0 ? last : turn;
        if (turn == last) continue;
        const Box box = box_at(name, side);
        if (is_inside && (box.left < 0.0f || box.right > placing->width)) continue;
        if (is_free(box, taken, count) && is_free(box, discs, placing->discs)) return side;
    }
    return insists && is_free(box_at(name, BELOW), taken, count) ? BELOW : -1;
}

int place_names(const Placing *placing, int32_t *side) {
    Box *taken = malloc(((size_t)placing->count + 1) * sizeof(Box));
    if (!taken) return -1;
    int placed = 0;
    for (int i = 0; i < placing->count; i++) {
        const float *name = placing->names + 5 * (size_t)i;
        const int last = side[i] >= 0 && side[i] < SIDES ? side[i] : BELOW;
        side[i] = -1;
        if (placed >= placing->most + placing->forced) continue;
        const int insists = i < placing->forced || placed < placing->insistent;
        side[i] = side_of(placing, name, last, taken, placed, insists);
        if (side[i] >= 0) taken[placed++] = box_at(name, side[i]);
    }
    free(taken);
    return 0;
}
