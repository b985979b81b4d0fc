/* Reads totals of another recorder into struct sums, and checks that they add up. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_SHIFT_S  2 /* the known recorders label seconds this much too early */
#define SUMS_EXACT_MAX (INT64_C(1) << 50) /* the recorder adds up hosts in floating point */

void foreign_part_free(struct foreign_part *p)
{
    if (p == NULL)
        return;
    free(p->seconds);
    for (size_t i = 0; i < p->n_group_clients; i++)
        free(p->group_clients[i]);
    free(p->group_clients);
    for (size_t i = 0; i < p->n_groups; i++)
        free(p->groups[i].classes);
    free(p->groups);
    free(p);
}

void foreign_free(struct foreign *f)
{
    if (f == NULL)
        return;
    sums_op_free(&f->all);
    sums_part_free(&f->together);
    for (size_t i = 0; i < f->n_hosts; i++)
        sums_op_free(&f->hosts[i]);
    for (size_t i = 0; i < f->n_clients; i++)
        sums_op_free(&f->clients[i]);
    free(f->hosts);
    free(f->clients);
    free(f->command);
    free(f->version);
    free(f);
}

/* ---- Times of the seconds ---- */

/* Returns how far the labels are off: 2 or 0, judged by the distance of the last one from the end
 * of the entry; -1: neither fits. */
static int shift_of(const struct sums_op *x)
{
    const struct foreign_part *part = x->foreign;
    int64_t d = x->all.end_ns / NS_PER_S - 2 - part->seconds[part->n_seconds - 1].label_s;

    return d == LABEL_SHIFT_S ? LABEL_SHIFT_S : d == 0 ? 0 : -1;
}

/* Finds how far the labels of an entry with seconds are off. */
static struct foreign_labels labels_of(const struct sums_op *x)
{
    const int shift_s = shift_of(x);
    struct foreign_labels to = {.shift_s = shift_s < 0 ? LABEL_SHIFT_S : shift_s,
                                .shift_is_sure = shift_s >= 0};

    /* The recorder forgets requests that started in a second before the first one in which a
     * request ended. */
    to.early_s = x->foreign->seconds[0].label_s + to.shift_s - 2;
    to.misses_early = to.early_s > x->all.start_ns / NS_PER_S;
    return to;
}

/* Finds the labels of a merged file. The clients' own series show them, and must agree. */
static struct foreign_labels labels_of_clients(const struct foreign *f)
{
    struct foreign_labels all = {.shift_s = -1};
    for (size_t i = 0; i < f->n_clients; i++) {
        if (f->clients[i].foreign->n_seconds == 0)
            continue;
        const struct foreign_labels one = labels_of(&f->clients[i]);
        bool is_first = all.shift_s < 0;
        all.shift_is_sure =
            one.shift_is_sure && (is_first || (all.shift_is_sure && all.shift_s == one.shift_s));
        all.shift_s = one.shift_s;
        if (one.misses_early && (!all.misses_early || one.early_s > all.early_s))
            all.early_s = one.early_s;
        all.misses_early |= one.misses_early;
    }
    if (!all.shift_is_sure)
        all.shift_s = LABEL_SHIFT_S;
    return all;
}

/* Says what is wrong with an entry. Always returns false. */
static bool refuse(const struct foreign *f, const struct sums_op *x, const char *key,
                   const char *what, struct err *e)
{
    return err_set(e, "%s: %s%s%s%s", f->path, key, *x->op ? "." : "", x->op, what);
}

static bool times_fit(const struct sums_op *x)
{
    const struct foreign_part *part = x->foreign;
    int64_t start_s = x->all.start_ns / NS_PER_S + (x->all.start_ns % NS_PER_S > 0);
    int64_t first_s = part->seconds[0].label_s + part->labels.shift_s;
    int64_t last_s = part->seconds[part->n_seconds - 1].label_s + part->labels.shift_s;

    return first_s + 1 >= start_s && last_s <= x->all.end_ns / NS_PER_S;
}

/* ---- Parts ---- */

