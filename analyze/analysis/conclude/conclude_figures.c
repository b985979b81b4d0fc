/* Findings from the figures, the files and the recorder's comments: what could mislead a reader
 * (docs/how-the-numbers-are-made.md, section 11). */
#include "analyze/analysis/conclude/conclude.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define HOST_SHARE_LEAST    0.8 /* of the mean host */
/* Hosts that are picked at random differ too: the standard deviation of a count is the square root
 * of its mean. */
#define CHANCE_SDS          5
/* Share of a section's rows, from which on they are reported as repeated. */
#define REPEATED_PCT        1
#define REPEATED_PCT_COARSE 50 /* where the clock gives whole milliseconds */

#define LATE_NS INT64_C(1000000)

/* ---- Inputs ---- */

static bool about_input(struct analysis *a, const struct dataset_input *in, struct err *e)
{
    struct finding damaged = finding_of("damaged", FINDING_PROBLEM, 0),
                   unverified = finding_of("unverified", FINDING_PROBLEM, 0),
                   several = finding_of("several-headers", FINDING_NOTICE, 0);
    const struct recorded_damage *damage = &in->recorded.damage;
    int64_t n = damage->n_dropped;

    finding_figure(&damaged, "n_dropped", (double)n);
    finding_figure(&damaged, FINDING_HOLES, (double)damage->n_holes);
    finding_figure(&damaged, "n_rows", (double)in->info.n_rows);
    finding_figure(&unverified, "n_unverified", (double)in->info.n_unverified);
    finding_figure(&several, "n_headers", (double)in->info.n_headers);
    if (n > 0 &&
        !findings_add(&a->findings, &damaged, e,
                      "%s %s: %s row%s or place%s left out, and throughput lacks what they "
                      "held; the first: %s",
                      in->path,
                      recfile_n_dropped(&in->info) > 0 ? "is damaged" : "was made of damaged files",
                      units_count(n).s, n == 1 ? "" : "s", n == 1 ? " is" : "s are", damage->first))
        return false;
    if (in->info.n_unverified > 0 &&
        !findings_add(
            &a->findings, &unverified, e,
            "%s: %s row%s from frames with a wrong checksum: their figures may be wrong too",
            in->path, units_count((int64_t)in->info.n_unverified).s,
            in->info.n_unverified == 1 ? " comes" : "s come"))
        return false;
    return in->info.n_headers < 2 ||
           findings_add(
               &a->findings, &several, e,
               "%s holds %u captures. They are analysed as one run; their threads count as "
               "different ones",
               in->path, in->info.n_headers);
}

/* Rates a stop of s3load like a stall of the store. False: it is too small to report. */
static bool place_stop(struct finding *f, const struct dataset_input *in,
                       const struct recorded_stop *stop)
{
    finding_set_times(f, stop->start_ns, stop->start_ns + stop->length_ns);
    f->lost_frac =
        (double)stop->length_ns / ((double)in->last_end_ns - (double)in->first_start_ns + 1);
    if (stop->length_ns >= FINDING_PROBLEM_NS || f->lost_frac >= FINDING_PROBLEM_FRAC)
        f->severity = FINDING_PROBLEM;
    return in->last_end_ns > in->first_start_ns && f->lost_frac >= FINDING_WORTH_FRAC;
}

/* Adds findings from s3load's comments in an input. */
static bool about_recorder(struct analysis *a, const struct dataset_input *in, struct err *e)
{
    struct recorded_note notes[RECORDED_MAX_NOTES];
    size_t n = recorded_notes(&in->recorded, a->dataset->n_threads, notes);
    bool ok = true, one = a->dataset->n_inputs == 1;

    for (size_t i = 0; ok && i < n; i++) {
        const struct recorded_note *x = &notes[i];
        struct finding f = finding_of(x->code, x->is_problem, 0);

        for (size_t k = 0; k < RECORDED_MAX_FIGURES && x->figures[k].name != NULL; k++)
            finding_figure(&f, x->figures[k].name, x->figures[k].value);
        if (x->when.length_ns > 0 && !place_stop(&f, in, &x->when))
            continue;
        ok = findings_add(&a->findings, &f, e, "%s%s%s", one ? "" : in->path, one ? "" : ": ",
                          x->message);
    }
    return ok;
}

