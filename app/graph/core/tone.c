#include "tone.h"

/* So many pixels are developed together, and passed over together where there is no light. */
#define CHUNK 16

/* e to the power of x for -80 <= x <= 0: a polynomial of the fraction, scaled by the whole part. Its error, 4e-5, is a
 * hundredth of the least step of a pixel. */
EVERY float exp_below_zero(float x) {
    const float turns = x * 1.44269504f;
    const int whole = (int)(turns - 0.5f);
    const float f = (turns - (float)whole) * 0.693147181f;
    const float p = 1.0f + f * (1.0f + f * (0.5f + f * (0.166666667f + f * 0.0416666667f)));
    const uint32_t bits = (uint32_t)(whole + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

EVERY int32_t byte_of(int32_t light, float factor, int32_t most) {
    const int32_t found = (int32_t)((float)light * factor + 0.5f);
    return found < most ? found : most;
}

/* How light becomes opacity: units beyond `most` change nothing more. */
typedef struct {
    float rate;
    int32_t most;
} Tone;

/* Loops of a fixed length over whole numbers, without branches: the compiler makes vectors of them. */
EVERY void develop_chunk(const Ints4 *light, Tone tone, uint32_t *pixels) {
    int32_t blue[CHUNK], green[CHUNK], red[CHUNK], total[CHUNK];
    for (int k = 0; k < CHUNK; k++) {
        blue[k] = light[k][0];
        green[k] = light[k][1];
        red[k] = light[k][2];
        total[k] = light[k][3];
    }
    for (int k = 0; k < CHUNK; k++) {
        const int32_t seen = total[k] < tone.most ? total[k] : tone.most, some = total[k] + (total[k] == 0);
        const float factor = 255.0f * (1.0f - exp_below_zero((float)seen * tone.rate)) / (float)some;
        const int32_t alpha = byte_of(total[k], factor, 255);
        const int32_t b = byte_of(blue[k], factor, alpha), g = byte_of(green[k], factor, alpha);
        const int32_t r = byte_of(red[k], factor, alpha);
        pixels[k] = (uint32_t)(b | g << 8 | r << 16) | (uint32_t)alpha << 24;
    }
}

EVERY int is_dark(const Ints4 *light) {
    Ints4 any = light[0];
    for (int k = 1; k < CHUNK; k++) any |= light[k];
    return any[3] == 0;
}

WIDE_IF_ABLE void develop(const Ints4 *light, int count, float rate, uint8_t *pixels) {
    uint32_t made[CHUNK];
    const float bounded = larger(rate, -80.0f);
    const Tone tone = {bounded, bounded < -1e-6f ? (int32_t)(-80.0f / bounded) : 80000000};
    int x = 0;
    for (; x + CHUNK <= count; x += CHUNK, light += CHUNK, pixels += sizeof made) {
        if (is_dark(light)) {
            memset(pixels, 0, sizeof made);
            continue;
        }
        develop_chunk(light, tone, made);
        memcpy(pixels, made, sizeof made);
    }
    if (x == count) return;
    Ints4 last[CHUNK] = {{0}};
    memcpy(last, light, (size_t)(count - x) * sizeof(Ints4));
    develop_chunk(last, tone, made);
    memcpy(pixels, made, 4 * (size_t)(count - x));
}
