#include "analyze/read/aggfile.h"

#include "analyze/base/tempfile.h"
#include "analyze/read/aggbytes.h"
#include "analyze/read/jsonpull.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPOOL_BYTES      (64 << 10)
#define FORMAT_VERSION   2
#define MAX_FIRST_ERRORS 100 /* the recorder keeps 10 */
#define NS_PER_S         INT64_C(1000000000)

/* What of an entry is wanted; the rest is checked and skipped. */
enum { KEEP_SERIES = 1, KEEP_PARTIES = 2, KEEP_GROUPS = 4, KEEP_ERRORS = 8 };

/* The first byte of standard input, a pipe, which stays there; -1: there is none. */
static int peek_at_pipe(void)
{
    unsigned char first = 0;
    int copy[2];
    if (pipe2(copy, O_CLOEXEC) != 0)
        return -1;
    ssize_t n;
    do
        n = tee(STDIN_FILENO, copy[1], 1, 0);
    while (n < 0 && errno == EINTR);
    bool has = n == 1 && read(copy[0], &first, 1) == 1;
    close(copy[0]);
    close(copy[1]);
    return has ? first : -1;
}

/* Copies standard input to a file without a name, which takes its place. */
static bool spool_pipe(struct err *e)
{
    char *buf = malloc(SPOOL_BYTES);
    int fd = buf != NULL ? tempfile_open(e) : -1;
    uint64_t at = 0;
    ssize_t n = 1;
    bool ok = fd >= 0 || err_set(e, "out of memory");
    while (ok && n != 0) {
        n = read(STDIN_FILENO, buf, SPOOL_BYTES);
        if (n > 0)
            ok = tempfile_write(fd, buf, (size_t)n, at, e);
        else if (n < 0 && errno != EINTR)
            ok = err_errno(e, errno, "cannot read standard input");
        at += n > 0 ? (uint64_t)n : 0;
    }
    ok = ok && ((lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) >= 0) ||
                err_errno(e, errno, "cannot read standard input"));
    if (fd >= 0)
        close(fd);
    free(buf);
    return ok;
}

bool aggfile_spool(const char *const *paths, size_t n, struct err *e)
{
    struct stat st;
    bool reads_stdin = false;
    for (size_t i = 0; i < n; i++)
        reads_stdin |= strcmp(paths[i], "-") == 0;
    if (!reads_stdin || fstat(STDIN_FILENO, &st) != 0 || !S_ISFIFO(st.st_mode))
        return true;
    return peek_at_pipe() != '{' || spool_pipe(e);
}

/* Up to n bytes that the text of a file begins with; 0: it is none of ours. */
static size_t beginning_of(const char *path, char *buf, size_t n)
{
    struct aggbytes b;
    struct stat st;
    size_t got = 0, more = 1;
    bool is_file = strcmp(path, "-") == 0
                       ? fstat(STDIN_FILENO, &st) == 0 && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0
                       : stat(path, &st) == 0;
    if (!is_file || !S_ISREG(st.st_mode))
        return 0;
    bool ok = aggbytes_open(&b, path, NULL);
    for (; ok && got < n && more > 0; got += more)
        ok = aggbytes_more(&b, buf + got, n - got, &more, NULL);
    /* Standard input was read from: whoever reads it next finds its beginning. */
    if (strcmp(path, "-") == 0 && lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
        ok = false;
    aggbytes_close(&b);
    return ok ? got : 0;
}

bool aggfile_is(const char *path)
{
    char first;
    return beginning_of(path, &first, 1) == 1 && first == '{' && !aggfile_is_sums(path);
}

bool aggfile_is_sums(const char *path)
{
    char text[sizeof AGGFILE_SUMS];
    size_t n = sizeof AGGFILE_SUMS - 1;
    return beginning_of(path, text, n) == n && memcmp(text, AGGFILE_SUMS, n) == 0;
}

/* ---- Memory ---- */

/* Room for one more than n elements of `size` bytes; the capacity is the next power of two. NULL:
 * failed. */
static void *grow(struct jsonpull *p, void *v, size_t n, size_t size)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return v;
    void *larger = reallocarray(v, n == 0 ? 1 : 2 * n, size);
    if (larger == NULL && !p->failed)
        p->failed = !err_set(p->e, "out of memory");
    return larger;
}

