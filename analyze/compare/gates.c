#include "analyze/compare/compare.h"
#include "analyze/compare/words.h"
#include "libcommon/units.h"

#include <string.h>

/* Lists what can be gated: "throughput, objects or errors". */
static struct compare_words_text gate_names(void)
{
    struct compare_words_text names = {""};
    size_t n = 0;

    for (size_t i = 0; i < n_metrics && n < sizeof names.s; i++)
        n += (size_t)snprintf(names.s + n, sizeof names.s - n, "%s%s",
                              i == 0              ? ""
                              : i + 1 < n_metrics ? ", "
                                                  : " or ",
                              metrics[i].gate);
    return names;
}

/* Parses "p99:10%". On failure *e says what was expected. */
static bool parse_gate(const char *text, struct compare_gate *out, struct err *e)
{
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    double pct;

    for (size_t i = 0; i < n_metrics; i++) {
        if (strlen(metrics[i].gate) != length || strncmp(text, metrics[i].gate, length) != 0)
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
    return err_set(e, "--gate %s: %s, then \":PCT\"", text, gate_names().s);
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
