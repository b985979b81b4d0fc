/* Errors: bursts, found as the stretch of bins whose share of failed requests differs most from
 * that of the rest (the interval of the largest log-likelihood ratio), and steady errors. */
#include "analyze/findings/find.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BURST_LLR      25.0
#define BURST_MAX_FRAC .9 /* of the bins in which requests end; beyond that they are steady */
#define BURST_TIMES    3  /* the share within against that outside */
#define MASKED_FRAC    .25
#define CONFINED_FRAC  .95
#define MAX_BURSTS     4 /* of one message that are told apart */
#define N_REFINEMENTS  4
#define LEAST_PROBLEM  .01
#define TIME_PROBLEM   .05 /* of the threads' time */
#define TIME_TIMES     3   /* their share of the time against that of the requests, to be said */

struct burst {
    bool found;
    size_t first, last;        /* bins */
    double n_inside, n_errors; /* requests and errors in it */
};

/* Bins that are searched: what ends after the last start is the longest request of each thread, so
 * that time-outs crowd there by themselves. */
static size_t n_searched(const struct course *c)
{
    return course_bin(c, c->last_start_ns) + 1;
}

/* Adds the requests of the bins [first, end), and how many of them had the error. */
static void add_bins(const struct course *c, const struct course_message *m, size_t first,
                     size_t end, double *n, double *n_errors)
{
    for (size_t j = first; j < end; j++) {
        *n += (double)c->ok[j] + (double)c->failed[j];
        *n_errors += m->by_bin[j];
    }
}

/* How many of the bins [first, end) a request ended in: a run that stood has many in which none
 * did. */
static size_t n_used(const struct course *c, size_t first, size_t end)
{
    size_t n = 0;
    for (size_t j = first; j < end; j++)
        n += c->ok[j] + c->failed[j] > 0;
    return n;
}

/* The stretch of bins that are not taken whose errors speak most for the share inside instead of
 * that outside; false: none does. */
static bool best_bins(const struct course *c, const uint32_t *errors, const uint8_t *taken,
                      double outside, double inside, struct burst *b)
{
    double failed = log(inside / outside), good = log((1 - inside) / (1 - outside));
    struct top_stretch top = {0};

    for (size_t j = 0, end = n_searched(c); j < end; j++) {
        double n = (double)c->ok[j] + (double)c->failed[j], x = errors[j];
        top_stretch_add(&top, j, taken[j] ? -INFINITY : x * failed + (n - x) * good);
    }
    b->first = top.first;
    b->last = top.last;
    return top.most > 0;
}

static double binomial_log(double x, double n, double p)
{
    return (x > 0 ? x * log(p) : 0) + (n > x ? (n - x) * log(1 - p) : 0);
}

/* Errors of a message among the requests of the bins that are not taken. */
struct shares {
    const struct course *c;
    const struct course_message *m;
    const uint8_t *taken;
    double n, n_errors;
};

/* Begins with a guess of the share inside, and replaces it by that of the stretch that it gives.
 * Returns how much more likely the stretch is than the same share throughout, as a logarithm. */
static double refine_burst(const struct shares *x, double inside, struct burst *b)
{
    double share = x->n_errors / x->n, outside = fmin(share, inside) / 2;
    for (int i = 0; i < N_REFINEMENTS; i++) {
        *b = (struct burst){0};
        if (!best_bins(x->c, x->m->by_bin, x->taken, outside, inside, b))
            return 0;
        add_bins(x->c, x->m, b->first, b->last + 1, &b->n_inside, &b->n_errors);
        inside = fmin(fmax(b->n_errors / b->n_inside, 1e-9), 1 - 1e-9);
        outside = fmax((x->n_errors - b->n_errors + .5) / (x->n - b->n_inside + 1), 1e-9);
        if (inside <= outside)
            return 0;
    }
    b->found = inside >= BURST_TIMES * outside &&
               (double)n_used(x->c, b->first, b->last + 1) <
                   BURST_MAX_FRAC * (double)n_used(x->c, 0, n_searched(x->c));
    return binomial_log(b->n_errors, b->n_inside, inside) +
           binomial_log(x->n_errors - b->n_errors, x->n - b->n_inside, fmin(outside, 1 - 1e-9)) -
           binomial_log(x->n_errors, x->n, fmin(share, 1 - 1e-9));
}

/* A burst of seconds begins and ends within one: the errors next to it are its own. */
static void extend_to_edges(const struct course *c, const struct course_message *m, struct burst *b)
{
    bool before = b->first > 0 && m->by_bin[b->first - 1] > 0;
    bool after = b->last + 1 < c->n_bins && m->by_bin[b->last + 1] > 0;

    if (c->has_requests || !b->found)
        return;
    b->first -= before;
    b->last += after;
    double n = (before ? m->by_bin[b->first] : 0) + (after ? m->by_bin[b->last] : 0);
    b->n_inside += n;
    b->n_errors += n;
}

/* Adds the errors that are in no bin to a burst at either end: some sources do not tell the first
 * and the last seconds. */
