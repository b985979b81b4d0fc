/* Makes an analysis of an aggregated capture. */
#include "analyze/aggregated/aggregate_internal.h"
#include "analyze/conclude/conclude.h"
#include "analyze/estimate/confidence.h"
#include "analyze/model/fields.h"
#include "analyze/model/role.h"
#include "analyze/requests/errors.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ABSENT(figure) (1u << (figure))

static const char *const unknown_sizes =
    "what successful requests delivered is not in this file: its bytes and objects include failed "
    "requests of unknown size";
static const char *const not_all =
    "not in this file: percentiles were averaged by the recorder, over 10-second groups, which do "
    "not hold all requests";

static const char *const seconds_alone =
    "By whole seconds, failed requests included; the first and last two are not in the file. "
    "Percentiles: each of 10 s alone.";

/* ---- Throughput ---- */

/* Returns the throughput of these amounts over the whole time of `part`. */
static struct throughput throughput_over(const struct aggregate_part *part, int64_t n_bytes,
                                         int64_t n_objects, int64_t n_errors)
{
    double seconds = (double)part->duration_ns / 1e9;

    if (part->duration_ns <= 0)
        return (struct throughput){0};
    return (struct throughput){
        .present = true,
        .known = {.absent = THROUGHPUT_PARTS | THROUGHPUT_ENDED},
        .start_ns = part->x->start_ns,
        .duration_ns = part->duration_ns,
        .n_bytes = n_bytes,
        .n_objects = (double)n_objects,
        .errors = n_errors,
        .bytes_per_s = (double)n_bytes / seconds,
        .objects_per_s = (double)n_objects / seconds,
    };
}

/* Returns the throughput of the successful requests, as far as the file has their amounts. */
static struct throughput throughput_of(const struct aggregate_part *part)
{
    struct throughput t =
        throughput_over(part, part->ok_bytes, part->ok_objects, part->x->n_errors);
    unsigned unknown = (part->ok_bytes_known ? 0 : THROUGHPUT_BYTES) |
                       (part->ok_objects_known ? 0 : THROUGHPUT_OBJECTS);

    t.known.absent |= unknown;
    t.known.why = unknown ? unknown_sizes : NULL;
    return t;
}

static struct segment_pick pick_of(const struct aggregate_part *part, size_t i)
{
    const struct aggfile_second *s = &part->x->seconds[i];
    return (struct segment_pick){aggregate_second_ns(part, i), s->bytes_per_s, s->objects_per_s};
}

static struct segments segments_of(const struct aggregate_part *part)
{
    const struct aggregate_window *w = &part->window;

    if (!w->present)
        return (struct segments){0};
    return (struct segments){
        .present = true,
        .duration_ns = NS_PER_S,
        .n = (int64_t)part->x->n_seconds,
        .by_objects = !w->by_bytes,
        .fastest = pick_of(part, w->fastest),
        .median = pick_of(part, w->median),
        .slowest = pick_of(part, w->slowest),
        .which = "without the first and last 2 s",
        .with_failed = part->x->n_errors > 0,
        .mean = {aggregate_second_ns(part, 0), w->mean_bytes_per_s, w->mean_objects_per_s},
    };
}

/* Returns the span of the file's whole seconds. */
static struct span range_of(const struct aggregate_part *part)
{
    if (!part->window.present)
        return (struct span){0};
    int64_t start_ns = aggregate_second_ns(part, 0);
    return (struct span){true, start_ns, start_ns + part->window.span_s * NS_PER_S};
}

/* ---- Hosts and clients ---- */

/* The file counts failed requests as delivered, so these figures include them. */
static struct host_result party_of(const struct aggfile_party *v, const struct aggregate_part *part)
{
    return (struct host_result){.host = v->name,
                                .n_requests = v->n_requests,
                                .n_errors = v->n_errors,
                                .throughput =
                                    throughput_over(part, v->n_bytes, v->n_objects, v->n_errors)};
}

static bool fill_hosts(struct host_result **hosts, size_t *n, const struct aggregate_part *part,
                       struct err *e)
{
    const struct aggfile_entry *x = part->x;

    *n = x->n_hosts > 1 ? x->n_hosts : 0;
    if (!mem_cleared(hosts, *n, e))
        return false;
    for (size_t i = 0; i < *n; i++)
        (*hosts)[i] = party_of(&x->hosts[i], part);
    return true;
}

static bool fill_clients(struct operation *to, const struct aggregate_part *part, struct err *e)
{
    const struct aggfile_entry *x = part->x;

    to->n_client_results = x->n_clients > 1 ? x->n_clients : 0;
    if (!mem_cleared(&to->clients, to->n_client_results, e) ||
        !mem_cleared(&to->client_requests, to->n_client_results, e))
        return false;
    for (size_t i = 0; i < to->n_client_results; i++) {
        const struct aggfile_party *v = &x->clients[i];
        bool is_timed = v->start_ns != AGGFILE_NO_TIME && v->end_ns != AGGFILE_NO_TIME;

        to->clients[i] = (struct client_result){.result = party_of(v, part),
                                                .n_bytes = v->n_bytes,
                                                .known = {.absent = is_timed ? 0 : CLIENT_TIMES},
                                                .first_start_ns = v->start_ns,
                                                .last_end_ns = v->end_ns};
    }
    return true;
}