/* A section of an input, for sorting by contents. */
struct section {
    const struct dataset_section *s;
    const struct dataset_input *in;
    size_t index; /* of all sections, in the order of reading */
    bool is_copy; /* of an earlier section */
};

static int compare_sections(const void *a, const void *b)
{
    const struct section *x = a, *y = b;
    if (x->s->n_rows != y->s->n_rows)
        return x->s->n_rows < y->s->n_rows ? -1 : 1;
    if (x->s->fingerprint != y->s->fingerprint)
        return x->s->fingerprint < y->s->fingerprint ? -1 : 1;
    if (x->in != y->in)
        return x->in < y->in ? -1 : 1;
    return (x->s->number > y->s->number) - (x->s->number < y->s->number);
}

static bool same_requests(const struct dataset_section *x, const struct dataset_section *y)
{
    return x->n_rows == y->n_rows && x->fingerprint == y->fingerprint;
}

/* Adds a finding for each section that is a copy; copies inside of one file are one finding. */
static bool about_sections(struct analysis *a, struct section *v, size_t n, struct err *e)
{
    for (size_t i = 1, of = 0; i < n; i++) {
        if (!same_requests(v[i].s, v[of].s)) {
            of = i;
            continue;
        }
        struct finding f = finding_of("copied-capture", FINDING_PROBLEM, 0);
        v[i].is_copy = true;
        if (v[i].in != v[i - 1].in) {
            if (!findings_add(&a->findings, &f, e, "%s seems to be a copy of %s: both count",
                              v[i].in->path, v[i - 1].in->path))
                return false;
            continue;
        }
        size_t n_copies = 1;
        while (i + 1 < n && v[i + 1].in == v[i].in && same_requests(v[i + 1].s, v[i].s)) {
            n_copies++;
            v[++i].is_copy = true;
        }
        finding_figure(&f, "n_copies", (double)n_copies);
        finding_figure(&f, "n_rows", (double)v[i].s->n_rows);
        if (!findings_add(
                &a->findings, &f, e,
                "%s holds the same %s requests %s times, each time below a header line of "
                "its own. All of them count",
                v[i].in->path, units_count((int64_t)v[i].s->n_rows).s,
                units_count((int64_t)n_copies + 1).s))
            return false;
    }
    return true;
}

/* Returns how many rows of a section are in another one too; 0 if too few to report. Clocks of
 * whole milliseconds give several clients the same times by chance, finer ones do not. */
static uint64_t n_repeated(const struct scan *const *scans, size_t n_scans, size_t section)
{
    struct scan_repeats sum = {0};
    for (size_t k = 0; k < n_scans; k++) {
        if (scans[k]->repeats == NULL)
            continue;
        const struct scan_repeats *r = &scans[k]->repeats[section];
        sum.n += r->n;
        sum.n_repeated += r->n_repeated;
        sum.n_fine += r->n_fine;
    }
    uint64_t least_pct = sum.n_fine > 0 ? REPEATED_PCT : REPEATED_PCT_COARSE;
    return sum.n_repeated * 100 >= sum.n * least_pct ? sum.n_repeated : 0;
}

static bool about_identical_rows(struct analysis *a, uint64_t n, struct err *e)
{
    struct finding f = finding_of("identical-rows", FINDING_PROBLEM, 0);
    finding_figure(&f, "n_identical", (double)n);
    finding_figure(&f, "n_rows", (double)a->n_rows);
    return n == 0 ||
           findings_add(
               &a->findings, &f, e,
               "%s of %s rows are the same as another row, to the nanosecond: these requests "
               "count twice",
               units_count((int64_t)n).s, units_count(a->n_rows).s);
}

static bool about_copies(struct analysis *a, const struct scan *const *scans, size_t n_scans,
                         struct err *e)
{
    const struct dataset *d = a->dataset;
    uint64_t n_identical = 0;
    size_t n = 0;

    for (size_t k = 0; k < n_scans; k++)
        n_identical += scans[k]->n_identical;
    for (size_t i = 0; i < d->n_inputs; i++)
        n += d->inputs[i].n_sections;
    struct section *v;
    if (!mem_new(&v, n, e))
        return false;
    n = 0;
    for (size_t i = 0; i < d->n_inputs; i++)
        for (size_t k = 0; k < d->inputs[i].n_sections; k++, n++)
            v[n] = (struct section){&d->inputs[i].sections[k], &d->inputs[i], n, false};
    qsort(v, n, sizeof *v, compare_sections);
    bool ok = about_sections(a, v, n, e);
    for (size_t i = 0; i < n; i++)
        if (!v[i].is_copy)
            n_identical += n_repeated(scans, n_scans, v[i].index);
    free(v);
    /* Coarse times coincide by chance. */
    if (dataset_duration_resolution_ns(d) > 0)
        n_identical = 0;
    return ok && about_identical_rows(a, n_identical, e);
}