static char *keep(struct jsonpull *p, const char *s)
{
    char *copy = s != NULL ? strdup(s) : NULL;
    if (s != NULL && copy == NULL && !p->failed)
        p->failed = !err_set(p->e, "out of memory");
    return copy;
}

/* The string that comes next, with U+FFFD for NUL; NULL: it is null, or failed. */
static char *keep_string(struct jsonpull *p)
{
    size_t n = 0;
    const char *s = jsonpull_null(p) ? NULL : jsonpull_string(p);
    if (s == NULL)
        return NULL;
    for (size_t i = 0; i < p->n_string; i++)
        n += s[i] == '\0' ? 3 : 1;
    char *copy = malloc(n + 1), *to = copy;
    if (copy == NULL) {
        p->failed = !err_set(p->e, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < p->n_string; i++)
        to = mempcpy(to, s[i] == '\0' ? "\xEF\xBF\xBD" : &s[i], s[i] == '\0' ? 3 : 1);
    *to = '\0';
    return copy;
}

static void replace_string(struct jsonpull *p, char **to)
{
    free(*to);
    *to = keep_string(p);
}

static void free_parties(struct aggfile_party *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i].name);
    free(v);
}

static void free_groups(struct aggfile_entry *x)
{
    for (size_t i = 0; i < x->n_groups; i++)
        free(x->groups[i].classes);
    free(x->groups);
    for (size_t i = 0; i < x->n_group_clients; i++)
        free(x->group_clients[i]);
    free(x->group_clients);
    x->groups = NULL;
    x->group_clients = NULL;
    x->n_groups = x->n_empty_groups = x->n_group_clients = 0;
}

static void free_errors(struct aggfile_entry *x)
{
    for (size_t i = 0; i < x->n_first_errors; i++)
        free(x->first_errors[i]);
    free(x->first_errors);
    x->first_errors = NULL;
    x->n_first_errors = 0;
}

static void free_entry(struct aggfile_entry *x)
{
    free(x->name);
    free_errors(x);
    free(x->seconds);
    free_parties(x->hosts, x->n_hosts);
    free_parties(x->clients, x->n_clients);
    free_groups(x);
    *x = (struct aggfile_entry){0};
}

static void free_entries(struct aggfile_entries *all)
{
    for (size_t i = 0; i < all->n; i++)
        free_entry(&all->v[i]);
    free(all->v);
    *all = (struct aggfile_entries){0};
}

void aggfile_free(struct aggfile *a)
{
    free(a->command);
    free(a->version);
    free(a->commit);
    free_entry(&a->total);
    free_entries(&a->ops);
    free_entries(&a->hosts);
    free_entries(&a->clients);
    free_entries(&a->sizes);
    free_entries(&a->categories);
    *a = (struct aggfile){0};
}

/* ---- Keys that must be there ---- */

static int find_key(const char *key, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(key, names[i]) == 0)
            return i;
    return -1;
}

static void need_keys(struct jsonpull *p, unsigned seen, unsigned needed, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        if ((needed & ~seen) >> i & 1)
            jsonpull_fail(p, "key %s is missing", names[i]);
}

/* ---- Throughput ---- */