/* ---- Requests ---- */

static double ns_of(double ms)
{
    return ms >= 0 && ms < 1e12 ? ms * 1e6 : 0;
}

static struct times times_of(const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;
    unsigned absent = times_quantile_bits();
    struct times t = {.present = true, .n = l->n_requests};

    if (isnan(l->mean_ms))
        absent |= ABSENT(FIGURE_MEAN) | ABSENT(FIGURE_STDDEV);
    t.mean_ns = ns_of(l->mean_ms);
    if (l->kind == AGGREGATE_SINGLE) {
        t.stddev_ns = ns_of(l->stddev_ms);
        t.fastest_ns = llround(ns_of(l->min_ms));
        t.slowest_ns = llround(ns_of(l->max_ms));
    } else {
        absent |= ABSENT(FIGURE_STDDEV) | ABSENT(FIGURE_FASTEST) | ABSENT(FIGURE_SLOWEST);
    }
    if (l->is_one_group) {
        const struct aggfile_group *g = &part->x->groups[0];
        absent &= ~(ABSENT(FIGURE_P50) | ABSENT(FIGURE_P90) | ABSENT(FIGURE_P99));
        t.p50_ns = llround(ns_of(g->p50_ms));
        t.p90_ns = llround(ns_of(g->p90_ms));
        t.p99_ns = llround(ns_of(g->p99_ms));
    }
    t.known = (struct known){
        absent, l->is_one_group  ? "not in this file: the recorder keeps no other percentiles"
                : l->is_complete ? AGGREGATE_NO_PERCENTILES
                                 : not_all};
    return t;
}

static bool fill_sizes(struct requests *q, const struct aggregate_latency *l, struct err *e)
{
    q->n_sizes = l->n_classes;
    if (!mem_cleared(&q->sizes, q->n_sizes, e))
        return false;
    for (size_t i = 0; i < q->n_sizes; i++) {
        const struct aggfile_class *c = &l->classes[i];
        q->sizes[i] = (struct size_bucket){
            .min_bytes = c->min_bytes,
            .max_bytes = c->max_bytes,
            .all = {.present = true,
                    .known = {times_quantile_bits() | ABSENT(FIGURE_SIZE) | ABSENT(FIGURE_MEAN),
                              AGGREGATE_NO_PERCENTILES},
                    .n = c->n_requests,
                    .mean_ns = ns_of(c->mean_ms),
                    .rated = true,
                    .fastest_bytes_per_s = c->fastest_bytes_per_s,
                    .slowest_bytes_per_s = c->slowest_bytes_per_s},
        };
    }
    return true;
}

static struct group_range range_in_ns(const struct aggregate_range *r)
{
    return (struct group_range){ns_of(r->min_ms), ns_of(r->max_ms)};
}

static bool fill_requests(struct requests *q, const struct aggregate_part *part, struct err *e)
{
    const struct aggregate_latency *l = &part->latency;
    const struct aggfile_entry *x = part->x;

    *q = (struct requests){.why = "not in this file"};
    if (l->kind == AGGREGATE_NO_GROUPS || x->n_requests == 0)
        return true;
    *q = (struct requests){
        .present = true,
        .of_whole_run = true,
        .with_failed = x->n_errors > 0,
        .single_size = l->kind == AGGREGATE_SINGLE,
        .n = l->n_requests,
        .all = {.dur = times_of(part)},
        .mean_bytes = (double)x->n_bytes / (double)x->n_requests,
    };
    if (l->kind == AGGREGATE_MULTI)
        return fill_sizes(q, l, e);
    if (x->n_bytes % x->n_requests == 0 && x->groups[0].object_bytes == x->n_bytes / x->n_requests)
        q->object_size_bytes = x->groups[0].object_bytes;
    q->groups = (struct request_groups){
        .v = x->groups,
        .clients = x->group_clients,
        .n = x->n_groups,
        .n_smallest = l->n_smallest_group,
        .p50 = range_in_ns(&l->p50),
        .p90 = range_in_ns(&l->p90),
        .p99 = range_in_ns(&l->p99),
    };
    return true;
}

/* ---- Operations ---- */

/* Fills the error groups: the file has the first messages, but neither times nor hosts of these
 * requests. */
static bool fill_errors(struct operation *to, const struct aggregate_part *part, struct err *e)
{
    struct error_cell *cells;
    if (!mem_new(&cells, part->n_messages, e))
        return false;
    for (size_t i = 0; i < part->n_messages; i++)
        cells[i] = (struct error_cell){part->messages[i], {.host = "", .count = 1}};
    bool ok = analysis_errors_of(to, cells, part->n_messages, e);
    for (size_t i = 0; i < to->n_error_groups; i++) {
        to->errors[i].known.absent = ERROR_TIMES;
        to->errors[i].n_hosts = 0;
    }
    free(cells);
    return ok;
}

