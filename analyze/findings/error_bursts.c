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

#define BURST_TIMES   2 /* least ratio of the share of errors within to that outside */
#define MASKED_FRAC   .25
#define MAX_BURSTS    10 /* per message; with more of them, errors are steady */
#define N_REFINEMENTS 10
#define CHANCE        .001 /* that errors of all are taken for those of one */
#define LEAST_PROBLEM .01
#define OWN_TIMES                                                                                  \
    2 /* share of own requests, or of the threads' time / share of all, to be reported */
#define LEAST_REST    10  /* least number of errors outside of bursts, to be reported */
#define LEAST_OUTSIDE .01 /* share of a message's errors outside of its bursts, to be reported */

struct burst {
    bool found;
    size_t first, last;        /* bins */
    double n_inside, n_errors; /* requests and errors in it */
    double n_outside;          /* errors of its message outside of all bursts; 0 if not joined */
    size_t n_bursts;           /* number of bursts joined in this one; 0: it is one burst */
};

/* Returns the number of bins to search. After the last start only the longest request of each
 * thread ends, so that time-outs crowd there. */
static size_t n_searched(const struct course *c)
{
    return course_bin(c, c->full_until_ns) + 1;
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

/* Finds the stretch of bins, none of them taken, in which errors are `ratio` times as frequent as
 * outside, by the largest log-likelihood ratio; then with the ratio and the share outside that it
 * has, and so on. `all` counts the bins that are not taken. Returns the log-likelihood ratio
 * against one share throughout; 0: there is no burst. */
static double refine_burst(const struct course *c, const struct course_message *m,
                           const uint8_t *taken, const struct burst *all, double ratio,
                           struct burst *b)
{
    double share = all->n_errors / all->n_inside, outside = share / 2;

    ratio = fmin(2 * ratio, 1 / outside);
    for (int i = 0; i < N_REFINEMENTS; i++) {
        struct top_stretch top = {0};

        for (size_t j = 0, end = n_searched(c); j < end; j++) {
            double n = (double)c->ok[j] + (double)c->failed[j];
            top_stretch_add(&top, j,
                            taken[j] ? -INFINITY : find_score(m->by_bin[j], outside * n, ratio));
        }
        if (!(top.most > 0))
            return 0;
        *b = (struct burst){.first = top.first, .last = top.last};
        add_bins(c, m, b->first, b->last + 1, &b->n_inside, &b->n_errors);
        outside = (all->n_errors - b->n_errors + 1) / (all->n_inside - b->n_inside + 2);
        ratio = b->n_errors / b->n_inside / outside;
        if (ratio < BURST_TIMES)
            return 0;
    }
    b->found = true;
    return b->n_errors * log(b->n_errors / b->n_inside / share) +
           (all->n_errors - b->n_errors) * log(outside / share);
}

/* Adds all bins behind a burst to it, if at least half as large a share of their requests fails and
 * no other burst is there. */
static void extend_to_end(const struct course *c, const struct course_message *m,
                          const uint8_t *taken, struct burst *b)
{
    double n = 0, n_errors = 0;
    size_t last = c->n_bins - 1;

    while (last > b->last && m->by_bin[last] == 0)
        last--;
    add_bins(c, m, b->last + 1, last + 1, &n, &n_errors);
    if (!b->found || memchr(taken + b->last + 1, 1, last - b->last) != NULL || n_errors == 0 ||
        n_errors / n < b->n_errors / b->n_inside / 2)
        return;
    b->last = last;
    b->n_inside += n;
    b->n_errors += n_errors;
}

/* Returns the best burst of several guesses: the share inside is many times that of the run in a
 * short burst, and hardly twice in one that fills half of the run. */
static struct burst find_burst(const struct course *c, const struct course_message *m,
                               const uint8_t *taken)
{
    static const double guesses[] = {10, 2};
    struct burst all = {0}, best = {0};
    double most = FIND_LEAST_LLR;

    for (size_t j = 0, end = n_searched(c); j < end; j++)
        if (!taken[j])
            add_bins(c, m, j, j + 1, &all.n_inside, &all.n_errors);
    for (size_t i = 0; all.n_errors > 0 && i < sizeof guesses / sizeof *guesses; i++) {
        struct burst b = {0};
        double gain = refine_burst(c, m, taken, &all, guesses[i], &b);

        if (gain >= most) {
            most = gain;
            best = b;
        }
    }
    extend_to_end(c, m, taken, &best);
    return best;
}

/* Returns the share by which chance gives errors to a party: its share of the other requests, as
 * those that fail at once are many. n: errors of the party. */
static double usual_share(const struct course *c, const struct course_message *m, int64_t n,
                          int64_t n_requests)
{
    return m->n < c->n ? (double)(n_requests - n) / (double)(c->n - m->n)
                       : (double)n / (double)m->n;
}

/* Returns the party with nearly all of the errors (v: errors by party), but not nearly all of the
 * other requests; SIZE_MAX: none. */
static size_t confined_to(const struct course *c, const struct course_parties *p,
                          const struct course_message *m, const int64_t *v)
{
    size_t most = 0;

    for (size_t k = 1; k < p->n; k++)
        if (v[k] > v[most])
            most = k;
    if (p->n < 2)
        return SIZE_MAX;
    double share = usual_share(c, m, v[most], p->n_requests[most]);
    bool confined = m->n >= 2 && (double)v[most] >= COURSE_NEARLY_ALL * (double)m->n &&
                    share < COURSE_NEARLY_ALL;
    /* log of the probability that chance puts all errors on this party */
    double log_p = (double)m->n * log(share);
    return confined && log_p < log(CHANCE) ? most : SIZE_MAX;
}

/* The host and the client whose requests failed: indexes, or SIZE_MAX. */
struct whose {
    size_t host, client;
    bool is_dead; /* no request of the host succeeded */
};

static struct whose whose_errors(const struct course *c, const struct course_message *m)
{
    struct whose w = {confined_to(c, &c->hosts, m, m->by_host),
                      confined_to(c, &c->clients, m, m->by_client), false};

    if (w.host == SIZE_MAX)
        return w;
    w.is_dead = m->by_host[w.host] == c->hosts.n_requests[w.host];
    /* The host has no other client, so naming the host is enough. */
    if (w.is_dead ||
        (w.client != SIZE_MAX && c->clients.n_requests[w.client] == c->hosts.n_requests[w.host]))
        w.client = SIZE_MAX;
    return w;
}

/* The bursts of a message, in the order in which they were found, and whose errors these are. */
struct bursts {
    struct whose whose;
    struct burst v[MAX_BURSTS];
    size_t n;
    bool has_rest; /* errors outside of the bursts */
};

/* A burst that ends with the run has no end. */
static bool has_end(const struct search *s, const struct burst *b)
{
    return b->last + 1 < s->c->n_bins &&
           search_frac(s, s->c->end_ns - course_bin_start_ns(s->c, b->last + 1)) >
               FINDING_PROBLEM_FRAC;
}

static void add_burst(struct burst *to, const struct burst *b)
{
    to->first = b->first < to->first ? b->first : to->first;
    to->last = b->last > to->last ? b->last : to->last;
    to->n_inside += b->n_inside;
    to->n_errors += b->n_errors;
}

static bool touches(const struct burst *a, const struct burst *b)
{
    return a->first == b->last + 1 || b->first == a->last + 1;
}

static struct bursts find_bursts(const struct course *c, const struct course_message *m,
                                 uint8_t *taken)
{
    struct bursts all = {.whose = whose_errors(c, m)};
    double n_rest = 0;

    memset(taken, 0, c->n_bins);
    while (all.n < MAX_BURSTS) {
        struct burst b = find_burst(c, m, taken);
        if (!b.found || b.n_errors < FINDING_PROBLEM_FRAC * (double)m->n)
            break;
        memset(taken + b.first, 1, b.last - b.first + 1);
        if (all.n > 0 && touches(&all.v[all.n - 1], &b))
            add_burst(&all.v[all.n - 1], &b);
        else
            all.v[all.n++] = b;
    }
    for (size_t j = 0; j < c->n_bins; j++)
        n_rest += taken[j] ? 0 : m->by_bin[j];
    all.has_rest = n_rest >= fmax(LEAST_REST, FINDING_PROBLEM_FRAC * (double)m->n);
    return all;
}

/* Counts the requests of the host or client w (or of all) that ended in the bins of the burst; 0:
 * not known. */
static double n_of(const struct course *c, const struct whose *w, const struct burst *b)
{
    int64_t first_ns = (int64_t)b->first * c->bin_ns, last_ns = (int64_t)b->last * c->bin_ns;
    bool of_all = w->host == SIZE_MAX && w->client == SIZE_MAX; /* then operations are counted */
    size_t first = of_all ? c->n_places : 0, end = of_all ? c->n_places + c->n_ops : c->n_places;
    double n = 0;

    for (size_t j = (size_t)(first_ns / int64_max(c->wide_ns, 1));
         c->ended != NULL && j < c->n_wide && (int64_t)j * c->wide_ns <= last_ns; j++)
        for (size_t i = first; i < end; i++)
            if (of_all || ((w->host == SIZE_MAX || c->hosts.of_place[i] == w->host) &&
                           (w->client == SIZE_MAX || c->clients.of_place[i] == w->client)))
                n += course_ended(c, j)[i];
    return n;
}

/* Counts the requests of the host, client or operation that the errors are confined to; else
 * all. */
static int64_t n_own(const struct course *c, const struct course_message *m, const struct whose *w)
{
    size_t op = confined_to(c, &c->operations, m, m->by_op);

    if (w->host != SIZE_MAX)
        return c->hosts.n_requests[w->host];
    if (w->client != SIZE_MAX)
        return c->clients.n_requests[w->client];
    return op != SIZE_MAX ? c->ops[op].n : c->n;
}

/* "56 %", "3.4 %": a share of requests in part of the run, of which no table has more digits. */
static struct units_text part_of(double share)
{
    double pct = share < 1 ? fmin(100 * share, 99) : 100;

    return units_format(pct < 10 ? "%.2g %%" : "%.0f %%", pct);
}

/* Says when the errors of a message came: "throughout", or between which times if a few lie close
 * together. Adds the share of errors in the worst burst, if there is one. */
static struct phrase steady_when(const struct search *s, const struct course_message *m,
                                 const struct burst *worst)
{
    const char *the_run = s->role == ROLE_BENCHMARK ? " the run" : "";

    if (worst != NULL)
        return phrase_format("throughout%s, %s of them from %s to %s", the_run,
                             part_of(worst->n_errors / (double)m->n).s,
                             find_clock(s->c, course_bin_start_ns(s->c, worst->first)).s,
                             find_clock(s->c, course_bin_start_ns(s->c, worst->last + 1)).s);
    if (m->n == 1)
        return phrase_format("at %s", find_clock(s->c, m->first_ns).s);
    if (2 * search_frac(s, m->last_ns - m->first_ns) < 1)
        return phrase_format("between %s and %s", find_clock(s->c, m->first_ns).s,
                             find_clock(s->c, m->last_ns).s);
    return phrase_format("throughout%s", the_run);
}

/* Returns "1.2 % of all". Adds the share of the requests of the host, client or operation that
 * fails (`own`) and of the threads' time where these are far more: a time-out keeps a thread from
 * many requests. */
static struct phrase share_text(const struct search *s, const struct finding *f, double share,
                                double own, double time_share, bool takes_time)
{
    struct phrase t;
    size_t n = (size_t)snprintf(t.s, sizeof t.s, "%s of all", units_pct(100 * share).s);

    if (s->role != ROLE_BENCHMARK)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, " %.30s requests", f->op);
    if (own >= OWN_TIMES * share && f->scope != SCOPE_SYSTEM)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, ", %s of its own", units_pct(100 * own).s);
    else if (own >= OWN_TIMES * share)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, ", %s of all %.30s requests",
                              units_pct(100 * own).s, f->op);
    if (takes_time)
        snprintf(t.s + n, sizeof t.s - n, ", %s of the threads' time",
                 units_pct(100 * time_share).s);
    return t;
}

