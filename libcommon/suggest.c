#include "libcommon/suggest.h"

#include <string.h>

#define MAX_LENGTH 63

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many insertions, deletions, replacements and swaps of neighbours turn a into b
 * (optimal string alignment). Both are at most MAX_LENGTH long. */
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
            size_t d = above[j - 1] + (a[i - 1] != b[j - 1]);
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
    size_t d = edit_distance(s->name, s->n, candidate, n);
    /* A distance of n would replace the whole name. */
    if (d < s->distance && d < n) {
        s->distance = d;
        s->best = candidate;
    }
}

const char *suggest_for_foreign(const char *name, size_t n)
{
    static const char *const known[][2] = {
        {"compare", "did you mean 's3analyze cmp'?"},
        {"diff", "did you mean 's3analyze cmp'?"},
        {"client", "several machines are one run with mpirun and s3load-mpi"},
        {"warp-client", "several machines are one run with mpirun and s3load-mpi"},
        {"run", "a command such as get reads its options from a file with @FILE"},
        {"md", "'s3analyze cmp --markdown' prints Markdown"},
        {"V", "did you mean --version, without a command?"},
        {"version", "did you mean --version, without a command?"},
        {"sse-s3-encrypt", "did you mean --sse-s3?"},
        {"no-color", "NO_COLOR=1 in the environment switches colours off"},
        {"full", "a capture always holds every request"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i][0]) == n && memcmp(known[i][0], name, n) == 0)
            return known[i][1];
    return NULL;
}
