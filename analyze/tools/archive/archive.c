#include "analyze/tools/archive/archive.h"

#include "analyze/base/paths.h"
#include "analyze/tools/compare/alike.h"
#include "analyze/tools/compare/words.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"
#include "libcommon/version.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

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

/* ---- The cache ----
 *
 * A cache of the results of captures, in the folder s3analyze of the user's cache folder
 * (XDG_CACHE_HOME, else HOME/.cache). A run is found by the path of its file, and by what shows
 * that the file was changed: device, inode, size and times. Nothing is read that another user may
 * have written, and no symbolic link is followed. The cache is never needed: an entry that cannot
 * be read, was written by another build of this program, or is damaged counts as missing, and what
 * cannot be written is not written. There are at most 32,768 entries of at most 8 KiB; a run takes
 * the place of another one whose path has the same hash. */

#define N_ENTRIES   (1u << 15) /* of 1,000 runs 3 % share an entry, and are read again */
#define MAX_ENTRY   (8 << 10)  /* bytes; that of a run with five operations has 3 KiB */
#define UNSETTLED_S 2 /* file systems count in steps of up to 2 s: a later change may not show */

struct cache_key {
    char name[8]; /* of the entry; two files may have the same */
    char s[PATH_MAX + 512];
    bool is_settled; /* the file did not change lately: if it does now, its times will show that */
};

/* What shows that a file was changed. */
struct state {
    char s[160];
};

static struct state state_of(const struct stat *st)
{
    struct state t;

