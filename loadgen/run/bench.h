/* The state of a run, and the functions that its files share: bench.c (the plan), bench_setup.c,
 * bench_capture.c, bench_load.c and bench_watch.c. */
#ifndef S3_LOADGEN_RUN_BENCH_H
#define S3_LOADGEN_RUN_BENCH_H

#include "libcommon/cli.h"
#include "loadgen/bucket/bucket.h"
#include "loadgen/load/load.h"
#include "loadgen/ranks/ranks.h"
#include "loadgen/util/util.h"

#include <jansson.h>
#include <net/if.h>
#include <signal.h>

struct bench;

/* The state of a client's machine while it measures: CPUs, memory, network, clock and limits
 * (docs/machine.md explains the figures). They come from /proc, /sys and the sockets of our
 * connections. Figures that a system does not report are left out. */

struct machine {
    const struct engine *engine;
    struct clock_share setup;    /* of the main thread before it sent anything */
    char interface[IF_NAMESIZE]; /* interface that leads to the first host; "": unknown */
    json_t *base;                /* counters at the start of counting; NULL: it has not begun */
    json_t *end;                 /* all figures at the end of counting; NULL: it has not ended */
    int64_t base_ns;             /* start of counting; 0: it has not begun */
    int64_t next_ns;             /* when the next comment is due */
    int64_t looked_ns, n_retransmits; /* the last check for retransmits: time, and number */
    json_t *retransmits; /* not yet in a comment: [[from, to, how many], ...]; NULL: none */
};

/* Finds the interface. Borrows the engine, which must be set up. The main thread calls it. */
void machine_init(struct machine *m, const struct engine *g);

void machine_fini(struct machine *m);

/* Begin and end counting. */
void machine_start(struct machine *m, const struct crew *crew);
void machine_end(struct machine *m, const struct crew *crew);

/* Checks for retransmits if a second has passed. Returns true if a comment is due. */
bool machine_tick(struct machine *m, const struct crew *crew, int64_t now_ns);

/* Returns an object with all current figures, for a comment. Counts start at machine_start, and are
 * left out before it. NULL: out of memory. */
json_t *machine_json(struct machine *m, const struct crew *crew);

/* A run as JSON: in the first and the last comment of its capture, and for --json. */

/* A thread that is busy for more than this percentage of the time delays requests. */
#define SUMMARY_BOUND_PCT 90

struct summary {
    const char *capture; /* NULL: none */
    const char *sums;    /* file of its sums; NULL: none */
    bool capture_goes;   /* the capture is deleted once the sums are made */
    bool alone;          /* a rank is lost: all counts are those of this rank alone */
    int64_t start_ns;    /* wall clock */
    const char *end;     /* why the run ended */
    const char *error;   /* NULL: none */

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
int64_t summary_host_off_ns(const struct bench *b, size_t host);

/* Write "s3load/1 {...}" without a newline. The start has all settings of the command that may
 * change what is measured, from any source: options by their names, durations in ns, sizes in
 * bytes. */
void summary_put_start(struct strbuf *to, struct bench *b);
void summary_put_end(struct strbuf *to, struct bench *b);

/* Writes "s3load/machine/1 {...}": the state of the machine during the run (docs/machine.md). */
void summary_put_machine(struct strbuf *to, struct bench *b);

/* Writes the result for people: a line, or two if one would be wider than 80 columns. */
void summary_put_line(struct strbuf *to, const struct bench *b);

/* Writes the result for programs, as JSON. */
void summary_put_json(struct strbuf *to, const struct bench *b);

/* SIGINT, SIGTERM and SIGHUP: the first ends the run in order, the second ends it at once, the
 * third ends the process. Signals within a second count as one: timeout(1) sends two, and so does a
 * terminal that is closed. */

/* Signals within this time count as one. */
#define SIGNALS_ONE_NS NS_PER_S

struct signals {
    pthread_t thread;
    bool started;
    sigset_t set;
    atomic_int first; /* the signal that came first; 0: none */
    atomic_int n;     /* how many came */
    int64_t last_ns;  /* time of the last of them */
    pthread_mutex_t lock;
    bool finishing; /* protected by lock: the run is cleaning up; one signal does not stop it */
    struct crew *control;        /* a signal stops this crew */
    _Atomic(struct crew *) crew; /* and this one; NULL: there is none yet */
};

/* Starts a thread that takes the signals. Call it before other threads start. */
bool signals_init(struct signals *s, struct crew *control, struct err *e);
void signals_fini(struct signals *s);

/* Begins to clean up: clears the engine's stop, which then takes a second signal to set. Returns
 * false if a second signal has already come, and nothing more is to be done. */
bool signals_let_finish(struct signals *s);

/* --serverprof: profiles that the nodes of MinIO make of themselves while the benchmark runs, by
 * its admin API. They are saved beside the capture. If they cannot be had, a line says so, and the
 * run continues. */
struct serverprof {
    const char *version; /* of the API */
    bool profiling;      /* MinIO profiles until we fetch the profiles */
    bool asking;         /* a request is on its way, which a signal breaks off */
    int n_signals;       /* that came before the request */
};

/* A stage of a run: begins profiling. False: out of memory. */
bool serverprof_begin(struct bench *b, struct err *e);

/* An ending of a run: fetches the profiles and saves them all or not at all. */
bool serverprof_end(struct bench *b, struct err *e);

/* The progress that a run shows on standard error, on a terminal or on request. */
struct screen {
    bool enabled, bar_shown;
    int64_t start_ns; /* of the phase */
    int64_t next_ns;  /* when the next line is due */
    unsigned n_lines;
};

/* What this rank did in the last second. */
struct second {
    struct recorder_tick tick;
    int64_t n_running;
    double cpu_pct;        /* of the busiest loop */
    int64_t at_ns, cpu_ns; /* end of the second, and CPU time of the busiest loop then */
    int64_t next_ns;       /* end of the next second */
};

/* Where the run is recorded. */
struct outputs {
    char *path;                              /* the capture; borrowed from the options */
    char part[OPTIONS_PATH_BYTES + 100];     /* this rank's part of it; with one rank the same */
    char sums[OPTIONS_PATH_BYTES + 100];     /* the capture's sums; "": this rank writes none */
    char profiles[OPTIONS_PATH_BYTES + 100]; /* profiles of servers; "": this rank fetches none */
    bool to_stdout;                          /* the capture goes to standard output */
    bool closed;                             /* this rank's part is complete */
    int fd;                                  /* -1: none is open */
};

/* What workers do in a phase. */
enum bench_doing { BENCH_LOADING, BENCH_PREPARING, BENCH_WARMING, BENCH_CLEANING };

struct bench {
    struct cli_args args; /* only program and command are set */
    const struct options *o;
    const struct workload *kind;
    struct outputs out;
    struct err failed; /* why a stage of the plan failed */
    int status;
    int judged; /* exit code of s3analyze, which judged the assertions */