static void set_whose(struct search *s, const struct course_message *m, const struct whose *w,
                      struct finding *f)
{
    const struct course *c = s->c;
    if (w->host != SIZE_MAX)
        search_set_party(f, &c->hosts, w->host);
    else if (w->client != SIZE_MAX)
        search_set_party(f, &c->clients, w->client);
    if (w->host != SIZE_MAX && w->client != SIZE_MAX)
        f->client = c->clients.name[w->client];
    size_t op = s->role != ROLE_BENCHMARK ? 0 : confined_to(c, &c->operations, m, m->by_op);
    f->op = op != SIZE_MAX ? c->ops[op].name : NULL;
}

/* Adds a finding of one burst of a message, or of all of its errors if b is NULL; `worst` is then
 * its worst burst, or NULL. A finding that is part of another one (is_part) is a notice. n_told
 * counts the errors in the times that the sentence names, n_errors all that it is about. */
static bool say(struct search *s, const struct course_message *m, const struct whose *w,
                const struct burst *b, const struct burst *worst, bool is_part, struct err *e)
{
    const struct course *c = s->c;
    const bool is_beside = !role_is_benchmark(s->role);
    double n_told = b != NULL ? b->n_errors : (double)m->n;
    double n_errors = n_told + (b != NULL ? b->n_outside : 0), share = n_errors / (double)c->n;
    double within = b != NULL ? n_told / b->n_inside : share;
    double of_own = n_told / fmax(b != NULL ? n_of(c, w, b) : (double)n_own(c, m, w), n_told);
    double threads_ns = (double)c->n_threads * ((double)(c->end_ns - c->start_ns) + 1);
    double time_share = (double)m->took_ns / threads_ns * n_errors / (double)m->n;
    bool takes_time = time_share >= FINDING_PROBLEM_FRAC && time_share >= OWN_TIMES * share;
    bool of_many = m->n >= 10 && fmax(within, of_own) >= .1;

    /* Errors beside the benchmark are a problem only if half of the requests failed: it lacked
     * objects. */
    bool problem =
        is_beside ? 2 * share >= 1 : share >= LEAST_PROBLEM || takes_time || of_many || w->is_dead;
    struct finding f = finding_of("errors", problem && !is_part,
                                  is_beside    ? 0
                                  : takes_time ? time_share
                                               : share);

    set_whose(s, m, w, &f);
    finding_figure(&f, "n_errors", n_errors);
    finding_figure(&f, "share", share);
    finding_figure(&f, "share_within", within);
    if (takes_time)
        finding_figure(&f, FINDING_TIME_SHARE, time_share);
    const char *op = f.op != NULL ? f.op : "", *space = f.op != NULL ? " " : "";
    const char *what = m->n == 1 && b == NULL ? "request" : "requests";
    const char *in = s->role == ROLE_PREPARATION ? "In the preparation "
                     : s->role == ROLE_CLEAN_UP  ? "In the clean-up "
                                                 : "";
    const char *client = f.client != NULL ? f.client : f.scope == SCOPE_CLIENT ? f.party : NULL;
    const char *of_client = client != NULL ? " of client " : "";
    const char *of_host = f.scope != SCOPE_HOST ? "" : client != NULL ? " to " : " of ";
    const char *host = f.scope == SCOPE_HOST ? intern_shown(f.party) : "";
    struct phrase of_all = share_text(s, &f, share, b == NULL ? of_own : 0, time_share, takes_time),
                  rest = {""};

    client = client != NULL ? intern_shown(client) : "";
    if (m->n_kinds > 1)
        snprintf(rest.s, sizeof rest.s,
                 "%s kinds of errors, such as: ", units_count((int64_t)m->n_kinds).s);
    if (w->is_dead)
        return findings_add(
            s->out, &f, e, "%sNo request of %s succeeded: all %s (%s of the run's) failed: %s%s",
            in, host, units_count(m->n).s, units_pct(100 * share).s, rest.s, m->text);
    if (b == NULL) {
        /* Requests that hung together until they timed out: the finding lasts as long as they. */
        int64_t took_ns = (int64_t)(m->took_ns / m->n);
        if (time_share >= OWN_TIMES * share && m->last_ns - m->first_ns <= took_ns)
            finding_set_times(&f, m->first_ns - took_ns, m->last_ns);
        return findings_add(s->out, &f, e, "%s%s %s%s%s%s%s%s%s failed (%s) %s: %s%s", in,
                            units_count(m->n).s, op, space, what, of_client, client, of_host, host,
                            of_all.s, steady_when(s, m, worst).s, rest.s, m->text);
    }
    f.start_ns = course_bin_start_ns(c, b->first);
    f.start_ns = int64_max(m->first_ns, f.start_ns);
    f.end_ns = course_bin_start_ns(c, b->last + 1);
    f.end_ns = int64_min(m->last_ns, f.end_ns);
    f.has_start = true;
    f.has_end = has_end(s, b);
    f.within_ns = (int64_t)(m->took_ns / m->n); /* they began before they failed */
    struct phrase bursts = {""}, whole = {""}, some = {""};
    if (is_part)
        snprintf(whole.s, sizeof whole.s, "; part of the %s", units_count(m->n).s);
    if (b->n_bursts > 0)
        snprintf(bursts.s, sizeof bursts.s, "in %zu bursts ", b->n_bursts);
    if (b->n_outside >= LEAST_OUTSIDE * n_errors)
        snprintf(some.s, sizeof some.s, ", %s of them", units_count(llround(n_told)).s);
    return findings_add(
        s->out, &f, e,
        "%s%s %s%s%s%s%s%s%s failed%s %sfrom %s %s%s (%s of the requests %s, %s%s): %s%s", in,
        units_count(llround(n_errors)).s, op, space, what, of_client, client, of_host, host, some.s,
        bursts.s, find_clock(s->c, f.start_ns).s, f.has_end ? "to " : "on",
        f.has_end ? find_clock(s->c, f.end_ns).s : "", part_of(within).s,
        b->n_bursts > 0 ? "in them"
        : f.has_end     ? "in that time"
                        : "since then",
        of_all.s, whole.s, rest.s, m->text);
}