static void add_unseen(const struct course *c, const struct course_message *m, struct burst *b)
{
    double n = 0, n_seen = 0;
    add_bins(c, m, 0, c->n_bins, &n, &n_seen);
    double times = 1 + ((double)m->n - n_seen) / b->n_errors;
    if (!b->found || times <= 1 || (b->first > 0 && b->last + 1 < c->n_bins))
        return;
    b->n_inside *= times;
    b->n_errors *= times;
}

/* Adds all bins behind a burst to it, if at least half as large a share of their requests fails. */
static void extend_to_end(const struct course *c, const struct course_message *m, struct burst *b)
{
    double n = 0, n_errors = 0;
    size_t last = c->n_bins - 1;

    while (last > b->last && m->by_bin[last] == 0)
        last--;
    add_bins(c, m, b->last + 1, last + 1, &n, &n_errors);
    if (!b->found || n_errors == 0 || n_errors / n < b->n_errors / b->n_inside / 2)
        return;
    b->last = last;
    b->n_inside += n;
    b->n_errors += n_errors;
}

/* The best of several guesses: the share inside is that of the run many times over in a short
 * burst, and hardly twice in one that fills half of the run. */
static struct burst find_burst(const struct course *c, const struct course_message *m,
                               const uint8_t *taken)
{
    static const double guesses[] = {16, 4, 1.5};
    struct shares x = {.c = c, .m = m, .taken = taken};
    struct burst best = {0};
    double most = BURST_LLR;

    for (size_t j = 0, end = n_searched(c); j < end; j++)
        if (!taken[j])
            add_bins(c, m, j, j + 1, &x.n, &x.n_errors);
    for (size_t i = 0; x.n_errors > 0 && i < sizeof guesses / sizeof *guesses; i++) {
        struct burst b;
        double gain = refine_burst(&x, fmin(fmax(guesses[i] * x.n_errors / x.n, .02), .9), &b);

        if (b.found && gain >= most) {
            most = gain;
            best = b;
        }
    }
    extend_to_end(c, m, &best);
    extend_to_edges(c, m, &best);
    add_unseen(c, m, &best);
    return best;
}

/* The party that has nearly all of the errors (v: of each), without having nearly all of the
 * requests; SIZE_MAX: none. */
static size_t confined_to(const struct course *c, const struct course_parties *p,
                          const struct course_message *m, const int64_t *v)
{
    size_t most = 0;

    for (size_t k = 1; k < p->n; k++)
        if (v[k] > v[most])
            most = k;
    if (p->n < 2)
        return SIZE_MAX;
    double share = (double)p->n_requests[most] / (double)c->n;
    bool confined = m->n >= 2 && (double)v[most] >= CONFINED_FRAC * (double)m->n &&
                    (double)p->n_requests[most] < .9 * (double)c->n;
    /* A share that chance would hardly give. */
    double log_p = (double)m->n * log(share);
    return confined && log_p < -7 ? most : SIZE_MAX;
}

static const char *only_operation(const struct course *c, const struct course_message *m)
{
    for (size_t k = 0; k < c->n_ops; k++)
        if ((double)m->by_op[k] >= CONFINED_FRAC * (double)m->n &&
            (double)m->n * log((double)c->ops[k].n / (double)c->n) < -7)
            return c->ops[k].name;
    return NULL;
}

/* A part of a sentence. */
struct part_text {
    char s[160];
};

/* When errors that are no burst came: a few of them may still lie close together. */
static struct part_text steady_when(const struct search *s, const struct course_message *m)
{
    struct part_text t = {"throughout the run"};
    if (m->n == 1)
        snprintf(t.s, sizeof t.s, "at %s", find_clock(m->first_ns).s);
    else if (search_frac(s, m->last_ns - m->first_ns) < .5)
        snprintf(t.s, sizeof t.s, "between %s and %s", find_clock(m->first_ns).s,
                 find_clock(m->last_ns).s);
    return t;
}

/* "1.2% of all"; what they took of the threads' time too, where that is far more: a time-out keeps
 * a thread from many requests. */
static struct part_text share_text(double share, double time_share, bool takes_time)
{
    struct part_text t;
    snprintf(t.s, sizeof t.s, "%s of all", units_pct(100 * share).s);
    if (takes_time)
        snprintf(t.s, sizeof t.s, "%s of all, %s of the threads' time", units_pct(100 * share).s,
                 units_pct(100 * time_share).s);
    return t;
}

static bool say(struct search *s, const struct course_message *m, const struct burst *b,
                struct err *e)
{
    const struct course *c = s->c;
    double n_errors = b->found ? b->n_errors : (double)m->n, share = n_errors / (double)c->n;
    double within = b->found ? b->n_errors / b->n_inside : share;
    double threads_ns = (double)c->n_threads * ((double)(c->end_ns - c->start_ns) + 1);
    double time_share = (double)m->took_ns / threads_ns * n_errors / (double)m->n;
    bool takes_time = time_share >= TIME_PROBLEM && time_share >= TIME_TIMES * share;
    size_t host = confined_to(c, &c->hosts, m, m->by_host);
    size_t client = host == SIZE_MAX ? confined_to(c, &c->clients, m, m->by_client) : SIZE_MAX;
    bool dead = host != SIZE_MAX && m->by_host[host] == c->hosts.n_requests[host];
    bool problem =
        share >= LEAST_PROBLEM || takes_time || (b->found && within >= .1 && m->n >= 10) || dead;
    struct finding f = finding_of("errors", problem, takes_time ? time_share : share);

