#include "analyze/findings/queues.h"

#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define MOST_ARRIVALS   (1 << 17)
#define LEAST_ARRIVALS  20  /* requests of a host */
#define LEAST_LONGER    1.2 /* service time of a slow host, against the others' */
#define N_BLOCKS        8
#define LEAST_BLOCKS    4
#define MORE_SCATTER    1.5 /* times the least scatter */
#define MOST_DEPENDING  3.0
#define MOST_EARLY      .02
#define QUICK_FAILURE   .5   /* of the median duration */
#define MOST_OWN_WORK   .5   /* share of late requests that are late even without their wait */
#define LEAST_VARIANCE  1e-4 /* of service times: clocks are not finer */
#define LEAST_OF_OTHERS .75  /* share of the delay by a request of the same client */
#define CLOCKS_Z        3    /* ... and standard errors by which the delay must be less */

/* How many requests a host may serve at a time. */
static const double slots[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, INFINITY};

#define N(a) (sizeof(a) / sizeof *(a))

/* A request as its host saw it. */
struct arrival {
    int64_t start_ns, end_ns;
    size_t party;
    uint32_t client;
    double usual_ns; /* usual duration of such requests; 0: does not count, as it failed, began
                        before, or overlaps another fault */
    double slow_ns;  /* least duration of such requests in the tail; 0: not known */
    double queue;    /* log of 1 + the requests that it found at its host, less the mean of that */
};

struct departure {
    int64_t ns;
    uint32_t client;
};

/* Service times of a host, as shares of the usual durations, if it has a certain number of
 * slots. */
struct service {
    double n, sum, squares;
    double n_early; /* requests that ended before the host could take them */
};

void queues_fini(struct queues *q)
{
    free(q->v);
    free(q->ends);
    free(q->of_party);
    free(q->others);
    free(q->first);
    *q = (struct queues){0};
}

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->party != y->party)
        return x->party < y->party ? -1 : 1;
    return int64_order(x->start_ns, y->start_ns);
}

static int compare_departures(const void *a, const void *b)
{
    return int64_order(((const struct departure *)a)->ns, ((const struct departure *)b)->ns);
}

/* Fills in the usual duration by stratum: the geometric mean. */
static void fill_usual(const struct search *s, double *usual_ns)
{
    for (size_t k = 0; k < s->c->n_strata; k++) {
        struct samples all = search_samples(s, (struct strata){k, k + 1});

        usual_ns[k] = exp(all.sum / fmax(all.n, 1));
    }
}

/* Tables that are used while requests are read. */
struct known {
    double *usual_ns;   /* by stratum */
    uint32_t *n_masked; /* by bin: bins before it that carry a mask */
};

/* Counts the bins before each that carry a mask. */
static bool count_masked(const struct search *s, uint32_t **n_before, struct err *e)
{
    if (!mem_new(n_before, s->c->n_bins + 1, e))
        return false;
    (*n_before)[0] = 0;
    for (size_t j = 0; j < s->c->n_bins; j++)
        (*n_before)[j + 1] = (*n_before)[j] + (s->masked[j] != 0);
    return true;
}

/* Appends row i of operation k, if it was under way in the stretch. What was refused at once was in
 * no queue. */
static void add_arrival(struct queues *q, const struct search *s, const struct known *known,
                        size_t k, size_t i)
{
    const struct course *c = s->c;
    const struct table *t = c->tables[k];
    int64_t start_ns = t->start[i], end_ns = table_end(t, i);
    size_t place = course_place(t, i);
    uint32_t party = c->hosts.of_place[place];

    if (start_ns >= q->end_ns || end_ns <= q->start_ns || party == UINT32_MAX ||
        (table_failed(t, i) && (double)(end_ns - start_ns) < QUICK_FAILURE * c->median_ns[k]))
        return;
    bool is_masked =
        known->n_masked[course_bin(c, start_ns)] < known->n_masked[course_bin(c, end_ns) + 1];
    bool counts = start_ns >= q->start_ns && !table_failed(t, i) && !is_masked;
    size_t stratum = counts ? course_stratum(c, k, i) : 0;
    q->v[q->n++] = (struct arrival){
        .start_ns = start_ns,
        .end_ns = end_ns,
        .party = party,
        .client = c->clients.of_place[place],
        .usual_ns = counts ? known->usual_ns[stratum] : 0,
        .slow_ns = counts && c->slow_from_ns != NULL ? (double)c->slow_from_ns[stratum] : 0,
    };
}

