#include "analyze/archive/cache.h"

#include "analyze/write/outfile.h"
#include "libcommon/mem.h"
#include "libcommon/version.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define NAME      ".s3analyze-cache"
#define MAGIC     "s3analyze-cache/2 "
#define MAX_BYTES (INT64_C(1) << 28) /* largest cache that is read */
#define MAX_RUNS  20000              /* runs kept; beyond, only those used last */

/* ---- Keys ---- */

static bool hash_file(int fd, XXH3_state_t *state)
{
    char *piece;
    ssize_t n = -1;

    if (!mem_malloc(&piece, 1 << 20, 1, NULL))
        return false;
    XXH3_128bits_reset(state);
    while ((n = read(fd, piece, 1 << 20)) > 0)
        XXH3_128bits_update(state, piece, (size_t)n);
    free(piece);
    return n == 0;
}

/* Opens a regular file; does not wait for the writer of a pipe. -1: there is no such file. */
static int open_regular(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || (fstat(fd, st) == 0 && S_ISREG(st->st_mode)))
        return fd;
    close(fd);
    return -1;
}

bool archive_cache_key(struct archive_cache_key *key, const char *path, enum run_basis basis)
{
    struct stat st;
    XXH3_state_t *state = XXH3_createState();
    int fd = open_regular(path, &st);
    bool ok = state != NULL && fd >= 0 && hash_file(fd, state);

    if (ok) {
        XXH128_hash_t h = XXH3_128bits_digest(state);
        snprintf(key->s, sizeof key->s, "%016" PRIx64 "%016" PRIx64 "-%d", (uint64_t)h.high64,
                 (uint64_t)h.low64, (int)basis);
    }
    if (fd >= 0)
        close(fd);
    XXH3_freeState(state);
    return ok;
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

/* ---- The file: a line with version and checksum, and JSON ---- */

struct mark {
    char s[160];
};

static struct mark mark_of(const char *text, size_t n)
{
    struct mark m;

    snprintf(m.s, sizeof m.s, MAGIC "%.80s %016" PRIx64 "\n", version_string,
             (uint64_t)XXH3_64bits(text, n));
    return m;
}

static char *read_text(const char *path, size_t *n)
{
    struct stat st;
    char *text = NULL;
    int fd = open_regular(path, &st);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (f != NULL && st.st_size < MAX_BYTES && mem_malloc(&text, (size_t)st.st_size + 1, 1, NULL)) {
        *n = fread(text, 1, (size_t)st.st_size, f);
        text[*n] = '\0';
    }
    if (f != NULL)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    return text;
}

void archive_cache_open(struct archive_cache *c, const char *capture)
{
    const char *slash = strrchr(capture, '/');
    size_t n = 0;

    *c = (struct archive_cache){.runs = json_object(), .used = json_object()};
    if (c->runs == NULL || c->used == NULL ||
        !mem_format(&c->path, NULL, "%.*s" NAME, slash != NULL ? (int)(slash + 1 - capture) : 0,
                    capture))
        return;
    char *text = read_text(c->path, &n);
    const char *line = text != NULL ? memchr(text, '\n', n) : NULL;
    if (line != NULL) {
        size_t n_mark = (size_t)(line + 1 - text);
        struct mark m = mark_of(text + n_mark, n - n_mark);
        json_t *runs = strncmp(text, m.s, n_mark) == 0 && strlen(m.s) == n_mark
                           ? json_loadb(text + n_mark, n - n_mark, 0, NULL)
                           : NULL;

        if (json_is_object(runs))
            json_object_update(c->runs, runs);
        json_decref(runs);
    }
    free(text);
}

bool archive_cache_get(struct archive_cache *c, const struct archive_cache_key *key,
                       struct archive_run *r)
{
    json_t *run = json_object_get(c->runs, key->s);

    if (run == NULL || !run_of(run, r))
        return false;
    json_object_set(c->used, key->s, run);
    return true;
}

void archive_cache_put(struct archive_cache *c, const struct archive_cache_key *key,
                       const struct archive_run *r)
{
    json_t *run = run_json(r);

    if (run != NULL && json_object_set(c->runs, key->s, run) == 0 &&
        json_object_set(c->used, key->s, run) == 0)
        c->is_changed = true;
    json_decref(run);
}

static void write_cache(const struct archive_cache *c)
{
    json_t *runs = json_object_size(c->runs) > MAX_RUNS ? c->used : c->runs;
    char *text = json_dumps(runs, JSON_COMPACT | JSON_SORT_KEYS);
    struct outfile out;
    struct stat st;
    struct err unsaid = {0};

    /* Opening a pipe would wait for a reader. */
    bool is_free = stat(c->path, &st) != 0 || S_ISREG(st.st_mode);
    if (text != NULL && is_free && outfile_open(&out, c->path, OUTFILE_CACHE, &unsaid)) {
        fputs(mark_of(text, strlen(text)).s, out.f);
        fputs(text, out.f);
        outfile_finish(&out, true, &unsaid);
    }
    free(text);
}

void archive_cache_close(struct archive_cache *c)
{
    if (c->is_changed && c->path != NULL)
        write_cache(c);
    json_decref(c->runs);
    json_decref(c->used);
    free(c->path);
    *c = (struct archive_cache){0};
}
