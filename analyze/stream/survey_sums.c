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

/* Adds p to the part called `name`, which is made if it is new. The parts stay sorted by name. */
static bool add_part(struct survey_parts *to, const char *name, const struct sums_part *p,
                     struct err *e)
{
    size_t i = 0;
    while (i < to->n && strcmp(to->v[i].name, name) < 0)
        i++;
    if (i == to->n || strcmp(to->v[i].name, name) != 0) {
        char *copy;
        if (!mem_more(&to->v, to->n, e) || !mem_text(&copy, name, e))
            return false;
        memmove(to->v + i + 1, to->v + i, (to->n++ - i) * sizeof *to->v);
        to->v[i] = (struct survey_part){.name = copy, .sum = SURVEY_SUM_NONE};
    }
    add(&to->v[i].sum, p);
    return true;
}

static bool add_parts(struct survey_parts *to, const struct sums_parts *from, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->n; i++)
        ok = add_part(to, from->v[i].name, &from->v[i], e);
    return ok;
}

/* Adds the JSON of s3load as comments, if it is from one run. `said` has the closing one before the
 * opening one, so this goes backwards. */
static bool add_comments(struct survey *s, const struct lineset *said, struct err *e)
{
    bool ok = true;
    for (size_t i = said->n; ok && said->n <= 2 && i-- > 0;) {
        char *line = NULL;

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
        ok = add_part(&s->ops, op->op, &op->all, e) && add_parts(&s->hosts, &op->hosts, e) &&
             add_parts(&s->clients, &op->clients, e);
    }
    return ok && add_comments(s, &sums->said, e);
}
