/* The figures of requests as data. One row names a figure's key in JSON, its heading in tables, its
 * unit and where it is: writers loop over rows, and who finds quantiles learns from them which. A
 * further figure is a member in model.h and a row in fields.c. */
#ifndef S3_ANALYZE_MODEL_FIELDS_H
#define S3_ANALYZE_MODEL_FIELDS_H

#include "analyze/model/model.h"

enum field_unit { FIELD_COUNT, FIELD_BYTES, FIELD_NS, FIELD_BYTES_PER_S };

struct field {
    const char *json, *heading; /* heading NULL: in no table */
    enum field_unit unit;
    unsigned permille;  /* of a quantile; else 0 */
    bool is_real;       /* a double, of which NaN is not known; else an int64_t */
    enum figure figure; /* its bit in the `known` of its struct */
    size_t offset;      /* from the beginning of its struct */
    size_t known;       /* likewise, of a flag that says whether it is known too; 0: it is */
};

/* Lists, with NULL at the end, of struct times: columns of tables; members of durations in JSON,
 * and of TTFB, where the fastest is called best. */
extern const struct field *const times_columns[], *const times_json[], *const times_ttfb_json[];
/* Of struct sized: members in JSON, and columns. */
extern const struct field *const sized_fields[];

/* Its quantiles, in the order of the columns. */
extern const struct field *const times_quantiles[TIMES_N_QUANTILES];

static inline int64_t field_integer(const struct field *x, const void *group)
{
    return *(const int64_t *)((const char *)group + x->offset);
}

static inline double field_real(const struct field *x, const void *group)
{
    return x->is_real ? *(const double *)((const char *)group + x->offset)
                      : (double)field_integer(x, group);
}

/* All groups have their struct known at the same place. */
#define FIELDS_KNOWN offsetof(struct times, known)
_Static_assert(FIELDS_KNOWN == offsetof(struct sized, known), "one place of `known`");

static inline bool field_is_known(const struct field *x, const void *group)
{
    const struct known *known = (const void *)((const char *)group + FIELDS_KNOWN);

    return known_all(known, 1u << x->figure) &&
           (x->known == 0 || *(const bool *)((const char *)group + x->known));
}

/* Sets the i-th quantile of *t. */
static inline void times_set_quantile(struct times *t, size_t i, int64_t ns)
{
    *(int64_t *)((char *)t + times_quantiles[i]->offset) = ns;
}

#endif