/* ---- The run as a whole ---- */

/* Returns what each thread did in some scans, by index into dataset.threads; threads without
 * requests end before they start. NULL: out of memory. */
static struct scan_thread *gather_threads(const struct dataset *d, const struct scan *const *scans,
                                          size_t n_scans, struct err *e)
{
    struct scan_thread *threads;

    if (!mem_new(&threads, d->n_threads, e))
        return NULL;
    for (size_t i = 0; i < d->n_threads; i++)
        threads[i] = (struct scan_thread){.first_start_ns = INT64_MAX, .last_end_ns = INT64_MIN};
    for (size_t k = 0; k < n_scans; k++) {
        for (size_t i = 0; i < scans[k]->n_threads; i++) {
            const struct scan_thread *x = &scans[k]->threads[i];
            struct scan_thread *all = &threads[table_thread_index(scans[k]->t, i)];

            all->first_start_ns = int64_min(x->first_start_ns, all->first_start_ns);
            all->last_end_ns = int64_max(x->last_end_ns, all->last_end_ns);
            all->busy_ns += x->busy_ns;
        }
    }
    return threads;
}

/* Adds a finding if threads were busy for longer than they existed: they ran several requests at a
 * time, which no recorder does. Clock errors may explain one part in a hundred. */
static bool about_overlap(struct analysis *a, const struct scan *const *scans, size_t n_scans,
                          struct err *e)
{
    size_t n = 0, n_used = 0;

    if (dataset_is_imported(a->dataset)) /* its threads are guessed */
        return true;
    struct scan_thread *threads = gather_threads(a->dataset, scans, n_scans, e);

    if (threads == NULL)
        return false;
    for (size_t i = 0; i < a->dataset->n_threads; i++) {
        const struct scan_thread *x = &threads[i];
        if (x->first_start_ns > x->last_end_ns)
            continue;
        uint64_t lasted_ns = (uint64_t)(x->last_end_ns - x->first_start_ns);
        n_used++;
        n += x->busy_ns > lasted_ns && x->busy_ns - lasted_ns > x->busy_ns / 100;
    }
    free(threads);
    struct finding f = finding_of("overlapping-runs", FINDING_PROBLEM, 0);
    finding_figure(&f, "n_threads", (double)n);
    return n == 0 || 2 * n < n_used ||
           findings_add(
               &a->findings, &f, e,
               "%s thread%s ran several requests at a time. If the file holds several runs, "
               "join their captures by `s3analyze merge`, which keeps threads apart",
               units_count((int64_t)n).s, n == 1 ? "" : "s");
}

/* ---- Operations ---- */

static bool about_samples(struct analysis *a, const struct operation *op, struct err *e)
{
    struct finding f = finding_of("few-samples", op->n_requests == 0, 0);
    f.op = op->op;
    if (op->skipped == NULL)
        return true;
    if (op->n_requests == 0)
        return findings_add(&a->findings, &f, e,
                            "No request is left after --skip, --from and --to, or in the time in "
                            "which all threads (or clients) were active");
    if (op->n_requests == op->n_errors)
        return findings_add(&a->findings, &f, e, "No request succeeded");
    if (op->n_requests == 1)
        return findings_add(&a->findings, &f, e, "A single request is too few for a throughput");
    if (!op->range.present || !op->throughput.present)
        return findings_add(&a->findings, &f, e,
                            "At no time were all threads active, so there is no throughput: use "
                            "s3analyze analyze --range full");
    int64_t range_ns = op->range.end_ns - op->range.start_ns;
    finding_figure(&f, "range_ns", (double)range_ns);
    return findings_add(
        &a->findings, &f, e,
        "The active range of %s is too short for two segments, so none is the fastest "
        "or slowest: use s3analyze analyze with a shorter --dur",
        units_duration(range_ns).s);
}