static size_t count_arrivals(const struct queues *q, const struct course *c)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->tables[k]->n; i++)
            n += c->tables[k]->start[i] < q->end_ns && table_end(c->tables[k], i) > q->start_ns;
    return n;
}

/* Sorts the requests, and separately the ends at each host. */
static void sort_arrivals(struct queues *q)
{
    qsort(q->v, q->n, sizeof *q->v, compare_arrivals);
    for (size_t i = 0; i < q->n; i++) {
        q->ends[i] = (struct departure){q->v[i].end_ns, q->v[i].client};
        q->first[q->v[i].party + 1] = i + 1;
    }
    for (size_t k = 0; k < q->n_parties; k++) {
        q->first[k + 1] = q->first[k + 1] > 0 ? q->first[k + 1] : q->first[k];
        qsort(q->ends + q->first[k], q->first[k + 1] - q->first[k], sizeof *q->ends,
              compare_departures);
    }
}

/* Sums, and sums of products of any two, of what each request found at its host: OWN requests of
 * its own client, OTHERS of other clients; and TOOK, its duration as a share of the usual one. */
enum { OWN, OTHERS, TOOK, N_FOUND };
struct found {
    double n, sum[N_FOUND], products[N_FOUND][N_FOUND];
};

static void found_add(struct found *to, const double *x)
{
    to->n++;
    for (size_t i = 0; i < N_FOUND; i++) {
        to->sum[i] += x[i];
        for (size_t j = 0; j < N_FOUND; j++)
            to->products[i][j] += x[i] * x[j];
    }
}

/* Adds the sums of a host, centred at its means. */
static void found_add_host(struct found *to, const struct found *host)
{
    to->n += host->n;
    for (size_t i = 0; i < N_FOUND && host->n > 0; i++)
        for (size_t j = 0; j < N_FOUND; j++)
            to->products[i][j] += host->products[i][j] - host->sum[i] * host->sum[j] / host->n;
}

/* Whether the clocks of clients agree. A request that waits at a host delays the next one by the
 * same time, whoever sent it. If requests of other clients seem to delay it clearly less than those
 * of its own client (by least squares), clocks differ, and who waited for whom is not known. */
static bool clocks_agree(const struct found *x)
{
    const double(*p)[N_FOUND] = x->products;
    double det = p[OWN][OWN] * p[OTHERS][OTHERS] - p[OWN][OTHERS] * p[OWN][OTHERS];

    if (det <= 1e-9 * p[OWN][OWN] * p[OTHERS][OTHERS])
        return true;
    double own = (p[OWN][TOOK] * p[OTHERS][OTHERS] - p[OTHERS][TOOK] * p[OWN][OTHERS]) / det;
    double others = (p[OTHERS][TOOK] * p[OWN][OWN] - p[OWN][TOOK] * p[OWN][OTHERS]) / det;
    double rest = fmax(p[TOOK][TOOK] - own * p[OWN][TOOK] - others * p[OTHERS][TOOK], 0) / x->n;
    double variance = rest * (p[OWN][OWN] + p[OTHERS][OTHERS] + 2 * p[OWN][OTHERS]) / det;
    return others >= LEAST_OF_OTHERS * own || own - others < CLOCKS_Z * sqrt(variance);
}

/* Counts the requests that each one found at its host (`here`: those under way, by client). Sets
 * *agree to whether clocks agree. False: out of memory. */
