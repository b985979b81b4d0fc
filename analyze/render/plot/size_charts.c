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
    plot_out_block(f, "chart", CHARTS_COLUMNS " n");
    plot_out_row(f, "srrri", title, CHARTS_TIMES(p), n);
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
    size_t least[2] = {PLOT_DATA_N_LOG, PLOT_DATA_N_LOG}, greatest[2] = {0, 0};
    uint32_t most = 0;

    for (size_t i = 0; i < PLOT_DATA_N_LOG * PLOT_DATA_N_LOG; i++) {
        const size_t at[2] = {i / PLOT_DATA_N_LOG, i % PLOT_DATA_N_LOG};
        for (size_t k = 0; k < 2 && p->sizes.density[i] > 0; k++) {
            least[k] = at[k] < least[k] ? at[k] : least[k];
            greatest[k] = at[k] > greatest[k] ? at[k] : greatest[k];
        }
        most = p->sizes.density[i] > most ? p->sizes.density[i] : most;
    }
    /* Add a margin, so that there are two rows and columns at least: gnuplot draws no picture of
     * one. */
    for (size_t k = 0; k < 2; k++) {
        least[k] -= least[k] > 0;
        greatest[k] += greatest[k] + 1 < PLOT_DATA_N_LOG;
    }
    plot_out_block(f, "density", "size_bucket bucket requests");
    for (size_t b = least[1]; b <= greatest[1]; b++)
        for (size_t s = least[0]; s <= greatest[0]; s++)
            plot_out_row(f, "iii", (int64_t)s, (int64_t)b,
                         (int64_t)p->sizes.density[s * PLOT_DATA_N_LOG + b]);
    put_classes(f, &p->operation->requests);
    plot_out_block(f, "chart", CHARTS_COLUMNS " first_size last_size first last most");
    plot_out_row(f, "srrriiiir", title, 0.0, 0.0, 1.0, (int64_t)least[0], (int64_t)greatest[0],
                 (int64_t)least[1], (int64_t)greatest[1], (double)most);
    return true;
}

const struct plot_kind plot_kind_latency_size = {
    "latency-size", "latency by object size",
    "How many requests of which size took how long: the stronger the colour, the more. Lines: p50 "
    "and p99 of each class of sizes.",
    .has_data = has_latency_size, .write = write_latency_size};
