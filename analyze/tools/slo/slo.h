/* Assertions (libcommon/slo.h) and how a run answers them: met, missed or undecided, by the 95 %
 * interval of the figure (docs/limits.md). Judging is a pure function of figure and limit. */
#ifndef S3_ANALYZE_TOOLS_SLO_SLO_H
#define S3_ANALYZE_TOOLS_SLO_SLO_H

#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/model.h"
#include "libcommon/slo.h"
#include "libcommon/units.h"

enum slo_verdict { SLO_MET, SLO_MISSED, SLO_UNDECIDED };

/* Intervals of dependent requests contain the true value in 92 to 95 of 100 cases (make
 * bench-stats). So a limit is outside only if it is this many times as far from the value as the
 * interval's end: then an assertion exactly at the limit is decided in at most 5 of 100 cases. */
#define SLO_GUARD 1.25

/* A figure of a run with its 95 % interval, which is that of the report; an end that is not known
 * is infinite. */
struct slo_measure {
    bool known; /* there is a value */
    double value, lo, hi;
    double guard;    /* SLO_GUARD; more if the interval is unreliable */
    int side;        /* -1, 1: shown to be below, above the limit, without an interval; else 0 */
    double n;        /* requests behind it */
    double n_least;  /* least number of requests for an interval; 0: not known */
    const char *why; /* static: why there is no value or interval, or why the interval is
                        unreliable; "": there is nothing to say */
    /* The value is known only to bounds, which are so far away; else 0. Bounds are sure: the guard
     * widens only what is beyond them. */
    double below, above;
    bool fails; /* a time: too many requests failed for it to be below any limit */
};

struct slo_answer {
    const struct slo_assertion *of;
    char *op;         /* owned; "": all operations together */
    bool of_response; /* a percentile of response times */
    struct slo_measure measure;
    enum slo_verdict verdict;
    double margin; /* how far the value is on the right side of the limit, in half-widths of the
                      interval: 1 and more is met, -1 and less is missed; 0: not known */
    double n_more; /* undecided: how many more requests would decide; 0: not known; inf: no
                      number */
};

struct slo_report {
    struct slo_answer *v; /* in the order of the assertions */
    size_t n;
};

/* Returns the measure of a percentile, whose interval is unreliable for the reason `doubt` ("": it
 * is not). For n independent requests, percentile p has an interval once p^n is below 2.5 %. If an
 * end is missing, the share of requests above the limit may still show on which side of the limit
 * the percentile is. */
struct slo_measure slo_measure_percentile(const struct statistics_percentile *x, const char *doubt,
                                          const struct slo_assertion *of);

/* Judges one figure: fills verdict, margin and n_more from the measure of an answer. With "<" the
 * run meets the limit if the whole interval, widened by the guard, is below it, and misses it
 * if the whole interval is at or above it. n_more assumes that intervals shrink with the root of
 * the number of requests. */
void slo_judge(struct slo_answer *a);

/* Returns the verdict of all assertions: missed if one is missed, else undecided if one is, else
 * met. */
enum slo_verdict slo_verdict(const struct slo_report *r);
/* Returns the exit code that tells a verdict. */
enum exit_code slo_code(enum slo_verdict v);

/* Returns the smallest margin of all assertions; 0: none is known. */
double slo_margin(const struct slo_report *r);

/* Returns by how much of its limit a value is above it; the most of all assertions that set a most.
 * Those that set a least do not count: they are missed at low rates, and met at higher ones.
 * -INFINITY: no value is known. */
double slo_excess(const struct slo_report *r);

/* Returns how many requests a run needs at least, so that it can meet an assertion. The interval of
 * percentile p has an upper end once p^n is below 2.5 %. Wilson's interval of errors, of which
 * there are none, must end below the limit. 0: not known. */
double slo_least_requests(const struct slo_assertion *of);

/* Measures and judges all assertions. An assertion without an operation is about each operation of
 * a mixed run if it is a percentile, else about the whole mixed run; of operations one after
 * another, about the last one. The list must outlive the report. False: out of memory, the file
 * cannot be read again, or an assertion names an operation that the run does not have (wrong
 * usage); the caller calls slo_report_free in any case. */
bool slo_report_make(struct slo_report *r, const struct analysis *a, const struct slo_list *list,
                     struct err *e);
void slo_report_free(struct slo_report *r);

/* Words for people: the verdict, a value of the assertion's figure, what was measured, and why it
 * is undecided or what else is to be said ("": nothing). */
extern const char *const slo_verdict_names[];
struct units_text slo_value_text(const struct slo_assertion *of, double value);
struct units_text slo_measured_text(const struct slo_answer *a);
struct slo_words {
    char s[320];
};
struct slo_words slo_why(const struct slo_answer *a);

#endif