/* Makes the less costly of two findings of steady errors a notice if both are of one host or
 * client. `first` is the index of the first finding of the course. */
static void rank_steady(struct findings *all, size_t first, struct finding *f)
{
    for (size_t i = first; i < all->n; i++) {
        struct finding *x = &all->v[i];
        if (x == f || x->kind != f->kind || x->scope != f->scope || x->party != f->party ||
            x->client != f->client || x->has_start || x->severity != f->severity)
            continue;
        (x->lost_frac < f->lost_frac ? x : f)->severity = FINDING_NOTICE;
        return;
    }
}

/* Returns all bursts of a message as one, from the first to the last. */
static struct burst join_bursts(const struct course_message *m, const struct bursts *all)
{
    struct burst b = all->v[0];

    for (size_t i = 1; i < all->n; i++)
        add_burst(&b, &all->v[i]);
    b.n_outside = (double)m->n - b.n_errors;
    b.n_bursts = all->n > 1 ? all->n : 0;
    return b;
}

/* Adds a finding of all errors of a message, then one of each burst, unless one burst has all. */
static bool say_message(struct search *s, const struct course_message *m, const struct bursts *all,
                        size_t first, struct err *e)
{
    const struct course *c = s->c;
    bool is_dead = all->whose.is_dead, is_steady = all->n == 0 || all->has_rest || is_dead;
    bool has_parts = is_steady || all->n > 1, ok = true;
    const struct burst *worst = all->n > 0 ? &all->v[0] : NULL;

    for (size_t i = 1; i < all->n; i++)
        if (all->v[i].n_errors > worst->n_errors)
            worst = &all->v[i];
    if (is_steady) {
        ok = say(s, m, &all->whose, NULL, worst, false, e);
        if (ok && !s->out->v[s->out->n - 1].has_start)
            rank_steady(s->out, first, &s->out->v[s->out->n - 1]);
    } else {
        struct burst joined = join_bursts(m, all);
        has_parts = has_parts || 10 * ((double)m->n - worst->n_errors) > (double)m->n;
        ok = say(s, m, &all->whose, &joined, NULL, false, e);
    }
    for (size_t i = 0; ok && i < all->n; i++) {
        const struct burst *b = &all->v[i];
        /* A long burst is not masked: its effect on throughput is reported as a level. */
        if ((double)(b->last - b->first) < MASKED_FRAC * (double)c->n_bins)
            search_mask(s, course_bin_start_ns(c, b->first), course_bin_start_ns(c, b->last),
                        FINDING_MASK_ERRORS);
        ok = is_dead || !has_parts || say(s, m, &all->whose, b, NULL, true, e);
    }
    return ok;
}

