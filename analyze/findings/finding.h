/* Findings: what happened in a run, as data. Each names what, when, where and how much; a report
 * shows them ranked, worst first (docs/how-the-numbers-are-made.md, "Findings"). */
#ifndef S3_ANALYZE_FINDINGS_FINDING_H
#define S3_ANALYZE_FINDINGS_FINDING_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_severity {
    FINDING_NOTICE,
    FINDING_PROBLEM, /* who does not know it draws a wrong conclusion */
};

/* What an operation is to its run: the benchmark, one of its phases, which run one after another,
 * or beside it. */
enum role { ROLE_BENCHMARK, ROLE_PHASE, ROLE_PREPARATION, ROLE_CLEAN_UP };

static inline bool role_is_benchmark(enum role r)
{
    return r == ROLE_BENCHMARK || r == ROLE_PHASE;
}

enum finding_scope { SCOPE_SYSTEM, SCOPE_HOST, SCOPE_CLIENT, SCOPE_THREAD };

/* With fewer requests a change of throughput cannot be told from chance, and none is looked for. */
#define FINDING_LEAST_REQUESTS 200

/* Shares of the run that a stall, or slowness for a while, must cost to be worth a word, and to be
 * a problem. A stall is one, too, if it is so long. */
#define FINDING_WORTH_FRAC   .005
#define FINDING_PROBLEM_FRAC .02
#define FINDING_PROBLEM_NS   INT64_C(1000000000)

#define FINDING_MAX_FIGURES 8
#define FINDING_MAX_CAUSES  4
#define FINDING_MAX_PARTIES 16

struct finding_kind;

struct finding_figure {
    const char *name; /* static */
    double value;
};

struct finding {
    const struct finding_kind *kind;
    enum finding_severity severity;
    const char *op;    /* borrowed; NULL: all operations together */
    const char *phase; /* borrowed: the operation that ran by itself in that time; NULL: not said */
    enum finding_scope scope;
    const char *party;                           /* borrowed: name of the host or client */
    const char *others[FINDING_MAX_PARTIES - 1]; /* borrowed: further hosts or clients alike */
    size_t n_others;
    const char *client; /* borrowed; of the requests to a host, those of this client alone; NULL:
                           of all */
    uint32_t thread;
    bool has_start, has_end; /* false: from the beginning of the run, to its end */
    int64_t start_ns, end_ns;
    int64_t within_ns; /* the times are right to within so much, where that is more than a glance */
    double ratio;      /* after/before, or this/others; NAN: none */
    double lost_frac;  /* share of the run's throughput, or of its requests, that it cost */
    int64_t period_ns; /* of pauses; 0: none */
    struct finding_figure figures[FINDING_MAX_FIGURES];
    size_t n_figures;
    char *sentence; /* owned */
    size_t because[FINDING_MAX_CAUSES];
    size_t n_because;
};

#define FINDING_MAX_REASONS 5

/* Whether the cause explains the finding; moments that are near_ns apart may be one. */
typedef bool finding_explains_fn(const struct finding *cause, const struct finding *f,
                                 int64_t near_ns);

enum finding_table { FINDING_IN_FIGURES, FINDING_IN_HOSTS, FINDING_IN_ERRORS };

/* What a kind of finding is to the others and to reports. */
struct finding_kind {
    const char *name;
    enum finding_table table; /* of a page, which shows it wherever it is */
    bool is_step;             /* the rate before and after it differ: its size is said */
    bool is_beginning;        /* ... and its moment is its end */
    bool is_cut;              /* at its start the rate may change: that is looked for */
    bool is_standstill;       /* who says it need not say that nothing ran */
    bool is_slowness;         /* its host is marked among all */
    bool is_end;              /* ranks first */
    bool is_overload; /* an open loop's rate is what the system can do, not what was asked */
    bool stays;       /* a problem, though a notice explains it */
    struct {
        const char *causes; /* kinds, with blanks between; NULL: no more */
        finding_explains_fn *how;
    } because[FINDING_MAX_REASONS];
};

/* The row of the name; a kind that has none gets one with an empty name. */
const struct finding_kind *finding_kind(const char *name);

finding_explains_fn finding_explains;

/* The moment of a change of level. */
int64_t finding_moment_ns(const struct finding *f);

struct findings {
    struct finding *v;
    size_t n, cap;
};

/* A finding of the whole system and the whole run, without figures. */
struct finding finding_of(const char *kind, bool is_problem, double lost_frac);

/* Says that it lasted from start_ns to end_ns. */
void finding_set_times(struct finding *f, int64_t start_ns, int64_t end_ns);

/* Adds a figure behind the finding; further ones than FINDING_MAX_FIGURES are left out. */
void finding_figure(struct finding *f, const char *name, double value);

/* Appends a copy of *f with the sentence. False: out of memory. */
bool findings_add(struct findings *all, const struct finding *f, struct err *e, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));

void findings_free(struct findings *all);

/* Whether there is a problem. */
bool findings_have_problem(const struct findings *all);

/* Ties consequences to their causes (`because`; a consequence is a notice), then sorts: problems
 * first, by what they cost. Events of a run of run_ns that are a thirtieth of it apart (at least
 * half a second) may be one. False: out of memory. */
bool findings_rank(struct findings *all, int64_t run_ns, struct err *e);

#endif