    snprintf(t.s, sizeof t.s, "%jx.%jx %jd %jd.%09ld %jd.%09ld", (uintmax_t)st->st_dev,
             (uintmax_t)st->st_ino, (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec,
             st->st_mtim.tv_nsec, (intmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
    return t;
}

/* Makes the key of a run: its file as it is now, this program, and what runs are reduced to. False:
 * the file is no regular one, or cannot be found. */
static bool make_key(struct cache_key *key, const char *path, enum run_basis basis)
{
    struct stat st, program;
    struct timespec now;
    char real[PATH_MAX];

    if (strcmp(path, "-") == 0 || realpath(path, real) == NULL || stat(real, &st) != 0 ||
        !S_ISREG(st.st_mode) || stat("/proc/self/exe", &program) != 0 ||
        clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    uint64_t hash = XXH3_64bits_withSeed(real, strlen(real), (XXH64_hash_t)basis);
    snprintf(key->name, sizeof key->name, "%04x", (unsigned)(hash % N_ENTRIES));
    snprintf(key->s, sizeof key->s, "s3analyze-cache/5 %.80s %s\n%s %d %s\n", version_string,
             state_of(&program).s, state_of(&st).s, (int)basis, real);
    key->is_settled = st.st_mtim.tv_sec < now.tv_sec - UNSETTLED_S &&
                      st.st_ctim.tv_sec < now.tv_sec - UNSETTLED_S;
    return true;
}

/* Runs as bytes. Only this build of the program reads them. */

/* What is being written, or read. */
struct body {
    FILE *f;
    bool writes;
};

static bool pass_bytes(const struct body *b, void *p, size_t n)
{
    return n == 0 || (b->writes ? fwrite(p, n, 1, b->f) : fread(p, n, 1, b->f)) == 1;
}

/* Passes a text or NULL; what is read is allocated. */
static bool pass_text(const struct body *b, char **s)
{
    size_t n = b->writes && *s != NULL ? strlen(*s) + 1 : 0;

    return pass_bytes(b, &n, sizeof n) &&
           (b->writes || n == 0 || (n <= MAX_ENTRY && mem_cleared(s, n, NULL))) &&
           pass_bytes(b, *s, n);
}

static bool pass_op(const struct body *b, struct run_kept_op *op)
{
    char *name = op->op;

    op->op = NULL; /* equal runs have equal bytes */
    bool ok = pass_bytes(b, op, sizeof *op);
    op->op = name;
    return ok && pass_text(b, &op->op);
}

static bool pass_run(const struct body *b, struct run_kept *r)
{
    char *options = r->options != NULL ? json_dumps(r->options, JSON_COMPACT) : NULL;
    size_t n_ops = r->n_ops;
    bool ok = pass_bytes(b, &r->source, sizeof r->source) &&
              pass_bytes(b, &r->start_ns, sizeof r->start_ns) &&
              pass_bytes(b, &r->has_problem, sizeof r->has_problem) && pass_text(b, &r->label) &&
              pass_text(b, &r->kind) && pass_text(b, &r->finding) && pass_text(b, &options) &&
              pass_bytes(b, &n_ops, sizeof n_ops);

    if (ok && !b->writes) {
        r->options = options != NULL ? json_loads(options, 0, NULL) : NULL;
        ok = n_ops <= MAX_ENTRY && mem_cleared(&r->ops, n_ops, NULL);
        r->n_ops = ok ? n_ops : 0;
    }
    free(options);
    for (size_t k = 0; ok && k < n_ops; k++)
        ok = pass_op(b, &r->ops[k]);
    return ok;
}

/* An entry: a checksum of the rest, the key, and the run. */

/* Whether nobody else can have written it. */
static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Returns the number of bytes of a file; 0: it cannot be read, or is not ours. Does not wait for
 * the writer of a pipe. */
static size_t read_entry(int folder, const char *name, char to[MAX_ENTRY])
{
    struct stat st;
    ssize_t n = -1;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_ours(&st) &&
        st.st_size <= MAX_ENTRY)
        n = read(fd, to, MAX_ENTRY);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* Fills a run, which is empty. False: the run is not in the cache; *r may be partly filled. */
static bool read_cache(int folder, const struct cache_key *key, struct run_kept *r)
{
    char text[MAX_ENTRY];
    uint64_t sum = 0;
    size_t n = read_entry(folder, key->name, text), n_head = sizeof sum + strlen(key->s);

    if (n <= n_head || memcmp(text + sizeof sum, key->s, strlen(key->s)) != 0)
        return false;
    memcpy(&sum, text, sizeof sum);
    if (sum != XXH3_64bits(text + sizeof sum, n - sizeof sum))
        return false;
    const struct body b = {fmemopen(text + n_head, n - n_head, "r"), false};
    bool ok = b.f != NULL && pass_run(&b, r);
    if (b.f != NULL)
        fclose(b.f);
    return ok;
}

/* Replaces the file in one step: another process may read it now. If one writes it as well,
 * either's may be there when both are done. */
static void write_entry(int folder, const char *name, const char *text, size_t n)
{
    char aside[16];

    snprintf(aside, sizeof aside, "%s.new", name);
    unlinkat(folder, aside, 0); /* of a killed process */
    int fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool ok = write(fd, text, n) == (ssize_t)n;
    if (close(fd) != 0 || !ok || renameat(folder, aside, folder, name) != 0)
        unlinkat(folder, aside, 0);
}

static void write_cache(int folder, const struct cache_key *key, const struct run_kept *r)
{
    struct run_kept run = *r;
    uint64_t sum = 0;
    char *text = NULL;
    size_t n = 0;
    const struct body b = {open_memstream(&text, &n), true};

    if (b.f == NULL)
        return;
    bool ok = pass_bytes(&b, &sum, sizeof sum) && fputs(key->s, b.f) >= 0 && pass_run(&b, &run);
    if (fclose(b.f) == 0 && ok && n <= MAX_ENTRY) {
        sum = XXH3_64bits(text + sizeof sum, n - sizeof sum);
        memcpy(text, &sum, sizeof sum);
        write_entry(folder, key->name, text, n);
    }
    free(text);
}

/* Opens the folder, for the caller to close. -1: there is no cache. */
static int open_cache(void)
{
    const char *given = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool is_given = given != NULL && given[0] == '/';
    char *path;
    struct stat st;

    if ((!is_given && (home == NULL || home[0] != '/')) ||
        !mem_format(&path, NULL, "%s%s/s3analyze", is_given ? given : home,
                    is_given ? "" : "/.cache"))
        return -1;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
    mkdir(path, 0700);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    free(path);
    if (folder < 0 || (fstat(folder, &st) == 0 && is_ours(&st)))
        return folder;
    close(folder);
    return -1;
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
    bool has_key = cache >= 0 && make_key(&key, path, how->basis);

    if (has_key && read_cache(cache, &key, &to->kept))
        return mem_text(&to->path, path, e);
    free_run(to);
    if (!analyse(&to->kept, path, how, e) || !mem_text(&to->path, path, e))
        return false;
    /* Store only if the file did not change meanwhile: it may still be written. */
    if (has_key && key.is_settled && make_key(&after, path, how->basis) &&
        strcmp(key.s, after.s) == 0)
        write_cache(cache, &key, &to->kept);
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
    int cache = with_cache ? open_cache() : -1;
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
