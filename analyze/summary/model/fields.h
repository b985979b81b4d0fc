/* Describes the figures of requests as data. One row names a figure's key in JSON, its heading in
 * tables, its unit and its place in the struct. Writers loop over the rows; the code that finds
 * quantiles reads from them which to find. To add a figure, add a member in model.h and a row in
 * fields.c. */
#ifndef S3_ANALYZE_SUMMARY_MODEL_FIELDS_H
#define S3_ANALYZE_SUMMARY_MODEL_FIELDS_H

#include "analyze/stats/moments.h"
#include "analyze/summary/model/model.h"

enum field_unit { FIELD_COUNT, FIELD_BYTES, FIELD_NS, FIELD_BYTES_PER_S };

struct field {
    const char *json, *heading; /* heading NULL: in no table */
    enum field_unit unit;
    unsigned permille;  /* the quantile, in 1/1000; 0: not a quantile */
    bool is_real;       /* a double (NaN: not known); else an int64_t */
    enum figure figure; /* its bit in the `known` of its struct */
    size_t offset;      /* offset in its struct */
    size_t known;       /* offset of a flag that must be true too; 0: none */
};

/* Rows of struct times; each list ends with NULL: table columns, JSON members of durations, and
 * JSON members of TTFB, which call the fastest "best". */
extern const struct field *const times_columns[], *const times_json[], *const times_ttfb_json[];
/* Rows of struct sized: JSON members and table columns; ends with NULL. */
extern const struct field *const sized_fields[];

/* The quantiles of struct times, in the order of the columns. */
extern const struct field *const times_quantiles[TIMES_N_QUANTILES];

/* Returns their bits in struct known. */
static inline unsigned times_quantile_bits(void)
{
    unsigned bits = 0;

    for (size_t i = 0; i < TIMES_N_QUANTILES; i++)
        bits |= 1u << times_quantiles[i]->figure;
    return bits;
}

static inline int64_t field_integer(const struct field *x, const void *group)
{
    return *(const int64_t *)((const char *)group + x->offset);
}

static inline double field_real(const struct field *x, const void *group)
{
    return x->is_real ? *(const double *)((const char *)group + x->offset)
                      : (double)field_integer(x, group);
}

/* `known` is at the same offset in every group. */
#define FIELDS_KNOWN offsetof(struct times, known)
_Static_assert(FIELDS_KNOWN == offsetof(struct sized, known), "one place of `known`");

static inline bool field_is_known(const struct field *x, const void *group)
{
    const struct known *known = (const void *)((const char *)group + FIELDS_KNOWN);

    return known_all(known, 1u << x->figure) &&
           (x->known == 0 || *(const bool *)((const char *)group + x->known));
}

/* The ranks of a struct times: of the fastest, of the quantiles, of the slowest. */
#define TIMES_N_RANKS (TIMES_N_QUANTILES + 2)

/* Fills the 0-based ranks of n > 0 values, ascending. */
void times_ranks(size_t n, size_t ranks[TIMES_N_RANKS]);

/* Returns the times with these moments and the values of these ranks; absent without values. */
struct times times_of(const struct moments *m, const int64_t values[TIMES_N_RANKS]);

#endif
