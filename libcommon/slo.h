/* Assertions about a run, as users write them: "GET: p99<50ms, errors<0.1%". s3analyze judges them;
 * s3load checks them before it runs, so that a typing error does not cost a run. */
#ifndef S3_LIBCOMMON_SLO_H
#define S3_LIBCOMMON_SLO_H

#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slo_figure {
    SLO_TIME,       /* a percentile of response times, or of durations where there are none; ns */
    SLO_TTFB,       /* a percentile of times to first byte; ns */
    SLO_ERRORS,     /* requests that failed, as a fraction */
    SLO_THROUGHPUT, /* bytes per second */
    SLO_RATE,       /* successful requests per second */
    SLO_MEAN,       /* the mean of what SLO_TIME has the percentiles of; ns */
};

#define SLO_PPM 1000000 /* percentiles are kept in parts per million: p99.99 is 999,900 */

struct slo_assertion {
    char *op;   /* the operation; "": none was named */
    char *text; /* as the user wrote it: "p99<50ms" */
    enum slo_figure figure;
    uint32_t ppm;            /* SLO_TIME, SLO_TTFB: the percentile */
    bool is_least, or_equal; /* > or >= (else < or <=); >= or <= */
    double limit;
};

/* Parses a limit of a figure, "50ms"; percentages become fractions. False: *why says what was
 * expected. */
bool slo_parse_limit(enum slo_figure figure, const char *text, double *limit, struct err *why);

#define SLO_MOST 256 /* the most assertions on a command line */

struct slo_list {
    struct slo_assertion *v;
    size_t n;
};

/* Help of the option --slo. */
#define SLO_HELP "assertions: 'GET: p99<50ms, errors<0.1%', or @FILE"

/* Parses the values of --slo. "@FILE" stands for a file with such a value on each line; empty lines
 * and lines that begin with # are skipped. On failure *e says what was expected. Call slo_free in
 * any case. */
bool slo_parse(struct slo_list *l, const struct cli_list *texts, struct err *e);
void slo_free(struct slo_list *l);

#endif