static void read_second(struct jsonpull *p, struct aggfile_second *s)
{
    static const char *const names[] = {"start", "bytes_per_sec", "obj_per_sec", "errors", NULL};
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        int64_t ns;
        seen |= which >= 0 ? 1U << which : 0;
        switch (which) {
        case 0:
            ns = jsonpull_time(p);
            if (!p->failed && (ns == AGGFILE_NO_TIME || ns % NS_PER_S != 0))
                jsonpull_fail(p, "a second that does not start on a whole second");
            s->label_s = ns / NS_PER_S;
            break;
        case 1:
            s->bytes_per_s = jsonpull_amount(p);
            break;
        case 2:
            s->objects_per_s = jsonpull_amount(p);
            break;
        case 3:
            s->n_errors = jsonpull_count(p);
            break;
        default:
            jsonpull_skip(p);
        }
    }
    need_keys(p, seen, 7, names);
}

static int by_label(const void *a, const void *b)
{
    const struct aggfile_second *x = a, *y = b;
    return (x->label_s > y->label_s) - (x->label_s < y->label_s);
}

static void sort_seconds(struct jsonpull *p, struct aggfile_entry *x)
{
    if (x->n_seconds > 0)
        qsort(x->seconds, x->n_seconds, sizeof *x->seconds, by_label);
    for (size_t i = 1; i < x->n_seconds; i++)
        if (x->seconds[i].label_s == x->seconds[i - 1].label_s)
            jsonpull_fail(p, "the same second twice");
}

static void read_segments(struct jsonpull *p, struct aggfile_entry *x)
{
    free(x->seconds);
    x->seconds = NULL;
    x->n_seconds = 0;
    if (jsonpull_null(p))
        return;
    jsonpull_array(p);
    while (jsonpull_item(p)) {
        struct aggfile_second *v = grow(p, x->seconds, x->n_seconds, sizeof *v);
        if (v == NULL)
            return;
        x->seconds = v;
        v[x->n_seconds] = (struct aggfile_second){0};
        read_second(p, &v[x->n_seconds++]);
    }
    sort_seconds(p, x);
}

static void read_segmented(struct jsonpull *p, struct aggfile_entry *x)
{
    static const char *const names[] = {"segment_duration_millis", "segments", NULL};
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        if (which == 1) {
            read_segments(p, x);
        } else if (which == 0) {
            int64_t ms = jsonpull_count(p);
            if (!p->failed && ms != 1000)
                jsonpull_fail(p, "%lld: seconds (1000) are expected", (long long)ms);
        } else {
            jsonpull_skip(p);
        }
    }
    need_keys(p, seen, 3, names);
    x->has_series = true;
}

static void read_throughput(struct jsonpull *p, struct aggfile_entry *x, unsigned what)
{
    static const char *const names[] = {"bytes", "objects", "ops", "errors", "segmented", NULL};
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = what & KEEP_SERIES ? find_key(key, names) : -1;
        seen |= which >= 0 ? 1U << which : 0;
        switch (which) {
        case 0:
            x->window_bytes = jsonpull_amount(p);
            break;
        case 1:
            x->window_objects = jsonpull_amount(p);
            break;
        case 2:
            x->n_window_started = jsonpull_count(p);
            break;
        case 3:
            x->n_window_errors = jsonpull_count(p);
            break;
        case 4:
            if (!jsonpull_null(p))
                read_segmented(p, x);
            break;
        default:
            jsonpull_skip(p);
        }
    }
    if (x->has_series)
        need_keys(p, seen, 7, names);
}

/* ---- Hosts and clients of an entry ---- */

static void read_party(struct jsonpull *p, struct aggfile_party *party)
{
    static const char *const names[] = {"ops",        "errors",   "bytes", "objects",
                                        "start_time", "end_time", NULL};
    unsigned seen = 0;
    const char *key;
    party->start_ns = party->end_ns = AGGFILE_NO_TIME;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        switch (which) {
        case 0:
            party->n_requests = jsonpull_count(p);
            break;
        case 1:
            party->n_errors = jsonpull_count(p);
            break;
        case 2:
            party->n_bytes = jsonpull_whole(p);
            break;
        case 3:
            party->n_objects = jsonpull_whole(p);
            break;
        case 4:
            party->start_ns = jsonpull_time(p);
            break;
        case 5:
            party->end_ns = jsonpull_time(p);
            break;
        default:
            jsonpull_skip(p);
        }
    }
    need_keys(p, seen, 15, names);
}

