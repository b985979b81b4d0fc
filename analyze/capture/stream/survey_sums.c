#include "analyze/capture/stream/survey_sums.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(struct survey_sum *to, const struct sums_part *p)
{
    to->n += (uint64_t)p->n_requests;
    to->n_errors += (uint64_t)p->n_errors;
    to->n_bytes += p->n_bytes;
    to->first_start_ns = int64_min(to->first_start_ns, p->start_ns);
    to->last_end_ns = int64_max(to->last_end_ns, p->end_ns);
}

/* Adds p to the part called `name`. Parts come sorted by name. */
static bool add_part(struct survey_parts *to, const char *name, const struct sums_part *p,
                     struct err *e)
{
    if (to->n == 0 || strcmp(to->v[to->n - 1].name, name) != 0) {
        char *copy;
        if (!mem_more(&to->v, to->n, e) || !mem_text(&copy, name, e))
            return false;
        to->v[to->n++] = (struct survey_part){.name = copy, .sum = SURVEY_SUM_NONE};
    }
    add(&to->v[to->n - 1].sum, p);
    return true;
}

/* Adds up the hosts, or the clients, of all operations. */
static bool add_parts(struct survey_parts *to, const struct sums *sums, enum sums_grouping by,
                      struct err *e)
{
    struct sums_groups g;
    bool ok = sums_groups_init(&g, sums->ops, sums->n_ops, by, e);

    for (size_t i = 0; ok && i < g.n; i++)
        for (size_t k = 0; ok && k < g.v[i].n; k++)
            ok = add_part(to, g.v[i].name, g.v[i].part[k], e);
    sums_groups_fini(&g);
    return ok;
}

static bool add_comment(struct survey *s, const char *what, const char *text, struct err *e)
{
    char *line = NULL;
    bool ok =
        text == NULL || (mem_format(&line, e, "# %s%s", what, text) &&
                         keptlines_add(&s->comments, SURVEY_KEPT_COMMENTS, line, strlen(line), e));

    free(line);
    return ok;
}

/* Adds the JSON of s3load as comments, if it is from one run. `said` has the closing one before the
 * opening one, so this goes backwards. */
static bool add_comments(struct survey *s, const struct lineset *said, struct err *e)
{
    bool ok = true;
    size_t n_of_run = 0;

    for (size_t i = 0; i < said->n; i++)
        n_of_run += strstr(said->line[i], "\"event\":\"damage\"") == NULL;
    for (size_t i = said->n; ok && n_of_run <= 2 && i-- > 0;) {
        if (strstr(said->line[i], "\"event\":\"damage\"") == NULL)
            ok = add_comment(s, "s3load/1 ", said->line[i], e);
    }
    return ok;
}

bool survey_sums(struct survey *s, const struct sums *sums, const char *path, struct err *e)
{
    const char *version = NULL, *command = sums_command(sums, &version);
    struct stat st;
    bool ok = true;

    *s = (struct survey){.sum = SURVEY_SUM_NONE, .n_threads = (uint64_t)sums->n_threads};
    s->info.generation = sums->foreign != NULL ? RECFILE_AGGREGATE : RECFILE_SUMS;
    s->info.has_intended = sums->has_intended;
    if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) == 0)
        s->info.n_file_bytes = (uint64_t)st.st_size;
    for (size_t k = 0; ok && k < sums->n_ops; k++) {
        const struct sums_op *op = &sums->ops[k];
        add(&s->sum, &op->all);
        ok = add_part(&s->ops, op->op, &op->all, e);
    }
    return ok && add_parts(&s->hosts, sums, SUMS_BY_HOST, e) &&
           add_parts(&s->clients, sums, SUMS_BY_CLIENT, e) && add_comments(s, &sums->said, e) &&
           add_comment(s, "version ", version, e) && add_comment(s, "", command, e);
}
