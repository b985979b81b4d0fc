#include "analyze/aggregated/aggregate_internal.h"

#include "analyze/data/errnorm.h"
#include "analyze/data/filter.h"
#include "analyze/model/role.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"
#include "libcommon/units.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_SHIFT_S  2 /* the known recorders label seconds this much too early */
#define SUMS_EXACT_MAX (INT64_C(1) << 50) /* the recorder adds up hosts in floating point */

static void free_part(struct aggregate_part *part)
{
    for (size_t i = 0; i < part->n_messages; i++)
        free(part->messages[i]);
    free(part->messages);
    free(part->latency.classes);
}

void aggregate_free(struct aggregate *a)
{
    struct aggregate_parts *const all[] = {&a->ops, &a->hosts, &a->clients};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        for (size_t i = 0; i < all[k]->n; i++)
            free_part(&all[k]->v[i]);
        free(all[k]->v);
    }
    free_part(&a->total);
    free(a->sum);
    free(a->in_order);
    notes_free(&a->warnings);
    aggfile_free(&a->file);
    *a = (struct aggregate){0};
}

/* ---- Whether it adds up ---- */

struct sums {
    __int128 n_requests, n_errors, n_bytes, n_objects;
};

static bool differ(__int128 sum, int64_t whole)
{
    __int128 apart = sum > whole ? sum - whole : whole - sum;
    return apart > (whole > SUMS_EXACT_MAX ? whole / SUMS_EXACT_MAX : 0);
}

static bool check_sums(const struct aggregate *a, const struct aggfile_entry *x, const char *what,
                       const struct sums *s, struct err *e)
{
    const char *key = differ(s->n_requests, x->n_requests) ? "total_requests"
                      : differ(s->n_errors, x->n_errors)   ? "total_errors"
                      : differ(s->n_bytes, x->n_bytes)     ? "total_bytes"
                      : differ(s->n_objects, x->n_objects) ? "total_objects"
                                                           : NULL;
    if (key == NULL)
        return true;
    return err_set(e, "%s: %s%s.%s: the %s do not add up to it", a->file.path,
                   *x->name ? "by_op_type." : "total", x->name, key, what);
}

static bool check_parties(const struct aggregate *a, const struct aggfile_entry *x, bool present,
                          const struct aggfile_party *v, size_t n, const char *what, struct err *e)
{
    struct sums s = {0};
    for (size_t i = 0; i < n; i++) {
        s.n_requests += v[i].n_requests;
        s.n_errors += v[i].n_errors;
        s.n_bytes += v[i].n_bytes;
        s.n_objects += v[i].n_objects;
    }
    return !present || check_sums(a, x, what, &s, e);
}

static bool check_entries(const struct aggregate *a, const struct aggfile_entries *all,
                          const char *what, struct err *e)
{
    struct sums s = {0};
    for (size_t i = 0; i < all->n; i++) {
        s.n_requests += all->v[i].n_requests;
        s.n_errors += all->v[i].n_errors;
        s.n_bytes += all->v[i].n_bytes;
        s.n_objects += all->v[i].n_objects;
    }
    return !all->present || check_sums(a, &a->file.total, what, &s, e);
}

static bool check_entry(const struct aggregate *a, const struct aggfile_entry *x, struct err *e)
{
    return check_parties(a, x, x->has_hosts, x->hosts, x->n_hosts, "hosts", e) &&
           check_parties(a, x, x->has_clients, x->clients, x->n_clients, "clients", e);
}

static bool check(const struct aggregate *a, struct err *e)
{
    if (!check_entry(a, &a->file.total, e))
        return false;
    for (size_t i = 0; i < a->file.ops.n; i++)
        if (!check_entry(a, &a->file.ops.v[i], e))
            return false;
    return check_entries(a, &a->file.ops, "operations", e) &&
           check_entries(a, &a->file.hosts, "hosts", e) &&
           check_entries(a, &a->file.clients, "clients", e);
}

/* ---- Times of the seconds ---- */

/* Returns how far the labels are off: 2 or 0, judged by the distance of the last one from the end
 * of the entry; -1: neither fits. */
static int shift_of(const struct aggfile_entry *x)
{
    int64_t d = x->end_ns / NS_PER_S - 2 - x->seconds[x->n_seconds - 1].label_s;
    return d == LABEL_SHIFT_S ? LABEL_SHIFT_S : d == 0 ? 0 : -1;
}

/* How far the labels of an entry are off. In a merged file the clients' own series show it for
 * all. */
