/* Names, numbers and verdicts of a comparison in words, as text and Markdown share them. */
#ifndef S3_ANALYZE_COMPARE_WORDS_H
#define S3_ANALYZE_COMPARE_WORDS_H

#include "analyze/compare/compare.h"
#include "libcommon/units.h"

/* "faster", "not-enough-data" ...: as in JSON. */
const char *compare_words_verdict_code(const struct compare_metric *m);

struct compare_words_text {
    char s[1024];
};

/* "inconclusive (MDE 12 %)" */
struct compare_words_text compare_words_verdict(const struct compare_op *op,
                                                const struct compare_metric *m);

/* What the verdict rests on: "Mann-Whitney, exact", "within-run errors and run CV 2 %" ... */
struct compare_words_text compare_words_assumption(const struct compare_metric *m);

/* "at http://h:9000", "1KiB -> 10KiB", "" for the whole operation. */
struct compare_words_text compare_words_part(const struct run_part *p);

/* "Concurrency", and "8 -> 9". */
const char *compare_words_setting(enum compare_setting_kind kind);
struct compare_words_text compare_words_setting_change(const struct compare_setting *s);

/* "concurrency 8 -> 9, PUT object size 1KiB -> 2KiB": settings that limit the comparison, of all
 * measured operations where none is named; "": there are none. */
struct compare_words_text compare_words_limits(const struct compare *c);

/* One metric as cells of a table. */
struct compare_words_row {
    char metric[24], before[112], after[112], change[48], ci[128], p[48];
    struct compare_words_text verdict;
};
struct compare_words_row compare_words_row(const struct compare_op *op,
                                           const struct compare_metric *m);

/* "34.8MiB/s +- 5.3%": a value, and the farther end of its interval as a fraction of it; "+- ?"
 * where that is infinite. */
struct compare_words_cell {
    char s[112];
};
struct compare_words_cell compare_words_figure(enum run_metric metric, double value,
                                               double spread_frac);

/* "-18.07%"; "-" where either figure is unknown or the first one is no positive number. */
struct units_text compare_words_percent(double before, double after);

/* What is said of a comparison as a whole: that settings limit it, that nothing is known of the
 * noise between runs, how the columns of metrics are to be read. */
extern const char compare_words_limited[], compare_words_noise[];
struct compare_words_text compare_words_notes(const struct compare *c);

/* What the terms of a comparison mean. */
extern const char compare_words_ci[], compare_words_p[], compare_words_mde[],
    compare_words_break_even[];

/* The answer in a few sentences, the same in all formats: what became worse first, operation by
 * operation, with its 95 % interval, what could not be seen, durations, and where a change lives.
 */
struct compare_words_text compare_words_answer(const struct compare *c);

/* "no change shown", or the change: what a card says of a metric first. */
struct compare_words_text compare_words_short(const struct compare_op *op,
                                              const struct compare_metric *m);

/* How often a request after is faster than one before, of an operation that has this effect. */
struct compare_words_text compare_words_effect(const struct compare *c,
                                               const struct compare_op *op);

/* "2 of 6 runs had a problem (below); they are included in the figures"; "" where none had. */
struct compare_words_text compare_words_faulty(const struct compare *c);

/* What the difference is without the faults of the runs; "" where none can be left out. */
struct compare_words_text compare_words_without_faults(const struct compare_op *op);

/* The gate's result, "Gate: passed.", and one of its limits: "throughput: -5 % allowed: within". */
struct compare_words_text compare_words_gate(const struct compare *c);
struct compare_words_text compare_words_gated(const struct compare_metric *m);

#endif