static bool fill_queues(struct queues *q, size_t n_clients, bool *agree, struct err *e)
{
    struct found all = {0};
    double *here;

    if (!mem_new(&here, n_clients, e))
        return false;
    for (size_t k = 0; k < q->n_parties; k++) {
        size_t first = q->first[k], gone = first;
        struct found of_host = {0};
        double sum = 0;

        memset(here, 0, n_clients * sizeof *here);
        for (size_t i = first; i < q->first[k + 1]; i++) {
            struct arrival *a = &q->v[i];

            while (gone < i && q->ends[gone].ns <= a->start_ns)
                here[q->ends[gone++].client]--;
            double n = (double)(i - gone), own = here[a->client]++;
            a->queue = log(n + 1);
            if (a->usual_ns == 0)
                continue;
            sum += a->queue;
            found_add(&of_host,
                      (double[]){own, n - own, (double)(a->end_ns - a->start_ns) / a->usual_ns});
        }
        found_add_host(&all, &of_host);
        for (size_t i = first; i < q->first[k + 1]; i++)
            q->v[i].queue -= sum / fmax(of_host.n, 1);
    }
    *agree = clocks_agree(&all);
    free(here);
    return true;
}

/* Reads the requests of [start_ns, end_ns), or of as much of its middle as there is room for. */
static bool read_arrivals(struct queues *q, const struct search *s, int64_t start_ns,
                          int64_t end_ns, struct err *e)
{
    const struct course *c = s->c;
    struct known known = {0};
    bool is_first = q->v == NULL, clocks_differ = q->clocks_differ, agree;
    size_t n;

    queues_fini(q);
    q->clocks_differ = clocks_differ;
    q->asked_start_ns = q->start_ns = start_ns;
    q->asked_end_ns = q->end_ns = end_ns;
    q->n_parties = c->hosts.n;
    while ((n = count_arrivals(q, c)) > MOST_ARRIVALS && q->end_ns - q->start_ns > N_BLOCKS) {
        double length_ns = (double)(q->end_ns - q->start_ns);
        int64_t off_ns = (int64_t)(length_ns * (1 - .9 * MOST_ARRIVALS / (double)n) / 2);

        q->start_ns += off_ns;
        q->end_ns -= off_ns;
    }
    bool ok = mem_new(&q->v, n, e) && mem_new(&q->ends, n, e) &&
              mem_cleared(&q->first, q->n_parties + 1, e) &&
              mem_new(&known.usual_ns, c->n_strata, e) && count_masked(s, &known.n_masked, e) &&
              mem_new(&q->of_party, q->n_parties, e) && mem_new(&q->others, q->n_parties, e);
    if (ok) {
        fill_usual(s, known.usual_ns);
        for (size_t k = 0; k < c->n_ops; k++)
            for (size_t i = 0; i < c->tables[k]->n; i++)
                add_arrival(q, s, &known, k, i);
        sort_arrivals(q);
        ok = fill_queues(q, c->clients.n, &agree, e);
        q->clocks_differ = is_first ? ok && !agree : clocks_differ;
    }
    free(known.usual_ns);
    free(known.n_masked);
    return ok;
}

/* Returns how long request i waits for a slot: until fewer than n_slots requests before it are
 * left. */
static double wait_ns(const struct queues *q, size_t i, double n_slots)
{
    const struct arrival *a = &q->v[i];
    size_t before = i - q->first[a->party];

    if ((double)before < n_slots)
        return 0;
    return fmax((double)(q->ends[i - (size_t)n_slots].ns - a->start_ns), 0);
}

static double work_ns(const struct queues *q, size_t i, double n_slots)
{
    return (double)(q->v[i].end_ns - q->v[i].start_ns) - wait_ns(q, i, n_slots);
}

static double work_on(const struct queues *q, size_t i, double n_slots)
{
    return work_ns(q, i, n_slots) / q->v[i].usual_ns;
}

static void add_service(struct service *to, double work)
{
    to->n++;
    to->sum += work;
    to->squares += work * work;
}

static double mean_of(const struct service *x)
{
    return fmax(x->sum / fmax(x->n, 1), 1e-9);
}

/* How badly a number of slots fits the requests. */
struct misfit {
    double scatter;   /* sum of squared log residuals of durations from wait + mean service time */
    double depending; /* dependence of the service time on the queue, in standard errors */
    double too_early; /* share of requests that ended before the host could take them: of the host
                         in question or, if it is larger, the median share of the others. One of
                         these may send some answers late, after it has served them. */
};

