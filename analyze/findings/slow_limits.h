/* Limits from which on a host, a client or an operation is slow. */
#ifndef S3_ANALYZE_FINDINGS_SLOW_LIMITS_H
#define S3_ANALYZE_FINDINGS_SLOW_LIMITS_H

#define SLOW_LEAST_RATIO   1.25
#define SLOW_PROBLEM_RATIO 1.4
#define SLOW_LEAST_SAMPLES 30
#define SLOW_LOAD_MATTERS  1.25 /* from here on a ratio at equal load is another one */
#define SLOW_EDGE_FRAC     .06  /* of the run: a time this near to its end is its end */
#define SLOW_OTHERS_FRAC   .45  /* of a change: other operations, or pairs, may have that much */

#endif
