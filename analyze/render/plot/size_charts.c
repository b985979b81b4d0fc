#include "analyze/render/plot/charts_internal.h"

#include "libcommon/units.h"

#define MAX_SIZE_BARS 40

/* ---- How many of each size ---- */

static bool has_several_sizes(const struct plot_data *p, const struct plot_data *all)
{
    (void)all;
    size_t n = p->sizes.n_empty > 0;
    for (size_t b = 0; b < PLOT_DATA_N_LOG; b++)
        n += p->sizes.count[b] > 0;
    return n > 1;
}

static bool write_sizes(FILE *f, const struct plot_data *p, const char *title)
{
    size_t first = PLOT_DATA_N_LOG, last = 0, joined = 1;
    int64_t n = 0;
    char label[64];

    for (size_t b = 0; b < PLOT_DATA_N_LOG; b++) {
        if (p->sizes.count[b] > 0) {
            first = b < first ? b : first;
            last = b > last ? b : last;
        }
    }
    while (first <= last && last / joined - first / joined + 1 > MAX_SIZE_BARS)
        joined *= 2;
    plot_out_block(f, "sizes", "index from_bytes to_bytes requests label");
    if (p->sizes.n_empty > 0)
        plot_out_row(f, "irris", n++, 0.0, 0.0, (int64_t)p->sizes.n_empty, "0");
    for (size_t b = first / joined * joined; first <= last && b <= last; b += joined) {
        uint64_t count = 0;
        for (size_t k = b; k < b + joined && k < PLOT_DATA_N_LOG; k++)
            count += p->sizes.count[k];
        double from = plot_data_log_lower(b), to = plot_data_log_lower(b + joined);
        snprintf(label, sizeof label, "%.40s", units_size(from).s);
        plot_out_row(f, "irris", n++, from, to, (int64_t)count, label);
    }
    PLOT_OUT_CHART(f, p, title, "n", "i", n);
    return true;
}

const struct plot_kind plot_kind_sizes = {"sizes",
                                          "object sizes",
                                          "How many successful requests had which size.",
                                          .of_requests = true,
                                          .has_data = charts_has_durations,
                                          .is_worth = has_several_sizes,
                                          .write = write_sizes};

/* ---- How long each size takes ---- */

static bool has_latency_size(const struct plot_data *p)
{
    return p->sizes.density != NULL && p->operation->requests.n > 0;
}

static void put_classes(FILE *f, const struct requests *q)
{
    int64_t n = 0;

    plot_out_block(f, "classes", "index min_bytes max_bytes n min_ms p50_ms p90_ms p99_ms max_ms");
    for (size_t i = 0; i < q->n_sizes; i++) {
        const struct size_bucket *b = &q->sizes[i];
        const struct times *t = &b->dur;

        if (t->n > 0)
            plot_out_row(f, "iiiirrrrr", n++, b->min_bytes, b->max_bytes, t->n,
                         (double)t->fastest_ns / 1e6, (double)t->p50_ns / 1e6,
                         (double)t->p90_ns / 1e6, (double)t->p99_ns / 1e6,
                         (double)t->slowest_ns / 1e6);
    }
}

static bool write_latency_size(FILE *f, const struct plot_data *p, const char *title)
{
    const size_t n = PLOT_DATA_N_LOG * PLOT_DATA_N_LOG;
    size_t least[2], greatest[2];

    charts_extent(p->sizes.density, n, 1, &least[1], &greatest[1]);
    uint32_t most = charts_extent(p->sizes.density, n, PLOT_DATA_N_LOG, &least[0], &greatest[0]);
    plot_out_block(f, "density", "size_bucket bucket requests");
    for (size_t b = least[1]; b <= greatest[1]; b++)
        for (size_t s = least[0]; s <= greatest[0]; s++)
            plot_out_row(f, "iii", (int64_t)s, (int64_t)b,
                         (int64_t)p->sizes.density[s * PLOT_DATA_N_LOG + b]);
    put_classes(f, &p->operation->requests);
    PLOT_OUT_CHART(f, NULL, title, "first_size last_size first last most", "iiiir",
                   (int64_t)least[0], (int64_t)greatest[0], (int64_t)least[1], (int64_t)greatest[1],
                   (double)most);
    return true;
}

const struct plot_kind plot_kind_latency_size = {
    "latency-size", "latency by object size",
    "How many requests of which size took how long: the stronger the colour, the more. Lines: p50 "
    "and p99 of each class of sizes.",
    .has_data = has_latency_size, .write = write_latency_size};
