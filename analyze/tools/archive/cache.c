#include "analyze/tools/archive/cache.h"

#include "libcommon/mem.h"
#include "libcommon/version.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define N_ENTRIES   (1u << 15) /* of 1,000 runs 3 % share an entry, and are read again */
#define MAX_ENTRY   (8 << 10)  /* bytes; that of a run with five operations has 3 KiB */
#define UNSETTLED_S 2 /* file systems count in steps of up to 2 s: a later change may not show */

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

bool cache_make_key(struct cache_key *key, const char *path, enum run_basis basis)
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

bool cache_read(int folder, const struct cache_key *key, struct run_kept *r)
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

void cache_write(int folder, const struct cache_key *key, const struct run_kept *r)
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

int cache_open(void)
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
