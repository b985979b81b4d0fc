/* Reads totals of another recorder into struct sums, and checks that they add up. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/data/errnorm.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_SHIFT_S  2 /* the known recorders label seconds this much too early */
#define SUMS_EXACT_MAX (INT64_C(1) << 50) /* the recorder adds up hosts in floating point */

void foreign_free(struct foreign *f)
{
    if (f == NULL)
        return;
    sums_op_free(&f->all);
    sums_part_free(&f->together);
    aggfile_free(&f->file);
    free(f);
}

/* ---- Times of the seconds ---- */

/* Returns how far the labels are off: 2 or 0, judged by the distance of the last one from the end
 * of the entry; -1: neither fits. */
static int shift_of(const struct aggfile_entry *x)
{
    int64_t d = x->end_ns / NS_PER_S - 2 - x->seconds[x->n_seconds - 1].label_s;
    return d == LABEL_SHIFT_S ? LABEL_SHIFT_S : d == 0 ? 0 : -1;
}

/* True if requests are missing in the series: the recorder forgets those that started in a second
 * before the first one in which a request ended. */
static bool misses_early(const struct aggfile_entry *x, int shift_s, int64_t *early_s)
{
    *early_s = x->seconds[0].label_s + shift_s - 2;
    return *early_s > x->start_ns / NS_PER_S;
}

/* Finds how far the labels of an entry with seconds are off. */
static void find_labels(struct foreign_part *to, const struct aggfile_entry *x)
{
    to->shift_s = shift_of(x);
    to->shift_is_sure = to->shift_s >= 0;
    if (!to->shift_is_sure)
        to->shift_s = LABEL_SHIFT_S;
    to->misses_early = misses_early(x, to->shift_s, &to->early_s);
}

