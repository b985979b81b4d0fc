/* A run from start to end: bucket, preparation, benchmark, capture, cleaning, analysis. */
#ifndef S3_LOADGEN_RUN_BENCH_H
#define S3_LOADGEN_RUN_BENCH_H

#include "libcommon/cli.h"
#include "loadgen/options/options.h"
#include "loadgen/work/workload.h"

struct bench;

/* The `run` of the commands: takes their struct options, finds their struct workload in `ctx`, and
 * returns the exit code. Rank 0 calls it, and makes the other ranks run too. */
int bench_main(const struct cli_args *args, void *options);

/* Does the same, but runs `work` in rank 0 instead of the benchmark; NULL: the benchmark. */
int bench_main_with(const struct cli_args *args, void *options, int (*work)(struct bench *b));

/* Fills in and checks the options of a command that bench_main runs, as options_complete does. */
bool bench_complete(const struct cli_args *args, struct options *o, struct err *e);

/* The main function of the other ranks: runs commands until rank 0 dismisses them. Returns the exit
 * code that rank 0 sends. */
int bench_follow(const struct cli_program *program);

#endif
