/* A run from begin to end: bucket, preparation, benchmark, capture, cleaning, analysis. */
#ifndef S3_LOADGEN_RUN_BENCH_H
#define S3_LOADGEN_RUN_BENCH_H

#include "libcommon/cli.h"
#include "loadgen/options/options.h"
#include "loadgen/work/workload.h"

struct bench;

/* The `run` of the commands: gets their struct options, and finds their struct workload in `ctx`.
 * Returns the exit code. Of several ranks it is for rank 0, and makes the others run too. */
int bench_main(const struct cli_args *args, void *options);

/* The same for work that is no benchmark: rank 0 does it, and the others hear nothing of it. */
int bench_main_alone(const struct cli_args *args, void *options, int (*work)(struct bench *b));

/* The whole of what the other ranks do. Returns the exit code that rank 0 dismisses them with. */
int bench_follow(const struct cli_program *program);

#endif
