#include "analyze/render/report/headline.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/role.h"
#include "libcommon/int64.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_NAMES       4 /* names of operations; further ones are counted */
#define MAX_BRIEF_LINES 8 /* of findings in brief text, so that a report has 24 lines */

struct sentence {
    struct headline *h;
    size_t n;
    bool of_a_part;   /* some requests are in no figure */
    int64_t known_ns; /* resolution of durations; 0: exact */
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(s->h->s + s->n, HEADLINE_MAX - s->n, fmt, args);
    va_end(args);
    if (n > 0)
        s->n = s->n + (size_t)n < HEADLINE_MAX ? s->n + (size_t)n : HEADLINE_MAX - 1;
}

static void say_number(struct sentence *s, int64_t n, const char *what)
{
    if (n > 0)
        say(s, ", %s", units_counted(n, what).s);
}

/* Appends the throughput, with its interval if there is one. */
static void say_rate(struct sentence *s, const struct throughput *t, const struct statistics *st)
{
    bool bytes = known_all(&t->known, THROUGHPUT_BYTES) && t->n_bytes > 0;

    if (t->present && !bytes && !known_all(&t->known, THROUGHPUT_OBJECTS)) {
        say(s, ": what the successful requests delivered is not in the file");
        return;
    }
    if (!t->present) {
        say(s, ": no throughput");
        return;
    }
    say(s, ": %s",
        bytes ? units_byte_rate(t->bytes_per_s).s : units_object_rate(t->objects_per_s).s);
    if (st == NULL || !isfinite(st->bytes.mean.lo) || !isfinite(st->objects.mean.lo))
        return;
    const struct stats_ci *ci = bytes ? &st->bytes.mean : &st->objects.mean;
    if (ci->lo > 0 && isfinite(ci->hi))
        say(s, " (95 %% CI %s to %s%s)", bytes ? units_byte_rate(ci->lo).s : units_rate(ci->lo).s,
            bytes ? units_byte_rate(ci->hi).s : units_rate(ci->hi).s,
            *statistics_doubt(st, ci) != '\0' ? ", unreliable" : "");
}

static const char *rate_shown(int64_t n_bytes, int64_t n_objects, int64_t ns,
                              struct units_text *text)
{
    *text = n_bytes > 0 ? units_byte_rate((double)n_bytes / ((double)ns / 1e9))
                        : units_object_rate((double)n_objects / ((double)ns / 1e9));
    return text->s;
}

/* Appends the throughput over the part of a run in which requests succeeded, if it is short. */
static void say_coverage(struct sentence *s, const struct coverage *c)
{
    struct units_text part;

    if (!coverage_is_short(c))
        return;
    int64_t ok_ns = c->ok_end_ns - c->ok_start_ns;
    if (ok_ns > 0)
        say(s, ", %s over the %s in which requests succeeded",
            rate_shown(c->n_bytes, c->n_objects, ok_ns, &part), units_duration(ok_ns).s);
}

static void say_failures(struct sentence *s, int64_t n_errors, int64_t n)
{
    if (n_errors == 0)
        say(s, "; no errors.");
    else /* findings count all requests of a run, figures only those in the analysis */
        say(s, "; %s of %s%s requests failed (%s).", units_count(n_errors).s, units_count(n).s,
            s->of_a_part ? " counted" : "", units_pct(100 * (double)n_errors / (double)n).s);
}

static void say_operation(struct sentence *s, const struct operation *op)
{
    const struct requests *r = &op->requests;

    say(s, "%s", op->op);
    if (r->present && r->single_size && r->object_size_bytes > 0)
        say(s, " of %s", units_size((double)r->object_size_bytes).s);
    else if (r->present && !r->single_size)
        say(s, " of %s on average", units_size(r->mean_bytes).s);
    say_number(s, op->concurrency, "thread");
    say_number(s, op->n_hosts > 1 ? op->n_hosts : 0, "host");
    say_number(s, op->n_clients > 1 ? op->n_clients : 0, "client");
    if (op->n_requests == 0) {
        say(s, ": no request is left to analyse.");
        return;
    }
    if (op->n_requests == op->n_errors) {
        say(s, ": none of %s requests succeeded.", units_count(op->n_requests).s);
        return;
    }
    say_rate(s, throughput_shown(&op->judged, &op->throughput), op->statistics);
    say_coverage(s, &op->coverage);
    const struct times *d = &r->all.dur, *response = &r->response_time.dur;
    if (response->present)
        say(s, "; response time median %s, p99 %s; service time",
            units_duration(response->p50_ns).s, units_duration(response->p99_ns).s);
    if (d->present && known_all(&d->known, 1u << FIGURE_P50))
        say(s, "%s median %s, p99 %s%s", response->present ? "" : ";", units_duration(d->p50_ns).s,
            units_duration(d->p99_ns).s, r->single_size ? "" : " (all sizes)");
    else if (r->single_size && d->present && known_all(&d->known, 1u << FIGURE_MEAN))
        say(s, "; mean duration %s, slowest %s", units_real_duration(d->mean_ns).s,
            units_duration(d->slowest_ns).s);
    if (d->present && s->known_ns > 0)
        say(s, " (times are known to %s)", units_duration(s->known_ns).s);
    say_failures(s, operation_n_failed(op), operation_n_all(op));
}