void conclude_add_coverage(struct coverage *to, const struct coverage *c)
{
    to->start_ns = int64_min(to->start_ns, c->start_ns);
    to->end_ns = int64_max(to->end_ns, c->end_ns);
    to->ok_start_ns = int64_min(to->ok_start_ns, c->ok_start_ns);
    to->ok_end_ns = int64_max(to->ok_end_ns, c->ok_end_ns);
    to->n_bytes += c->n_bytes;
    to->n_objects += c->n_objects;
}

/* Adds a finding if no request of the operation succeeded in its last tenth or longer. */
static bool about_coverage(struct findings *out, const struct operation *op, struct err *e)
{
    const struct coverage *c = &op->coverage;
    struct finding f = finding_of("no-success", FINDING_PROBLEM, 0);

    f.lost_frac = operation_dead_frac(op);
    if (f.lost_frac < FINDING_LEAST_DEAD)
        return true;
    int64_t rest_ns = c->end_ns - c->ok_end_ns;
    f.op = op->op;
    f.has_start = true;
    f.start_ns = c->ok_end_ns;
    f.within_ns = c->within_ns;
    finding_figure(&f, "n_failed", (double)c->n_after);
    finding_figure(&f, "rest_ns", (double)rest_ns);
    return findings_add(out, &f, e, "No request succeeded after %s UTC (%s, %s requests)",
                        finding_clock(c->start_ns, c->end_ns, c->ok_end_ns).s,
                        units_duration(rest_ns).s, units_count(c->n_after).s);
}

static bool about_error_groups(struct analysis *a, const struct operation *op, struct err *e)
{
    struct finding f = finding_of("error-groups", FINDING_NOTICE, 0);
    f.op = op->op;
    return op->n_error_groups < ANALYSIS_MAX_ERROR_GROUPS ||
           findings_add(&a->findings, &f, e,
                        "There are more than %d kinds of errors: the rarest are counted as "
                        "\"other\"",
                        ANALYSIS_MAX_ERROR_GROUPS - 1);
}

static bool about_range(struct analysis *a, const struct operation *op, struct err *e)
{
    /* A run shorter than two segments has no figures that could mislead. */
    if (!op->range_is_short || !op->single_segments.present)
        return true;
    int64_t range_ns = op->range.present ? op->range.end_ns - op->range.start_ns : 0;
    double frac = (double)range_ns / (double)op->whole_run_ns;
    struct finding f = finding_of("short-range", FINDING_NOTICE, 0);
    f.op = op->op;
    finding_figure(&f, "range_ns", (double)range_ns);
    finding_figure(&f, "whole_run_ns", (double)op->whole_run_ns);
    finding_figure(&f, "n_threads", (double)op->n_slow_threads);
    return findings_add(
        &a->findings, &f, e,
        "All %s threads were active together for only %s (%s of the run): %s began "
        "late, stopped early or got stuck (the worst: thread %u). See the "
        "throughput over the single range, or use s3analyze analyze --range full",
        units_count(op->concurrency).s, units_duration(range_ns).s, units_pct(100 * frac).s,
        op->n_slow_threads == 1 ? "one" : units_count((int64_t)op->n_slow_threads).s,
        op->n_slow_threads > 0 ? op->slow_threads[0].thread : 0);
}

static int64_t n_done(const struct host_result *h)
{
    return h->n_requests - h->n_errors;
}

/* Adds a finding if hosts are unevenly loaded. Compares numbers of successful requests: the rate
 * over a host's own range means little if it had few. */
static bool add_hosts(struct findings *out, const char *op, const struct host_result *hosts,
                      size_t n, struct err *e)
{
    size_t least = 0, most = 0;
    double sum = 0;

    for (size_t k = 0; k < n; k++) {
        sum += (double)n_done(&hosts[k]);
        if (n_done(&hosts[k]) < n_done(&hosts[least]))
            least = k;
        if (n_done(&hosts[k]) > n_done(&hosts[most]))
            most = k;
    }
    if (n < 2 || sum == 0)
        return true;
    double mean = sum / (double)n;
    double low = (double)n_done(&hosts[least]), high = (double)n_done(&hosts[most]);
    if (low >= HOST_SHARE_LEAST * mean || mean - low <= CHANCE_SDS * sqrt(mean))
        return true;
    struct finding f = finding_of("uneven-hosts", FINDING_NOTICE, 0);
    f.op = op;
    f.ratio = low / high;
    finding_figure(&f, "n_hosts", (double)n);
    finding_figure(&f, "least_share", low / mean);
    finding_figure(&f, "most_share", high / mean);
    bool is_tiny = low > 0 && low < .01 * mean;
    struct phrase share =
        is_tiny ? phrase_format("less than 1 %%") : phrase_format("%.0f %%", 100 * low / mean);
    return findings_add(out, &f, e,
                        "Hosts are unevenly loaded: %s completed %s of the mean number of "
                        "requests, %s %.0f %%",
                        intern_shown(hosts[least].host), share.s, intern_shown(hosts[most].host),
                        100 * high / mean);
}

