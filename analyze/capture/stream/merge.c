#include "analyze/capture/stream/merge.h"

#include "analyze/base/paths.h"
#include "analyze/base/tasks.h"
#include "analyze/write/json_in.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The most threads that read, for all inputs together. */
#define MAX_READING 8

/* ---- Reading them once ---- */

/* Refuses pipes, since all inputs are read twice, and files that are given twice. Leaves folders to
 * the reader's own message. */
static bool check_files(const char *const *paths, size_t n_paths, struct err *e)
{
    struct stat st;

    for (size_t i = 0; i < n_paths; i++)
        if (strcmp(paths[i], "-") == 0 ||
            (stat(paths[i], &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
            return err_set(e,
                           "%s: merge reads its inputs twice, and a pipe can be read only once: "
                           "save it to a file",
                           paths[i]);
    return paths_differ(paths, n_paths, e);
}

/* Finds bounds of how far the servers' clocks are ahead of the recorder's, from a comment of
 * s3load. If the servers disagree, the bounds hold for all of them. False: the comment has none. */
static bool bracket_clock(const json_t *servers, int64_t *low_ns, int64_t *high_ns)
{
    int64_t min_low = INT64_MAX, max_high = INT64_MIN;
    const json_t *server;
    size_t i;

    *low_ns = INT64_MIN;
    *high_ns = INT64_MAX;
    json_array_foreach(servers, i, server) {
        int64_t low, high;
        if (!rank_clock_server(server, &low, &high))
            continue;
        *low_ns = int64_max(*low_ns, low);
        *high_ns = int64_min(*high_ns, high);
        min_low = int64_min(min_low, low);
        max_high = int64_max(max_high, high);
    }
    if (*low_ns > *high_ns) {
        *low_ns = min_low;
        *high_ns = max_high;
    }
    /* A clock that is off by more than a day is not believed. */
    return min_low <= max_high && min_low > -NS_PER_D && max_high < NS_PER_D;
}

/* Reads the clocks of the input's rank and servers from s3load's comments. Takes the closing
 * comment first, which has more measurements. False: out of memory. */
static bool read_clock(struct merge_input *in, struct err *e)
{
    for (int closing = 1; closing >= 0; closing--) {
        json_t *root;
        int64_t low_ns, high_ns;

        if (!json_in_parse(survey_s3load_json(&in->survey, closing), &root, e))
            return false;
        if (in->clock.n_ranks == 0)
            rank_clock_take(&in->clock, root);
        if (!in->has_clock && bracket_clock(json_object_get(root, "clock"), &low_ns, &high_ns)) {
            in->has_clock = true;
            in->clock_ns = low_ns + (high_ns - low_ns) / 2;
            in->clock_error_ns = (high_ns - low_ns + 1) / 2;
        }
        json_decref(root);
    }
    return true;
}

static bool moved_out(const struct merge_input *in, struct err *e)
{
    return err_set(e, "%s: %s moves it out of the years 1970 to 2262", in->path,
                   in->clock.n_ranks > 0 ? "the clock of its rank, or --shift," : "--shift");
}

static bool read_input(struct merge_input *in, const struct recfile_options *how, struct err *e)
{
    if (!survey_read(&in->survey, in->path, how, true, e) || !read_clock(in, e))
        return false;
    if (!merge_has_rows(in))
        return true;
    int64_t first_ns = in->survey.sum.first_start_ns, last_ns = in->survey.sum.last_end_ns;
    int64_t first_by_ns = -rank_clock_ahead(&in->clock, first_ns);
    int64_t last_by_ns = -rank_clock_ahead(&in->clock, last_ns);
    if (__builtin_add_overflow(first_by_ns, in->shift_ns, &first_by_ns) ||
        __builtin_add_overflow(last_by_ns, in->shift_ns, &last_by_ns) ||
        __builtin_add_overflow(first_ns, first_by_ns, &in->start_ns) ||
        __builtin_add_overflow(last_ns, last_by_ns, &in->end_ns) || in->start_ns < 0)
        return moved_out(in, e);
    return true;
}

/* The first pass. Inputs are read in parallel, and share the threads evenly. */
struct pass {
    const struct merge_options *options;
    unsigned n_threads_each;
    pthread_mutex_t lock;
    uint64_t n_read, n_total; /* bytes of the files */
};

/* The first pass over one input. */
struct reading {
    struct pass *pass;
    struct merge_input *input;
    uint64_t n_read; /* of the file, so far */
};

static void on_progress(void *ctx, uint64_t n_read, uint64_t n_total)
{
    struct reading *x = ctx;
    struct pass *p = x->pass;

    (void)n_total;
    pthread_mutex_lock(&p->lock);
    p->n_read += n_read - x->n_read;
    x->n_read = n_read;
    if (p->options->progress)
        progress_update(p->options->progress, p->n_read, p->n_total);
    pthread_mutex_unlock(&p->lock);
}

static bool read_one(void *reading, struct err *e)
{
    struct reading *x = reading;
    const struct recfile_options how = {.salvage = x->pass->options->salvage,
                                        .threads = x->pass->n_threads_each,
                                        .alone = true,
                                        .progress = on_progress,
                                        .progress_ctx = x};

    return read_input(x->input, &how, e);
}

static bool read_inputs(struct merge *m, const struct merge_options *o, struct err *e)
{
    struct pass p = {.options = o};
    struct reading *readings = NULL;
    struct task *tasks = NULL;
    unsigned n = tasks_n_threads(o->threads), n_readers = TASKS_MAX_THREADS;

    n = n < MAX_READING ? n : MAX_READING;
    n_readers = n < n_readers ? n : n_readers;
    n_readers = m->n_inputs < n_readers ? (unsigned)m->n_inputs : n_readers;
    /* With salvage, both passes must drop the same rows. */
    p.n_threads_each = o->salvage ? 1 : n / n_readers;

    bool ok = mem_cleared(&readings, m->n_inputs, e) && mem_new(&tasks, m->n_inputs, e);
    for (size_t i = 0; ok && i < m->n_inputs; i++) {
        struct stat st;
        uint64_t n_bytes = stat(m->inputs[i].path, &st) == 0 ? (uint64_t)st.st_size : 0;

        p.n_total += n_bytes;
        readings[i] = (struct reading){&p, &m->inputs[i], 0};
        tasks[i] = (struct task){read_one, &readings[i], n_bytes};
    }
    pthread_mutex_init(&p.lock, NULL);
    ok = ok && tasks_run(tasks, m->n_inputs, n_readers, e);
    pthread_mutex_destroy(&p.lock);
    free(readings);
    free(tasks);
    return ok;
}

/* ---- Threads ---- */

/* Numbers the threads of each section and input above all threads before. */
static bool number_threads(struct merge *m, struct err *e)
{
    uint64_t top = 0;

    for (size_t i = 0; i < m->n_inputs; i++) {
        struct merge_input *in = &m->inputs[i];
        const struct survey *s = &in->survey;

        if (!mem_cleared(&in->thread_bases, s->n_sections + 1, e))
            return false;
        for (size_t k = 0; k < s->n_sections; k++) {
            in->thread_bases[k] = top;
            if (s->sections[k].n_rows)
                top += (uint64_t)s->sections[k].top_thread + 1;
            if (top > (uint64_t)UINT32_MAX + 1)
                return err_set(e, "%s: thread numbers past 4294967295 when inputs are put together",
                               in->path);
        }
        in->thread_top = top;
    }
    return true;
}

/* ---- Time ---- */

/* Compares two inputs by their contents, not by name or place on the command line. */
static int compare_inputs(const void *a, const void *b, void *ctx)
{
    const struct merge_input *inputs = ctx;
    const struct merge_input *p = &inputs[*(const size_t *)a], *q = &inputs[*(const size_t *)b];
    int c = (int)merge_has_rows(q) - (int)merge_has_rows(p);

    c = c ? c : int64_order(p->start_ns, q->start_ns);
    c = c ? c : int64_order(p->end_ns, q->end_ns);
    c = c ? c : (p->survey.sum.n > q->survey.sum.n) - (p->survey.sum.n < q->survey.sum.n);
    return c ? c
             : (p->survey.rows_hash > q->survey.rows_hash) -
                   (p->survey.rows_hash < q->survey.rows_hash);
}

/* Returns for how long input i runs together with at least one other. */
static int64_t overlap_of(const struct merge *m, size_t i)
{
    const struct merge_input *in = &m->inputs[i];
    int64_t covered_to = in->start_ns, overlap = 0;

    /* by_time is sorted by start, so the covered time grows only at its end. */
    for (size_t k = 0; k < m->n_inputs; k++) {
        const struct merge_input *other = &m->inputs[m->by_time[k]];
        if (other == in || !merge_has_rows(other))
            continue;
        int64_t from = int64_max(other->start_ns, covered_to);
        int64_t to = int64_min(other->end_ns, in->end_ns);
        if (to > from) {
            overlap += to - from;
            covered_to = to;
        }
    }
    return overlap;
}

static bool place_in_time(struct merge *m, struct err *e)
{
    if (!mem_cleared(&m->by_time, m->n_inputs, e))
        return false;
    for (size_t i = 0; i < m->n_inputs; i++)
        m->by_time[i] = i;
    qsort_r(m->by_time, m->n_inputs, sizeof *m->by_time, compare_inputs, m->inputs);
    m->start_ns = m->common_end_ns = INT64_MAX;
    m->end_ns = m->common_start_ns = INT64_MIN;
    for (size_t i = 0; i < m->n_inputs; i++) {
        struct merge_input *in = &m->inputs[i];
        m->n_rows += in->survey.sum.n;
        m->has_intended |= in->survey.info.has_intended;
        if (!merge_has_rows(in))
            continue;
        in->overlap_ns = overlap_of(m, i);
        m->start_ns = int64_min(m->start_ns, in->start_ns);
        m->end_ns = int64_max(m->end_ns, in->end_ns);
        m->common_start_ns = int64_max(m->common_start_ns, in->start_ns);
        m->common_end_ns = int64_min(m->common_end_ns, in->end_ns);
    }
    if (m->n_rows == 0) { /* no input has narrowed the common time */
        m->common_start_ns = INT64_MAX;
        m->common_end_ns = INT64_MIN;
    }
    return true;
}

/* ---- Refusing ---- */

static bool check_duplicates(const struct merge *m, struct err *e)
{
    for (size_t i = 0; i < m->n_inputs; i++)
        for (size_t k = 0; k < i; k++) {
            const struct survey *a = &m->inputs[k].survey, *b = &m->inputs[i].survey;
            if (a->sum.n && a->sum.n == b->sum.n && a->rows_hash == b->rows_hash)
                return err_set(e, "%s and %s hold the same requests", m->inputs[k].path,
                               m->inputs[i].path);
        }
    return true;
}

static bool check_overlap(const struct merge *m, const struct merge_options *o, struct err *e)
{
    for (size_t i = 0; i < m->n_inputs && m->n_inputs > 1 && !o->force; i++) {
        const struct merge_input *in = &m->inputs[i];
        if (merge_has_rows(in) && in->overlap_ns == 0)
            return err_set(e,
                           "%s runs from %s to %s, when no other input does: they are not of one "
                           "run (--force merges them, --shift mends a clock)",
                           in->path, rfc3339_moment(in->start_ns).s, rfc3339_moment(in->end_ns).s);
    }
    return true;
}

/* ---- The whole ---- */

/* Shifts of one input add up. */
static bool add_shifts(struct merge *m, const struct merge_options *o, struct err *e)
{
    for (size_t k = 0; k < o->n_shifts; k++) {
        struct merge_input *in = &m->inputs[o->shifts[k].input - 1];
        if (__builtin_add_overflow(in->shift_ns, o->shifts[k].by_ns, &in->shift_ns) ||
            in->shift_ns == INT64_MIN)
            return moved_out(in, e);
    }
    return true;
}

bool merge_plan(struct merge *m, const char *const *paths, size_t n_paths,
                const struct merge_options *options, struct err *e)
{
    const char **names = NULL;

    *m = (struct merge){0};
    if (!check_files(paths, n_paths, e) || !mem_cleared(&m->inputs, n_paths, e) ||
        !mem_new(&names, n_paths, e))
        return false;
    m->n_inputs = n_paths;
    memcpy(names, paths, n_paths * sizeof *names);
    paths_shorten(names, n_paths);
    for (size_t i = 0; i < n_paths; i++) {
        m->inputs[i].path = paths[i];
        m->inputs[i].name = names[i];
    }
    free(names);
    return add_shifts(m, options, e) && read_inputs(m, options, e) && number_threads(m, e) &&
           check_duplicates(m, e) && place_in_time(m, e) && check_overlap(m, options, e);
}

void merge_free(struct merge *m)
{
    for (size_t i = 0; i < m->n_inputs; i++) {
        survey_free(&m->inputs[i].survey);
        free(m->inputs[i].thread_bases);
    }
    free(m->inputs);
    free(m->by_time);
    notes_free(&m->notes);
    *m = (struct merge){0};
}
