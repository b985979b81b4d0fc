#include "analyze/data/first.h"

#include "analyze/data/unit.h"
#include "analyze/read/recfile.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t thread_number(const struct dataset *d, const struct table *t, size_t i)
{
    return d->threads[table_thread_index(t, table_thread(t, i))];
}

static uint32_t host_of(const struct dataset *d, const struct table *t, size_t i)
{
    return dataset_place(d, t, table_place(t, i))->host;
}

/* Rows that tie, and the least file name found for them so far. */
struct ties {
    const struct table *t;
    size_t *row;
    uint64_t *object; /* hashes of their file names; sorted after find_ties */
    size_t n;
    char *name; /* the least so far; NULL: none found */
    size_t n_name;
    uint64_t named; /* hash of `name` */
};

/* Finds the rows that tie with row i. */
static bool find_ties(struct ties *x, const struct dataset *d, size_t i, struct err *e)
{
    const struct table *t = x->t;

    for (size_t k = 0; k < t->n; k++) {
        if (t->start[k] != t->start[i] || table_end(t, k) != table_end(t, i) ||
            thread_number(d, t, k) != thread_number(d, t, i) ||
            host_of(d, t, k) != host_of(d, t, i))
            continue;
        if (!mem_more(&x->row, x->n, e) || !mem_more(&x->object, x->n, e))
            return false;
        x->row[x->n] = k;
        x->object[x->n++] = t->object[k];
    }
    return true;
}

static int compare_objects(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static bool look_at_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    struct ties *x = ctx;
    int64_t start_ns = x->t->start[x->row[0]], end_ns = table_end(x->t, x->row[0]);

    (void)unit;
    for (const struct record *r = rows; r < rows + n; r++) {
        if (r->start_ns != start_ns || r->end_ns != end_ns ||
            (x->name != NULL && slice_order(r->file, (struct slice){x->name, x->n_name}) >= 0))
            continue;
        uint64_t object = dataset_unit_object(intern_random_key(), r->file);
        if (!bsearch(&object, x->object, x->n, sizeof object, compare_objects))
            continue;
        if (!mem_room(&x->name, r->file.n + 1, e))
            return false;
        memcpy(x->name, r->file.p, r->file.n);
        x->n_name = r->file.n;
        x->named = object;
    }
    return true;
}

static bool look_at_files(struct ties *x, const struct dataset *d, struct err *e)
{
    const struct recfile_options how = {.salvage = d->salvage};
    const struct recfile_sink sink = {.ctx = x, .unit_rows = look_at_rows};
    struct recfile_info info;
    struct stat st;

    for (size_t i = 0; i < d->n_inputs; i++) {
        const char *path = d->inputs[i].path;
        if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (!recfile_read(path, &how, &sink, &info, e))
            return false;
    }
    return true;
}

bool first_settle(const struct dataset *d, struct table *t, size_t *i, struct err *e)
{
    struct ties x = {.t = t};
    const struct table_first *first = &t->first;

    if (t->n == 0 || (t->start[*i] == first->start_ns && table_end(t, *i) == first->end_ns &&
                      thread_number(d, t, *i) == first->thread))
        return true;
    bool ok = find_ties(&x, d, *i, e);
    if (ok && x.n > 1) {
        qsort(x.object, x.n, sizeof *x.object, compare_objects);
        ok = x.object[0] == x.object[x.n - 1] || look_at_files(&x, d, e);
    }
    if (ok && x.name != NULL) {
        t->first =
            (struct table_first){t->start[*i], table_end(t, *i), thread_number(d, t, *i), x.named};
        for (size_t k = 0; k < x.n; k++)
            if (dataset_compare(d, t, x.row[k], t, *i) < 0)
                *i = x.row[k];
    }
    free(x.row);
    free(x.object);
    free(x.name);
    return ok;
}