static int by_party_name(const void *a, const void *b)
{
    return strcmp(((const struct aggfile_party *)a)->name, ((const struct aggfile_party *)b)->name);
}

static bool read_parties(struct jsonpull *p, struct aggfile_party **v, size_t *n)
{
    const char *key;
    free_parties(*v, *n);
    *v = NULL;
    *n = 0;
    if (jsonpull_null(p))
        return false;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        struct aggfile_party *larger = grow(p, *v, *n, sizeof *larger);
        if (larger == NULL)
            return false;
        *v = larger;
        larger[*n] = (struct aggfile_party){.name = keep(p, key)};
        if (larger[(*n)++].name != NULL)
            read_party(p, &larger[*n - 1]);
    }
    if (p->failed)
        return false;
    if (*n > 0)
        qsort(*v, *n, sizeof **v, by_party_name);
    for (size_t i = 1; i < *n; i++)
        if (strcmp((*v)[i].name, (*v)[i - 1].name) == 0)
            return jsonpull_fail(p, "'%.60s' twice", (*v)[i].name);
    return true;
}

/* ---- Groups ---- */

static void read_ttfb(struct jsonpull *p, struct aggfile_group *g)
{
    static const char *const names[] = {"average_millis",
                                        "fastest_millis",
                                        "slowest_millis",
                                        "median_millis",
                                        "p90_millis",
                                        "p99_millis",
                                        NULL};
    double *const to[] = {&g->ttfb_mean_ms, &g->ttfb_min_ms, &g->ttfb_max_ms,
                          &g->ttfb_p50_ms,  &g->ttfb_p90_ms, &g->ttfb_p99_ms};
    unsigned seen = 0;
    const char *key;
    if (jsonpull_null(p))
        return;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        if (which < 0) {
            jsonpull_skip(p);
            continue;
        }
        seen |= 1U << which;
        *to[which] = jsonpull_amount(p);
    }
    need_keys(p, seen, 63, names);
    g->has_ttfb = true;
}

/* Of requests of one size. False: the group is marked as skipped. */
static bool read_single(struct jsonpull *p, struct aggfile_group *g)
{
    static const char *const names[] = {"dur_avg_millis", "std_dev_millis",    "fastest_millis",
                                        "slowest_millis", "dur_median_millis", "dur_90_millis",
                                        "dur_99_millis",  "requests",          "obj_size",
                                        "skipped",        "first_byte",        NULL};
    double *const to[] = {&g->mean_ms, &g->stddev_ms, &g->min_ms, &g->max_ms,
                          &g->p50_ms,  &g->p90_ms,    &g->p99_ms};
    bool skipped = false;
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        if (which >= 0 && which < 7)
            *to[which] = jsonpull_amount(p);
        else if (which == 7)
            g->n_requests = jsonpull_count(p);
        else if (which == 8)
            g->object_bytes = jsonpull_count(p);
        else if (which == 9)
            skipped = jsonpull_bool(p);
        else if (which == 10)
            read_ttfb(p, g);
        else
            jsonpull_skip(p);
    }
    if (!skipped)
        need_keys(p, seen, 0x1FF, names);
    return !skipped;
}

static void read_class(struct jsonpull *p, struct aggfile_class *c)
{
    static const char *const names[] = {
        "min_size",    "max_size",    "requests", "avg_duration_millis",
        "bps_fastest", "bps_slowest", NULL};
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        switch (which) {
        case 0:
            c->min_bytes = jsonpull_count(p);
            break;
        case 1:
            c->max_bytes = jsonpull_count(p);
            break;
        case 2:
            c->n_requests = jsonpull_count(p);
            break;
        case 3:
            c->mean_ms = jsonpull_amount(p);
            break;
        case 4:
            c->fastest_bytes_per_s = jsonpull_amount(p);
            break;
        case 5:
            c->slowest_bytes_per_s = jsonpull_amount(p);
            break;
        default:
            jsonpull_skip(p);
        }
    }
    need_keys(p, seen, 63, names);
}