static double early_share(const struct service *x)
{
    return x->n_early / fmax(x->n, 1);
}

/* Fills of_party with the service times for n_slots; returns the misfit for a host. */
static struct misfit fill_services(struct queues *q, size_t host, double n_slots)
{
    double n = 0, scatter = 0, sum = 0, squares = 0, queues = 0;
    size_t n_others = 0;

    memset(q->of_party, 0, q->n_parties * sizeof *q->of_party);
    for (size_t i = 0; i < q->n; i++)
        if (q->v[i].usual_ns > 0)
            add_service(&q->of_party[q->v[i].party], work_on(q, i, n_slots));
    for (size_t i = 0; i < q->n; i++) {
        const struct arrival *a = &q->v[i];

        if (a->usual_ns == 0)
            continue;
        struct service *own = &q->of_party[a->party];
        double mean = mean_of(own), took_ns = (double)(a->end_ns - a->start_ns);
        double off = log(fmax(took_ns, 1) / (wait_ns(q, i, n_slots) + mean * a->usual_ns));
        double more = work_on(q, i, n_slots) / mean - 1;
        n++;
        own->n_early += more < -1;
        scatter += off * off;
        sum += more * a->queue;
        squares += more * more;
        queues += a->queue * a->queue;
    }
    for (size_t k = 0; k < q->n_parties; k++)
        if (k != host && q->of_party[k].n >= LEAST_ARRIVALS)
            q->others[n_others++] = early_share(&q->of_party[k]);
    double others = n_others > 0 ? stats_select(q->others, n_others, (n_others - 1) / 2) : 0;
    double variance = fmax(squares / fmax(n, 1), LEAST_VARIANCE);
    return (struct misfit){scatter, queues > 0 ? fabs(sum) / sqrt(variance * queues) : 0,
                           fmax(early_share(&q->of_party[host]), others)};
}

/* Returns the mean service time of a host as a multiple of the lower median of the others'; 0: not
 * known. */
static double times_longer(struct queues *q, size_t host)
{
    size_t n = 0;
    for (size_t k = 0; k < q->n_parties; k++)
        if (k != host && q->of_party[k].n >= LEAST_ARRIVALS)
            q->others[n++] = mean_of(&q->of_party[k]);
    return n > 0 && q->of_party[host].n >= LEAST_ARRIVALS
               ? mean_of(&q->of_party[host]) / stats_select(q->others, n, (n - 1) / 2)
               : 0;
}

/* Returns how surely a host needs longer, in standard errors. These come from blocks of time, as
 * the queues of equal hosts wander. */
static double sureness(const struct queues *q, size_t host, double n_slots, double longer)
{
    struct service own[N_BLOCKS] = {0}, others[N_BLOCKS] = {0};
    double each_ns = (double)(q->end_ns - q->start_ns) / N_BLOCKS, sum = 0, squares = 0, n = 0;

    for (size_t i = 0; i < q->n; i++) {
        if (q->v[i].usual_ns == 0)
            continue;
        size_t b = (size_t)((double)(q->v[i].start_ns - q->start_ns) / each_ns);
        b = b < N_BLOCKS ? b : N_BLOCKS - 1;
        add_service(q->v[i].party == host ? &own[b] : &others[b], work_on(q, i, n_slots));
    }
    for (size_t b = 0; b < N_BLOCKS; b++) {
        if (own[b].n == 0 || others[b].n == 0)
            continue;
        double x = log(mean_of(&own[b]) / mean_of(&others[b]));
        n++;
        sum += x;
        squares += x * x;
    }
    if (n < LEAST_BLOCKS)
        return 0;
    const struct service *x = &q->of_party[host];
    double of_blocks = fmax(squares - sum * sum / n, 0) / (n - 1) / n;
    double of_requests = (x->squares / x->n / (mean_of(x) * mean_of(x)) - 1) / x->n;
    return log(longer) / sqrt(fmax(fmax(of_blocks, of_requests), 1e-9));
}

/* Reads the requests of the stretch, unless the last query was about the same. Sets the misfit of
 * each number of slots; INFINITY if it does not fit, or if the clocks of clients differ. */