/* ---- One cause, several messages ---- */

/* Whether two messages came in one burst each, which began together at the same place. */
static bool have_one_cause(const struct search *s, const struct bursts *of_a,
                           const struct bursts *of_b)
{
    const struct course *c = s->c;
    const struct whose *x = &of_a->whose, *y = &of_b->whose;

    return of_a->n == 1 && of_b->n == 1 && !of_a->has_rest && !of_b->has_rest &&
           x->host == y->host && x->client == y->client &&
           llabs(course_bin_start_ns(c, of_a->v[0].first) -
                 course_bin_start_ns(c, of_b->v[0].first)) < FINDING_PROBLEM_NS;
}

/* Adds b to a. */
static void join_messages(const struct course *c, struct course_message *a,
                          const struct course_message *b)
{
    a->n += b->n;
    a->n_kinds += b->n_kinds;
    a->took_ns += b->took_ns;
    a->first_ns = int64_min(a->first_ns, b->first_ns);
    a->last_ns = int64_max(a->last_ns, b->last_ns);
    for (size_t j = 0; j < c->n_bins; j++)
        a->by_bin[j] += b->by_bin[j];
    for (size_t k = 0; k < c->hosts.n; k++)
        a->by_host[k] += b->by_host[k];
    for (size_t k = 0; k < c->clients.n; k++)
        a->by_client[k] += b->by_client[k];
    for (size_t k = 0; k < c->n_ops; k++)
        a->by_op[k] += b->by_op[k];
}

bool find_errors(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    struct course_message *v = c->messages;
    struct bursts all[COURSE_MAX_MESSAGES];
    bool is_joined[COURSE_MAX_MESSAGES] = {false};
    size_t first = s->out->n;
    uint8_t *taken;
    bool ok = mem_new(&taken, c->n_bins + 1, e);

    for (size_t k = 0; ok && k < c->n_messages; k++)
        all[k] = find_bursts(c, &v[k], taken);
    for (size_t i = 0; ok && i < c->n_messages; i++) {
        for (size_t k = i + 1; !is_joined[i] && k < c->n_messages; k++)
            if (!is_joined[k] && have_one_cause(s, &all[i], &all[k])) {
                is_joined[k] = true;
                join_messages(c, &v[i], &v[k]);
                all[i] = find_bursts(c, &v[i], taken);
            }
        ok = is_joined[i] || say_message(s, &v[i], &all[i], first, e);
    }
    free(taken);
    return ok;
}
