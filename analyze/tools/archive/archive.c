#include "analyze/tools/archive/archive.h"

#include "analyze/base/paths.h"
#include "analyze/tools/archive/cache.h"
#include "analyze/tools/compare/alike.h"
#include "analyze/tools/compare/words.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Files ---- */

bool archive_is_capture(const char *name)
{
    return fnmatch("*.@(csv|csv.zst|json.zst|sums.zst)", name, FNM_EXTMATCH | FNM_PERIOD) == 0;
}

/* Adds a path, which it then owns. */
static bool add_path(struct archive_paths *out, char *path, struct err *e)
{
    if (path == NULL || !mem_more(&out->v, out->n, e)) {
        free(path);
        return mem_none(e);
    }
    out->v[out->n++] = path;
    return true;
}

static int is_capture(const struct dirent *entry)
{
    return archive_is_capture(entry->d_name);
}

bool archive_list(struct archive_paths *out, const char *folder, struct err *e)
{
    size_t length = strlen(folder);
    struct dirent **names;
    int n = scandir(folder, &names, is_capture, NULL);
    bool ok = n >= 0 || err_errno(e, errno, "%s", folder);

    for (int i = 0; i < n; i++) {
        char *path = NULL;
        struct stat st;

        ok = ok && mem_format(&path, e, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/",
                              names[i]->d_name);
        if (ok && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
            ok = add_path(out, path, e);
        else
            free(path);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return ok;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool archive_find(struct archive_paths *out, const char *const *operands, size_t n, struct err *e)
{
    struct stat st;
    size_t n_kept = 0;

    *out = (struct archive_paths){.operands = operands, .n_operands = n};
    for (size_t i = 0; i < n; i++) {
        size_t n_before = out->n;
        bool is_folder = stat(operands[i], &st) == 0 && S_ISDIR(st.st_mode);

        if (!(is_folder ? archive_list(out, operands[i], e)
                        : add_path(out, strdup(operands[i]), e)))
            return false;
        if (out->n == n_before)
            return err_set(e,
                           "%s: no captures in this folder (*.csv, *.csv.zst, *.json.zst, "
                           "*.sums.zst)",
                           operands[i]);
    }
    qsort(out->v, out->n, sizeof *out->v, by_path);
    for (size_t i = 0; i < out->n; i++) {
        if (n_kept > 0 && strcmp(out->v[n_kept - 1], out->v[i]) == 0)
            free(out->v[i]);
        else
            out->v[n_kept++] = out->v[i];
    }
    out->n = n_kept;
    return true;
}

bool archive_is_found(const struct archive_paths *p, const char *path)
{
    bool is_named = p->n == 0;

    for (size_t k = 0; k < p->n_operands; k++)
        is_named |= strcmp(p->operands[k], path) == 0;
    return !is_named;
}

void archive_free_paths(struct archive_paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i]);
    free(p->v);
    *p = (struct archive_paths){0};
}

struct archive_label archive_label(const char *name)
{
    struct archive_label l;

    snprintf(l.s, sizeof l.s, "%.*s", (int)paths_stem(name), name);
    return l;
}

/* ---- A run ---- */

static void free_run(struct archive_run *r)
{
    free(r->path);
    run_free_kept(&r->kept);
    *r = (struct archive_run){0};
}

/* ---- Reading ---- */

static bool analyse(struct run_kept *to, const char *path, const struct run_options *how,
                    struct err *e)
{
    struct run r;
    bool ok = run_load(&r, path, how, e);

    *to = r.kept;
    r.kept = (struct run_kept){0};
    run_free(&r);
    return ok;
}

/* Reads one run. cache < 0: there is none. */
static bool load_one(struct archive_run *to, const char *path, const struct run_options *how,
                     int cache, struct err *e)
{
    struct cache_key key, after;
    bool has_key = cache >= 0 && cache_make_key(&key, path, how->basis);

    if (has_key && cache_read(cache, &key, &to->kept))
        return mem_text(&to->path, path, e);
    free_run(to);
    if (!analyse(&to->kept, path, how, e) || !mem_text(&to->path, path, e))
        return false;
    /* Store only if the file did not change meanwhile: it may still be written. */
    if (has_key && key.is_settled && cache_make_key(&after, path, how->basis) &&
        strcmp(key.s, after.s) == 0)
        cache_write(cache, &key, &to->kept);
    return true;
}

/* ---- The archive ---- */

static bool add_unread(struct archive *a, const char *path, const struct err *why, struct err *e)
{
    if (!mem_more(&a->unread, a->n_unread, e))
        return false;
    struct archive_unread *u = &a->unread[a->n_unread++];
    *u = (struct archive_unread){.lacks_op = why->is_usage};
    return mem_text(&u->path, path, e) && mem_text(&u->why, why->msg, e);
}

/* Whether an unreadable run may have begun at `ns` or later: a file is not written before its run
 * begins. */
static bool was_written_since(const char *path, int64_t ns)
{
    struct stat st;

    return stat(path, &st) != 0 || st.st_mtim.tv_sec >= ns / NS_PER_S;
}

static int by_start(const void *a, const void *b)
{
    const struct archive_run *x = a, *y = b;
    int order = int64_order(x->kept.start_ns, y->kept.start_ns);

    return order != 0 ? order : strcmp(x->path, y->path);
}

static bool load_all(struct archive *a, const struct archive_paths *paths,
                     const struct run_options *how, int cache, struct err *e)
{
    for (size_t i = 0; i < paths->n; i++) {
        struct archive_run *r = &a->runs[a->n];
        struct err why = {0};

        if (load_one(r, paths->v[i], how, cache, &why)) {
            a->n++;
            continue;
        }
        free_run(r);
        if (!archive_is_found(paths, paths->v[i]))
            return err_pass(e, &why);
        if (!add_unread(a, paths->v[i], &why, e))
            return false;
    }
    return true;
}

static bool label_runs(struct archive *a, struct err *e)
{
    const char **names;

    if (!mem_new(&names, a->n, e))
        return false;
    for (size_t i = 0; i < a->n; i++)
        names[i] = a->runs[i].path;
    paths_shorten(names, a->n);
    for (size_t i = 0; i < a->n; i++)
        a->runs[i].label = archive_label(names[i]);
    free(names);
    return true;
}

/* Returns the full path of the folder that holds a file, for the caller to free. NULL: out of
 * memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    char *full = folder != NULL ? realpath(folder, NULL) : NULL;

    if (full == NULL)
        return folder;
    free(folder);
    return full;
}

static bool name_systems(struct archive *a, struct err *e)
{
    char **folders = NULL;
    const char **names = NULL;
    bool one_folder = true, ok = mem_cleared(&folders, a->n, e) && mem_new(&names, a->n, e);

    for (size_t i = 0; ok && i < a->n; i++) {
        names[i] = folders[i] = folder_of(a->runs[i].path);
        ok = folders[i] != NULL || mem_none(e);
        one_folder &= ok && strcmp(folders[i], folders[0]) == 0;
    }
    if (ok)
        paths_shorten(names, a->n);
    for (size_t i = 0; ok && i < a->n; i++) {
        const char *label = a->runs[i].kept.label;

        snprintf(a->runs[i].system.s, sizeof a->runs[i].system.s, "%s",
                 one_folder && label != NULL ? label : names[i]);
    }
    for (size_t i = 0; folders != NULL && i < a->n; i++)
        free(folders[i]);
    free(folders);
    free(names);
    return ok;
}

bool archive_load(struct archive *a, const struct archive_paths *paths,
                  const struct run_options *how, bool with_cache, struct err *e)
{
    struct run_options own = *how;

    own.of_response = true;
    if (!mem_cleared(&a->runs, paths->n, e))
        return false;
    int cache = with_cache ? cache_open() : -1;
    bool ok = load_all(a, paths, &own, cache, e);
    if (cache >= 0)
        close(cache);
    if (!ok)
        return false;
    if (a->n == 0)
        return a->unread[0].lacks_op ? err_usage(e, "%s", a->unread[0].why)
                                     : err_set(e, "%s", a->unread[0].why);
    qsort(a->runs, a->n, sizeof *a->runs, by_start);
    for (size_t i = 0; i < a->n_unread; i++)
        a->unread[i].is_newest =
            was_written_since(a->unread[i].path, a->runs[a->n - 1].kept.start_ns);
    return label_runs(a, e) && name_systems(a, e);
}

void archive_free(struct archive *a)
{
    for (size_t i = 0; i < a->n; i++)
        free_run(&a->runs[i]);
    for (size_t i = 0; i < a->n_unread; i++) {
        free(a->unread[i].path);
        free(a->unread[i].why);
    }
    free(a->runs);
    free(a->unread);
    *a = (struct archive){0};
}

/* ---- In what runs differ ---- */

struct pair {
    const struct run_kept *a, *b;
    bool at_any_load;
    struct archive_difference *d;
};

/* Says whether a run has an operation of the benchmark that another one lacks. */
static void say_more(const struct run_kept *a, const struct run_kept *b, char text[100])
{
    size_t k = 0;

    while (k < a->n_ops && (a->ops[k].is_beside || alike_op_named(b, a->ops[k].op) != NULL))
        k++;
    snprintf(text, 100, k < a->n_ops ? "with %.60s" : "without", k < a->n_ops ? a->ops[k].op : "");
}

static void say_setting(const struct pair *p, const struct alike_key *key)
{
    const char *name = run_setting_names[key->setting].title;
    struct compare_spans a = {.n_runs = 0}, b = {.n_runs = 0};

    compare_spans_add(&a, alike_op_named(p->a, key->name));
    compare_spans_add(&b, alike_op_named(p->b, key->name));
    snprintf(p->d->what, sizeof p->d->what, "%c%s of %.60s", tolower(name[0]), name + 1, key->name);
    snprintf(p->d->a, sizeof p->d->a, "%.99s",
             compare_words_span(key->setting, &a.of[key->setting]).s);
    snprintf(p->d->b, sizeof p->d->b, "%.99s",
             compare_words_span(key->setting, &b.of[key->setting]).s);
}

static bool say_difference(void *pair, const struct alike_key *key)
{
    const struct pair *p = pair;
    struct archive_difference *d = p->d;

    if (key->kind == ALIKE_SETTING) {
        if (p->at_any_load && (key->setting == RUN_CONCURRENCY || key->setting == RUN_DURATION_S))
            return false;
        say_setting(p, key);
    } else if (key->kind == ALIKE_OPTION) {
        bool have_rates = !isnan(run_rate(p->a)) && !isnan(run_rate(p->b));

        if (p->at_any_load && (strcmp(key->name, "duration_ns") == 0 ||
                               (strcmp(key->name, "rate") == 0 && have_rates)))
            return false;
        snprintf(d->what, sizeof d->what, "option %.60s", key->name);
        compare_option_text(json_object_get(p->a->options, key->name), d->a);
        compare_option_text(json_object_get(p->b->options, key->name), d->b);
    } else if (key->kind == ALIKE_OPS) {
        snprintf(d->what, sizeof d->what, "the operations");
        say_more(p->a, p->b, d->a);
        say_more(p->b, p->a, d->b);
    } else if (key->kind == ALIKE_TIMES) {
        const struct run_kept_op *a = alike_op_named(p->a, key->name);

        snprintf(d->what, sizeof d->what, "what the percentiles of %.60s are of", key->name);
        snprintf(d->a, sizeof d->a, "%s", a->of_response ? "response times" : "durations");
        snprintf(d->b, sizeof d->b, "%s", a->of_response ? "durations" : "response times");
    } else {
        snprintf(d->what, sizeof d->what, "what the files hold");
        snprintf(d->a, sizeof d->a, "%s", run_sources[p->a->source]);
        snprintf(d->b, sizeof d->b, "%s", run_sources[p->b->source]);
    }
    return true;
}

bool archive_differ(const struct run_kept *a, const struct run_kept *b, bool at_any_load,
                    struct archive_difference *d)
{
    return alike_differ(a, b, say_difference, &(struct pair){a, b, at_any_load, d});
}

double archive_value(const struct run_kept_op *op, enum run_metric metric)
{
    double v = op->figure[metric].value;

    return isfinite(v) && (v > 0 || metrics[metric].kind == METRIC_DIFFERENCE) ? v : NAN;
}

bool archive_is_bounded(const struct run_kept_op *op, enum run_metric metric)
{
    return op->figure[metric].least < op->figure[metric].most;
}

enum run_metric archive_rate_metric(const struct run_kept_op *op)
{
    return op->figure[RUN_THROUGHPUT].value > 0 && !op->sizes_differ ? RUN_THROUGHPUT : RUN_OBJECTS;
}
