/* Pictures of links and nodes, in software.
 *
 * Links are summed as light, not painted over one another: so their order does not matter, crowds glow
 * softly, and a line is as bright in every direction. The sum is kept in integers whose unit is chosen so
 * that all lines of the picture on one pixel still fit: it cannot overflow, and it is exact, so bands of
 * the picture can be drawn by any number of threads in any order.
 */
#ifndef SCRIPTORIUM_RASTER_H
#define SCRIPTORIUM_RASTER_H

#include <stddef.h>
#include <stdint.h>

#define LARGEST_SIDE 16384
#define BAND_ROWS 64

/* One visible line: its ends inside the picture, and its light on each channel per pixel of length. */
typedef struct {
    float x0, y0, x1, y1;
    float light;
    float breadth;
    uint8_t blue, green, red, unused;
} Line;

/* The lines of one picture, made once and then only read. Lists of the lines that touch each band of
 * BAND_ROWS rows: those of band b are listed[starts[b]] … listed[starts[b+1]-1]. */
typedef struct {
    int width, height, bands;
    int count;
    Line *lines;
    int32_t *starts;
    int32_t *listed;
    float unit;         /* integer light per light */
    double length;      /* pixels of all lines before sampling */
    float share;        /* of the lines that were kept */
} Lines;

/* What lines to draw, and how; see app/graph/raster.py. Arrays of `edges` length but for `at` and `colors`.
 * `shown_ends` (per node) may be NULL: a line with an end whose byte is 0 is left out. */
typedef struct {
    int nodes, edges, classes;
    const float *at;
    const int32_t *ends;
    const float *light;
    const float *breadth;
    const int16_t *color_class;
    const uint8_t *colors;
    const uint8_t *shown_ends;
    float reach;
    float ratio;
    double budget;      /* pixels of lines; 0 for all */
} LineLook;

/* NULL without memory. */
Lines *lines_new(LineLook look, int width, int height);
void lines_free(Lines *lines);

/* Draws one band: premultiplied blue, green, red, alpha bytes into the rows of `pixels` (the whole picture)
 * that it covers; what was there is overwritten. `alpha` is the opacity of light 1. 0, or -1. */
int lines_draw_band(const Lines *lines, int band, float alpha, uint8_t *pixels);

/* Discs in the order of `order`, blended over what is in the rows top … bottom-1 of a premultiplied picture.
 *
 * palette: 4 bytes per class: red, green, blue, and 1 for a hollow node.
 * ground: red, green, blue of what lies under the picture; rims and hollow nodes are filled with it. */
typedef struct {
    int nodes, shown, classes;
    const float *at;
    const float *radius;
    const float *opacity;
    const int16_t *color_class;
    const int32_t *order;
    const uint8_t *palette;
    uint8_t ground[3];
    float ratio;
} DiscLook;

void discs_draw(DiscLook look, int width, int top, int bottom, uint8_t *pixels);

/* The row whose rim is nearest to (x, y), at most `reach` away from it; -1 for none. Nodes with no opacity
 * are passed over. */
int disc_at(int count, const float *at, const float *radius, const float *opacity, float x, float y,
            float reach);

#endif
