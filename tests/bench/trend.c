/* Reads archives from standard input, one on each line: the values of its runs, with time series of
 * several metrics separated by ";". Prints a line for each archive: "METRIC:RUN:P ..." for the
 * changes that stats_changes finds in the logarithms; runs count from 0. tests/bench/trend makes
 * the lines. */
#include "analyze/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 100000

static bool judge(char *line, double *x, struct err *e)
{
    size_t n_series = 1, n = 0;
    struct stats_changes found = {0};

    for (char *at = line; *at != '\0' && *at != '\n' && n < MAX_VALUES;) {
        char *end;
        double v = strtod(at, &end);

        if (end == at) {
            n_series += *at == ';';
            at++;
            continue;
        }
        x[n++] = log(v);
        at = end;
    }
    bool ok = stats_changes(x, n_series, n / n_series, &found, e);
    for (size_t i = 0; ok && i < found.n; i++)
        printf("%s%zu:%zu:%g", i > 0 ? " " : "", found.v[i].series, found.v[i].at, found.v[i].p);
    putchar('\n');
    stats_changes_free(&found);
    return ok;
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    double *x = malloc(MAX_VALUES * sizeof *x);
    struct err e = {0};
    bool ok = x != NULL;

    stats_init();
    while (ok && getline(&line, &cap, stdin) > 0)
        ok = judge(line, x, &e);
    free(line);
    free(x);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
