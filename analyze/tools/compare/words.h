/* Names, numbers and verdicts of a comparison in words, shared by text and Markdown. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_WORDS_H
#define S3_ANALYZE_TOOLS_COMPARE_WORDS_H

#include "analyze/base/phrase.h"
#include "analyze/tools/compare/compare.h"
#include "libcommon/units.h"

/* Returns the verdict's name in JSON: "faster", "not-enough-data", ... */
const char *compare_words_verdict_code(const struct compare_metric *m);

/* Format a change in as few digits as a sentence needs: "-4.9 %", "-18 %", "+25 points". theta is
 * as in struct compare_metric. */
struct units_text words_change(double pct, const char *unit);
struct units_text words_percent_of(const struct compare_metric *m, double theta);

/* "inconclusive (MDE 12 %)" */
struct phrase compare_words_verdict(const struct compare_metric *m);

/* Returns what the verdict relies on: "Welch's t over the logs of the runs", "single runs, ...;
 * run CV 2 % as given", ... */
struct phrase compare_words_assumption(const struct compare_metric *m);

/* "at http://h:9000", "1KiB -> 10KiB", "" for the whole operation. */
struct phrase compare_words_part(const struct run_part *p);

/* "8 to 9", and "8 -> 9". */
struct phrase compare_words_span(enum run_setting kind, const struct compare_span *s);
struct phrase compare_words_setting_change(const struct compare_setting *s);

/* "concurrency 8 -> 9, PUT object size 1KiB -> 2KiB": settings that limit the comparison; without
 * an operation's name they are those of all measured operations. "": there are none. */
struct phrase compare_words_limits(const struct compare *c);

/* One metric as cells of a table. */
struct compare_words_row {
    char metric[24], before[48], after[48], change[48], ci[128], p[48];
    struct phrase verdict;
};
struct compare_words_row compare_words_row(const struct compare_metric *m);

/* "34.8MiB/s +- 5.3%": a value, and how far the farther end of its interval is from it; "+- ?" if
 * that is infinite. */
/* The value of a side, or its bounds. */
struct units_text compare_words_value(enum run_metric metric, const struct compare_values *v);
struct units_text compare_words_figure(enum run_metric metric, double value, double spread_frac);

/* "-18.07%"; "-" if a figure is unknown or the first one is not positive. */
struct units_text compare_words_percent(double before, double after);

/* Notes on a whole comparison: settings limit it; the noise between runs is unknown; how to read
 * the columns of metrics. */
extern const char compare_words_limited[], compare_words_noise[];
struct phrase compare_words_notes(const struct compare *c);

/* What the terms of a comparison mean. */
extern const char compare_words_ci[], compare_words_p[], compare_words_mde[],
    compare_words_break_even[];

/* Returns the answer in a few sentences, for all formats. Operations that became worse come first.
 * Each has its change with the 95 % interval, what could not be seen, durations, and carriers. */
struct phrase compare_words_answer(const struct compare *c);

/* Returns the metric that an operation's answer begins with: the leading one; a changed duration if
 * that did not change or operations share threads; errors if nothing else changed. NULL: none. */
const struct compare_metric *compare_words_head(const struct compare *c,
                                                const struct compare_op *op);

/* Judges a comparison: EXIT_FAILED if an operation became worse or the gate failed; EXIT_UNDECIDED
 * if something limits what may be concluded; else EXIT_DONE. *why is the worst of it, then what
 * limits it: "GET: slower, -21 %; 1 of 6 runs had a problem (below); ...". */
enum exit_code compare_words_judge(const struct compare *c, struct phrase *why);

/* "95 % CI -14 to +8", in percent or points: the interval that the verdict is from, so of 90 % if
 * it is "the same"; "": none. "a change below 9 % could not be seen": "" unless it is inconclusive.
 */
struct phrase compare_words_interval(const struct compare_metric *m);
struct phrase compare_words_unseen(const struct compare_metric *m);

/* Returns how often a request of `after` is faster than one of `before`; has_effect must be set. */
struct phrase compare_words_effect(const struct compare *c, const struct compare_op *op);

/* "2 of 6 runs had a problem (below); they are included in the figures"; "" if no run had one. */
struct phrase compare_words_faulty(const struct compare *c);

/* Returns the difference without the faults of the runs; "" if none can be left out. */
struct phrase compare_words_without_faults(const struct compare_op *op);

/* Return the result of the gate, "Gate: passed.", that of one of its limits, "throughput: -5 %
 * allowed: within", and that of errors where there are none. */
struct phrase compare_words_gate(const struct compare *c);
struct phrase compare_words_gated(const struct compare_metric *m);
struct phrase compare_words_no_errors(const struct compare_op *op);

/* ---- Several cells ---- */

extern const char *const compare_change_names[]; /* in JSON */

/* Return both parts of the answer: what changed; and what could not be seen, the number of runs,
 * problems. */
struct phrase compare_words_headline(const struct compare *c);
struct phrase compare_words_rest(const struct compare *c);

/* A cell in a table: the leading metric of both sides, and changes with half the width of their
 * interval; "~": no change is shown. */
struct compare_words_cell {
    struct units_text before, after, throughput, p50, p99, verdict;
};
struct compare_words_cell compare_words_cell(const struct compare_op *op);

#endif
