#include "analyze/capture/import/import_internal.h"

#include "analyze/capture/stream/reorder.h"
#include "analyze/data/recorded.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/version.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_BYTES ((size_t)64 << 20) /* of rows in memory */

/* The recording of a program: how to read it, and what it lacks. */
static const struct program {
    bool (*read)(struct import *m, struct err *e);
    const char *header; /* its first line; NULL: there is none */
    char first;         /* as in lines.h */
    bool several;       /* its files have the time of day, so that several can be read together */
    int64_t start_ns, duration_ns; /* resolution of starts and of durations */
    uint64_t most; /* requests that the program keeps at the most; 0: it keeps all */
    const char *absent;
} programs[] = {
    [IMPORT_HEY] = {hey_read,
                    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,"
                    "status-code,offset",
                    '\0', false, 100000, 100000, 1000000,
                    "the time of day, requests without an answer, sizes, keys, hosts, clients"},
    [IMPORT_AB] = {ab_read, "starttime\tseconds\tctime\tdtime\tttime\twait", '\0', false,
                   1000000000, 1000000, 0, "statuses and failures, sizes, keys, hosts, clients"},
    [IMPORT_MC_TRACE] = {mc_trace_read, NULL, '{', true, 0, 0, 0,
                         "requests that reached no server, first bytes of uploads"},
    [IMPORT_S3_LOG] = {s3_log_read, NULL, '\0', true, 1000000000, 1000000, 0,
                       "requests that reached no server"},
};

const char *const import_format_names[] = {"hey", "ab", "mc-trace", "s3-log", NULL};

const char *const import_left_names[N_IMPORT_LEFT] = {
    [IMPORT_NO_REQUEST] = "that are no request of a client",
    [IMPORT_NO_TIME] = "without a time",
    [IMPORT_NO_STATUS] = "without a status: whether they failed is not known",
    [IMPORT_TWICE] = "that are in the recording twice",
};

/* ---- Threads ----
 *
 * As few threads as the times of the requests allow: greedy colouring of intervals, which is
 * optimal for requests in order of start. Each request gets the thread that has been free for
 * longest.
 *
 * If starts are known only to a resolution, a request may have begun up to that much later. So it
 * may get a thread that is free by then, and is placed after that thread's last request. */

struct worker {
    int64_t free_ns; /* the end of its last request */
    uint32_t thread;
};

/* A heap of workers: v[0] is the first to be free; of several, the one with the lowest number.
 * Starts zeroed. */
struct workers {
    struct worker *v;
    size_t n, cap;
};

static bool is_before(const struct worker *a, const struct worker *b)
{
    return a->free_ns != b->free_ns ? a->free_ns < b->free_ns : a->thread < b->thread;
}

/* Puts x in place of the first worker. */
static void replace_first(struct workers *w, struct worker x)
{
    size_t i = 0;

    for (;;) {
        size_t k = 2 * i + 1;

        k += k + 1 < w->n && is_before(&w->v[k + 1], &w->v[k]);
        if (k >= w->n || !is_before(&w->v[k], &x))
            break;
        w->v[i] = w->v[k];
        i = k;
    }
    w->v[i] = x;
}

static bool add(struct workers *w, struct worker x, struct err *e)
{
    if (!mem_fit(&w->v, &w->cap, w->n + 1, e))
        return false;
    size_t i = w->n++;
    for (; i > 0 && is_before(&x, &w->v[(i - 1) / 2]); i = (i - 1) / 2)
        w->v[i] = w->v[(i - 1) / 2];
    w->v[i] = x;
    return true;
}

/* Assigns a thread to a request; starts ascend. *start_ns becomes the time where it is placed, at
 * most resolution_ns later. False: out of memory, or more than 2^32 threads. */
static bool workers_take(struct workers *w, int64_t *start_ns, int64_t duration_ns,
                         int64_t resolution_ns, uint32_t *thread, struct err *e)
{
    if (w->n == 0 || w->v[0].free_ns - resolution_ns > *start_ns) {
        if (w->n > UINT32_MAX)
            return err_set(e, "more than 4294967296 requests at a time");
        *thread = (uint32_t)w->n;
        return add(w, (struct worker){*start_ns + duration_ns, *thread}, e);
    }
    *thread = w->v[0].thread;
    *start_ns = int64_max(*start_ns, w->v[0].free_ns);
    replace_first(w, (struct worker){*start_ns + duration_ns, *thread});
    return true;
}

static void workers_fini(struct workers *w)
{
    free(w->v);
    *w = (struct workers){0};
}

/* ---- Reading ---- */

/* Whether salvage skips the piece that *e tells of; then it is counted, and *e emptied. */
static bool skip(struct import *m, struct err *e)
{
    struct recfile_info *skipped = &m->result->skipped;
    char *first = skipped->first_drop[DROP_BAD_ROW];
    const struct err why = *e;

    if (m->lines.bad != m->lines.number)
        return false;
    err_clear(e);
    if (!m->options->salvage)
        return err_set(e, "%s (--salvage skips and counts such lines)", why.msg);
    if (skipped->n_dropped[DROP_BAD_ROW]++ == 0)
        snprintf(first, sizeof skipped->first_drop[DROP_BAD_ROW], "%.255s", why.msg);
    m->lines.bad = 0;
    return true;
}

