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
#define BAND_ROWS 32

/* One visible line, along its longer axis: at step i, from 0 to count-1, it is at pixel `first + i` on that axis
 * and at `(start + i * slope) / 65536` on the other. In integers, so every band sees the same line. */
typedef struct {
    int32_t start, slope;
    float light;        /* per pixel of length, on each channel */
    float breadth;      /* across the other axis */
    float dashed;       /* where in its dash it begins, in pixels; below 0 for a line without */
    uint16_t first, count;
    uint16_t top, bottom;   /* the bands that it may touch */
    uint8_t blue, green, red;
    uint8_t way;        /* UPRIGHT, BACKWARDS */
} Run;

/* Which axis is the longer one; whether its first end is where `count` steps end. */
enum { UPRIGHT = 1, BACKWARDS = 2 };

/* Edges are taken in parts of so many, by any thread and in any order. */
#define PART_EDGES 16384

/* The lines of one part. Lists of those that touch each band of BAND_ROWS rows: band b's are
 * listed[starts[b]] … listed[starts[b+1]-1]. Nothing before it is taken. */
typedef struct {
    Run *runs;
    int32_t *starts;
    uint16_t *listed;
    int count, begun;
    double light, length;
} Part;

/* What lines to draw, and how; see app/graph/raster.py. Arrays of `edges` length but for `at` and `colors`.
 * `dashed` may be NULL: a line whose byte is not 0 has gaps. `shown_ends` (per node) may be NULL: a line with
 * an end whose byte is 0 is left out. */
typedef struct {
    int nodes, edges, classes;
    const float *at;
    const int32_t *ends;
    const float *light;
    const float *breadth;
    const int16_t *color_class;
    const uint8_t *colors;
    const uint8_t *dashed;
    const uint8_t *shown_ends;
    float reach;
    float ratio;
    double budget;      /* pixels of lines; 0 for all */
} LineLook;

/* The lines of one picture: made, their parts taken, closed, and from then on only read. */
typedef struct {
    LineLook look;      /* its arrays are read until it is closed */
    int width, height, bands, part_count;
    Part *parts;
    int taken, is_closed, count;
    float unit;         /* integer light per light */
    double length;      /* pixels of all lines before sampling */
    float share;        /* of the lines that are kept */
    float boost;        /* of their light, for those that are not */
    float dash;         /* length of a dash, in pixels; gaps are a little shorter */
} Lines;

/* NULL without memory. */
Lines *lines_new(LineLook look, int width, int height);
/* Once for each part. 0, or -1 without memory. */
int lines_take(Lines *lines, int part);
/* When all parts are taken; else it returns 0 and does nothing. */
int lines_close(Lines *lines);
void lines_free(Lines *lines);

/* Draws one band: premultiplied blue, green, red, alpha bytes into the rows of `pixels` (the whole picture)
 * that it covers; what was there is overwritten. `alpha` is the opacity of light 1. 0, or -1. */
int lines_draw_band(const Lines *lines, int band, float alpha, uint8_t *pixels);

/* From the layout to pixels: (place - eye) * scale + middle; a radius is at least `least` pixels. */
typedef struct {
    float eye_x, eye_y, scale, middle_x, middle_y, growth, least;
} View;

/* In a node's color, 0xRRGGBB: it is hollow. */
#define HOLLOW 0x01000000u

/* Discs in the order of `order`, blended over what is in the rows top … bottom-1 of a premultiplied picture.
 *
 * lit: per node, may be NULL; the opacity of one whose byte is 0 is multiplied with `unlit`.
 * ground: 0xffRRGGBB of what lies under the picture; rims and hollow nodes are filled with it. */
typedef struct {
    int nodes, shown;
    const float *at;
    const float *radius;
    const float *opacity;
    const uint32_t *color;
    const int32_t *order;
    const uint8_t *lit;
    View view;
    float unlit;
    uint32_t ground;
    float ratio;
} DiscLook;

void discs_draw(DiscLook look, int width, int top, int bottom, uint8_t *pixels);

/* The row whose rim is nearest to pixel (x, y), at most `reach` away from it; -1 for none. Nodes with no
 * opacity are passed over. All are looked at, once: a tenth of a millisecond for a hundred thousand, less
 * than it would cost to keep a grid of them up to date while they move. */
int disc_at(int count, const float *at, const float *radius, const float *opacity, const View *view, float x,
            float y, float reach);

/* Which nodes are looked for: middles inside a rectangle of pixels, large and solid enough. */
typedef struct {
    const float *at;
    const float *radius;
    const float *opacity;
    View view;
    float left, top, right, bottom, least_radius, least_opacity;
} Seen;

/* Writes the first `most` rows of `order` that are seen to `rows`; how many there are. */
int first_seen(const Seen *seen, int shown, const int32_t *order, int nodes, int most, int32_t *rows);

/* ---- Strokes */

/* A line from (ends[0], ends[1]) to (ends[2], ends[3]) inside a picture of that size, `breadth` pixels broad; 0 where
 * nothing of it is. It gets neither light nor color, nor bands. */
int run_between(const float *ends, int width, int height, float breadth, Run *run);

/* Lines of one color (0xffRRGGBB) blended over what is there, one after another, with soft rims. */
typedef struct {
    int count;
    const float *ends;
    float breadth;
    uint32_t color;
    float opacity;
} Strokes;

void strokes_draw(const Strokes *strokes, int width, int height, uint8_t *pixels);

/* ---- Pictures over one another */

/* Fills the rows top … bottom-1 of an opaque picture with `ground` (0xffRRGGBB) and lays another one over it:
 * premultiplied, its left upper corner at (left, at_top), each of its pixels `zoom` pixels large, with
 * `opacity` 0 to 256. Between pixels it is interpolated, unless zoom is 1: then it lies on whole pixels. */
typedef struct {
    int width, height;
    const uint8_t *pixels;
    float left, top, zoom;
    uint32_t opacity;
} Layer;

/* 0, or -1 without memory. */
int layer_lay(const Layer *layer, uint32_t ground, int width, int top, int bottom, uint8_t *pixels);

/* Lays a small premultiplied picture, with `opacity` 0 to 256, over the opaque pixels of a larger one, with its left
 * upper corner at (left, top); what lies outside is cut. */
typedef struct {
    const uint8_t *pixels;
    int width, height, left, top;
    uint32_t opacity;
} Stamp;

void stamp_put(const Stamp *stamp, int width, int height, uint8_t *pixels);

/* ---- Names */

/* Places names beside their discs, in the order in which they are given: on the side that one had last
 * (`side`, 0 below, 1 above, 2 right, 3 left), else on another, where it covers neither another name nor a
 * box of `discs` (left, top, right, bottom), nor leaves the view while its node does not. Of the first
 * `forced` names, and of the first `insistent` placed ones, one that finds no room may lie on discs. Writes
 * the side of each to `side`, -1 for one that is not placed; at most `most` are, besides forced ones.
 *
 * names: x and y of the node's middle, its radius, width and height of the name; in pixels. */
typedef struct {
    int count, forced, most, insistent, discs;
    const float *names;
    const float *boxes;
    float width;
} Placing;

/* 0, or -1 without memory. */
int place_names(const Placing *placing, int32_t *side);

#endif
