/* A run from begin to end: bucket, preparation, benchmark, capture, cleaning, analysis. */
#ifndef S3_BENCH_H
#define S3_BENCH_H

#include "cli.h"
#include "options.h"
#include "workload.h"

/* The `run` of all commands: gets their struct options, and finds their struct workload in `ctx`.
 * Returns the exit code. */
int bench_main(const struct cli_args *args, void *options);

#endif