static bool find_slots(struct queues *q, const struct search *s, size_t host, int64_t start_ns,
                       int64_t end_ns, double *misfit, struct err *e)
{
    struct misfit of[N(slots)], least = {INFINITY, INFINITY, 0};
    const struct course *c = s->c;

    for (size_t k = 0; k < N(slots); k++)
        misfit[k] = INFINITY;
    /* The first query reads the whole run, to compare the clocks by all requests. */
    if (q->v == NULL && c->clients.n > 1 && !read_arrivals(q, s, c->start_ns, c->end_ns, e))
        return false;
    if (q->clocks_differ)
        return true;
    if ((q->v == NULL || start_ns != q->asked_start_ns || end_ns != q->asked_end_ns) &&
        !read_arrivals(q, s, start_ns, end_ns, e))
        return false;
    for (size_t k = 0; k < N(slots); k++) {
        of[k] = fill_services(q, host, slots[k]);
        if (of[k].too_early > MOST_EARLY)
            continue;
        least.scatter = fmin(least.scatter, of[k].scatter);
        least.depending = fmin(least.depending, of[k].depending);
    }
    for (size_t k = 0; k < N(slots); k++) {
        bool fits = of[k].scatter <= MORE_SCATTER * least.scatter + 1e-6 * (double)q->n &&
                    of[k].depending <= fmax(MOST_DEPENDING, MORE_SCATTER * least.depending) &&
                    of[k].too_early <= MOST_EARLY;
        misfit[k] = fits ? of[k].scatter : INFINITY;
    }
    return true;
}

bool queues_ask(struct queues *q, const struct search *s, size_t host, int64_t start_ns,
                int64_t end_ns, struct queues_answer *answer, struct err *e)
{
    double least_longer = INFINITY, sure = 0, best = INFINITY, misfit[N(slots)];

    *answer = (struct queues_answer){0};
    if (!s->c->has_requests)
        return true;
    if (!find_slots(q, s, host, start_ns, end_ns, misfit, e))
        return false;
    for (size_t k = 0; k < N(slots); k++) {
        if (misfit[k] == INFINITY)
            continue;
        fill_services(q, host, slots[k]);
        double longer = times_longer(q, host);
        if (longer == 0)
            return true;
        if (longer < least_longer) {
            least_longer = longer;
            sure = sureness(q, host, slots[k], longer);
        }
        if (misfit[k] < best) {
            best = misfit[k];
            answer->ratio = longer;
        }
    }
    answer->is_known = least_longer < INFINITY;
    answer->is_longer = answer->is_known && least_longer >= LEAST_LONGER;
    answer->z = sure;
    return true;
}

/* Numbers of requests, of those in the tail, and of those in it even without their wait. */
struct late {
    double n, n_late, n_late_work;
};

static struct late count_late(const struct queues *q, size_t host, bool own, double n_slots)
{
    struct late x = {0};

    for (size_t i = 0; i < q->n; i++) {
        const struct arrival *a = &q->v[i];
        if (a->slow_ns == 0 || (a->party == host) != own)
            continue;
        x.n++;
        x.n_late += (double)(a->end_ns - a->start_ns) >= a->slow_ns;
        x.n_late_work += work_ns(q, i, n_slots) >= a->slow_ns;
    }
    return x;
}

bool queues_explain_tail(struct queues *q, const struct search *s, size_t host, double least_times,
                         bool *explained, struct err *e)
{
    double misfit[N(slots)];

    *explained = false;
    if (!s->c->has_requests)
        return true;
    if (!find_slots(q, s, host, s->c->start_ns, s->c->end_ns, misfit, e))
        return false;
    for (size_t k = 0; k < N(slots) && !*explained; k++) {
        if (misfit[k] == INFINITY)
            continue;
        struct late own = count_late(q, host, true, slots[k]);
        struct late others = count_late(q, host, false, slots[k]);
        double usual = own.n * others.n_late_work / fmax(others.n, 1);
        *explained = own.n_late >= LEAST_ARRIVALS && own.n_late_work < MOST_OWN_WORK * own.n_late &&
                     own.n_late_work < fmax(least_times * usual, LEAST_ARRIVALS);
    }
    return true;
}