static struct coverage coverage_of(const struct aggfile_entry *x)
{
    struct coverage c = {x->start_ns, x->end_ns,  x->start_ns,  x->end_ns,
                         0,           x->n_bytes, x->n_objects, 0};

    if (x->n_requests == x->n_errors) {
        c.ok_start_ns = INT64_MAX;
        c.ok_end_ns = INT64_MIN;
    }
    return c;
}

static bool fill_operation(struct operation *to, const struct aggregate *a,
                           const struct aggregate_part *part, struct err *e)
{
    const struct aggfile_entry *x = part->x;
    bool is_even = x->n_requests > 0 && x->n_objects % x->n_requests == 0;

    *to = (struct operation){
        .op = x->name,
        .n_requests = x->n_requests,
        .n_errors = x->n_errors,
        .n_objects = x->n_objects,
        .n_bytes = x->n_bytes,
        .objects_per_op = is_even ? x->n_objects / x->n_requests : 1,
        .concurrency = x->n_threads,
        .n_hosts = (int64_t)x->n_hosts,
        .n_clients = (int64_t)a->n_clients,
        .only_host = x->n_hosts == 1 ? x->hosts[0].name : NULL,
        .start_ns = x->start_ns,
        .end_ns = x->end_ns,
        .range = range_of(part),
        .throughput = throughput_of(part),
        .coverage = coverage_of(x),
        .segments = segments_of(part),
    };
    to->judged = to->throughput;
    return fill_hosts(&to->hosts, &to->n_host_results, part, e) && fill_clients(to, part, e) &&
           fill_requests(&to->requests, part, e) && fill_errors(to, part, e);
}

/* Writes the names of the parts to `to`. Returns how many. */
static size_t name_parties(const char **to, const struct aggregate_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        to[i] = parts->v[i].x->name;
    return parts->n;
}

static bool fill_total(struct cluster_total *to, const struct aggregate *a, struct err *e)
{
    const struct aggfile_entry *x = a->total.x;

    *to = (struct cluster_total){
        .present = a->overlaps,
        .range = range_of(&a->total),
        .throughput = throughput_of(&a->total),
        .coverage = coverage_of(x),
        .segments = segments_of(&a->total),
        .only_host = x->n_hosts == 1 ? x->hosts[0].name : NULL,
    };
    to->judged = to->throughput;
    if (!mem_new(&to->series_of, a->hosts.n + a->clients.n, e))
        return false;
    to->n_series_hosts = name_parties(to->series_of, &a->hosts);
    to->n_series_clients = name_parties(to->series_of + a->hosts.n, &a->clients);
    return !to->present || fill_hosts(&to->hosts, &to->n_hosts, &a->total, e);
}

/* ---- The analysis ---- */

/* Makes a dataset without rows that stands for the file. */
static bool stand_in(struct dataset *d, const struct aggregate *a, struct err *e)
{
    const struct aggfile_entry *x = a->total.x;
    struct stat st;

    *d = (struct dataset){.n_threads = (size_t)x->n_threads, .n_rows = (uint64_t)x->n_requests};
    if (!mem_cleared(&d->inputs, 1, e))
        return false;
    struct dataset_input *in = &d->inputs[d->n_inputs++];
    in->first_start_ns = x->start_ns;
    in->last_end_ns = x->end_ns;
    in->n_rows = in->info.n_rows = d->n_rows;
    in->info.generation = RECFILE_AGGREGATE;
    if (stat(a->file.path, &st) == 0)
        in->info.n_file_bytes = (uint64_t)st.st_size;
    return mem_text(&in->path, a->file.path, e) &&
           keptlines_add(&in->comments, 1, a->file.command, strlen(a->file.command), e);
}

bool aggregate_analyze(struct analysis *a, struct dataset *d, const struct aggregate *of,
                       bool by_second, struct err *e)
{
    int64_t start_s, run_ns = 0;
    *a = (struct analysis){.dataset = d,
                           .options = {.by_second = by_second},
                           .n_rows = of->total.x->n_requests,
                           .run_start_ns = of->total.x->start_ns,
                           .mixed = of->overlaps,
                           .range = RANGE_FULL,
                           .together = aggregate_together(of, &start_s),
                           .notes = of->warnings,
                           .series_note = seconds_alone,
                           .aggregate = of};
    if (!stand_in(d, of, e) || !mem_cleared(&a->operations, of->ops.n, e))
        return false;
    while (a->n_operations < of->ops.n) {
        size_t k = a->n_operations++;
        if (!fill_operation(&a->operations[k], of, of->in_order[k], e))
            return false;
    }
    bool ok = role_set(a, e) && fill_total(&a->total, of, e) &&
              conclude_course(a, aggregate_course, of, &run_ns, e) && conclude(a, NULL, run_ns, e);
    for (size_t k = 0; ok && by_second && k < a->n_operations; k++)
        if ((ok = aggregate_by_second(&a->operations[k], of, of->in_order[k], e)))
            statistics_find_change(a->operations[k].statistics, &a->findings, a->operations[k].op);
    return ok;
}
