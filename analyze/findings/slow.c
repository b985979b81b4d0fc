/* Slow hosts, clients and objects: those whose requests take longer than equal requests of the
 * others, at equal load (like.h). */
#include "analyze/base/tasks.h"
#include "analyze/findings/find.h"
#include "analyze/findings/like.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define TAIL_PROBLEM .05 /* of the run, lost by a tail (the specification of findings) */

static struct phrase when(const struct search *s, const struct finding *f)
{
    return phrase_format("%s%s%s%s", f->has_start ? " from " : "",
                         f->has_start ? find_clock(s->c, f->start_ns).s : "",
                         f->has_end ? " until " : "",
                         f->has_end ? find_clock(s->c, f->end_ns).s : "");
}

static struct phrase at_equal_load(const struct like_span *g)
{
    if (!g->is_load && fabs(log(g->ratio / g->load_ratio)) > log(SLOW_LEAST_RATIO))
        return phrase_format(" (%.1f times at equal load)", g->load_ratio);
    return (struct phrase){""};
}

/* Names the operation, and the sizes, that alone are slow: " for GET requests of 1MiB". */
static struct phrase requests_of(const struct like *l, const struct like_span *g, struct finding *f)
{
    const struct like_class *class =
        g->part.of[LIKE_CLASS] != SIZE_MAX ? &l->classes[g->part.of[LIKE_CLASS]] : NULL;
    size_t op = class != NULL ? class->op : g->part.of[LIKE_OP];
    bool has_sizes = class != NULL && class->max_bytes > 1;

    if (op == SIZE_MAX)
        return (struct phrase){""};
    f->op = l->c->n_ops > 1 ? l->c->ops[op].name : NULL;
    return phrase_format(" for %.80s%srequests%s%s", f->op != NULL ? f->op : "",
                         f->op != NULL ? " " : "", has_sizes ? " of " : "",
                         has_sizes ? find_sizes(f, class->min_bytes, class->max_bytes).s : "");
}

/* The groups that a slow one is compared with: "the other 2 hosts", "2 other hosts" if further ones
 * are slow. */
static struct phrase others_of(const struct course_parties *p, size_t n_slow)
{
    size_t n = p->n - n_slow;
    const char *what = p->clients ? "client" : "host";
    struct units_text many = units_count((int64_t)n);

    if (n_slow > 1)
        return phrase_format("%s other %s%s", many.s, what, n > 1 ? "s" : "");
    return phrase_format("the other %s%s%s%s", n > 1 ? many.s : "", n > 1 ? " " : "", what,
                         n > 1 ? "s" : "");
}

static bool say_tail(struct search *s, const struct course_parties *p, const struct like_span *g,
                     const struct phrase *others, struct finding *f, struct err *e)
{
    finding_figure(f, "slow_share", g->late);
    finding_figure(f, "others_slow_share", g->others_late);
    finding_figure(f, "slow_mean_ns", g->late_ns);
    return findings_add(s->out, f, e,
                        "%s%s answers %s of its requests late, in %s on average (%s at %s)%s; its "
                        "other requests take no longer",
                        p->clients ? "Client " : "", intern_shown(f->party),
                        units_pct(100 * g->late).s, units_duration((int64_t)g->late_ns).s,
                        units_pct(100 * g->others_late).s, others->s, when(s, f).s);
}

static void set_span(struct finding *f, const struct like_span *g, const struct course *c)
{
    f->ratio = g->ratio;
    f->has_start = g->has_start;
    f->has_end = g->has_end;
    f->start_ns = g->start_ns;
    f->end_ns = g->end_ns;
    f->within_ns = c->has_requests ? 0 : c->bin_ns;
    finding_figure(f, "n_samples", g->n);
    finding_figure(f, "t", fmin(g->t, 1e6));
    finding_figure(f, "ratio_at_equal_load", g->load_ratio);
}

static bool is_problem(const struct like_span *g, bool is_minor)
{
    return !is_minor && !g->is_load && g->ratio >= SLOW_PROBLEM_RATIO;
}

/* Whether a pair of a host and a client was found already: by host, then by client. */
static bool is_told(const struct findings *all, const struct finding *f)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].kind == f->kind && all->v[i].party == f->party &&
            all->v[i].client == f->client)
            return true;
    return false;
}