static void read_classes(struct jsonpull *p, struct aggfile_group *g)
{
    free(g->classes);
    g->classes = NULL;
    g->n_classes = 0;
    if (jsonpull_null(p))
        return;
    jsonpull_array(p);
    while (jsonpull_item(p)) {
        struct aggfile_class *v = grow(p, g->classes, g->n_classes, sizeof *v);
        if (v == NULL)
            return;
        g->classes = v;
        v[g->n_classes] = (struct aggfile_class){0};
        read_class(p, &v[g->n_classes++]);
    }
}

static bool read_multi(struct jsonpull *p, struct aggfile_group *g)
{
    static const char *const names[] = {"requests", "by_size", "skipped", NULL};
    bool skipped = false;
    unsigned seen = 0;
    const char *key;
    g->is_multi = true;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        if (which == 0)
            g->n_requests = jsonpull_count(p);
        else if (which == 1)
            read_classes(p, g);
        else if (which == 2)
            skipped = jsonpull_bool(p);
        else
            jsonpull_skip(p);
    }
    if (!skipped)
        need_keys(p, seen, 3, names);
    return !skipped;
}

/* False: it holds nothing (an empty ten seconds), or failed. */
static bool read_group(struct jsonpull *p, struct aggfile_group *g)
{
    static const char *const names[] = {"start_time", "single_sized_requests",
                                        "multi_sized_requests", NULL};
    bool is_full = false;
    int n_kinds = 0;
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        if (which == 0) {
            g->start_ns = jsonpull_time(p);
        } else if (which < 0) {
            jsonpull_skip(p);
        } else if (!jsonpull_null(p)) {
            n_kinds++;
            is_full = which == 1 ? read_single(p, g) : read_multi(p, g);
        }
    }
    need_keys(p, seen, 1, names);
    if (!p->failed && n_kinds != 1)
        jsonpull_fail(p, "a group with %s of requests",
                      n_kinds == 0 ? "no kind" : "more than one kind");
    return is_full && g->n_requests > 0 && !p->failed;
}

static void read_groups_of(struct jsonpull *p, struct aggfile_entry *x)
{
    if (jsonpull_null(p))
        return;
    jsonpull_array(p);
    while (jsonpull_item(p)) {
        struct aggfile_group g = {.client = (uint32_t)(x->n_group_clients - 1)};
        if (!read_group(p, &g)) {
            free(g.classes);
            x->n_empty_groups++;
            continue;
        }
        struct aggfile_group *v = grow(p, x->groups, x->n_groups, sizeof *v);
        if (v == NULL) {
            free(g.classes);
            return;
        }
        x->groups = v;
        v[x->n_groups++] = g;
    }
}

static void read_groups(struct jsonpull *p, struct aggfile_entry *x)
{
    const char *key;
    free_groups(x);
    if (jsonpull_null(p))
        return;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        char **v = grow(p, x->group_clients, x->n_group_clients, sizeof *v);
        if (v == NULL)
            return;
        x->group_clients = v;
        v[x->n_group_clients] = keep(p, key);
        if (v[x->n_group_clients] == NULL)
            return;
        x->n_group_clients++;
        read_groups_of(p, x);
    }
}

/* ---- Entries ---- */

static void read_errors(struct jsonpull *p, struct aggfile_entry *x)
{
    free_errors(x);
    if (jsonpull_null(p))
        return;
    jsonpull_array(p);
    while (jsonpull_item(p)) {
        if (x->n_first_errors == MAX_FIRST_ERRORS) {
            jsonpull_skip(p);
            continue;
        }
        char **v = grow(p, x->first_errors, x->n_first_errors, sizeof *v);
        if (v == NULL)
            return;
        x->first_errors = v;
        v[x->n_first_errors] = keep_string(p);
        if (v[x->n_first_errors] == NULL) {
            jsonpull_fail(p, "a string is expected");
            return;
        }
        x->n_first_errors++;
    }
}