    /* For runs of several ranks. */
    struct team team;
    char host[256];
    bool has_parts;    /* each rank records a part of the capture */
    int64_t agreed_ns; /* when the benchmark starts: by the wall clock of rank 0 */

    /* For requests. */
    struct engine engine;
    struct control control;
    struct signals signals;
    struct recorder *recorder;
    struct crew crew;
    unsigned n_loops;
    struct work work;
    struct sweep sweep;
    struct screen screen;
    struct summary summary;
    struct machine machine;
    struct serverprof prof;
    bool uploaded;                 /* there may be objects to clean */
    uint64_t n_stored, n_unlisted; /* names of these, and those that are not listed */
    char *cleans;                  /* the command that deletes them */

    /* For the current phase. */
    struct phase phase;
    int64_t start_ns; /* of the benchmark, by this rank's clock */
    enum bench_doing doing;
    int64_t waiting_ns; /* since when a signal waits for the phase to end; 0: there is none */
    bool said_waiting;
    struct err error; /* why the phase ended early */
    struct second second;
};

/* The `run` of the commands: takes their struct options, finds their struct workload in `ctx`, and
 * returns the exit code. Rank 0 calls it, and makes the other ranks run too. */
int bench_main(const struct cli_args *args, void *options);

/* Fills in and checks the options of a command that bench_main runs, as options_complete does. */
bool bench_complete(const struct cli_args *args, struct options *o, struct err *e);

/* The main function of the other ranks: runs commands until rank 0 dismisses them. Returns the exit
 * code that rank 0 sends. */
int bench_follow(const struct cli_program *program);

/* bench_load.c: the stages that are measured. */

/* Uploads the objects that the benchmark uses. */
bool bench_prepare(struct bench *b, struct err *e);

/* --warmup: runs the benchmark's requests without recording them. */
bool bench_warm_up(struct bench *b, struct err *e);

/* Agrees with the other ranks on when to start, and on which objects each rank reads. */
bool bench_agree_on_start(struct bench *b, struct err *e);

/* Waits for the start, runs the benchmark, and puts its figures into the summary. */
bool bench_load(struct bench *b, struct err *e);

/* Fails if no request succeeded on any rank. */
bool bench_has_succeeded(struct bench *b, struct err *e);

/* bench_watch.c: what happens while workers work. */

/* Runs a phase to its end, shows progress, and ends the phase early where it must. False: *e says
 * why the phase was broken off. */
bool bench_run_phase(struct bench *b, enum bench_doing doing, const struct phase *p, struct err *e);

/* Whether a signal came, to this rank or to another. */
bool bench_is_interrupted(const struct bench *b);

/* The tick of the control crew; `b` is a struct bench. */
int bench_tick(void *b);

/* Fills in the figures that this rank sends to the others; `ctx` is a struct bench. */
void bench_figures(void *ctx, struct ranks_figures *f);

/* Puts the totals of all ranks into the summary. */
void bench_take_totals(struct bench *b);

/* Print a line about this rank (named if there are several), and one about the whole run. */
void bench_say(const struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bench_say_of_all(const struct bench *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "WHAT: COMMAND", with the command quoted for a shell. `words` end with NULL. */
void bench_show_command(FILE *out, const char *what, char *const *words);

/* bench_setup.c: */

/* Makes everything that a run needs before the first request. Call bench_tear_down in any case. */
bool bench_set_up(struct bench *b, struct err *e);
void bench_tear_down(struct bench *b);

/* Makes the loops. */
bool bench_make_crew(struct bench *b, struct err *e);

/* bench_capture.c: recording, and what is made of the capture. */

/* Chooses the names of the files. False: they cannot be written, and *e says why. */
bool bench_name_outputs(struct bench *b, struct err *e);

/* Opens the capture and writes its first comment. */
bool bench_record(struct bench *b, struct err *e);

/* Writes the last comment and closes the capture. */
bool bench_close_capture(struct bench *b, struct err *e);

/* Merges the parts of all ranks into one capture, and their figures into one summary. */
bool bench_gather(struct bench *b, struct err *e);

/* --aggregate: makes the sums of the capture, beside it. If the run is killed meanwhile, the
 * capture stays. */
bool bench_sum_up(struct bench *b, struct err *e);

/* Prints where the sums are. With --aggregate-only, deletes the capture first. */
bool bench_finish_sums(const struct bench *b, struct err *e);

#endif