/* Appends the p99 of each operation that the headline names: all of them together have none. */
static void say_p99s(struct sentence *s, const struct analysis *a)
{
    size_t n = 0;

    for (size_t k = 0; k < a->n_operations && k < MAX_NAMES; k++) {
        const struct requests *r = &a->operations[k].requests;
        const struct times *d = r->response_time.dur.present ? &r->response_time.dur : &r->all.dur;

        if (d->present && known_all(&d->known, 1u << FIGURE_P99))
            say(s, "%s%s %s", n++ > 0 ? ", " : "; p99 ", a->operations[k].op,
                units_duration(d->p99_ns).s);
    }
}

static void say_mix(struct sentence *s, const struct analysis *a)
{
    int64_t n = 0, n_errors = 0, concurrency = 0, n_hosts = 0;

    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        n += operation_n_all(op);
        n_errors += operation_n_failed(op);
        concurrency = int64_max(concurrency, op->concurrency);
        n_hosts = int64_max(n_hosts, op->n_hosts);
        if (k < MAX_NAMES)
            say(s, "%s%s", k > 0 ? ", " : "", op->op);
    }
    if (a->n_operations > MAX_NAMES)
        say(s, " and %zu more", a->n_operations - MAX_NAMES);
    say(s, " mixed");
    say_number(s, concurrency, "thread");
    say_number(s, n_hosts > 1 ? n_hosts : 0, "host");
    if (n == 0) {
        say(s, ": no request is left to analyse.");
        return;
    }
    const struct throughput *t = throughput_shown(&a->total.judged, &a->total.throughput);

    say_rate(s, t, NULL);
    if (t->present && t->n_bytes > 0 && known_all(&t->known, THROUGHPUT_BYTES | THROUGHPUT_OBJECTS))
        say(s, ", %s", units_object_rate(t->objects_per_s).s);
    say_coverage(s, &a->total.coverage);
    say_p99s(s, a);
    say_failures(s, n_errors, n);
}

/* Appends the phases: operations that ran one after another. */
static void say_phases(struct sentence *s, const struct analysis *a)
{
    int64_t n = 0, n_errors = 0, concurrency = 0;
    size_t n_phases = 0;

    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];

        if (!role_is_benchmark(op->role))
            continue;
        n += operation_n_all(op);
        n_errors += operation_n_failed(op);
        concurrency = int64_max(concurrency, op->concurrency);
        if (++n_phases > MAX_NAMES)
            continue;
        say(s, "%s%s", n_phases > 1 ? ", then " : "", op->op);
        if (op->judged.present && known_all(&op->judged.known, THROUGHPUT_OBJECTS))
            say(s, " %s", units_object_rate(op->judged.objects_per_s).s);
    }
    if (n_phases > MAX_NAMES)
        say(s, ", and %zu more", n_phases - MAX_NAMES);
    say_number(s, concurrency, "thread");
    say_p99s(s, a);
    say_failures(s, n_errors, n);
}

struct headline headline(const struct analysis *a)
{
    struct headline h = {""};
    struct sentence s = {.h = &h, .known_ns = dataset_duration_resolution_ns(a->dataset)};

    /* What a range left out counts here. */
    for (size_t i = 0; i < ANALYSIS_LEFT_OUT_PARTS - 1; i++)
        s.of_a_part |= analysis_left_out(a, i).n > 0;
    if (a->mixed)
        say_mix(&s, a);
    else if (a->operations[role_main(a)].role == ROLE_PHASE)
        say_phases(&s, a);
    else {
        const struct operation *op = &a->operations[role_main(a)];

        if (op->role == ROLE_PREPARATION)
            say(&s, "There was no benchmark, only its preparation: ");
        say_operation(&s, op);
    }
    return h;
}

