/* A run as JSON: in the first and the last comment of its capture, and for --json. */
#ifndef S3_LOADGEN_RUN_SUMMARY_H
#define S3_LOADGEN_RUN_SUMMARY_H

#include "loadgen/bucket/bucket.h"
#include "loadgen/load/crew.h"
#include "loadgen/load/recorder.h"
#include "loadgen/options/options.h"
#include "loadgen/ranks/team.h"
#include "loadgen/run/machine.h"
#include "loadgen/util/strbuf.h"

#include <stdint.h>

/* A thread that is busy for more than WARN percent of the time may delay requests. Beyond BOUND
 * percent it does delay them. */
#define SUMMARY_WARN_PCT  70
#define SUMMARY_BOUND_PCT 90

struct summary {
    const char *command;
    const struct options *o;
    const char *capture; /* NULL: none */
    const char *sums;    /* file of its sums; NULL: none */
    bool capture_goes;   /* the capture is deleted once the sums are made */
    const char *host;    /* this machine */
    const struct team *team;
    struct machine *machine;
    bool alone;        /* a rank is lost: all counts are those of this rank alone */
    int64_t start_ns;  /* wall clock */
    const char *end;   /* why the run ended */
    const char *error; /* NULL: none */

    /* The preparation, and the benchmark. */
    uint64_t n_prepared, n_not_prepared;
    int64_t prepare_ns, bench_ns;
    struct recorder_counts counts;
    uint64_t n_connects;
    uint64_t n_resent;          /* requests sent twice, those of the preparation included */
    int64_t user_ns, system_ns; /* CPU */
    double max_thread_pct;      /* of one CPU, the busiest of our threads */
    int64_t digest_ns;          /* time spent on digests of payloads before requests begin */
    uint64_t n_waits;           /* how often loops waited for the capture to be written */
    int64_t waits_ns;
    uint64_t n_object_waits; /* how often workers waited because no object was free */
    uint64_t n_not_begun;    /* open loop: requests that were due and not begun before the end */
    struct autoterm_stop autoterm;
    int64_t clock_change_ns; /* how far the wall clock was stepped during the run */
};

/* The figures of a summary, each of 64 bits and at most INT64_MAX. The first four are its
 * counts. */
#define SUMMARY_N_NUMBERS 18
extern const struct summary_number {
    const char *name;
    size_t offset;
    bool adds_up; /* its sum over ranks is meaningful */
} SUMMARY_NUMBERS[SUMMARY_N_NUMBERS];

_Static_assert(TEAM_FREE + SUMMARY_N_NUMBERS <= RANKS_N_SUMS, "ranks tell each other all of them");

/* Returns by how much a host's clock is wrong at least: positive if it is ahead of ours, negative
 * if it is behind, 0 if it may be right. */
int64_t summary_host_off_ns(const struct control *control, const struct crew *crew, size_t host);

/* Write "s3load/1 {...}" without a newline. The start has all settings of the command that may
 * change what is measured, from any source: options by their names, durations in ns, sizes in
 * bytes. */
void summary_put_start(struct strbuf *b, const struct summary *s, const struct control *control,
                       const struct cli_command *command);
void summary_put_end(struct strbuf *b, const struct summary *s, const struct control *control,
                     const struct crew *crew);

/* Writes "s3load/machine/1 {...}": the state of the machine during the run (docs/machine.md). */
void summary_put_machine(struct strbuf *b, const struct summary *s, const struct crew *crew);

/* Writes the result for people: a line, or two if one would be wider than 80 columns. A run without
 * a benchmark was interrupted. */
void summary_put_line(struct strbuf *b, const struct summary *s);

/* Writes the result for programs, as JSON. */
void summary_put_json(struct strbuf *b, const struct summary *s);

#endif
