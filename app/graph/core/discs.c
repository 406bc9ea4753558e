#include "lanes.h"
#include "raster.h"

#define WIDEST_DISC 20000.0f
#define RIM_FROM 3.2f
#define RIM 1.1f
#define RIM_OPACITY 0.75f

/* The part of a pixel, in 1/256, that a disc covers whose middle is `squared` (distance squared) away. */
static inline uint32_t cover_of(float radius, float squared) {
    if (radius <= 0.0f) return 0;
    const float inner = radius - 0.5f, outer = radius + 0.5f;
    if (squared >= outer * outer) return 0;
    if (inner > 0.0f && squared <= inner * inner) return 256;
    const float cover = outer - sqrtf(squared);
    return cover >= 1.0f ? 256 : (uint32_t)(cover * 256.0f);
}

/* Red, green and blue as a solid pixel: blue, green, red, alpha bytes, as every machine that Qt runs on
 * reads them. */
static inline uint32_t solid(const uint8_t color[3]) {
    return 0xff000000u | (uint32_t)color[0] << 16 | (uint32_t)color[1] << 8 | color[2];
}

/* Lays a colour of opacity 0 to 256 over a premultiplied pixel; two channels at a time. */
static inline void lay_over(uint8_t *pixel, uint32_t color, uint32_t opacity) {
    if (opacity == 0) return;
    if (opacity < 256) {
        const uint32_t left = 256 - opacity, channels = 0x00ff00ffu;
        uint32_t below;
        memcpy(&below, pixel, sizeof below);
        const uint32_t even = ((color & channels) * opacity + (below & channels) * left) >> 8 & channels;
        const uint32_t odd = (color >> 8 & channels) * opacity + (below >> 8 & channels) * left;
        color = even | (odd & ~channels);
    }
    memcpy(pixel, &color, sizeof color);
}

/* One node: a disc with a rim that parts it from what lies under it; hollow for a note not written. */
typedef struct {
    float x, y, radius, hole, rim;
    uint32_t opacity, color, ground;
    int is_hollow;
} Disc;

static int disc_of(const DiscLook *look, int row, Disc *disc) {
    if ((unsigned)row >= (unsigned)look->nodes) return 0;
    const int class = look->color_class[row];
    const float opacity = look->opacity[row], radius = look->radius[row];
    const float *at = look->at + 2 * (size_t)row;
    if ((unsigned)class >= (unsigned)look->classes || !(opacity > 0.0f) || !(radius > 0.0f) ||
        !is_place(at[0], at[1]))
        return 0;
    disc->x = at[0];
    disc->y = at[1];
    disc->radius = fminf(radius, WIDEST_DISC);
    const uint8_t *color = look->palette + 4 * (size_t)class;
    disc->color = solid(color);
    disc->ground = solid(look->ground);
    disc->is_hollow = color[3] != 0;
    disc->opacity = opacity < 1.0f ? (uint32_t)(opacity * 256.0f) : 256;
    const float ratio = look->ratio;
    const float pen = fminf(1.6f * ratio, fmaxf(0.8f * ratio, 0.3f * disc->radius));
    disc->hole = disc->is_hollow ? disc->radius - pen : 0.0f;
    disc->rim = !disc->is_hollow && disc->radius > RIM_FROM * ratio ? disc->radius + RIM * ratio : 0.0f;
    return 1;
}

static void draw_row(const Disc *disc, int left, int right, float dy, uint8_t *pixel) {
    const uint32_t rim_opacity = (uint32_t)(RIM_OPACITY * (float)disc->opacity);
    for (int x = left; x <= right; x++, pixel += 4) {
        const float dx = (float)x + 0.5f - disc->x, squared = dx * dx + dy * dy;
        const uint32_t cover = cover_of(disc->radius, squared);
        if (disc->rim > 0.0f && cover < 256)
            lay_over(pixel, disc->ground, cover_of(disc->rim, squared) * rim_opacity >> 8);
        if (disc->is_hollow) {
            const uint32_t hole = cover_of(disc->hole, squared);
            lay_over(pixel, disc->ground, hole * disc->opacity >> 8);
            lay_over(pixel, disc->color, (cover - hole) * disc->opacity >> 8);
        } else if (cover) {
            lay_over(pixel, disc->color, cover * disc->opacity >> 8);
        }
    }
}

void discs_draw(DiscLook look, int width, int top, int bottom, uint8_t *pixels) {
    for (int k = 0; k < look.shown; k++) {
        Disc disc;
        if (!disc_of(&look, look.order[k], &disc)) continue;
        const float reach = fmaxf(disc.radius, disc.rim) + 0.5f;
        if (disc.x + reach < 0.0f || disc.x - reach >= (float)width || disc.y + reach < (float)top ||
            disc.y - reach >= (float)bottom)
            continue;
        const int left = disc.x - reach > 0.0f ? (int)(disc.x - reach) : 0;
        const int right = disc.x + reach < (float)(width - 1) ? (int)(disc.x + reach) : width - 1;
        const int first = disc.y - reach > (float)top ? (int)(disc.y - reach) : top;
        const int last = disc.y + reach < (float)(bottom - 1) ? (int)(disc.y + reach) : bottom - 1;
        for (int y = first; y <= last; y++) {
            uint8_t *pixel = pixels + 4 * ((size_t)y * (size_t)width + (size_t)left);
            draw_row(&disc, left, right, (float)y + 0.5f - disc.y, pixel);
        }
    }
}

int disc_at(int count, const float *at, const float *radius, const float *opacity, float x, float y,
            float reach) {
    int best = -1;
    float nearest = reach;
    for (int i = 0; i < count; i++) {
        const float dx = at[2 * i] - x, dy = at[2 * i + 1] - y, far = radius[i] + nearest;
        if (!(opacity[i] > 0.0f) || !(dx * dx + dy * dy <= far * far) || far < 0.0f) continue;
        const float rim = sqrtf(dx * dx + dy * dy) - radius[i];
        if (best < 0 || rim < nearest) {
            nearest = rim;
            best = i;
        }
    }
    return best;
}