static void check_entry(struct jsonpull *p, const struct aggfile_entry *x)
{
    if (x->start_ns == AGGFILE_NO_TIME || x->end_ns == AGGFILE_NO_TIME)
        jsonpull_fail(p, "no time of start or end");
    else if (x->end_ns < x->start_ns)
        jsonpull_fail(p, "it ends before it starts");
    else if (x->n_errors > x->n_requests)
        jsonpull_fail(p, "more errors (%lld) than requests (%lld)", (long long)x->n_errors,
                      (long long)x->n_requests);
}

static void read_entry(struct jsonpull *p, struct aggfile_entry *x, unsigned what)
{
    static const char *const names[] = {"total_requests",
                                        "total_errors",
                                        "total_bytes",
                                        "total_objects",
                                        "concurrency",
                                        "start_time",
                                        "end_time",
                                        "throughput",
                                        "throughput_by_host",
                                        "throughput_by_client",
                                        "requests_by_client",
                                        "first_errors",
                                        NULL};
    int64_t *const counts[] = {&x->n_requests, &x->n_errors, &x->n_bytes, &x->n_objects,
                               &x->n_threads};
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        if (which >= 0 && which < 5)
            *counts[which] = jsonpull_count(p);
        else if (which == 5 || which == 6)
            *(which == 5 ? &x->start_ns : &x->end_ns) = jsonpull_time(p);
        else if (which == 7)
            read_throughput(p, x, what);
        else if (which == 8 && what & KEEP_PARTIES)
            x->has_hosts = read_parties(p, &x->hosts, &x->n_hosts);
        else if (which == 9 && what & KEEP_PARTIES)
            x->has_clients = read_parties(p, &x->clients, &x->n_clients);
        else if (which == 10 && what & KEEP_GROUPS)
            read_groups(p, x);
        else if (which == 11 && what & KEEP_ERRORS)
            read_errors(p, x);
        else
            jsonpull_skip(p);
    }
    need_keys(p, seen, 0xFF, names);
    check_entry(p, x);
}

static int by_entry_name(const void *a, const void *b)
{
    return strcmp(((const struct aggfile_entry *)a)->name, ((const struct aggfile_entry *)b)->name);
}

/* Without control characters, which a report would print. */
static bool is_op(const char *s)
{
    if (*s == '\0')
        return false;
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 127)
            return false;
    return true;
}

/* k of 2^k, up to what 64 bits hold. */
static bool is_size(const char *s)
{
    return strspn(s, "0123456789") == strlen(s) && *s != '\0' && *s != '0' && strlen(s) <= 2 &&
           atoi(s) <= 62;
}

static int by_size(const void *a, const void *b)
{
    return atoi(((const struct aggfile_entry *)a)->name) -
           atoi(((const struct aggfile_entry *)b)->name);
}

enum entries_kind { ENTRIES_OPS, ENTRIES_NAMES, ENTRIES_SIZES };

static void read_entries(struct jsonpull *p, struct aggfile_entries *all, unsigned what,
                         enum entries_kind kind)
{
    const char *key;
    free_entries(all);
    if (kind != ENTRIES_OPS && jsonpull_null(p))
        return;
    all->present = true;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        if (kind == ENTRIES_OPS && !is_op(key))
            jsonpull_fail(p, "not the name of an operation");
        if (kind == ENTRIES_SIZES && !is_size(key))
            jsonpull_fail(p, "not the logarithm of a size");
        struct aggfile_entry *v = grow(p, all->v, all->n, sizeof *v);
        if (v == NULL)
            return;
        all->v = v;
        v[all->n] = (struct aggfile_entry){.name = keep(p, key)};
        if (v[all->n++].name != NULL)
            read_entry(p, &v[all->n - 1], what);
    }
    if (p->failed)
        return;
    if (all->n > 0)
        qsort(all->v, all->n, sizeof *all->v, kind == ENTRIES_SIZES ? by_size : by_entry_name);
    for (size_t i = 1; i < all->n; i++)
        if (strcmp(all->v[i].name, all->v[i - 1].name) == 0)
            jsonpull_fail(p, "'%.60s' twice", all->v[i].name);
}

