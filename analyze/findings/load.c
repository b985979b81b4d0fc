/* Changes of the load: of what was asked of the system. They are told as such, and what they
 * explain is no fault of the system. */
#include "analyze/findings/levels_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FITS           100
#define MORE_THAN_CHANCE 4 /* times the variance of a Poisson process, for which it is 1 */
#define LEAST_PER_HOST   5 /* requests: a host that is in use has none in less than 1 % of blocks */
#define LEAST_VARIANCE   1e-6 /* of a load that hardly varies */

/* ---- Durations at equal load ---- */

static void add_work(struct course_work *to, const struct course_work *w)
{
    to->n += w->n;
    to->ns += w->ns;
    to->log += w->log;
    to->bytes += w->bytes;
    to->objects += w->objects;
}

bool load_fit(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    size_t n_kinds = c->load.n_alike;

    if (n_kinds == 0)
        return true;
    if (!mem_cleared(&s->equal, 1, e) || !mem_cleared(&s->equal->of_kind, n_kinds, e) ||
        !mem_cleared(&s->equal->by_op, c->n_ops * c->n_blocks, e))
        return false;
    struct equal_load *q = s->equal;
    for (int fit = 0; fit < N_FITS; fit++) {
        double sum[COURSE_MAX_BLOCKS] = {0};

        for (size_t k = 0; k < n_kinds; k++) {
            double n = 0, rest = 0;

            for (size_t b = 0; b < c->n_blocks; b++) {
                const struct course_work *w = course_work(c, k, b);
                n += w->n;
                rest += w->log - w->n * q->ln[b];
                q->n[b] += fit == 0 ? w->n : 0;
            }
            q->of_kind[k] = n > 0 ? rest / n : 0;
            for (size_t b = 0; b < c->n_blocks; b++) {
                const struct course_work *w = course_work(c, k, b);
                sum[b] += w->log - w->n * q->of_kind[k];
            }
        }
        for (size_t b = 0; b < c->n_blocks && (n_kinds > 1 || fit == 0); b++)
            q->ln[b] = q->n[b] > 0 ? sum[b] / q->n[b] : 0;
    }
    double all = 0, n_all = 0, n_ended[COURSE_MAX_BLOCKS] = {0};
    for (size_t k = 0; k < n_kinds; k++) {
        struct course_work *by_block = course_work(c, k, 0), of = {0},
                           *of_op = &q->by_op[c->strata[c->load.stratum[k]].op * c->n_blocks];

        for (size_t b = 0; b < c->n_blocks; b++) {
            add_work(&of, &by_block[b]);
            add_work(&of_op[b], &by_block[b]);
        }
        if (of.n == 0)
            continue;
        double mean_ns = exp(q->of_kind[k] - of.log / of.n) * fmax(of.ns, of.n) / of.n;
        for (size_t b = 0; b < c->n_blocks; b++) {
            q->work[b] += by_block[b].n_ended * mean_ns;
            n_ended[b] += by_block[b].n_ended;
        }
        all += of.n * mean_ns;
        n_all += of.n;
        q->mean += of.n * q->of_kind[k];
    }
    q->mean /= fmax(n_all, 1);
    for (size_t b = 0; b < c->n_blocks; b++)
        q->work[b] = n_ended[b] > 0 ? log(q->work[b] / n_ended[b] * n_all / all) : 0;
    return true;
}

/* ---- What changes ---- */

/* Sums of an operation, or of all (SIZE_MAX), over the blocks that begin in [from_ns, to_ns). */
static struct course_work work_within(const struct search *s, size_t op, int64_t from_ns,
                                      int64_t to_ns)
{
    const struct course *c = s->c;
    struct course_work sum = {0};

    for (size_t b = 0; b < c->n_blocks; b++) {
        int64_t at_ns = course_block_start_ns(c, b);
        for (size_t k = 0; at_ns >= from_ns && at_ns < to_ns && k < c->n_ops; k++)
            if (op == SIZE_MAX || k == op)
                add_work(&sum, &s->equal->by_op[k * c->n_blocks + b]);
    }
    return sum;
}

static double amount(const struct course_work *w, enum load_quantity of)
{
    return w->n > 0 ? (of == LOAD_SIZES ? w->bytes : w->objects) / w->n : 0;
}

