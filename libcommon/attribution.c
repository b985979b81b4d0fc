#include "libcommon/attribution.h"

struct attribution_objects attribution_objects_before(const struct attribution_request *r,
                                                      int64_t t_ns)
{
    if (t_ns >= r->end_ns)
        return (struct attribution_objects){r->n_objects, 0};
    if (t_ns <= r->start_ns || r->n_objects == 0)
        return (struct attribution_objects){0, 0};
    uint64_t duration_ns = (uint64_t)(r->end_ns - r->start_ns);
    unsigned __int128 x =
        (unsigned __int128)(uint64_t)r->n_objects * (uint64_t)(t_ns - r->start_ns);
    struct attribution_objects f = {.whole = (int64_t)(x / duration_ns)};
    x = x % duration_ns << 64; /* the remainder is below 2^63 */
    f.frac = x / duration_ns << 32;
    x = x % duration_ns << 32;
    f.frac |= x / duration_ns;
    return f;
}