/* Finds the labels of a merged file. The clients' own series show them, and must agree. */
static struct foreign_part labels_of_clients(const struct aggfile_entries *clients)
{
    struct foreign_part all = {.shift_s = -1}, one;
    for (size_t i = 0; i < clients->n; i++) {
        if (clients->v[i].n_seconds == 0)
            continue;
        find_labels(&one, &clients->v[i]);
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

static bool check_times(const struct foreign *f, const struct aggfile_entry *x, const char *key,
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
        f->file.path, key, *x->name ? "." : "", x->name);
}

/* ---- Parts ---- */

/* Fills the seconds of a part, and finds what a merge lost of them. */
static bool fill_seconds(struct foreign *f, struct sums_part *p, struct foreign_part *part,
                         const char *key, struct err *e)
{
    const struct aggfile_entry *x = part->x;
    size_t n = x->n_seconds;
    long double bytes = 0, objects = 0;
    __int128 n_errors = 0;

    if (n == 0)
        return true;
    if (!check_times(f, x, key, part->shift_s, e))
        return false;
    p->first_s = x->seconds[0].label_s + part->shift_s;
    p->n_seconds = (size_t)(x->seconds[n - 1].label_s - x->seconds[0].label_s) + 1;
    f->n_missing += p->n_seconds - n;
    if (f->n_missing > SUMS_MAX_SECONDS)
        return err_set(e, "%s: %s%s%s: more than %d seconds are missing between others",
                       f->file.path, key, *x->name ? "." : "", x->name, SUMS_MAX_SECONDS);
    if (!mem_cleared(&p->seconds, p->n_seconds, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct aggfile_second *s = &x->seconds[i];
        bytes += s->bytes_per_s;
        objects += s->objects_per_s;
        n_errors += s->n_errors;
        if (bytes >= 0x1p62L || objects * SUMS_MICRO >= 0x1p62L || n_errors > INT64_MAX)
            return err_set(e, "%s: %s%s%s: the sum of its seconds does not fit 63 bits",
                           f->file.path, key, *x->name ? "." : "", x->name);
        p->seconds[s->label_s - x->seconds[0].label_s] =
            (struct sums_second){.n_started = 1,
                                 .n_failed = s->n_errors,
                                 .n_bytes = llround(s->bytes_per_s),
                                 .n_micro_objects = llround(s->objects_per_s * SUMS_MICRO)};
    }
    /* Rounding loses up to this much per second and client. */
    double lost_bytes = (double)(x->window_bytes - bytes),
           lost_objects = (double)(x->window_objects - objects);
    double n_rounded = (double)n * (double)f->n_clients;
    bool lost = x->n_bytes > 0 ? lost_bytes >= 2 * n_rounded : lost_objects >= 0.006 * n_rounded;
    part->is_complete = !lost && n_errors == x->n_window_errors;
    part->lost_bytes = lost_bytes;
    part->lost_objects = lost_objects;
    return true;
}

/* Makes a part of the counters that entries and parties share. If its times are not given, the
 * start is after the end. */
#define FILL_COUNTERS(to, x)                                                                       \
    do {                                                                                           \
        bool is_timed = (x)->start_ns != AGGFILE_NO_TIME && (x)->end_ns != AGGFILE_NO_TIME;        \
        *(to) = (struct sums_part){.n_requests = (x)->n_requests,                                  \
                                   .n_errors = (x)->n_errors,                                      \
                                   .n_bytes = (x)->n_bytes,                                        \
                                   .n_objects = (x)->n_objects,                                    \
                                   .start_ns = is_timed ? (x)->start_ns : INT64_MAX,               \
                                   .end_ns = is_timed ? (x)->end_ns : INT64_MIN};                  \
    } while (0)

static bool fill_parties(struct sums_parts *to, const struct aggfile_party *v, size_t n,
                         struct err *e)
{
    if (!mem_cleared(&to->v, n, e))
        return false;
    for (; to->n < n; to->n++) {
        FILL_COUNTERS(&to->v[to->n], &v[to->n]);
        if (!mem_text(&to->v[to->n].name, v[to->n].name, e))
            return false;
    }
    return true;
}

/* Fills the hosts or clients of all operations with their series. `labels`: NULL: each has its own.
 */
static bool fill_series(struct foreign *f, struct sums_parts *to,
                        const struct aggfile_entries *entries, const char *key,
                        const struct foreign_part *labels, struct err *e)
{
    if (!mem_cleared(&to->v, entries->n, e))
        return false;
    for (size_t i = 0; i < entries->n; i++) {
        const struct aggfile_entry *x = &entries->v[i];
        struct foreign_part part = labels != NULL ? *labels : (struct foreign_part){0};
        struct sums_part *p = &to->v[to->n++];

        FILL_COUNTERS(p, x);
        part.x = x;
        if (labels == NULL && x->n_seconds > 0)
            find_labels(&part, x);
        if (!mem_text(&p->name, x->name, e) || !fill_seconds(f, p, &part, key, e))
            return false;
    }
    return true;
}

/* Finds the bytes and objects of the successful requests, where the file makes that possible: its
 * counters include failed requests. */
static void find_successful(struct foreign_part *part)
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

/* The file has the first messages, but neither times nor hosts of these requests. */
static bool fill_messages(struct sums_op *op, const struct aggfile_entry *x, struct err *e)
{
    char message[ERRNORM_MAX_BYTES + 1];

    if (!mem_cleared(&op->errors, x->n_first_errors, e))
        return false;
    for (; op->n_errors < x->n_first_errors; op->n_errors++) {
        struct sums_error *to = &op->errors[op->n_errors];
        const char *said = x->first_errors[op->n_errors];
        const struct slice all = {said, strlen(said)}, no_key = {"", 0};

        message[errnorm_message(all, no_key, message)] = '\0';
        *to = (struct sums_error){.n = 1};
        if (!mem_text(&to->message, message, e) || !mem_text(&to->host, "", e)) {
            free(to->message);
            return false;
        }
    }
    return true;
}

static bool fill_op(struct foreign *f, struct sums_op *op, const struct aggfile_entry *x,
                    const char *key, const struct foreign_part *labels, struct err *e)
{
    bool is_even = x->n_requests > 0 && x->n_objects % x->n_requests == 0;

    *op = (struct sums_op){.n_threads = x->n_threads,
                           .range = {0, -1},
                           .first_objects = is_even ? x->n_objects / x->n_requests : 1};
    FILL_COUNTERS(&op->all, x);
    if (!mem_text(&op->op, x->name, e) || !mem_text(&op->all.name, "", e) ||
        !mem_cleared(&op->foreign, 1, e))
        return false;
    if (labels != NULL)
        *op->foreign = *labels;
    op->foreign->x = x;
    if (labels == NULL && x->n_seconds > 0)
        find_labels(op->foreign, x);
    find_successful(op->foreign);
    return fill_seconds(f, &op->all, op->foreign, key, e) && fill_messages(op, x, e);
}

static bool fill(struct sums *s, struct err *e)
{
    struct foreign *f = s->foreign;
    const struct aggfile *file = &f->file;
    struct foreign_part common = {0};
    const struct foreign_part *labels = f->is_merged ? &common : NULL;

    if (f->is_merged)
        common = labels_of_clients(&file->clients);
    s->n_threads = file->total.n_threads;
    if (!fill_op(f, &f->all, &file->total, "total", labels, e) ||
        !fill_series(f, &f->all.hosts, &file->hosts, "by_host", labels, e) ||
        !fill_series(f, &f->all.clients, &file->clients, "by_client", NULL, e) ||
        !mem_cleared(&s->ops, file->ops.n, e))
        return false;
    for (size_t i = 0; f->is_merged && i < f->all.clients.n; i++) {
        struct err why = {0};
        if (!sums_part_add(&f->together, &f->all.clients.v[i], &why))
            return err_set(e, "%s: by_client: %s", file->path, why.msg);
    }
    while (s->n_ops < file->ops.n) {
        const struct aggfile_entry *x = &file->ops.v[s->n_ops];
        struct sums_op *op = &s->ops[s->n_ops++];

        if (!fill_op(f, op, x, "by_op_type", labels, e) ||
            !fill_parties(&op->hosts, x->hosts, x->n_hosts, e) ||
            !fill_parties(&op->clients, x->clients, x->n_clients, e))
            return false;
    }
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
    return err_set(e, "%s: %s%s.%s: the %s do not add up to it", f->file.path,
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
    if (!mem_cleared(&s->foreign, 1, e) || !aggfile_read(&s->foreign->file, path, e))
        return false;
    struct foreign *f = s->foreign;
    const struct aggfile_entry *total = &f->file.total;
    f->n_clients = total->n_client_names;
    if (total->n_clients > f->n_clients)
        f->n_clients = total->n_clients;
    if (f->file.clients.n > f->n_clients)
        f->n_clients = f->file.clients.n;
    f->is_merged = f->n_clients > 1;
    f->n_clients += f->n_clients == 0;
    return fill(s, e) && check_all(s, e);
}

const char *sums_command(const struct sums *s, const char **version)
{
    if (s->foreign == NULL)
        return NULL;
    *version = s->foreign->file.version;
    return s->foreign->file.command;
}
