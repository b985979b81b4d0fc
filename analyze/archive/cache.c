#include "analyze/archive/cache.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/version.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define N_NAME      32         /* digits of an entry's name */
#define MAX_ENTRY   (1 << 20)  /* bytes of an entry */
#define MAX_BYTES   (64 << 20) /* of all entries, each in whole blocks; beyond, the oldest go */
#define BLOCK_BYTES 4096
#define UNSETTLED_S 2 /* file systems count in steps of up to 2 s: a later change may not show */

/* ---- Keys ---- */

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

bool archive_cache_key(struct archive_cache_key *key, const char *path, enum run_basis basis)
{
    struct stat st, program;
    struct timespec now;
    char real[PATH_MAX];

    if (strcmp(path, "-") == 0 || realpath(path, real) == NULL || stat(real, &st) != 0 ||
        !S_ISREG(st.st_mode) || stat("/proc/self/exe", &program) != 0 ||
        clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    XXH128_hash_t h = XXH3_128bits_withSeed(real, strlen(real), (XXH64_hash_t)basis);
    snprintf(key->name, sizeof key->name, "%016" PRIx64 "%016" PRIx64, (uint64_t)h.high64,
             (uint64_t)h.low64);
    snprintf(key->s, sizeof key->s, "s3analyze-cache/3 %.80s %s\n%s %d %s\n", version_string,
             state_of(&program).s, state_of(&st).s, (int)basis, real);
    key->is_settled = st.st_mtim.tv_sec < now.tv_sec - UNSETTLED_S &&
                      st.st_ctim.tv_sec < now.tv_sec - UNSETTLED_S;
    return true;
}

/* ---- Runs as JSON. Numbers are texts in base 16, which hold every bit, and "nan" and "inf". ----
 */

#define N_NUMBERS (sizeof(struct archive_numbers) / sizeof(double))
#define N_DIGITS  28
_Static_assert(sizeof(struct archive_numbers) == N_NUMBERS * sizeof(double), "doubles alone");

static json_t *op_json(const struct archive_op *op)
{
    double v[N_NUMBERS];
    char text[N_NUMBERS * N_DIGITS];
    size_t n = 0;

    memcpy(v, &op->numbers, sizeof v);
    for (size_t i = 0; i < N_NUMBERS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " %a", v[i]);
    return json_pack("{s:s, s:b, s:b, s:b, s:I, s:I, s:s}", "op", op->op, "beside",
                     (int)op->is_beside, "sizes_differ", (int)op->sizes_differ, "response",
                     (int)op->of_response, "start", (json_int_t)op->start_ns, "errors",
                     (json_int_t)op->n_errors, "numbers", text);
}

static bool op_of(const json_t *json, struct archive_op *op)
{
    const char *name, *text;
    json_int_t start, errors;
    int beside, sizes_differ, response;
    double v[N_NUMBERS];

    if (json_unpack((json_t *)json, "{s:s, s:b, s:b, s:b, s:I, s:I, s:s}", "op", &name, "beside",
                    &beside, "sizes_differ", &sizes_differ, "response", &response, "start", &start,
                    "errors", &errors, "numbers", &text) != 0)
        return false;
    for (size_t i = 0; i < N_NUMBERS; i++) {
        char *end;

        v[i] = strtod(text, &end);
        if (end == text)
            return false;
        text = end;
    }
    op->is_beside = beside != 0;
    op->sizes_differ = sizes_differ != 0;
    op->of_response = response != 0;
    op->start_ns = start;
    op->n_errors = errors;
    memcpy(&op->numbers, v, sizeof v);
    return *text == '\0' && mem_text(&op->op, name, NULL);
}

static bool run_of(const json_t *json, struct archive_run *r)
{
    const char *kind = NULL, *finding = NULL;
    json_int_t start;
    json_t *ops;
    int source, problem;

    if (json_unpack((json_t *)json, "{s:i, s:I, s:b, s:o, s?s, s?s, s?O}", "source", &source,
                    "start", &start, "problem", &problem, "ops", &ops, "kind", &kind, "finding",
                    &finding, "options", &r->options) != 0)
        return false;
    r->source = (enum run_basis)source;
    r->start_ns = start;
    r->has_problem = problem != 0;
    if (source < 0 || source > RUN_OF_AGGREGATES ||
        (kind != NULL && !mem_text(&r->kind, kind, NULL)) ||
        (finding != NULL && !mem_text(&r->finding, finding, NULL)) ||
        !mem_cleared(&r->ops, json_array_size(ops), NULL))
        return false;
    for (size_t k = 0; k < json_array_size(ops); k++)
        if (!op_of(json_array_get(ops, k), &r->ops[r->n_ops++]))
            return false;
    return true;
}

/* Returns a run as JSON. NULL: out of memory, or texts that are not UTF-8. */
static json_t *run_json(const struct archive_run *r)
{
    json_t *ops = json_array();
    bool ok = ops != NULL;

    for (size_t k = 0; ok && k < r->n_ops; k++)
        ok = json_array_append_new(ops, op_json(&r->ops[k])) == 0;
    json_t *run =
        !ok ? NULL
            : json_pack("{s:i, s:I, s:b, s:O, s:s*, s:s*, s:O*}", "source", (int)r->source, "start",
                        (json_int_t)r->start_ns, "problem", (int)r->has_problem, "ops", ops, "kind",
                        r->kind, "finding", r->finding, "options", r->options);
    json_decref(ops);
    return run;
}

/* ---- An entry: its key, a line with the checksum of the rest, and JSON ---- */

/* Whether nobody else can have written it. */
static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Returns what comes before the JSON, for the caller to free; NULL: out of memory. */
static char *head_of(const struct archive_cache_key *key, const char *json, size_t n)
{
    char *head;

    mem_format(&head, NULL, "%s%016" PRIx64 "\n", key->s, (uint64_t)XXH3_64bits(json, n));
    return head;
}

/* Returns the text of a file, for the caller to free; NULL: it cannot be read, or is not ours. Does
 * not wait for the writer of a pipe. */
static char *read_entry(int folder, const char *name, size_t *n)
{
    struct stat st;
    char *text = NULL;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_ours(&st) &&
        st.st_size <= MAX_ENTRY && mem_malloc(&text, (size_t)st.st_size, 1, NULL)) {
        ssize_t got = read(fd, text, (size_t)st.st_size);
        *n = got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return text;
}

bool archive_cache_get(struct archive_cache *c, const struct archive_cache_key *key,
                       struct archive_run *r)
{
    size_t n = 0, n_head = strlen(key->s) + 17;
    char *text = read_entry(c->folder, key->name, &n), *head = NULL;
    bool ok = text != NULL && n > n_head &&
              (head = head_of(key, text + n_head, n - n_head)) != NULL &&
              memcmp(text, head, n_head) == 0;
    json_t *run = ok ? json_loadb(text + n_head, n - n_head, 0, NULL) : NULL;

    ok = run != NULL && run_of(run, r);
    json_decref(run);
    free(head);
    free(text);
    return ok;
}

/* Replaces the file in one step: another process may read or write it now. */
static bool write_entry(int folder, const char *name, const char *head, const char *json)
{
    char aside[N_NAME + 24];

    snprintf(aside, sizeof aside, "%s.%ld", name, (long)getpid());
    int fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = dprintf(fd, "%s%s", head, json) == (int)(strlen(head) + strlen(json));
    ok = close(fd) == 0 && ok && renameat(folder, aside, folder, name) == 0;
    if (!ok)
        unlinkat(folder, aside, 0);
    return ok;
}

void archive_cache_put(struct archive_cache *c, const struct archive_cache_key *key,
                       const struct archive_run *r)
{
    json_t *run = run_json(r);
    char *json = run != NULL ? json_dumps(run, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    char *head = json != NULL ? head_of(key, json, strlen(json)) : NULL;

    if (head != NULL && strlen(head) + strlen(json) <= MAX_ENTRY)
        c->is_changed |= write_entry(c->folder, key->name, head, json);
    json_decref(run);
    free(head);
    free(json);
}

/* ---- The folder ---- */

void archive_cache_open(struct archive_cache *c)
{
    const char *given = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool is_given = given != NULL && given[0] == '/';
    char *path;
    struct stat st;

    *c = (struct archive_cache){.folder = -1};
    if ((!is_given && (home == NULL || home[0] != '/')) ||
        !mem_format(&path, NULL, "%s%s/s3analyze", is_given ? given : home,
                    is_given ? "" : "/.cache"))
        return;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
    mkdir(path, 0700);
    c->folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    free(path);
    if (c->folder >= 0 && (fstat(c->folder, &st) != 0 || !is_ours(&st)))
        archive_cache_close(c);
}

struct entry {
    char name[N_NAME + 24];
    int64_t written_s, n_bytes;
};

static int newest_first(const void *a, const void *b)
{
    return int64_order(((const struct entry *)b)->written_s, ((const struct entry *)a)->written_s);
}

/* Deletes the oldest files beyond MAX_BYTES. Files that killed processes left count like entries.
 */
static void trim(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct entry *v = NULL;
    struct dirent *file;
    struct stat st;
    int64_t sum = 0;
    size_t n = 0;

    while (d != NULL && (file = readdir(d)) != NULL && mem_more(&v, n, NULL))
        if (strspn(file->d_name, "0123456789abcdef") == N_NAME &&
            strlen(file->d_name) < sizeof v->name &&
            fstatat(folder, file->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            v[n] = (struct entry){.written_s = st.st_mtim.tv_sec, .n_bytes = st.st_size};
            strcpy(v[n++].name, file->d_name);
        }
    if (n > 0)
        qsort(v, n, sizeof *v, newest_first);
    for (size_t i = 0; i < n; i++)
        if ((sum += v[i].n_bytes / BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES) > MAX_BYTES)
            unlinkat(folder, v[i].name, 0);
    free(v);
    if (d != NULL)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

void archive_cache_close(struct archive_cache *c)
{
    if (c->is_changed)
        trim(c->folder);
    if (c->folder >= 0)
        close(c->folder);
    *c = (struct archive_cache){.folder = -1};
}