static bool is_late_only(const struct like_span *g)
{
    return g->is_tail && g->late > 0 && 2 * g->late < 1;
}

static bool say_span(struct search *s, const struct like *l, const struct course_parties *p,
                     size_t group, size_t n_slow, const struct like_span *g, bool is_minor,
                     struct err *e)
{
    struct finding f =
        finding_of(p->clients ? "slow-client" : "slow-host", is_problem(g, is_minor), g->lost_frac);
    struct phrase what = requests_of(l, g, &f), others = others_of(p, n_slow);

    search_set_party(&f, p, group);
    set_span(&f, g, s->c);
    if (is_late_only(g) && !g->is_pair)
        return say_tail(s, p, g, &others, &f, e);
    if (g->part.of[LIKE_OTHER] != SIZE_MAX) {
        f.kind = finding_kind("slow-host");
        f.scope = SCOPE_HOST;
        f.party = s->c->hosts.name[p->clients ? g->part.of[LIKE_OTHER] : group];
        f.client = s->c->clients.name[p->clients ? group : g->part.of[LIKE_OTHER]];
        if (g->is_pair)
            return findings_add(
                s->out, &f, e,
                "%s or client %s, which meet no others, takes %.1f times as long as "
                "%s%s%s%s: which of the two, their requests cannot tell",
                intern_shown(f.party), intern_shown(f.client), g->ratio, others.s, what.s,
                at_equal_load(g).s, when(s, &f).s);
        return is_told(s->out, &f) ||
               findings_add(s->out, &f, e,
                            "%s takes %.1f times as long%s of client %s as for those of other "
                            "clients%s%s; other hosts do not",
                            intern_shown(f.party), g->ratio,
                            what.s[0] != '\0' ? what.s : " for requests", intern_shown(f.client),
                            at_equal_load(g).s, when(s, &f).s);
    }
    return findings_add(s->out, &f, e, "%s%s takes %.1f times as long as %s%s%s%s",
                        p->clients ? "Client " : "", intern_shown(f.party), g->ratio, others.s,
                        what.s, at_equal_load(g).s, when(s, &f).s);
}

/* Adds findings of the spans of a group, unless it is slow for less than half of the run and they
 * cost next to nothing together. */
static bool say_group(struct search *s, const struct like *l, const struct course_parties *p,
                      const struct like_slow *x, size_t n_slow, struct err *e)
{
    double lost = 0, length = 0;
    bool ok = true;

    for (size_t i = 0; i < x->n; i++) {
        lost += x->v[i].lost_frac;
        length += search_frac(s, x->v[i].end_ns - x->v[i].start_ns);
    }
    bool is_short = 2 * length < 1;
    if (is_short && lost < FINDING_WORTH_FRAC)
        return true;
    bool is_minor =
        is_late_only(&x->v[0]) ? lost < TAIL_PROBLEM : is_short && lost < FINDING_PROBLEM_FRAC;
    for (size_t i = 0; ok && i < x->n; i++)
        ok = say_span(s, l, p, x->group, n_slow, &x->v[i], is_minor, e);
    return ok;
}

/* Most groups are slow: says by how much the others are faster, as their mean over the slow ones.
 */
static bool say_fast(struct search *s, const struct course_parties *p, const struct like_slow *slow,
                     size_t n_slow, struct err *e)
{
    struct like_span mean = slow[0].v[0];
    double ratio = 0, load_ratio = 0;
    bool ok = true;

    mean.lost_frac = 0;
    for (size_t i = 0; i < n_slow; i++) {
        ratio -= log(slow[i].v[0].ratio) / (double)n_slow;
        load_ratio -= log(slow[i].v[0].load_ratio) / (double)n_slow;
        mean.lost_frac += slow[i].v[0].lost_frac;
    }
    mean.ratio = exp(ratio);
    mean.load_ratio = exp(load_ratio);
    for (size_t k = 0, i = 0; ok && k < p->n; k++) {
        if (i < n_slow && slow[i].group == k) {
            i++;
            continue;
        }
        struct finding f = finding_of(p->clients ? "fast-client" : "fast-host",
                                      is_problem(&mean, false), mean.lost_frac);
        search_set_party(&f, p, k);
        set_span(&f, &mean, s->c);
        ok = findings_add(s->out, &f, e,
                          "%s%s takes %.2f times as long as the %s %ss that are slower%s%s",
                          p->clients ? "Client " : "", intern_shown(f.party), mean.ratio,
                          units_count((int64_t)n_slow).s, p->clients ? "client" : "host",
                          at_equal_load(&mean).s, when(s, &f).s);
    }
    return ok;
}