/* ---- The file ---- */

static void read_version(struct jsonpull *p)
{
    double v = jsonpull_amount(p);
    if (!p->failed && v != FORMAT_VERSION)
        jsonpull_fail(p, "%.15g: an aggregate of a version that is not known (%d is)", v,
                      FORMAT_VERSION);
}

static void read_key(struct jsonpull *p, struct aggfile *a, int which)
{
    const unsigned op = KEEP_SERIES | KEEP_PARTIES | KEEP_GROUPS | KEEP_ERRORS;
    switch (which) {
    case 0:
        read_version(p);
        break;
    case 1:
        free(a->command);
        a->command = keep_string(p);
        if (a->command == NULL)
            jsonpull_fail(p, "a string is expected");
        break;
    case 2:
        free_entry(&a->total);
        a->total.name = keep(p, "");
        read_entry(p, &a->total, op);
        break;
    case 3:
        read_entries(p, &a->ops, op, ENTRIES_OPS);
        break;
    case 4:
        read_entries(p, &a->hosts, KEEP_SERIES, ENTRIES_NAMES);
        break;
    case 5:
        read_entries(p, &a->clients, KEEP_SERIES, ENTRIES_NAMES);
        break;
    case 6:
        read_entries(p, &a->sizes, 0, ENTRIES_SIZES);
        break;
    case 7:
        read_entries(p, &a->categories, 0, ENTRIES_NAMES);
        break;
    case 8:
        a->has_final = !jsonpull_null(p);
        a->is_final = a->has_final && jsonpull_bool(p);
        break;
    case 9:
        replace_string(p, &a->version);
        break;
    case 10:
        replace_string(p, &a->commit);
        break;
    default:
        jsonpull_skip(p);
    }
}

static bool read_file(struct jsonpull *p, struct aggfile *a, bool *has_version)
{
    static const char *const names[] = {"v",
                                        "commandline",
                                        "total",
                                        "by_op_type",
                                        "by_host",
                                        "by_client",
                                        "by_obj_log_2_size",
                                        "by_category",
                                        "final",
                                        "warp_version",
                                        "warp_commit",
                                        NULL};
    unsigned seen = 0;
    const char *key;
    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        int which = find_key(key, names);
        seen |= which >= 0 ? 1U << which : 0;
        read_key(p, a, which);
    }
    *has_version = seen & 1;
    if (!p->failed && !*has_version)
        jsonpull_fail(p, "key v is missing");
    need_keys(p, seen, 15, names);
    return jsonpull_end(p);
}

bool aggfile_read(struct aggfile *a, const char *path, struct err *e)
{
    struct aggbytes bytes;
    struct jsonpull p;
    *a = (struct aggfile){.path = path};
    if (!aggbytes_open(&bytes, path, e)) {
        aggbytes_close(&bytes);
        return false;
    }
    struct err why = {""};
    bool has_version = true;
    bool ok = jsonpull_init(&p, bytes.source.path, aggbytes_more, &bytes, &why) &&
              read_file(&p, a, &has_version);
    /* Other JSON fails by chance anywhere; what it is not is the news. */
    size_t n = strlen(bytes.source.path);
    if (!ok && !has_version && strncmp(why.msg, bytes.source.path, n) == 0)
        err_set(e, "%s: this is JSON, but not an aggregated capture, whose first key is v (%.300s)",
                bytes.source.path, why.msg + n + 2);
    else if (!ok)
        err_set(e, "%s", why.msg);
    jsonpull_fini(&p);
    aggbytes_close(&bytes);
    return ok;
}