/* If the clocks of ranks may differ by more than this share of the median duration, the order of
 * events on two ranks is not known. */
#define CLOCKS_APART_FRAC 0.1

static bool about_clocks(struct analysis *a, const struct operation *op, struct err *e)
{
    int64_t error_ns = 0;

    for (size_t i = 0; i < a->dataset->n_inputs; i++) {
        const struct recorded *r = &a->dataset->inputs[i].recorded;
        if (r->n_ranks > 1 && r->clock_error_ns > error_ns)
            error_ns = r->clock_error_ns;
    }
    int64_t p50_ns = op->requests.single_size ? op->requests.all.dur.p50_ns : 0;
    struct finding f = finding_of("clocks-apart", FINDING_PROBLEM, 0);
    f.op = op->op;
    finding_figure(&f, "clock_error_ns", (double)error_ns);
    finding_figure(&f, "p50_ns", (double)p50_ns);
    return p50_ns == 0 || (double)error_ns <= (double)p50_ns * CLOCKS_APART_FRAC ||
           findings_add(
               &a->findings, &f, e,
               "The clocks of the ranks agree only within %s, and the median request takes "
               "%s: which of two requests of different ranks came first is not known",
               units_duration(error_ns).s, units_duration(p50_ns).s);
}

/* Adds a finding if at least 1 % of an open loop's requests began late: then they change the 99th
 * percentile. */
static bool about_late_starts(struct analysis *a, const struct operation *op, const struct table *t,
                              struct err *e)
{
    int64_t n = 0, n_late = 0, worst_ns = 0;

    for (size_t i = 0; !packed_has_none(&t->late) && i < t->n; i++) {
        if (!packed_has(&t->late, i))
            continue;
        int64_t ns = packed_get(&t->late, i);
        n++;
        n_late += ns > LATE_NS;
        worst_ns = int64_max(worst_ns, ns);
    }
    struct finding f = finding_of("late-starts", FINDING_NOTICE, 0);
    f.op = op->op;
    finding_figure(&f, "n_late", (double)n_late);
    finding_figure(&f, "n_requests", (double)n);
    finding_figure(&f, "worst_ns", (double)worst_ns);
    return n_late == 0 || n_late * 100 < n ||
           findings_add(&a->findings, &f, e,
                        "%s of %s requests began over %s after they were due, up to %s: only the "
                        "response time has that wait",
                        units_count(n_late).s, units_count(n).s, units_duration(LATE_NS).s,
                        units_duration(worst_ns).s);
}

bool conclude_figures(struct analysis *a, const struct scan *const *scans, struct err *e)
{
    struct findings *out = &a->findings;
    bool ok = scans == NULL || (about_copies(a, scans, a->n_operations, e) &&
                                about_overlap(a, scans, a->n_operations, e));

    for (size_t i = 0; ok && i < a->dataset->n_inputs; i++)
        ok = about_input(a, &a->dataset->inputs[i], e) &&
             about_recorder(a, &a->dataset->inputs[i], e);
    for (size_t k = 0; ok && k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        if (!role_is_benchmark(op->role))
            continue;
        ok = about_samples(a, op, e) && about_range(a, op, e);
        if (ok && op->n_requests > 0)
            ok = about_coverage(out, op, e) && about_error_groups(a, op, e) &&
                 about_clocks(a, op, e) &&
                 (scans == NULL || about_late_starts(a, op, scans[k]->t, e)) &&
                 (a->mixed || add_hosts(out, op->op, op->hosts, op->n_host_results, e));
    }
    return ok && add_hosts(out, NULL, a->total.hosts, a->total.n_hosts, e);
}