    if (host != SIZE_MAX)
        search_set_party(&f, &c->hosts, host);
    if (client != SIZE_MAX)
        search_set_party(&f, &c->clients, client);
    f.op = only_operation(c, m);
    finding_figure(&f, "n_errors", n_errors);
    finding_figure(&f, "share", share);
    finding_figure(&f, "share_within", within);
    if (takes_time)
        finding_figure(&f, "time_share", time_share);
    const char *op = f.op != NULL ? f.op : "", *space = f.op != NULL ? " " : "";
    const char *what = m->n == 1 && !b->found ? "request" : "requests";
    const char *where = f.party != NULL ? intern_shown(f.party) : "";
    const char *at = host != SIZE_MAX ? " of " : client != SIZE_MAX ? " of client " : "";
    struct part_text of_all = share_text(share, time_share, takes_time), rest = {""};

    if (m->n_kinds > 1)
        snprintf(rest.s, sizeof rest.s,
                 "%s kinds of errors, such as: ", units_count((int64_t)m->n_kinds).s);
    if (dead)
        return findings_add(s->out, &f, e,
                            "No request of %s succeeded: all %s (%s of the run's) failed: %s%s",
                            where, units_count(m->n).s, units_pct(100 * share).s, rest.s, m->text);
    if (!b->found)
        return findings_add(s->out, &f, e, "%s %s%s%s%s%s failed (%s) %s: %s%s",
                            units_count(m->n).s, op, space, what, at, where, of_all.s,
                            steady_when(s, m).s, rest.s, m->text);
    f.start_ns = course_bin_start_ns(c, b->first);
    f.start_ns = int64_max(m->first_ns, f.start_ns);
    f.end_ns = course_bin_start_ns(c, b->last + 1);
    f.end_ns = int64_min(m->last_ns, f.end_ns);
    f.has_start = true;
    f.has_end = b->last + 1 < c->n_bins && search_frac(s, c->end_ns - f.end_ns) > .02;
    return findings_add(
        s->out, &f, e, "%s %s%s%s%s%s failed from %s %s%s (%s, %s of those %s): %s%s",
        units_count(llround(b->n_errors)).s, op, space, what, at, where, find_clock(f.start_ns).s,
        f.has_end ? "to " : "on", f.has_end ? find_clock(f.end_ns).s : "", of_all.s,
        units_pct(100 * within).s, f.has_end ? "meanwhile" : "since", rest.s, m->text);
}

/* The finding of another message that says the same as f: the same place, at about the same time;
 * NULL: none. */
static struct finding *said_already(const struct search *s, const struct finding *f)
{
    for (size_t i = 0; i < s->out->n; i++) {
        struct finding *x = &s->out->v[i];
        if (x == f || x->kind != f->kind || x->scope != f->scope || x->party != f->party ||
            x->has_start != f->has_start)
            continue;
        if (!f->has_start ||
            (llabs(x->start_ns - f->start_ns) < 1000000000 && x->has_end == f->has_end &&
             (!f->has_end || llabs(x->end_ns - f->end_ns) < 1000000000)))
            return x;
    }
    return NULL;
}

/* The bursts of a message, or that its errors are steady. */
static bool find_message(struct search *s, const struct course_message *m, uint8_t *taken,
                         struct err *e)
{
    const struct course *c = s->c;
    bool ok = true;

    memset(taken, 0, c->n_bins);
    for (int i = 0; ok && i < MAX_BURSTS; i++) {
        struct burst b = find_burst(c, m, taken);
        if (i > 0 && !b.found)
            break;
        /* A long burst is a level of its own: what it does to the throughput is seen. */
        if (b.found && (double)(b.last - b.first) < MASKED_FRAC * (double)c->n_bins)
            search_mask(s, course_bin_start_ns(c, b.first), course_bin_start_ns(c, b.last),
                        "errors");
        ok = say(s, m, &b, e);
        /* One cause, several messages: what cost most is the problem. */
        struct finding *f = &s->out->v[s->out->n - 1], *said = ok ? said_already(s, f) : NULL;
        if (said != NULL && said->severity == f->severity)
            (said->lost_frac < f->lost_frac ? said : f)->severity = FINDING_NOTICE;
        if (!ok || !f->has_start) /* nothing but the whole run is to be said of it */
            break;
        memset(taken + b.first, 1, b.last - b.first + 1);
    }
    return ok;
}

bool find_errors(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    uint8_t *taken;
    bool ok = mem_new(&taken, c->n_bins + 1, e);

    for (size_t k = 0; ok && k < c->n_messages; k++)
        ok = find_message(s, &c->messages[k], taken, e);
    free(taken);
    return ok;
}
