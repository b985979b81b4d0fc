#include "analyze/data/slowest.h"

#include <stdlib.h>
#include <string.h>

void slowest_init(struct slowest *s)
{
    s->n = s->least = 0;
    s->over_ns = -1;
}

void slowest_fini(struct slowest *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i].key);
    s->n = 0;
}

static void find_least(struct slowest *s)
{
    s->least = 0;
    for (size_t i = 1; i < s->n; i++)
        if (s->v[i].dur_ns <= s->v[s->least].dur_ns)
            s->least = i;
    if (s->v[s->least].dur_ns > s->over_ns)
        s->over_ns = s->v[s->least].dur_ns;
}

bool slowest_take(struct slowest *s, int64_t dur_ns, uint64_t object, struct slice key)
{
    size_t n = key.n < SLOWEST_MAX_BYTES ? key.n : SLOWEST_MAX_BYTES;
    char *copy = key.n > 0 ? strndup(key.p, n) : strdup("");
    size_t at = s->n;

    if (copy == NULL)
        return false;
    if (s->n < SLOWEST_KEPT) {
        s->n++;
    } else {
        at = s->least;
        free(s->v[at].key);
    }
    s->v[at] = (struct slowest_key){dur_ns, object, copy};
    if (s->n == SLOWEST_KEPT)
        find_least(s);
    return true;
}

bool slowest_append(struct slowest *s, const struct slowest *from)
{
    bool ok = true;

    for (size_t i = 0; ok && i < from->n; i++) {
        const struct slowest_key *x = &from->v[i];
        ok = slowest_add(s, x->dur_ns, x->object, slice_of(x->key));
    }
    return ok;
}

const char *slowest_key(const struct slowest *s, uint64_t object)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].object == object)
            return s->v[i].key;
    return NULL;
}
