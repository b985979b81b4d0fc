#include "libcommon/suggest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_LENGTH 63

/* What other tools call it, and its name here (without dashes), or what to do instead. */
static const struct foreign {
    const char *name, *ours, *hint;
} known[] = {
    {"compare", .hint = "did you mean 's3analyze cmp'?"},
    {"diff", .hint = "did you mean 's3analyze cmp'?"},
    {"client", .hint = "several machines are one run with mpirun and s3load-mpi"},
    {"warp-client", .hint = "several machines are one run with mpirun and s3load-mpi"},
    {"run", .hint = "a command such as get reads its options from a file with @FILE"},
    {"md", .hint = "'s3analyze cmp --markdown' prints Markdown"},
    {"V", .hint = "did you mean --version, without a command?"},
    {"version", .hint = "did you mean --version, without a command?"},
    {"sse-s3-encrypt", .hint = "did you mean --sse-s3?"},
    {"no-color", .hint = "NO_COLOR=1 in the environment switches colours off"},
    {"full", .hint = "a capture always holds every request"},
    {"format",
     .hint = "--json prints JSON; a picture has the format that --out ends with: run.png"},
    {"upload", .ours = "put"},
    {"download", .ours = "get"},
    {"head", .ours = "stat"},
    {"report", .ours = "analyze"},
    {"endpoint", .ours = "host"},
    {"endpoint-url", .ours = "host"},
    {"url", .ours = "host"},
    {"time", .ours = "duration"},
    {"duration", .ours = "autoterm.dur"},
    {"size", .ours = "obj.size"},
    {"objects", .ours = "requests"},
    {"verbose", .ours = "analyze.v"},
};

static bool is_named(const struct foreign *f, const char *name, size_t n)
{
    return strlen(f->name) == n && memcmp(f->name, name, n) == 0;
}

/* Whether the name is another tool's for a candidate, or what follows its last dot. */
static bool is_ours(const struct suggest *s, const char *candidate)
{
    const char *dot = strrchr(candidate, '.');

    if (dot != NULL && strlen(dot + 1) == s->n && memcmp(dot + 1, s->name, s->n) == 0)
        return true;
    for (const struct foreign *f = known; f < known + sizeof known / sizeof *known; f++)
        if (f->ours != NULL && is_named(f, s->name, s->n) && strcmp(f->ours, candidate) == 0)
            return true;
    return false;
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many insertions, deletions, replacements and swaps of neighbours turn a into b
 * (optimal string alignment), in any case of letters. Both are at most MAX_LENGTH long. */
static size_t edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t rows[3][MAX_LENGTH + 1];
    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t d = above[j - 1] + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);
            d = min(d, min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = min(d, two_above[j - 2] + 1);
            row[j] = d;
        }
    }
    return rows[n_a % 3][n_b];
}

void suggest_init(struct suggest *s, const char *name, size_t n)
{
    /* A candidate is near if its distance is at most a third of the length, plus one. */
    *s = (struct suggest){name, n, n / 3 + 2, NULL};
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    size_t n = strlen(candidate);
    if (s->n > MAX_LENGTH || n > MAX_LENGTH)
        return;
    size_t d = is_ours(s, candidate) ? 0 : edit_distance(s->name, s->n, candidate, n);
    /* A distance of n would replace the whole name. */
    if (d < s->distance && d < n) {
        s->distance = d;
        s->best = candidate;
    }
}

void suggest_list(char *list, size_t size, const char *name)
{
    size_t n = strlen(list);

    snprintf(list + n, size - n, "%s%s", n > 0 ? ", " : "", name);
}

const char *suggest_for_foreign(const char *name, size_t n)
{
    for (const struct foreign *f = known; f < known + sizeof known / sizeof *known; f++)
        if (f->hint != NULL && is_named(f, name, n))
            return f->hint;
    return NULL;
}