/* If most groups are slow at one time, the others are the exception: they are fast, unless they are
 * slow at another time. */
static bool say_groups(struct search *s, const struct like_found *x, struct err *e)
{
    const struct course_parties *p = x->groups == LIKE_CLIENTS ? &s->c->clients : &s->c->hosts;

    if (x->groups != LIKE_PAIRS && 2 * x->n_at_once > p->n && x->n < p->n)
        return say_fast(s, p, x->v, x->n, e);
    bool ok = true;
    for (size_t i = 0; ok && i < x->n; i++)
        ok = say_group(s, x->l, p, &x->v[i], x->n_at_once, e);
    return ok;
}

/* Sets the scope to the host of an object, if it has only one. */
static void set_host(struct finding *f, const struct like *l, size_t object)
{
    uint32_t host = UINT32_MAX;

    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i].object != object)
            continue;
        if (host != UINT32_MAX && host != l->v[i].host)
            return;
        host = l->v[i].host;
    }
    search_set_party(f, &l->c->hosts, host);
}

/* An object that is read or written often may be slow by itself: locked, or damaged. Captures are
 * read without the names of objects. */
static bool say_objects(struct search *s, const struct like_found *x, struct err *e)
{
    const struct like *l = x->l;
    bool ok = true;

    for (size_t i = 0; ok && i < x->n; i++) {
        const struct like_span *g = &x->v[i].v[0];
        double share = g->n / (double)l->n;
        bool is_minor = g->lost_frac < FINDING_PROBLEM_FRAC;
        struct finding f = finding_of("slow-object", is_problem(g, is_minor), g->lost_frac);
        struct phrase what = requests_of(l, g, &f);

        set_host(&f, l, x->v[i].group);
        set_span(&f, g, s->c);
        finding_figure(&f, "share", share);
        if (g->lost_frac >= FINDING_WORTH_FRAC)
            ok = findings_add(s->out, &f, e,
                              "One object with %s of the requests takes %.1f times as long as "
                              "others%s%s%s",
                              units_pct(100 * share).s, g->ratio, what.s, at_equal_load(g).s,
                              when(s, &f).s);
    }
    return ok;
}

static bool find_slow_seconds(struct search *s, enum like_groups groups, struct err *e)
{
    struct like l;
    struct like_found x = {.l = &l, .groups = groups};
    bool ok = like_init_seconds(&l, s, groups == LIKE_CLIENTS ? &s->c->clients : &s->c->hosts, e) &&
              like_find(&x, e) && say_groups(s, &x, e);

    free(x.v);
    like_fini(&l);
    return ok;
}

static bool find_groups(void *found, struct err *e)
{
    return like_find(found, e);
}

bool find_slow(struct search *s, struct err *e)
{
    struct like l;
    struct like_found x[LIKE_N_GROUPS];
    struct task tasks[LIKE_N_GROUPS];

    if (!s->c->has_requests)
        return find_slow_seconds(s, LIKE_HOSTS, e) && find_slow_seconds(s, LIKE_CLIENTS, e);
    for (enum like_groups i = 0; i < LIKE_N_GROUPS; i++) {
        x[i] = (struct like_found){.l = &l, .groups = i};
        tasks[i] = (struct task){find_groups, &x[i], 1};
    }
    bool ok = like_init(&l, s, e) && tasks_run(tasks, LIKE_N_GROUPS, s->c->use_threads, e) &&
              say_groups(s, &x[LIKE_HOSTS], e) && say_groups(s, &x[LIKE_CLIENTS], e) &&
              say_groups(s, &x[LIKE_PAIRS], e) && say_objects(s, &x[LIKE_OBJECTS], e);
    for (int i = 0; i < LIKE_N_GROUPS; i++)
        free(x[i].v);
    like_fini(&l);
    return ok;
}