/* Counts the benchmark's requests, and those that succeeded. */
static int64_t count_requests(const struct analysis *a, int64_t *n_ok)
{
    int64_t n = 0;

    *n_ok = 0;
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];

        if (!role_is_benchmark(op->role))
            continue;
        n += op->n_requests;
        *n_ok += op->n_requests - op->n_errors;
    }
    return n;
}

/* Whether a notice limits what may be concluded: all do that are not by design. */
static bool is_limit(const struct finding *x)
{
    return x->severity == FINDING_NOTICE && !x->kind->is_design;
}

enum exit_code headline_verdict(const struct analysis *a, struct headline *says)
{
    const struct findings *all = &a->findings;
    const struct statistics_doubted doubt = statistics_doubt_of(a);
    struct sentence s = {.h = says};
    size_t n_problems = 0, n_limits = 0;
    int main = role_main(a);
    int64_t n_ok, n = count_requests(a, &n_ok);
    bool has_rate = a->n_operations > 0 &&
                    (main >= 0 ? a->operations[main].judged.present : a->total.judged.present);

    *says = (struct headline){""};
    for (size_t i = 0; i < all->n; i++) {
        n_problems += all->v[i].severity == FINDING_PROBLEM;
        n_limits += is_limit(&all->v[i]);
    }
    if (n_ok == 0)
        say(&s, "There are no figures: %s. ",
            n == 0 ? "there is no request to analyse" : "no request succeeded");
    else if (!has_rate)
        say(&s, "There is no throughput: too few requests count for one. ");
    if (n_problems > 0)
        say(&s, "%s", units_counted((int64_t)n_problems, "problem").s);
    else if (all->n > 0)
        say(&s, "No problem; %s", units_counted((int64_t)all->n, "notice").s);
    else if (n_ok > 0 && n < FINDING_LEAST_REQUESTS)
        say(&s, "No finding: no errors, but too few requests to show if throughput is steady");
    else if (a->series_note != NULL)
        say(&s, "Nothing found in what the file holds");
    else if (n_ok > 0)
        say(&s, "No finding: %s",
            *doubt.why != '\0' ? "no errors, but the run is too short to show if it is steady"
                               : "steady, even, no errors");
    if (n_problems > 0)
        say_number(&s, (int64_t)(all->n - n_problems), "notice");
    if (doubt.permille > 0)
        say(&s, ". %s%s%sp%g: %s", doubt.op, *doubt.op != '\0' ? " " : "", doubt.of,
            doubt.permille / 10.0, doubt.why);
    else if (*doubt.why != '\0')
        say(&s, ". %s%s%s", doubt.op, *doubt.op != '\0' ? ": " : "", doubt.why);
    if (n_problems > 0 || n_ok == 0)
        return EXIT_FAILED;
    return *doubt.why != '\0' || !has_rate || n_limits > 0 || n < FINDING_LEAST_REQUESTS ||
                   a->series_note != NULL
               ? EXIT_UNDECIDED
               : EXIT_DONE;
}

const char *headline_op(const struct finding *f)
{
    return f->op != NULL && strstr(f->sentence, f->op) == NULL ? f->op : "";
}

const char *headline_severity(const struct finding *f)
{
    return f->severity == FINDING_PROBLEM ? "Problem" : "Notice";
}

size_t headline_put_findings(struct sheet *s, const struct analysis *a)
{
    const struct findings *all = &a->findings;
    struct headline says;
    enum exit_code verdict = headline_verdict(a, &says);
    size_t n_lines = 0, n = 0;

    sheet_verdict(s, verdict, "%s%s", says.s, all->n > 0 ? ":" : ".");
    for (; n < all->n && (!s->brief || n_lines < MAX_BRIEF_LINES); n++) {
        const struct finding *f = &all->v[n];
        const char *op = headline_op(f);
        char because[40] = "";

        if (f->n_because > 0)
            snprintf(because, sizeof because, " (caused by %zu)", f->because[0] + 1);
        sheet_line(s,
                   f->severity == FINDING_PROBLEM ? TEXT_ERROR
                   : is_limit(f)                  ? TEXT_WARNING
                                                  : TEXT_PLAIN,
                   "%zu. %s: %s%s%s%s", n + 1, headline_severity(f), op, *op != '\0' ? ": " : "",
                   f->sentence, because);
        n_lines += 1 + strlen(f->sentence) / 70;
    }
    sheet_gap(s);
    return all->n - n;
}
