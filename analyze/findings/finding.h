/* Findings: what happened in a run, as data. Each names what, when, where and how much; a report
 * shows them ranked, worst first (docs/how-the-numbers-are-made.md, "Findings"). */
#ifndef S3_ANALYZE_FINDINGS_FINDING_H
#define S3_ANALYZE_FINDINGS_FINDING_H

#include "analyze/base/phrase.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_severity {
    FINDING_NOTICE,
    FINDING_PROBLEM, /* a reader who does not know it draws a wrong conclusion */
};

/* The role of an operation in its run: the benchmark, one of its phases, which run one after
 * another, or something before or after it. */
enum role { ROLE_BENCHMARK, ROLE_PHASE, ROLE_PREPARATION, ROLE_CLEAN_UP };

static inline bool role_is_benchmark(enum role r)
{
    return r == ROLE_BENCHMARK || r == ROLE_PHASE;
}

enum finding_scope { SCOPE_SYSTEM, SCOPE_HOST, SCOPE_CLIENT, SCOPE_THREAD };

/* With fewer requests a change of throughput cannot be distinguished from chance: none is searched
 * for. */
#define FINDING_LEAST_REQUESTS 200

/* An operation of which no request succeeded for this last share of its time is dead. */
#define FINDING_LEAST_DEAD .1

/* A stall, or slowness for a while, is reported if it costs the first share of the run, and is a
 * problem if it costs the second. A stall of FINDING_PROBLEM_NS is a problem, too. */
#define FINDING_WORTH_FRAC   .005
#define FINDING_PROBLEM_FRAC .02
#define FINDING_PROBLEM_NS   INT64_C(1000000000)

#define FINDING_MAX_FIGURES 10
#define FINDING_MAX_CAUSES  10
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
    const char *phase; /* borrowed: the operation that ran alone in that time; NULL: not known */
    enum finding_scope scope;
    const char *party;                           /* borrowed: name of the host or client */
    const char *others[FINDING_MAX_PARTIES - 1]; /* borrowed: further hosts or clients with the
                                                    fault */
    size_t n_others;
    const char *client; /* borrowed; only the requests of this client to the host are meant; NULL:
                           all */
    uint32_t thread;
    bool has_start, has_end; /* false: since the beginning of the run, until its end */
    int64_t start_ns, end_ns;
    int64_t within_ns; /* how far off the times may be; 0: not worth mentioning */
    double ratio;      /* after/before, or this/others; NAN: none */
    double lost_frac;  /* share of the run's throughput, or of its requests, that it cost */
    int64_t period_ns; /* of pauses or swings; 0: none */
    struct finding_figure figures[FINDING_MAX_FIGURES];
    size_t n_figures;
    char *sentence; /* owned */
    size_t because[FINDING_MAX_CAUSES];
    size_t n_because;
    size_t place; /* of findings_rank: where it was */
};

#define FINDING_MAX_REASONS 10

/* A figure of the kind "damaged": places where any number of rows may be missing. */
#define FINDING_HOLES "n_holes"

/* A figure of errors: the share of the threads' time that they took, if it is far larger than their
 * share of the requests. */
#define FINDING_TIME_SHARE "time_share"

/* Whether the cause explains the finding; moments that are near_ns apart may be one. */
typedef bool finding_explains_fn(const struct finding *cause, const struct finding *f,
                                 int64_t near_ns);

enum finding_table { FINDING_IN_FIGURES, FINDING_IN_HOSTS, FINDING_IN_ERRORS };

/* Properties of a kind of finding. */
struct finding_kind {
    const char *name;
    enum finding_table table; /* the table of a page that shows it */
    bool is_step;             /* the rate differs before and after: reports show by how much */
    bool is_beginning;        /* ... at its end, not at its start */
    bool is_standstill;       /* a short one makes no interval unreliable */
    bool is_slowness;         /* charts by host mark its host */
    bool is_end;              /* ranks first */
    const char
        *doubt; /* a change of the rate: what an interval of its mean is then called; or NULL */
    bool is_overload; /* an open loop's rate is then what the system can do, not the rate asked
                         for */
    bool is_design;   /* as a notice it is by design, and so is what it explains */
    bool stays;       /* remains a problem if only notices explain it */
    struct {
        const char *causes; /* names of kinds, separated by blanks; NULL: end of the list */
        finding_explains_fn *how;
    } because[FINDING_MAX_REASONS];
};

/* Returns the kind of that name; if there is none, one with an empty name. */
const struct finding_kind *finding_kind(const char *name);

finding_explains_fn finding_explains;

/* Whether the cause costs enough to explain most of the finding. */
static inline bool finding_costs_a_third(const struct finding *cause, const struct finding *f)
{
    return cause->lost_frac >= f->lost_frac / 3;
}

/* Returns when the level changes: at the start of a finding, or at the end of a warm-up. */
int64_t finding_moment_ns(const struct finding *f);

struct findings {
    struct finding *v;
    size_t n, cap;
};

/* A finding of the whole system and the whole run, without figures. */
struct finding finding_of(const char *kind, bool is_problem, double lost_frac);

/* Sets the start and the end of a finding. */
void finding_set_times(struct finding *f, int64_t start_ns, int64_t end_ns);

/* The time of day at `ns`, UTC, as sentences name it; with the date, unless the run began and ended
 * on one day. */
struct phrase finding_clock(int64_t start_ns, int64_t end_ns, int64_t ns);

/* Adds a figure to the finding, unless it has FINDING_MAX_FIGURES already. */
void finding_figure(struct finding *f, const char *name, double value);

/* Returns a figure of a finding; 0: it has none of that name. */
double finding_value(const struct finding *f, const char *name);

/* Appends a copy of *f with the sentence. False: out of memory. */
bool findings_add(struct findings *all, const struct finding *f, struct err *e, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));

void findings_free(struct findings *all);

/* Whether there is a problem. */
bool findings_have_problem(const struct findings *all);

struct course;

/* Appends the findings of a course to *out, unranked. Looks only for errors unless the role is that
 * of the benchmark. False: out of memory. */
bool findings_find(struct findings *out, const struct course *c, enum role role, struct err *e);

/* Links consequences to their causes (`because`) and makes them notices, then sorts: problems
 * first, then by cost. Events up to run_ns / 30 (at least half a second) apart may be one. False:
 * out of memory. */
bool findings_rank(struct findings *all, int64_t run_ns, struct err *e);

#endif
