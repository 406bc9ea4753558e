/* A Barnes-Hut tree over points in the plane. */
#ifndef SCRIPTORIUM_TREE_H
#define SCRIPTORIUM_TREE_H

#include <stddef.h>
#include <stdint.h>

/* A square and what is in it. Cells stand in depth-first order: `skip` is the first cell after this one's
 * last descendant. A leaf owns the sorted bodies first … last-1; an inner cell has first == last. */
typedef struct {
    float x, y;         /* center of mass */
    float mass;
    float side_squared;
    int32_t skip;
    int32_t first, last;
} Cell;

typedef struct {
    int count;          /* bodies */
    int room;           /* bodies that the arrays have room for */
    float *x, *y, *mass;            /* sorted along the Morton curve, padded to a multiple of 8 */
    int32_t *row;                   /* the caller's row of each sorted body */
    uint32_t *key;
    int32_t *spare_row;
    uint32_t *spare_key;
    Cell *cells;
    int32_t *leaves;                /* indices of cells that are leaves */
    int cell_count, cell_room, leaf_count;
    int readers, is_building;       /* guarded by the GIL, see module.c */
} Tree;

Tree *tree_new(void);
void tree_free(Tree *tree);

/* Sort `count` bodies into a new tree. `mass` may be NULL: all are 1. Returns 0, or -1 without memory;
 * the tree is empty then. Bodies without a place (NaN, infinite) have no mass. */
int tree_build(Tree *tree, int count, const float *at, const float *mass);

#endif
