#include "analyze/data/rank_clock.h"

#include "libcommon/int64.h"
#include "libcommon/units.h"

#include <stdlib.h>

/* Refuses offsets beyond this as nonsense, so that sums of a few of them fit into 64 bits. */
#define MAX_AHEAD_NS (INT64_MAX / 4)

/* A server may send a Date that is up to DATE_AGE_NS old. Early versions of s3load did not allow
 * for that: if their bounds are at least ONE_DATE_NS apart, but less than DATE_AGE_NS, they rest on
 * a single Date, and the upper bound is DATE_AGE_NS too low. */
#define ONE_DATE_NS (500 * NS_PER_MS)
#define DATE_AGE_NS (5 * NS_PER_S)

struct measured {
    int64_t at_ns, ahead_ns, error_ns;
};

static bool take(const json_t *o, struct measured *m)
{
    const json_t *at = json_object_get(o, "at_ns"), *ahead = json_object_get(o, "ahead_ns"),
                 *error = json_object_get(o, "error_ns");

    if (!json_is_integer(at) || !json_is_integer(ahead) || !json_is_integer(error))
        return false;
    *m = (struct measured){json_integer_value(at), json_integer_value(ahead),
                           json_integer_value(error)};
    return m->at_ns >= 0 && m->ahead_ns > -MAX_AHEAD_NS && m->ahead_ns < MAX_AHEAD_NS &&
           m->error_ns >= 0 && m->error_ns < MAX_AHEAD_NS;
}

void rank_clock_take(struct rank_clock *c, const json_t *comment)
{
    const json_t *rank = json_object_get(comment, "rank"),
                 *n_ranks = json_object_get(comment, "ranks"),
                 *clocks = json_object_get(comment, "rank_clock");
    struct measured first, last;

    if (!json_is_integer(rank) || !json_is_integer(n_ranks) || json_integer_value(n_ranks) < 1 ||
        !take(json_array_get(clocks, 0), &first))
        return;
    *c = (struct rank_clock){.n_ranks = json_integer_value(n_ranks),
                             .rank = json_integer_value(rank),
                             .at_ns = first.at_ns,
                             .ahead_ns = first.ahead_ns,
                             .error_ns = first.error_ns};
    if (!take(json_array_get(clocks, 1), &last) || last.at_ns <= first.at_ns)
        return;
    int64_t change_ns = last.ahead_ns - first.ahead_ns;
    if (llabs(change_ns) <= first.error_ns + last.error_ns) {
        c->error_ns = int64_max(llabs(change_ns) + last.error_ns, first.error_ns);
        return;
    }
    c->drift_ns = change_ns;
    c->drift_per_ns = last.at_ns - first.at_ns;
    c->error_ns = int64_max(last.error_ns, first.error_ns);
}

int64_t rank_clock_ahead(const struct rank_clock *c, int64_t at_ns)
{
    if (c->drift_per_ns == 0)
        return c->ahead_ns;
    __int128 more = (__int128)(at_ns - c->at_ns) * c->drift_ns / c->drift_per_ns;
    return more > -MAX_AHEAD_NS && more < MAX_AHEAD_NS ? c->ahead_ns + (int64_t)more : c->ahead_ns;
}

bool rank_clock_server(const json_t *server, int64_t *low_ns, int64_t *high_ns)
{
    const json_t *min = json_object_get(server, "ahead_min_ns"),
                 *max = json_object_get(server, "ahead_max_ns");

    *low_ns = json_integer_value(min);
    *high_ns = json_integer_value(max);
    if (!json_is_integer(min) || !json_is_integer(max) || *low_ns > *high_ns ||
        *low_ns <= -MAX_AHEAD_NS || *high_ns >= MAX_AHEAD_NS)
        return false;
    int64_t width_ns = *high_ns - *low_ns;
    *high_ns += width_ns >= ONE_DATE_NS && width_ns < DATE_AGE_NS ? DATE_AGE_NS : 0;
    return true;
}