static bool read_file(struct import *m, const struct program *p, const char *path, struct err *e)
{
    struct lines *l = &m->lines;
    bool more = true;

    if (!lines_open(l, path, p->first, e) || (p->header != NULL && !lines_next(l, &more, e)))
        return false;
    if (p->header != NULL && strcmp(l->text, p->header) != 0)
        return lines_bad(l, e, "this is not what `%s` writes: the header is missing",
                         p->read == hey_read ? "hey -o csv" : "ab -g");
    while (more)
        if (!(lines_next(l, &more, e) && (!more || p->read(m, e))) && !skip(m, e))
            return false;
    return true;
}

static bool read_all(struct import *m, const struct program *p, const char *const *paths,
                     size_t n_paths, struct err *e)
{
    bool ok = true;

    if (n_paths > 1 && !p->several)
        return err_set(e,
                       "files of %s are one run each, and do not say how they lie in time: "
                       "import them one by one",
                       import_format_names[m->options->format]);
    for (size_t i = 0; ok && i < n_paths; i++) {
        ok = read_file(m, p, paths[i], e);
        lines_close(&m->lines);
    }
    m->result->is_cut |= p->most > 0 && m->result->n_rows >= p->most;
    const char *first = recfile_first_drop(&m->result->skipped);
    if (ok && m->result->n_rows == 0)
        return err_set(e, "%s: no requests%s%s", paths[0],
                       first != NULL                  ? "; the first line that was skipped: "
                       : *m->result->ended_by != '\0' ? ": it ended with an error: "
                       : m->lines.number > 0 ? ": no line is a request with a time and a status"
                                             : "",
                       first != NULL ? first : m->result->ended_by);
    return ok && gather_end(m, e);
}

/* ---- Writing ---- */

/* Writes the comments: one for analyze/data/recorded.h, one for people. */
static bool put_comments(const struct import *m, const struct program *p, struct recwrite *w,
                         struct err *e)
{
    const char *name = import_format_names[m->options->format];
    char *line = NULL, *limits = NULL, *damage = NULL;
    bool ok =
        mem_format(&line, e, "%s, imported by s3analyze %s", name, version_string) &&
        mem_format(&limits, e,
                   "s3analyze/import/1 {\"event\":\"import\",\"from\":\"%s\",\"start_ns\":%" PRId64
                   ",\"duration_ns\":%" PRId64 ",\"absent\":\"%s\",\"cut\":%s}",
                   name, p->start_ns, p->duration_ns, p->absent,
                   m->result->is_cut ? "true" : "false") &&
        recwrite_comment(w, line, strlen(line), e) &&
        recwrite_comment(w, limits, strlen(limits), e) &&
        recorded_damage_line(&damage, &m->result->skipped, e) &&
        (damage == NULL || recwrite_comment(w, damage, strlen(damage), e));

    free(damage);
    free(line);
    free(limits);
    return ok;
}

/* Writes a request, whose times so far count from its start. */
static bool put_row(const struct program *p, struct workers *workers, struct record *r,
                    struct recwrite *w, struct err *e)
{
    int64_t *const times[] = {&r->end_ns, &r->first_byte_ns, &r->last_byte_ns};
    /* A duration is rounded: it may be up to half of its resolution shorter. */
    int64_t least_ns = int64_max(r->end_ns - p->duration_ns / 2, 0);

    if (!workers_take(workers, &r->start_ns, least_ns, p->start_ns, &r->thread, e))
        return false;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i] += *times[i] != RECORD_NO_TIME ? r->start_ns : 0;
    r->intended_ns = RECORD_NO_TIME;
    r->n_objects = 1;
    return recwrite_row(w, r, e);
}

static bool put_rows(struct import *m, const struct program *p, struct recwrite *w, struct err *e)
{
    struct workers workers = {0};
    struct record row;
    bool more = true, ok = true;

    while (ok && (ok = gather_next(m, &row, &more, e)) && more)
        ok = put_row(p, &workers, &row, w, e);
    m->result->n_threads = workers.n;
    workers_fini(&workers);
    return ok;
}

bool import_recordings(const char *const *paths, size_t n_paths, const struct import_options *o,
                       struct recwrite *w, struct import_result *result, struct err *e)
{
    const struct program *p = &programs[o->format];
    struct import m = {.options = o, .result = result};

    *result = (struct import_result){.absent = p->absent};
    m.rows = reorder_new(o->max_bytes > 0 ? o->max_bytes : MAX_BYTES, NULL, NULL, e);
    bool ok = m.rows != NULL && read_all(&m, p, paths, n_paths, e) && put_comments(&m, p, w, e) &&
              put_rows(&m, p, w, e);
    intern_fini(&m.same_start);
    reorder_batch_free(m.batch);
    reorder_free(m.rows);
    return ok;
}
