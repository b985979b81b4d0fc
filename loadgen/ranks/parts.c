#include "loadgen/ranks/ranks.h"

#include "libcommon/mem.h"

#include <errno.h>
#include <unistd.h>

void parts_name(const char *path, int rank, char *name, size_t size)
{
    int n = (int)(strlen(path) - strlen(PARTS_SUFFIX));

    snprintf(name, size, "%.*s.rank-%d" PARTS_SUFFIX, n, path, rank);
}

char **parts_command(char *const *head, const char *path, const char *others, int n)
{
    size_t n_head = 0;
    size_t size = strlen(path) + strlen(others) + sizeof ".rank-2147483647";

    while (head[n_head] != NULL)
        n_head++;
    size_t n_words = n_head + (size_t)n + 1;
    char **words = malloc(n_words * sizeof *words + (size_t)n * size);
    if (words == NULL)
        return NULL;
    memcpy(words, head, n_head * sizeof *words);
    words[n_words - 1] = NULL;
    char *text = (char *)(words + n_words);
    for (int i = 0; i < n; i++, text += size) {
        words[n_head + (size_t)i] = text;
        parts_name(i == 0 ? path : others, i, text, size);
    }
    return words;
}

static bool receive_parts(struct team *t, char *const *parts, struct err *e)
{
    bool ok = true;

    /* Receive each part even if it cannot be stored, since its sender waits. */
    for (int i = 1; i < t->size && !t->lost; i++)
        ok = team_copy_file(t, i, parts != NULL ? parts[i] : "/dev/full", e) && ok;
    return ok;
}

/* Merges the parts in a folder beside the capture, and links the result to `path` once it is
 * complete. */
static bool merge(struct team *t, char *const *words, const char *merged, const char *path,
                  struct err *e)
{
    bool ok = sibling_run(words, SIBLING_NOWHERE, team_tick, t) == EXIT_DONE ||
              err_set(e, "s3analyze could not put the captures of the ranks together");

    ok = ok && (link(merged, path) == 0 || err_errno(e, errno, "cannot make '%s'", path));
    unlink(merged);
    return ok;
}

static bool lead(struct team *t, const char *path, struct err *e)
{
    char folder[4096 + 16];
    char merged[sizeof folder + 16];
    char others[2 * sizeof folder];
    char *head[] = {"s3analyze", "merge", "--quiet", "--force", "-o", merged, "--", NULL};
    const char *slash = strrchr(path, '/');
    char **parts = NULL;

    snprintf(folder, sizeof folder, "%s.parts-XXXXXX", path);
    bool has_folder =
        mkdtemp(folder) != NULL || err_errno(e, errno, "cannot make a folder beside '%s'", path);
    snprintf(merged, sizeof merged, "%s/merged.csv.zst", folder);
    snprintf(others, sizeof others, "%s/%s", folder, slash != NULL ? slash + 1 : path);
    char **words = has_folder ? parts_command(head, path, others, t->size) : NULL;
    if (words != NULL)
        parts = words + sizeof head / sizeof *head - 1;
    bool ok = parts != NULL || mem_none(e);
    ok = receive_parts(t, parts, e) && ok;
    ok = team_meet(t, ok, e);
    if (ok)
        ok = merge(t, words, merged, path, e);
    for (int i = 1; parts != NULL && i < t->size; i++)
        unlink(parts[i]);
    if (has_folder)
        rmdir(folder);
    free(words);
    return ok;
}

/* All ranks meet twice: when rank 0 has all parts, and after the merge. */
bool parts_gather(struct team *t, const char *path, struct err *e)
{
    char part[4200];
    bool ok = true;

    parts_name(path, t->rank, part, sizeof part);
    if (t->rank == 0)
        ok = lead(t, path, e);
    else
        ok = team_meet(t, team_copy_file(t, t->rank, part, e), e);
    return team_meet(t, ok, e);
}
