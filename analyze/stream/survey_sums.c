#include "analyze/stream/survey_sums.h"

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

static int by_name(const void *a, const void *b)
{
    const struct sums_part *const *p = a, *const *q = b;
    return strcmp((*p)->name, (*q)->name);
}

/* Adds up the hosts, or the clients, of all operations. */
static bool add_parts(struct survey_parts *to, const struct sums *sums, bool clients, struct err *e)
{
    const struct sums_part **v = NULL;
    size_t n = 0;
    bool ok = true;

    for (size_t k = 0; ok && k < sums->n_ops; k++) {
        const struct sums_parts *from = clients ? &sums->ops[k].clients : &sums->ops[k].hosts;
        for (size_t i = 0; ok && i < from->n; i++) {
            ok = mem_more(&v, n, e);
            if (ok)
                v[n++] = &from->v[i];
        }
    }
    if (n > 0)
        qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; ok && i < n; i++)
        ok = add_part(to, v[i]->name, v[i], e);
    free(v);
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
        char *line = NULL;

        if (strstr(said->line[i], "\"event\":\"damage\"") != NULL)
            continue;
        ok = mem_format(&line, e, "# s3load/1 %s", said->line[i]) &&
             keptlines_add(&s->comments, SURVEY_KEPT_COMMENTS, line, strlen(line), e);
        free(line);
    }
    return ok;
}

bool survey_sums(struct survey *s, const struct sums *sums, const char *path, struct err *e)
{
    struct stat st;
    bool ok = true;

    *s = (struct survey){.sum = SURVEY_SUM_NONE, .n_threads = (uint64_t)sums->n_threads};
    s->info.generation = RECFILE_SUMS;
    s->info.has_intended = sums->has_intended;
    if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) == 0)
        s->info.n_file_bytes = (uint64_t)st.st_size;
    for (size_t k = 0; ok && k < sums->n_ops; k++) {
        const struct sums_op *op = &sums->ops[k];
        add(&s->sum, &op->all);
        ok = add_part(&s->ops, op->op, &op->all, e);
    }
    return ok && add_parts(&s->hosts, sums, false, e) && add_parts(&s->clients, sums, true, e) &&
           add_comments(s, &sums->said, e);
}
