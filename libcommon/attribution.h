/* The part of a request before a point in time: its bytes and objects are spread evenly over its
 * duration (docs/how-the-numbers-are-made.md, section 3). */
#ifndef S3_LIBCOMMON_ATTRIBUTION_H
#define S3_LIBCOMMON_ATTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

/* A number of objects: whole + frac / 2^96. */
struct attribution_objects {
    int64_t whole;
    unsigned __int128 frac;
};

#define ATTRIBUTION_FRAC_BITS 96

struct attribution_request {
    int64_t start_ns, end_ns; /* 0 <= start <= end */
    int64_t bytes, n_objects; /* >= 0 */
    bool ok;
};

/* Returns the bytes of a request before time t: floor(bytes * (t - start) / (end - start)), 0
 * before the start and all after the end. The difference of two results is the part between these
 * times, so the parts add up to the request's size. */
static inline int64_t attribution_bytes_before(const struct attribution_request *r, int64_t t_ns)
{
    if (t_ns >= r->end_ns)
        return r->bytes;
    if (t_ns <= r->start_ns)
        return 0;
    return (int64_t)((unsigned __int128)r->bytes * (uint64_t)(t_ns - r->start_ns) /
                     (uint64_t)(r->end_ns - r->start_ns));
}

/* Returns the objects of a request before time t, to 96 binary places. */
struct attribution_objects attribution_objects_before(const struct attribution_request *r,
                                                      int64_t t_ns);

#endif
