#include "clustering.h"

#include <stdlib.h>
#include <string.h>

/* What the rounds work with. `tie` is zero between two bodies, so only the labels met need clearing. */
typedef struct {
    double *load;       /* mass per label */
    float *tie;         /* weight from the body at hand to each label */
    int32_t *met;       /* labels that it is tied to */
} Work;

static void free_work(Work *work) {
    free(work->load);
    free(work->tie);
    free(work->met);
}

static int make_work(Work *work, int count) {
    work->load = malloc((size_t)count * sizeof(double));
    work->tie = calloc((size_t)count, sizeof(float));
    work->met = malloc((size_t)count * sizeof(int32_t));
    if (work->load && work->tie && work->met) return 0;
    free_work(work);
    return -1;
}

/* The label with room that body `i` is tied to most; its own where none is better. */
static int best_label(Links links, const float *weight, float mass, float cap, const int32_t *label,
                      Work *work, int i) {
    int met = 0;
    for (int h = links.starts[i]; h < links.starts[i + 1]; h++) {
        const int near = label[links.neighbors[h]];
        if (!(weight[h] > 0.0f) || links.neighbors[h] == i) continue;
        if (work->tie[near] == 0.0f) work->met[met++] = near;
        work->tie[near] += weight[h];
    }
    int best = label[i];
    float most = work->tie[best];
    for (int k = 0; k < met; k++) {
        const int near = work->met[k];
        if (near != label[i] && work->tie[near] > most && work->load[near] + mass <= cap) {
            most = work->tie[near];
            best = near;
        }
    }
    for (int k = 0; k < met; k++) work->tie[work->met[k]] = 0.0f;
    return best;
}

static int one_round(Links links, const float *weight, const float *mass, const int32_t *order, float cap,
                     int32_t *label, Work *work) {
    int moved = 0;
    for (int k = 0; k < links.count; k++) {
        const int i = order[k];
        const int best = best_label(links, weight, mass[i], cap, label, work, i);
        if (best == label[i]) continue;
        work->load[label[i]] -= mass[i];
        work->load[best] += mass[i];
        label[i] = best;
        moved++;
    }
    return moved;
}

/* The neighbor that body `i` is tied to most, or -1. */
static int strongest(Links links, const float *weight, int i) {
    int best = -1;
    float most = 0.0f;
    for (int h = links.starts[i]; h < links.starts[i + 1]; h++) {
        if (weight[h] > most && links.neighbors[h] != i) {
            most = weight[h];
            best = links.neighbors[h];
        }
    }
    return best;
}

/* A star's leaves find its label full: those left alone share labels by the neighbor they hang on. */
static int join_leftovers(Links links, const float *weight, const float *mass, float cap, int32_t *label,
                          Work *work) {
    const int count = links.count;
    int32_t *members = calloc((size_t)count, sizeof(int32_t));
    int32_t *host_of = work->met;
    if (!members) return -1;
    for (int i = 0; i < count; i++) {
        members[label[i]]++;
        host_of[i] = -1;
    }
    for (int i = 0; i < count; i++) {
        if (members[label[i]] != 1) continue;
        const int near = strongest(links, weight, i);
        if (near < 0) continue;
        const int host = host_of[label[near]];
        if (host < 0 || work->load[host] + mass[i] > cap) {
            host_of[label[near]] = label[i];
            continue;
        }
        work->load[label[i]] -= mass[i];
        work->load[host] += mass[i];
        members[label[i]]--;
        members[host]++;
        label[i] = host;
    }
    free(members);
    return 0;
}

int cluster(Links links, const float *weight, const float *mass, const int32_t *order, float cap, int rounds,
            int32_t *label) {
    Work work;
    if (links.count == 0) return 0;
    if (make_work(&work, links.count) < 0) return -1;
    for (int i = 0; i < links.count; i++) {
        label[i] = i;
        work.load[i] = mass[i];
    }
    for (int round = 0; round < rounds; round++)
        if (one_round(links, weight, mass, order, cap, label, &work) < links.count / 100) break;
    const int status = join_leftovers(links, weight, mass, cap, label, &work);
    free_work(&work);
    return status;
}
