/* One picture over another, moved and scaled: how links follow the camera until they are drawn anew. */
#include <stdlib.h>

#include "pixels.h"
#include "raster.h"

static void fill(uint8_t *pixels, int count, uint32_t color) {
    int x = 0;
    for (; x + 4 <= count; x += 4) put_pixels(pixels + 4 * (size_t)x, same_pixels(color));
    for (; x < count; x++) memcpy(pixels + 4 * (size_t)x, &color, 4);
}

/* Lays `count` premultiplied pixels over the ground. */
static void lay_row(const uint8_t *above, int count, uint32_t opacity, uint32_t ground, uint8_t *out) {
    const Pixels4 solid = same_pixels(ground), share = same_pixels(opacity), nothing = same_pixels(0);
    int x = 0;
    for (; x + 4 <= count; x += 4) {
        Pixels4 pixels = pixels_at(above + 4 * (size_t)x);
        if (opacity < 256) pixels = mixed(nothing, pixels, share);
        put_pixels(out + 4 * (size_t)x, laid_over(pixels, solid));
    }
    if (x == count) return;
    Pixels4 last = nothing;
    const size_t size = 4 * (size_t)(count - x);
    memcpy(&last, above + 4 * (size_t)x, size);
    last = laid_over(mixed(nothing, last, share), solid);
    memcpy(out + 4 * (size_t)x, &last, size);
}

/* Between which two of `count` pixels a place lies, and how far it is to the second: 0 to 255. */
typedef struct {
    int first, second;
    uint32_t share;
} Between;

static Between between(float place, int count) {
    const float inside = fminf(fmaxf(place, 0.0f), (float)(count - 1));
    const int first = (int)inside;
    return (Between){first, first + 1 < count ? first + 1 : first, (uint32_t)((inside - (float)first) * 256.0f)};
}

/* The row of a layer that is seen at `y`, mixed of two; its columns `from` … `to`-1. */
static void mix_rows(const Layer *layer, Between down, int from, int to, uint8_t *out) {
    const uint8_t *upper = layer->pixels + 4 * (size_t)down.first * (size_t)layer->width;
    const uint8_t *lower = layer->pixels + 4 * (size_t)down.second * (size_t)layer->width;
    const Pixels4 share = same_pixels(down.share);
    int x = from;
    for (; x + 4 <= to; x += 4) {
        const size_t at = 4 * (size_t)x;
        put_pixels(out + at, mixed(pixels_at(upper + at), pixels_at(lower + at), share));
    }
    Pixels4 a = same_pixels(0), b = a;
    const size_t at = 4 * (size_t)x, size = 4 * (size_t)(to - x);
    memcpy(&a, upper + at, size);
    memcpy(&b, lower + at, size);
    a = mixed(a, b, share);
    memcpy(out + at, &a, size);
}

/* Stretches a row of pixels: out[i] lies between two of them as `across[i]` says. */
static void stretch_row(const uint8_t *row, const Between *across, int count, uint8_t *out) {
    int x = 0;
    for (; x + 4 <= count; x += 4) {
        Pixels4 first, second, share;
        for (int k = 0; k < 4; k++) {
            uint32_t pixel;
            memcpy(&pixel, row + 4 * (size_t)across[x + k].first, 4);
            first[k] = pixel;
            memcpy(&pixel, row + 4 * (size_t)across[x + k].second, 4);
            second[k] = pixel;
            share[k] = across[x + k].share;
        }
        put_pixels(out + 4 * (size_t)x, mixed(first, second, share));
    }
    for (; x < count; x++) {
        Pixels4 first = same_pixels(0), second = first;
        memcpy(&first, row + 4 * (size_t)across[x].first, 4);
        memcpy(&second, row + 4 * (size_t)across[x].second, 4);
        first = mixed(first, second, same_pixels(across[x].share));
        memcpy(out + 4 * (size_t)x, &first, 4);
    }
}

/* The part of 0 … limit on which `count` pixels lie that are `zoom` large and begin at `from`. */
static void part_of(float from, float zoom, int count, int limit, int *first, int *end) {
    const float last = from + zoom * (float)count;
    *first = (int)ceilf(fminf(fmaxf(from - 0.5f, 0.0f), (float)limit));
    *end = (int)ceilf(fminf(fmaxf(last - 0.5f, (float)*first), (float)limit));
}

/* What a stretched layer needs for one row after another. */
typedef struct {
    Between *across;
    uint8_t *mixed, *stretched;
    int from, to;
} Stretch;