struct labels {
    int shift_s;
    bool is_sure, misses_early;
    int64_t early_s;
};

/* True if requests are missing in the series: the recorder forgets those that started in a second
 * before the first one in which a request ended. */
static bool misses_early(const struct aggfile_entry *x, int shift_s, int64_t *early_s)
{
    *early_s = x->seconds[0].label_s + shift_s - 2;
    return *early_s > x->start_ns / NS_PER_S;
}

static struct labels labels_of(const struct aggfile_entry *x)
{
    struct labels l = {.shift_s = shift_of(x), .is_sure = true};
    if (l.shift_s < 0) {
        l.shift_s = LABEL_SHIFT_S;
        l.is_sure = false;
    }
    l.misses_early = misses_early(x, l.shift_s, &l.early_s);
    return l;
}

/* Finds the labels of a merged file from its clients, which must agree. */
static struct labels labels_of_clients(const struct aggfile_entries *clients)
{
    struct labels all = {.shift_s = -1};
    for (size_t i = 0; i < clients->n; i++) {
        if (clients->v[i].n_seconds == 0)
            continue;
        struct labels l = labels_of(&clients->v[i]);
        bool is_first = all.shift_s < 0;
        all.is_sure = l.is_sure && (is_first || (all.is_sure && all.shift_s == l.shift_s));
        all.shift_s = l.shift_s;
        if (l.misses_early && (!all.misses_early || l.early_s > all.early_s))
            all.early_s = l.early_s;
        all.misses_early |= l.misses_early;
    }
    if (!all.is_sure)
        all.shift_s = LABEL_SHIFT_S;
    return all;
}

static bool check_times(const struct aggregate *a, const struct aggfile_entry *x, const char *key,
                        int shift_s, struct err *e)
{
    const struct aggfile_second *first = &x->seconds[0], *last = &x->seconds[x->n_seconds - 1];
    int64_t start_s = x->start_ns / NS_PER_S + (x->start_ns % NS_PER_S > 0);

    if (first->label_s + shift_s + 1 >= start_s && last->label_s + shift_s <= x->end_ns / NS_PER_S)
        return true;
    return err_set(
        e,
        "%s: %s%s%s.throughput.segmented.segments: a second outside of the time from start_time to "
        "end_time",
        a->file.path, key, *x->name ? "." : "", x->name);
}

/* ---- The window ---- */

struct picker {
    const struct aggfile_second *seconds;
    bool by_bytes;
};

static int by_rate(const void *a, const void *b, void *ctx)
{
    const struct picker *p = ctx;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x = p->by_bytes ? p->seconds[i].bytes_per_s : p->seconds[i].objects_per_s;
    double y = p->by_bytes ? p->seconds[k].bytes_per_s : p->seconds[k].objects_per_s;

    return x != y ? (x > y ? 1 : -1) : (i > k) - (i < k);
}

bool aggregate_pick(struct aggregate_window *w, const struct aggfile_second *v, size_t n,
                    struct err *e)
{
    size_t *order;