/* Fills the seconds of an entry, and finds what a merge lost of them. */
static bool fill_seconds(struct foreign *f, struct sums_op *x, const char *key, struct err *e)
{
    struct foreign_part *part = x->foreign;
    struct sums_part *p = &x->all;
    size_t n = part->n_seconds;
    long double bytes = 0, objects = 0;
    __int128 n_errors = 0;

    if (n == 0)
        return true;
    if (!times_fit(x))
        return refuse(f, x, key,
                      ".throughput.segmented.segments: a second outside of the time from "
                      "start_time to end_time",
                      e);
    const int64_t first_s = part->seconds[0].label_s;
    p->first_s = first_s + part->labels.shift_s;
    p->n_seconds = (size_t)(part->seconds[n - 1].label_s - first_s) + 1;
    f->n_missing += p->n_seconds - n;
    if (f->n_missing > SUMS_MAX_SECONDS)
        return err_set(e, "%s: %s%s%s: more than %d seconds are missing between others", f->path,
                       key, *x->op ? "." : "", x->op, SUMS_MAX_SECONDS);
    if (!mem_cleared(&p->seconds, p->n_seconds, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct foreign_second *s = &part->seconds[i];
        bytes += s->bytes_per_s;
        objects += s->objects_per_s;
        n_errors += s->n_errors;
        if (bytes >= 0x1p62L || objects * SUMS_MICRO >= 0x1p62L || n_errors > INT64_MAX)
            return refuse(f, x, key, ": the sum of its seconds does not fit 63 bits", e);
        p->seconds[s->label_s - first_s] =
            (struct sums_second){.n_started = 1,
                                 .n_failed = s->n_errors,
                                 .n_bytes = llround(s->bytes_per_s),
                                 .n_micro_objects = llround(s->objects_per_s * SUMS_MICRO)};
    }
    /* Rounding loses up to this much per second and client. */
    double lost_bytes = (double)(part->window_bytes - bytes),
           lost_objects = (double)(part->window_objects - objects);
    double n_rounded = (double)n * (double)f->n_ran;
    bool lost = p->n_bytes > 0 ? lost_bytes >= 2 * n_rounded : lost_objects >= 0.006 * n_rounded;
    part->is_complete = !lost && n_errors == part->n_window_errors;
    part->lost_bytes = lost_bytes;
    part->lost_objects = lost_objects;
    return true;
}

/* Fills the hosts or clients of all operations with their series. `labels`: NULL: each has its own.
 */
static bool fill_series(struct foreign *f, struct sums_parts *to, struct sums_op *entries, size_t n,
                        const char *key, const struct foreign_labels *labels, struct err *e)
{
    sums_parts_free(to); /* those of the total have no series */
    if (!mem_cleared(&to->v, n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sums_op *x = &entries[i];

        if (x->foreign->n_seconds > 0)
            x->foreign->labels = labels != NULL ? *labels : labels_of(x);
        if (!fill_seconds(f, x, key, e))
            return false;
        to->v[to->n] = x->all;
        to->v[to->n++].name = x->op;
        x->all = (struct sums_part){0};
        x->op = NULL;
    }
    return true;
}

/* Finds the bytes and objects of the successful requests, where the file makes that possible: its
 * counters include failed requests. */
static void find_successful(struct sums_op *op)
{
    struct foreign_part *part = op->foreign;
    const struct sums_part *x = &op->all;
    __int128 n_grouped = 0;
    bool one_size = part->n_groups > 0;

    for (size_t i = 0; i < part->n_groups; i++) {
        const struct request_group *g = &part->groups[i];
        one_size = one_size && !g->is_multi && g->object_bytes == part->groups[0].object_bytes;
        n_grouped += g->n_requests;
    }
    one_size = one_size && n_grouped == x->n_requests &&
               (__int128)x->n_requests * part->groups[0].object_bytes == x->n_bytes;
    part->ok_bytes_known = x->n_errors == 0 || x->n_bytes == 0 || one_size;
    if (part->ok_bytes_known)
        part->ok_bytes = x->n_errors == 0 || x->n_bytes == 0
                             ? x->n_bytes
                             : (x->n_requests - x->n_errors) * part->groups[0].object_bytes;
    part->ok_objects_known = x->n_errors == 0 || (*op->op != '\0' && strcmp(op->op, "LIST") != 0 &&
                                                  x->n_objects == x->n_requests);
    if (part->ok_objects_known)
        part->ok_objects = x->n_objects - x->n_errors * (x->n_errors > 0);
}

static bool fill_op(struct foreign *f, struct sums_op *op, const char *key,
                    const struct foreign_labels *labels, struct err *e)
{
    const struct sums_part *all = &op->all;
    bool is_even = all->n_requests > 0 && all->n_objects % all->n_requests == 0;

    op->range = (struct sums_range){0, -1};
    op->first_objects = is_even ? all->n_objects / all->n_requests : 1;
    if (labels != NULL)
        op->foreign->labels = *labels;
    else if (op->foreign->n_seconds > 0)
        op->foreign->labels = labels_of(op);
    find_successful(op);
    return mem_text(&op->all.name, "", e) && fill_seconds(f, op, key, e);
}

static bool fill(struct sums *s, struct err *e)
{
    struct foreign *f = s->foreign;
    const struct foreign_labels common =
        f->is_merged ? labels_of_clients(f) : (struct foreign_labels){0};
    const struct foreign_labels *labels = f->is_merged ? &common : NULL;

    s->n_threads = f->all.n_threads;
    if (!fill_op(f, &f->all, "total", labels, e) ||
        !fill_series(f, &f->all.hosts, f->hosts, f->n_hosts, "by_host", labels, e) ||
        !fill_series(f, &f->all.clients, f->clients, f->n_clients, "by_client", NULL, e))
        return false;
    for (size_t i = 0; f->is_merged && i < f->all.clients.n; i++) {
        struct err why = {0};
        if (!sums_part_add(&f->together, &f->all.clients.v[i], &why))
            return err_set(e, "%s: by_client: %s", f->path, why.msg);
    }
    for (size_t k = 0; k < s->n_ops; k++)
        if (!fill_op(f, &s->ops[k], "by_op_type", labels, e))
            return false;
    return true;
}

/* ---- Whether it adds up ---- */

static bool differ(__int128 sum, int64_t whole)
{
    __int128 apart = sum > whole ? sum - whole : whole - sum;
    return apart > (whole > SUMS_EXACT_MAX ? whole / SUMS_EXACT_MAX : 0);
}

/* Checks that n parts, `size` bytes apart, add up to `whole`. */
static bool check(const struct foreign *f, const struct sums_op *whole, const char *what,
                  const void *parts, size_t n, size_t size, struct err *e)
{
    __int128 n_requests = 0, n_errors = 0, n_bytes = 0, n_objects = 0;

    for (size_t i = 0; i < n; i++) {
        const struct sums_part *p = (const void *)((const char *)parts + i * size);
        n_requests += p->n_requests;
        n_errors += p->n_errors;
        n_bytes += p->n_bytes;
        n_objects += p->n_objects;
    }
    const char *key = differ(n_requests, whole->all.n_requests) ? "total_requests"
                      : differ(n_errors, whole->all.n_errors)   ? "total_errors"
                      : differ(n_bytes, whole->all.n_bytes)     ? "total_bytes"
                      : differ(n_objects, whole->all.n_objects) ? "total_objects"
                                                                : NULL;
    if (key == NULL)
        return true;
    return err_set(e, "%s: %s%s.%s: the %s do not add up to it", f->path,
                   *whole->op ? "by_op_type." : "total", whole->op, key, what);
}

/* Checks hosts and clients, where the file has them. */
static bool check_parties(const struct foreign *f, const struct sums_op *op, struct err *e)
{
    const struct sums_parts *h = &op->hosts, *c = &op->clients;

    return (h->n == 0 || check(f, op, "hosts", h->v, h->n, sizeof *h->v, e)) &&
           (c->n == 0 || check(f, op, "clients", c->v, c->n, sizeof *c->v, e));
}

static bool check_all(const struct sums *s, struct err *e)
{
    const struct foreign *f = s->foreign;
    bool ok = true;

    for (size_t k = 0; ok && k < s->n_ops; k++)
        ok = check_parties(f, &s->ops[k], e);
    return ok &&
           check(f, &f->all, "operations", s->n_ops > 0 ? &s->ops[0].all : NULL, s->n_ops,
                 sizeof *s->ops, e) &&
           check_parties(f, &f->all, e);
}

bool sums_of_foreign(struct sums *s, const char *path, struct err *e)
{
    *s = (struct sums){.range = {0, -1}};
    if (!mem_cleared(&s->foreign, 1, e))
        return false;
    struct foreign *f = s->foreign;
    f->path = path;
    if (!foreign_read(s, path, e))
        return false;
    const size_t n_named = f->all.foreign->n_client_names, n_counted = f->all.clients.n;
    f->n_ran = n_named > n_counted ? n_named : n_counted;
    if (f->n_clients > f->n_ran)
        f->n_ran = f->n_clients;
    f->is_merged = f->n_ran > 1;
    f->n_ran += f->n_ran == 0;
    return fill(s, e) && check_all(s, e);
}

const char *sums_command(const struct sums *s, const char **version)
{
    if (s->foreign == NULL)
        return NULL;
    *version = s->foreign->version;
    return s->foreign->command;
}