static double share_within(const struct search *s, size_t op, int64_t from_ns, int64_t to_ns)
{
    return work_within(s, op, from_ns, to_ns).n /
           fmax(work_within(s, SIZE_MAX, from_ns, to_ns).n, 1);
}

double load_mean(const struct search *s, const double *v, int64_t from_ns, int64_t to_ns)
{
    const struct course *c = s->c;
    double sum = 0, n = 0;

    for (size_t b = 0; v != NULL && b < c->n_blocks; b++) {
        int64_t at_ns = course_block_start_ns(c, b);
        if (at_ns < from_ns || at_ns >= to_ns)
            continue;
        sum += v[b];
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* Counts the hosts that ended a request, or at which one hung until it failed, by block. NAN: the
 * block has too few requests to show all hosts. */
static bool count_hosts(const struct course *c, double *n, struct err *e)
{
    int64_t *done, ended[COURSE_MAX_BLOCKS] = {0};

    if (!mem_new(&done, c->n_wide, e))
        return false;
    for (size_t h = 0; h < c->hosts.n; h++) {
        size_t last = SIZE_MAX;

        course_count_ended(c, &c->hosts, h, done);
        for (size_t i = 0; i < c->n_hung; i++)
            if (c->hung[i].failed && c->hosts.of_place[c->hung[i].place] == h)
                done[(c->hung[i].end_ns - c->bins_ns) / c->wide_ns]++;
        for (size_t j = 0; j < c->n_wide; j++) {
            size_t b = done[j] > 0 ? course_block(c, course_at_ns(c, j, c->wide_ns)) : last;

            if (b == SIZE_MAX)
                continue;
            ended[b] += done[j];
            n[b] += b != last;
            last = b;
        }
    }
    for (size_t b = 0; b < c->n_blocks; b++)
        if (ended[b] < LEAST_PER_HOST * (int64_t)c->hosts.n)
            n[b] = NAN;
    free(done);
    return true;
}

/* Fills v[] with the logarithm of a quantity by block, or with the share of the requests that are
 * of operation `op`. */
static bool fill_quantity(const struct search *s, enum load_quantity of, size_t op, double *v,
                          struct err *e)
{
    const struct course *c = s->c;
    double hosts[COURSE_MAX_BLOCKS] = {0};

    if (of == LOAD_HOSTS && !count_hosts(c, hosts, e))
        return false;
    for (size_t b = 0; b < c->n_blocks; b++)
        v[b] = of == LOAD_THREADS ? log(c->load.threads[b])
               : of == LOAD_HOSTS ? log(hosts[b])
               : of == LOAD_RATE
                   ? log((c->load.due[b] + FIND_HALF_MORE) / course_part(c, b, c->block_ns))
               : of == LOAD_MIX ? s->equal->by_op[op * c->n_blocks + b].n / s->equal->n[b]
                                : 0;
    /* At the mix of the whole run, so that a change of the mix is none of sizes. */
    for (size_t k = 0; of <= LOAD_OBJECTS && k < c->n_ops; k++) {
        struct course_work all = work_within(s, k, INT64_MIN, INT64_MAX);
        double usual = amount(&all, of), share = (double)c->ops[k].n / (double)c->n;

        for (size_t b = 0; usual > 0 && b < c->n_blocks; b++) {
            double own = amount(&s->equal->by_op[k * c->n_blocks + b], of);
            v[b] += share * log(own > 0 ? own : usual);
        }
    }
    return true;
}

bool load_is_too_much(const struct search *s)
{
    for (size_t i = 0; i < s->out->n; i++)
        if (s->out->v[i].kind->is_overload)
            return true;
    return false;
}

bool load_due_varies(const struct search *s)
{
    const struct course *c = s->c;
    double n = (double)c->n_blocks - 1; /* the last one is a part of one */
    double sum = 0, squares = 0;

    for (size_t b = 0; c->load.due != NULL && b + 1 < c->n_blocks; b++) {
        sum += c->load.due[b];
        squares += c->load.due[b] * c->load.due[b];
    }
    return squares / n - sum * sum / n / n > MORE_THAN_CHANCE * sum / n;
}

/* What is due last in an overloaded loop is not in the capture. */
static bool is_known(const struct search *s, enum load_quantity of)
{
    const struct course *c = s->c;

    return of == LOAD_MIX       ? c->n_ops > 1
           : of == LOAD_THREADS ? c->load.threads != NULL && !c->open_loop
           : of == LOAD_RATE    ? c->load.due != NULL && !load_is_too_much(s)
           : of == LOAD_HOSTS   ? c->ended != NULL && c->hosts.n > 1
                                : true;
}

/* Adds a change, unless it is small or known. The operation that gains most tells a change of the
 * mix. */
void load_add(struct search *s, struct load_change x)
{
    const struct course *c = s->c;
    double gains[2] = {0}; /* of all operations that gain, of this one */

    for (size_t k = 0; x.of == LOAD_MIX && k < c->n_ops; k++) {
        double gain =
            share_within(s, k, x.at_ns, x.until_ns) - share_within(s, k, x.from_ns, x.at_ns);

        gains[0] += fmax(gain, 0);
        gains[1] = k == x.op ? gain : gains[1];
    }
    if (x.of == LOAD_MIX ? gains[0] < LOAD_LEAST_CHANGE || 2 * gains[1] <= gains[0]
                         : fabs(log(x.after / x.before)) < log(1 + LOAD_LEAST_CHANGE))
        return;
    for (size_t i = 0; i < s->n_loads; i++)
        if (s->loads[i].of == x.of && s->loads[i].op == x.op &&
            llabs(s->loads[i].at_ns - x.at_ns) <= LOAD_NEAR * c->block_ns)
            return;
    if (s->n_loads < LOAD_MOST)
        s->loads[s->n_loads++] = x;
}

/* Adds a change of a quantity: a level_say_fn. */
static bool add_change(struct levels *l, const struct level_change *x, const void *quantity,
                       struct err *e)
{
    struct search *s = l->s;
    struct load_change c = *(const struct load_change *)quantity;

    (void)e;
    if (x->shape == CHANGE_WAVE)
        return true;
    c.is_gradual = x->shape == CHANGE_TREND || x->shape == CHANGE_RAMP;
    c.from_ns = levels_at_ns(l, x->from);
    c.at_ns = levels_at_ns(l, c.is_gradual ? l->n / 2 : x->at);
    c.until_ns = levels_at_ns(l, x->to);
    c.before = c.of == LOAD_MIX ? x->before : exp(x->before);
    c.after = c.of == LOAD_MIX ? x->after : exp(x->after);
    load_add(s, c);
    if (x->shape != CHANGE_RETURNS)
        return true;
    struct load_change back = {c.of,  c.op,    c.at_ns, c.until_ns, s->c->full_until_ns,
                               false, c.after, c.before};
    load_add(s, back);
    return true;
}

/* Finds the changes of a quantity. */
static bool find_changes(struct search *s, struct levels *l, enum load_quantity of, size_t op,
                         struct err *e)
{
    const struct course *c = s->c;
    double v[COURSE_MAX_BLOCKS];

    if (!fill_quantity(s, of, op, v, e))
        return false;
    *l = (struct levels){.s = s, .width_ns = c->block_ns, .least_variance = LEAST_VARIANCE};
    /* Few hosts end a request in a small part of a block. */
    for (size_t b = 0; b < c->n_blocks; b++)
        if (course_block_start_ns(c, b) >= c->full_from_ns &&
            course_block_start_ns(c, b + 1) <= c->full_until_ns && isfinite(v[b]))
            levels_add_block(l, b, v[b]);
    /* A block in which the load changes lies between the levels. */
    memcpy(v, l->x, sizeof l->x);
    for (size_t i = 1; i + 1 < l->n; i++)
        if ((v[i] - v[i - 1]) * (v[i + 1] - v[i]) > 0 &&
            fabs(v[i + 1] - v[i - 1]) > LOAD_LEAST_CHANGE)
            l->x[i] = v[i - 1];
    return levels_tell(l, add_change, &(struct load_change){.of = of, .op = op}, e);
}

bool load_changes_requests(const struct search *s, int64_t at_ns)
{
    for (size_t i = 0; i < s->n_loads; i++)
        if (s->loads[i].of <= LOAD_MIX &&
            (s->loads[i].is_gradual ||
             llabs(s->loads[i].at_ns - at_ns) <= LOAD_NEAR * s->c->block_ns))
            return true;
    return false;
}

/* Sets the work by block to its mean between two changes: what it does by chance would be noise in
 * the throughput at equal load. */
static void level_work(struct search *s)
{
    const struct course *c = s->c;

    for (size_t from = 0, to; from < c->n_blocks; from = to) {
        double sum = 0;

        for (to = from; to < c->n_blocks && !load_changes_requests(s, course_block_start_ns(c, to));
             to++)
            sum += s->equal->work[to];
        for (size_t b = from; b < to; b++)
            s->equal->work[b] = sum / (double)(to - from);
        to += to == from;
    }
}

bool load_find(struct search *s, struct levels *l, struct err *e)
{
    if (s->equal == NULL)
        return true;
    for (enum load_quantity of = 0; of < N_LOAD_QUANTITIES; of++)
        for (size_t k = 0; is_known(s, of) && k < (of == LOAD_MIX ? s->c->n_ops : 1); k++)
            if (!find_changes(s, l, of, k, e))
                return false;
    level_work(s);
    return true;
}

/* ---- What it explains ---- */

/* How much more work a change is, as a logarithm: requests in a queue wait for those before them.
 * Of sizes that is at most their ratio; of operations, what these usually take. */
static double more_of(const struct search *s, const struct load_change *x)
{
    const double *work = s->equal->work;

    return x->of == LOAD_MIX ? load_mean(s, work, x->at_ns, x->until_ns) -
                                   load_mean(s, work, x->from_ns, x->at_ns)
                             : log(x->after / x->before);
}

bool load_explains(const struct search *s, int64_t at_ns, double change, bool of_rate)
{
    const struct course *c = s->c;
    double load = 0, slack = log(1 + LOAD_LEAST_CHANGE);

    for (size_t i = 0; i < s->n_loads; i++) {
        const struct load_change *x = &s->loads[i];
        double more = more_of(s, x);

        if (llabs(x->at_ns - at_ns) > LOAD_NEAR * c->block_ns && !x->is_gradual)
            continue;
        if (x->of <= LOAD_OBJECTS && !c->load.sizes_are_alike)
            return true;
        bool is_work = x->of <= LOAD_MIX, is_hosts = x->of == LOAD_HOSTS;
        double effect = (of_rate ? is_work : is_hosts) ? -more : more;
        /* In a shared queue all operations take long: how much more work one is stays unknown. */
        if ((x->of == LOAD_RATE || x->of == LOAD_MIX) && effect * change > 0)
            return true;
        load += x->of == LOAD_RATE ? 0 : effect;
    }
    /* No system that works on answers more than proportionally later. */
    return load * change > 0 && fabs(change) <= fabs(load) + slack;
}

/* Requests a second that succeeded in [from_ns, to_ns), without the bins that are masked. */
static double rate_within(const struct search *s, int64_t from_ns, int64_t to_ns)
{
    const struct course *c = s->c;
    double n = 0, n_free = 0;

    for (size_t j = course_bin(c, from_ns), end = course_bin(c, to_ns - 1); j <= end; j++)
        if (s->masked[j] == 0) {
            n += c->ok[j];
            n_free++;
        }
    return n / (n_free * (double)c->bin_ns / 1e9);
}

bool load_is_higher(const struct search *s, int64_t from_ns, int64_t to_ns)
{
    double own = rate_within(s, from_ns, to_ns), share = search_frac(s, to_ns - from_ns),
           all = rate_within(s, s->c->start_ns, s->c->end_ns);

    return load_due_varies(s) && own * (1 - share) > (1 + LOAD_LEAST_CHANGE) * (all - own * share);
}

/* ---- Telling it ---- */

static int compare_changes(const void *a, const void *b)
{
    const struct load_change *x = a, *y = b;
    return x->at_ns != y->at_ns ? int64_order(x->at_ns, y->at_ns) : (int)x->of - (int)y->of;
}

/* "objects are 33 times as large (64KiB -> 2.1MiB)". */
static struct phrase describe(const struct search *s, const struct load_change *x)
{
    double ratio = x->after / x->before;

    if (x->of == LOAD_SIZES)
        return phrase_format("objects are %.2g times as large (%s -> %s)", ratio,
                             units_size(x->before).s, units_size(x->after).s);
    if (x->of == LOAD_OBJECTS)
        return phrase_format("requests have %.2g times as many objects (%.3g -> %.3g)", ratio,
                             x->before, x->after);
    if (x->of == LOAD_MIX)
        return phrase_format("%.0f %% of the requests are %.80s, not %.0f %%", 100 * x->after,
                             s->c->ops[x->op].name, 100 * x->before);
    if (x->of == LOAD_RATE)
        return phrase_format("%.2g times as many requests are due", ratio);
    struct phrase n = phrase_format("%.3g", x->after);
    return phrase_format("%s %s%s %s, not %.3g", n.s, x->of == LOAD_HOSTS ? "host" : "thread",
                         strcmp(n.s, "1") == 0 ? " is" : "s are",
                         x->of == LOAD_HOSTS ? "in use" : "at work", x->before);
}

/* Tells the changes [first, end) that come at one time, between those at from_ns and until_ns. */
static bool say_changes(struct search *s, size_t first, size_t end, int64_t from_ns,
                        int64_t until_ns, struct err *e)
{
    static const char *const names[][2] = {
        {"bytes_before", "bytes_after"}, {"objects_before", "objects_after"},
        {"share_before", "share_after"}, {"threads_before", "threads_after"},
        {"due_before", "due_after"},     {"hosts_before", "hosts_after"}};
    const struct load_change *x = &s->loads[first];
    struct finding f = finding_of("load-change", FINDING_NOTICE, 0);
    struct phrase text = {""}, tail = {""};
    size_t n = 0;

    for (size_t i = first; i < end && n < sizeof text.s; i++) {
        n += (size_t)snprintf(text.s + n, sizeof text.s - n, "%s%s", i > first ? ", " : "",
                              describe(s, &s->loads[i]).s);
        finding_figure(&f, names[s->loads[i].of][0], s->loads[i].before);
        finding_figure(&f, names[s->loads[i].of][1], s->loads[i].after);
    }
    /* Rates are compared up to the next change. */
    for (size_t i = 0; i < s->out->n; i++) {
        const struct finding *g = &s->out->v[i];
        int64_t at_ns = finding_moment_ns(g), near_ns = LOAD_NEAR * s->c->block_ns;

        if (g->kind->is_step && at_ns > x->at_ns + near_ns)
            until_ns = int64_min(at_ns, until_ns);
        if (g->kind->is_step && at_ns < x->at_ns - near_ns)
            from_ns = int64_max(at_ns, from_ns);
    }
    struct course_work was = work_within(s, SIZE_MAX, from_ns, x->at_ns),
                       is = work_within(s, SIZE_MAX, x->at_ns, until_ns);
    f.ratio = rate_within(s, x->at_ns, until_ns) / rate_within(s, from_ns, x->at_ns);
    if (!isfinite(f.ratio)) /* nothing but stalls or failures on one side */
        f.ratio = NAN;
    else if (was.bytes > 0 && is.bytes > 0)
        tail = phrase_format(": requests/s %s, MiB/s %s", find_change(f.ratio).s,
                             find_change(f.ratio * is.bytes / is.n / (was.bytes / was.n)).s);
    else
        tail = phrase_format(": requests/s %s", find_change(f.ratio).s);
    if (!x->is_gradual) {
        f.has_start = true;
        f.start_ns = x->at_ns;
    }
    return findings_add(s->out, &f, e, "%s%s %s%s", x->is_gradual ? "Over the run" : "From ",
                        x->is_gradual ? "" : find_clock(s->c, x->at_ns).s, text.s, tail.s);
}

bool load_say(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    int64_t from_ns = c->start_ns;
    bool ok = true;

    qsort(s->loads, s->n_loads, sizeof *s->loads, compare_changes);
    for (size_t i = 0, end; ok && i < s->n_loads; i = end) {
        for (end = i + 1; end < s->n_loads &&
                          s->loads[end].at_ns - s->loads[i].at_ns <= LOAD_NEAR * c->block_ns;)
            end++;
        ok = say_changes(s, i, end, from_ns,
                         end < s->n_loads ? s->loads[end].at_ns : c->full_until_ns, e);
        from_ns = s->loads[i].at_ns;
    }
    return ok;
}