    if (!mem_new(&order, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    struct picker p = {v, w->by_bytes};
    qsort_r(order, n, sizeof *order, by_rate, &p);
    w->slowest = order[0];
    w->median = order[quantile_index(n, 500)];
    w->fastest = order[n - 1];
    free(order);
    return true;
}

static bool window(const struct aggregate *a, struct aggregate_part *part, const char *key,
                   const struct labels *common, struct err *e)
{
    const struct aggfile_entry *x = part->x;
    struct aggregate_window *w = &part->window;
    size_t n = x->n_seconds;

    if (n == 0)
        return true;
    const struct labels l = common != NULL ? *common : labels_of(x);
    long double bytes = 0, objects = 0;
    __int128 n_errors = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += x->seconds[i].bytes_per_s;
        objects += x->seconds[i].objects_per_s;
        n_errors += x->seconds[i].n_errors;
    }
    *w = (struct aggregate_window){.present = true,
                                   .shift_s = l.shift_s,
                                   .shift_is_sure = l.is_sure,
                                   .misses_early = l.misses_early,
                                   .early_s = l.early_s,
                                   .span_s = x->seconds[n - 1].label_s - x->seconds[0].label_s + 1,
                                   .mean_bytes_per_s = (double)(bytes / (long double)n),
                                   .mean_objects_per_s = (double)(objects / (long double)n),
                                   .by_bytes = x->n_bytes > 0};
    /* Rounding loses up to this much per second and client. */
    double lost_bytes = (double)(x->window_bytes - bytes),
           lost_objects = (double)(x->window_objects - objects);
    double n_rounded = (double)n * (double)a->n_clients;
    bool lost = w->by_bytes ? lost_bytes >= 2 * n_rounded : lost_objects >= 0.006 * n_rounded;
    w->is_complete = !lost && n_errors == x->n_window_errors;
    w->lost_bytes = w->is_complete ? 0 : lost_bytes;
    w->lost_objects = w->is_complete ? 0 : lost_objects;
    return check_times(a, x, key, l.shift_s, e) && aggregate_pick(w, x->seconds, n, e);
}

/* ---- Parts ---- */

/* Finds the bytes and objects of the successful requests, where the file makes that possible: its
 * counters include failed requests. */
static void find_successful(struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;
    __int128 n_grouped = 0;
    bool one_size = x->n_groups > 0;

    for (size_t i = 0; i < x->n_groups; i++) {
        const struct aggfile_group *g = &x->groups[i];
        one_size = one_size && !g->is_multi && g->object_bytes == x->groups[0].object_bytes;
        n_grouped += g->n_requests;
    }
    one_size = one_size && n_grouped == x->n_requests &&
               (__int128)x->n_requests * x->groups[0].object_bytes == x->n_bytes;
    part->ok_bytes_known = x->n_errors == 0 || x->n_bytes == 0 || one_size;
    if (part->ok_bytes_known)
        part->ok_bytes = x->n_errors == 0 || x->n_bytes == 0
                             ? x->n_bytes
                             : (x->n_requests - x->n_errors) * x->groups[0].object_bytes;
    part->ok_objects_known =
        x->n_errors == 0 ||
        (*x->name != '\0' && strcmp(x->name, "LIST") != 0 && x->n_objects == x->n_requests);
    if (part->ok_objects_known)
        part->ok_objects = x->n_objects - x->n_errors * (x->n_errors > 0);
}

static bool fill_messages(struct aggregate_part *part, struct err *e)
{
    const struct aggfile_entry *x = part->x;
    char message[ERRNORM_MAX_BYTES + 1];

    if (!mem_cleared(&part->messages, x->n_first_errors, e))
        return false;
    for (; part->n_messages < x->n_first_errors; part->n_messages++) {
        const char *said = x->first_errors[part->n_messages];
        const struct slice all = {said, strlen(said)}, no_key = {"", 0};

        message[errnorm_message(all, no_key, message)] = '\0';
        if (!mem_text(&part->messages[part->n_messages], message, e))
            return false;
    }
    return true;
}

static bool fill_part(const struct aggregate *a, struct aggregate_part *part,
                      const struct aggfile_entry *x, const char *key, const struct labels *common,
                      struct err *e)
{
    part->x = x;
    part->duration_ns = x->end_ns - x->start_ns;
    find_successful(part);
    return fill_messages(part, e) && aggregate_latency(part, e) && window(a, part, key, common, e);
}

static bool fill_parts(const struct aggregate *a, struct aggregate_parts *parts,
                       const struct aggfile_entries *entries, const char *key,
                       const struct labels *common, struct err *e)
{
    if (!mem_cleared(&parts->v, entries->n, e))
        return false;
    for (parts->n = 0; parts->n < entries->n; parts->n++)
        if (!fill_part(a, &parts->v[parts->n], &entries->v[parts->n], key, common, e)) {
            parts->n++;
            return false;
        }
    return true;
}

/* Finds which operations overlap, and which of them ended before the others began. */
static void find_overlaps(struct aggregate *a)
{
    for (size_t i = 0; i < a->ops.n; i++) {
        const struct aggfile_entry *x = a->ops.v[i].x;
        bool before_all = a->ops.n > 1;

        for (size_t k = 0; k < a->ops.n; k++) {
            const struct aggfile_entry *y = a->ops.v[k].x;
            if (k == i)
                continue;
            before_all = before_all && x->end_ns <= y->start_ns;
            a->overlaps |= x->start_ns < y->end_ns && y->start_ns < x->end_ns;
        }
        a->ops.v[i].role = before_all ? ROLE_PREPARATION : ROLE_BENCHMARK;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct aggfile_entry *x = (*(const struct aggregate_part *const *)a)->x,
                               *y = (*(const struct aggregate_part *const *)b)->x;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Orders mixed operations by name, others by start. */
static bool set_order(struct aggregate *a, struct err *e)
{
    free(a->in_order);
    if (!mem_new(&a->in_order, a->ops.n, e))
        return false;
    for (size_t k = 0; k < a->ops.n; k++)
        a->in_order[k] = &a->ops.v[k];
    if (!a->overlaps)
        qsort(a->in_order, a->ops.n, sizeof *a->in_order, by_start);
    return true;
}

/* Assigns the roles of operations one after another, as for captures with rows. */
static bool assign_roles(struct aggregate *a, struct err *e)
{
    struct role_step *steps;

    if (!mem_new(&steps, a->ops.n, e))
        return false;
    for (size_t k = 0; k < a->ops.n; k++) {
        const struct aggfile_entry *x = a->in_order[k]->x;
        steps[k] = (struct role_step){x->name, x->start_ns, x->end_ns, ROLE_BENCHMARK};
    }
    role_assign(steps, a->ops.n);
    for (size_t k = 0; k < a->ops.n; k++)
        a->in_order[k]->role = steps[k].role;
    free(steps);
    return true;
}

bool aggregate_keep(struct aggregate *a, const char *const *ops, size_t n_ops, struct err *e)
{
    const struct aggfile_entries *all = &a->file.ops;
    bool ok =
        filter_ops_known((struct filter_names){all->v, all->n, sizeof *all->v}, ops, n_ops, e);
    size_t n = 0;

    for (size_t k = 0; k < a->ops.n; k++) {
        if (filter_op_matches(ops, n_ops, a->ops.v[k].x->name))
            a->ops.v[n++] = a->ops.v[k];
        else
            free_part(&a->ops.v[k]);
    }
    a->ops.n = n;
    return ok && set_order(a, e);
}

/* ---- Seconds of merged files ---- */

static int by_second(const void *a, const void *b)
{
    const struct aggregate_sum_second *x = a, *y = b;
    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

/* Adds up the clients' own series. The merge drops seconds that the first client lacks; these
 * series still have them. */
static bool add_up_clients(struct aggregate *a, struct err *e)
{
    size_t n = 0;
    for (size_t i = 0; i < a->clients.n; i++)
        n += a->clients.v[i].x->n_seconds;
    if (!mem_cleared(&a->sum, n, e))
        return false;
    n = 0;
    for (size_t i = 0; i < a->clients.n; i++) {
        const struct aggregate_part *client = &a->clients.v[i];
        for (size_t k = 0; k < client->x->n_seconds; k++) {
            const struct aggfile_second *s = &client->x->seconds[k];
            a->sum[n++] =
                (struct aggregate_sum_second){s->label_s + client->window.shift_s, s->bytes_per_s,
                                              s->objects_per_s, s->n_errors, 1};
        }
    }
    qsort(a->sum, n, sizeof *a->sum, by_second);
    for (size_t i = 0; i < n; i++) {
        struct aggregate_sum_second *last = a->n_sum > 0 ? &a->sum[a->n_sum - 1] : NULL;
        if (last == NULL || last->start_s != a->sum[i].start_s) {
            a->sum[a->n_sum++] = a->sum[i];
            continue;
        }
        last->bytes_per_s += a->sum[i].bytes_per_s;
        last->objects_per_s += a->sum[i].objects_per_s;
        last->n_errors += a->sum[i].n_errors;
        last->n_clients++;
    }
    return true;
}

/* ---- The whole ---- */

bool aggregate_load(struct aggregate *a, const char *path, struct err *e)
{
    *a = (struct aggregate){.n_clients = 1};
    if (!aggfile_read(&a->file, path, e))
        return false;
    const struct aggfile *f = &a->file;
    const size_t counts[] = {f->total.n_client_names, f->total.n_clients, f->clients.n};
    a->n_clients = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        a->n_clients = counts[i] > a->n_clients ? counts[i] : a->n_clients;
    a->is_merged = a->n_clients > 1;
    a->n_clients += a->n_clients == 0;
    if (!check(a, e))
        return false;
    struct labels common = {0};
    if (a->is_merged)
        common = labels_of_clients(&f->clients);
    const struct labels *l = a->is_merged ? &common : NULL;
    if (!fill_part(a, &a->total, &f->total, "total", l, e) ||
        !fill_parts(a, &a->ops, &f->ops, "by_op_type", l, e) ||
        !fill_parts(a, &a->hosts, &f->hosts, "by_host", l, e) ||
        !fill_parts(a, &a->clients, &f->clients, "by_client", NULL, e))
        return false;
    find_overlaps(a);
    return set_order(a, e) && (a->overlaps || assign_roles(a, e)) &&
           (!a->is_merged || add_up_clients(a, e)) && aggregate_warn(a, e);
}