static int stretch_of(const Layer *layer, int left, int right, Stretch *stretch) {
    stretch->across = malloc((size_t)(right - left + 1) * sizeof(Between));
    stretch->mixed = malloc(4 * (size_t)layer->width + 16);
    stretch->stretched = malloc(4 * (size_t)(right - left) + 16);
    if (!stretch->across || !stretch->mixed || !stretch->stretched) return -1;
    for (int x = left; x < right; x++)
        stretch->across[x - left] = between(((float)x + 0.5f - layer->left) / layer->zoom - 0.5f, layer->width);
    stretch->from = right > left ? stretch->across[0].first : 0;
    stretch->to = right > left ? stretch->across[right - left - 1].second + 1 : 0;
    return 0;
}

static void let_go(Stretch *stretch) {
    free(stretch->across);
    free(stretch->mixed);
    free(stretch->stretched);
}

int layer_lay(const Layer *given, uint32_t color, int width, int top, int bottom, uint8_t *pixels) {
    Layer layer = *given;
    Stretch stretch = {0};
    const int is_straight = layer.zoom == 1.0f;
    int left, right, first, last;
    if (is_straight) {
        layer.left = rintf(fminf(fmaxf(layer.left, -1e6f), 1e6f));
        layer.top = rintf(fminf(fmaxf(layer.top, -1e6f), 1e6f));
    }
    part_of(layer.left, layer.zoom, layer.width, width, &left, &right);
    part_of(layer.top, layer.zoom, layer.height, bottom, &first, &last);
    if (!is_straight && stretch_of(&layer, left, right, &stretch) < 0) {
        let_go(&stretch);
        return -1;
    }
    for (int y = top; y < bottom; y++) {
        uint8_t *row = pixels + 4 * (size_t)y * (size_t)width;
        if (y < first || y >= last || left >= right || !layer.opacity) {
            fill(row, width, color);
            continue;
        }
        const uint8_t *above = stretch.stretched;
        if (is_straight) {
            const size_t line = (size_t)(y - (int)layer.top) * (size_t)layer.width;
            above = layer.pixels + 4 * (line + (size_t)(left - (int)layer.left));
        } else {
            const Between down = between(((float)y + 0.5f - layer.top) / layer.zoom - 0.5f, layer.height);
            mix_rows(&layer, down, stretch.from, stretch.to, stretch.mixed);
            stretch_row(stretch.mixed, stretch.across, right - left, stretch.stretched);
        }
        fill(row, left, color);
        fill(row + 4 * (size_t)right, width - right, color);
        lay_row(above, right - left, layer.opacity, color, row + 4 * (size_t)left);
    }
    let_go(&stretch);
    return 0;
}

static void stamp_row(const uint8_t *above, int count, uint32_t opacity, uint8_t *out) {
    const Pixels4 share = same_pixels(opacity), nothing = same_pixels(0);
    int x = 0;
    for (; x + 4 <= count; x += 4) {
        uint8_t *place = out + 4 * (size_t)x;
        put_pixels(place, laid_over(mixed(nothing, pixels_at(above + 4 * (size_t)x), share), pixels_at(place)));
    }
    if (x == count) return;
    Pixels4 last = nothing, ground = nothing;
    const size_t size = 4 * (size_t)(count - x);
    memcpy(&last, above + 4 * (size_t)x, size);
    memcpy(&ground, out + 4 * (size_t)x, size);
    ground = laid_over(mixed(nothing, last, share), ground);
    memcpy(out + 4 * (size_t)x, &ground, size);
}

void stamp_put(const Stamp *stamp, int width, int height, uint8_t *pixels) {
    const int64_t right = (int64_t)stamp->left + stamp->width, bottom = (int64_t)stamp->top + stamp->height;
    const int from = stamp->left > 0 ? stamp->left : 0, to = right < width ? (int)right : width;
    const int first = stamp->top > 0 ? stamp->top : 0, last = bottom < height ? (int)bottom : height;
    if (from >= to || !stamp->opacity) return;
    for (int y = first; y < last; y++) {
        const size_t line = (size_t)(y - stamp->top) * (size_t)stamp->width + (size_t)(from - stamp->left);
        stamp_row(stamp->pixels + 4 * line, to - from, stamp->opacity,
                  pixels + 4 * ((size_t)y * (size_t)width + (size_t)from));
    }
}
