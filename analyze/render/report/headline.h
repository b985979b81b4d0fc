/* The first sentence of a report: what ran, how fast it was, and how sure that is. */
#ifndef S3_ANALYZE_RENDER_REPORT_HEADLINE_H
#define S3_ANALYZE_RENDER_REPORT_HEADLINE_H

#include "analyze/findings/finding.h"
#include "analyze/summary/model/model.h"
#include "analyze/write/sheet.h"

#define HEADLINE_MAX 512

struct headline {
    char s[HEADLINE_MAX];
};

/* Returns the headline of the benchmark: of all its operations if there are several, mixed or one
 * after another. Very long names of operations are cut off. */
struct headline headline(const struct analysis *a);

/* Judges a run: EXIT_FAILED if it has a problem or no figures; EXIT_UNDECIDED if something limits
 * what may be concluded; else EXIT_DONE. *says is the reason: "2 problems, 1 notice. 95 % CI
 * unreliable: ...". */
enum exit_code headline_verdict(const struct analysis *a, struct headline *says);

/* Appends lines that count the findings, and name them, worst first. A consequence names its
 * cause. Brief text names as many as fit; returns how many are not named. */
size_t headline_put_findings(struct sheet *s, const struct analysis *a);

/* Returns the operation to name before a finding's sentence; "": there is none, or the sentence
 * names it. */
const char *headline_op(const struct finding *f);

/* Returns "Problem" or "Notice", as a finding is marked in text and on pages. */
const char *headline_severity(const struct finding *f);

#endif
