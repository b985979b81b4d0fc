/* The hosts, clients and operations of a course. */
#include "analyze/findings/course.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

static uint32_t party_of(const struct course *c, bool clients, size_t place)
{
    return clients ? c->d->places[place].client : c->d->places[place].host;
}

static int compare_names(const void *a, const void *b, void *names)
{
    char *const *v = names;
    return strcmp(v[*(const uint32_t *)a], v[*(const uint32_t *)b]);
}

bool course_parties_init(struct course_parties *p, const struct course *c, bool clients,
                         struct err *e)
{
    const struct names *names = clients ? &c->d->clients : &c->d->hosts;
    *p = (struct course_parties){.clients = clients};
    uint32_t *index = NULL;
    bool ok = mem_new(&p->id, names->n, e) && mem_new(&p->of_place, c->d->n_places, e) &&
              mem_cleared(&p->n_requests, names->n, e) && mem_new(&index, names->n, e);
    if (!ok)
        goto done;
    memset(index, 0xFF, names->n * sizeof *index);
    for (size_t i = 0; i < c->d->n_places; i++) {
        uint32_t id = party_of(c, clients, i);
        if (c->place_n[i] > 0 && index[id] == UINT32_MAX) {
            index[id] = 0;
            p->id[p->n++] = id;
        }
    }
    qsort_r(p->id, p->n, sizeof *p->id, compare_names, names->v);
    for (size_t k = 0; k < p->n; k++)
        index[p->id[k]] = (uint32_t)k;
    for (size_t i = 0; i < c->d->n_places; i++) {
        p->of_place[i] = c->place_n[i] > 0 ? index[party_of(c, clients, i)] : UINT32_MAX;
        if (c->place_n[i] > 0)
            p->n_requests[p->of_place[i]] += c->place_n[i];
    }
done:
    free(index);
    return ok;
}

bool course_operations_init(struct course_parties *p, const struct course *c, struct err *e)
{
    *p = (struct course_parties){.operations = true};
    if (!mem_new(&p->id, c->n_tables, e) || !mem_new(&p->n_requests, c->n_tables, e))
        return false;
    for (size_t k = 0; k < c->n_tables; k++) {
        p->id[k] = c->tables[k]->op;
        p->n_requests[k] = (int64_t)c->tables[k]->n;
    }
    p->n = c->n_tables;
    return true;
}

void course_parties_fini(struct course_parties *p)
{
    free(p->id);
    free(p->of_place);
    free(p->n_requests);
    *p = (struct course_parties){0};
}

const char *course_party_name(const struct course *c, const struct course_parties *p, size_t k)
{
    const struct names *names = p->operations ? &c->d->ops
                                : p->clients  ? &c->d->clients
                                              : &c->d->hosts;
    return names->v[p->id[k]];
}

/* Takes the end of a request of its party into account. */
static void narrow_gap(struct course_gap *gap, int64_t end_ns)
{
    if (end_ns <= gap->at_ns && end_ns > gap->before_ns)
        gap->before_ns = end_ns;
    if (end_ns > gap->at_ns && end_ns < gap->after_ns)
        gap->after_ns = end_ns;
}

bool course_find_gaps(const struct course *c, const struct course_parties *p,
                      struct course_gap *gaps, size_t n, struct err *e)
{
    if (n == 0)
        return true;
    size_t *first = NULL, *next = NULL;
    bool ok = mem_new(&first, p->n, e) && mem_new(&next, n, e);
    for (size_t k = 0; ok && k < p->n; k++)
        first[k] = SIZE_MAX;
    for (size_t q = 0; ok && q < n; q++) {
        gaps[q].before_ns = INT64_MIN;
        gaps[q].after_ns = INT64_MAX;
        next[q] = first[gaps[q].party];
        first[gaps[q].party] = q;
    }
    for (size_t k = 0; ok && k < c->n_tables; k++) {
        const struct table *t = c->tables[k];
        for (size_t i = 0; i < t->n; i++) {
            size_t party = course_party_of(p, k, course_place(t, i));
            if (party == UINT32_MAX || first[party] == SIZE_MAX ||
                (table_failed(t, i) && packed_get(&t->dur, i) >= c->hung_ns[k]))
                continue;
            for (size_t q = first[party]; q != SIZE_MAX; q = next[q])
                narrow_gap(&gaps[q], table_end(t, i));
        }
    }
    free(first);
    free(next);
    return ok;
}
