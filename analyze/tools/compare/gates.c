#include "analyze/tools/compare/compare.h"
#include "libcommon/slice.h"
#include "libcommon/units.h"

#include <string.h>

/* Parses "p99:10%". On failure *e says what was expected. */
static bool parse_gate(const char *text, struct compare_gate *out, struct err *e)
{
    const char *colon = strchr(text, ':');
    const struct slice name = {text, colon != NULL ? (size_t)(colon - text) : strlen(text)};
    double pct;

    for (size_t i = 0; i < RUN_N_COMPARED; i++) {
        if (!slice_is(name, metrics[i].gate) && !slice_is(name, metrics[i].name))
            continue;
        if (colon == NULL)
            return err_set(e, "--gate %s: how much worse may it get? Write %s:5%%", text, text);
        struct err why = {0};
        if (!units_parse_pct(colon + 1, &pct, &why))
            return err_set(e, "--gate %s: %s", text, why.msg);
        if (pct < 0 || pct >= 100)
            return err_set(e, "--gate %s: from 0 %% to below 100 %%", text);
        *out = (struct compare_gate){(enum run_metric)i, pct / 100};
        return true;
    }
    return err_set(e, "--gate %s: " METRIC_GATES ", then \":PCT\"", text);
}

bool compare_parse_gates(const struct cli_list *texts, struct compare_gate *gates, struct err *e)
{
    for (size_t i = 0; i < texts->n; i++) {
        if (!parse_gate(texts->v[i], &gates[i], e))
            return false;
        for (size_t k = 0; k < i; k++)
            if (gates[k].metric == gates[i].metric)
                return err_set(e, "--gate %s: given twice", texts->v[i]);
    }
    return true;
}
