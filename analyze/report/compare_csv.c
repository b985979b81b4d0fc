#include "analyze/report/compare.h"

#include "analyze/compare/words.h"
#include "analyze/write/csv.h"

#include <math.h>

/* Reads back as the same double; empty if there is none. */
static void put_number(FILE *f, double x)
{
    fputc(',', f);
    if (isfinite(x))
        fprintf(f, "%.17g", x);
}

static void put_side(FILE *f, const struct compare_values *v)
{
    bool has_limits = v->n == 1 && v->one.ci.ok;
    put_number(f, v->center);
    put_number(f, has_limits ? v->one.ci.lo : NAN);
    put_number(f, has_limits ? v->one.ci.hi : NAN);
    fprintf(f, ",%zu", v->n);
}

static void put_metric(FILE *f, const char *op, const struct compare_metric *m, bool safe)
{
    const struct csv_out_style style = {',', safe};
    const struct stats_cmp *c = &m->cmp;
    bool ratio = !c->is_difference;

    csv_out_text(f, op, style);
    fputc(',', f);
    csv_out_text(f, compare_words_part(m->part).s, style);
    fprintf(f, ",%s", metrics[m->metric].name);
    put_side(f, &m->before);
    put_side(f, &m->after);
    put_number(f, ratio ? exp(c->theta) : NAN);
    put_number(f, ratio && c->ok ? exp(c->lo) : NAN);
    put_number(f, ratio && c->ok ? exp(c->hi) : NAN);
    put_number(f, ratio ? NAN : c->theta);
    put_number(f, ratio || !c->ok ? NAN : c->lo);
    put_number(f, ratio || !c->ok ? NAN : c->hi);
    put_number(f, c->ok ? c->p : NAN);
    put_number(f, m->p_holm);
    put_number(f, c->break_even);
    put_number(f, m->mde_frac);
    fprintf(f, ",%s,", compare_words_verdict_code(m));
    csv_out_text(f, compare_words_verdict(m).s, style);
    fputc('\n', f);
}

void compare_csv(const struct compare *c, bool safe, FILE *f)
{
    fputs("op,part,metric,before,before_lo,before_hi,before_runs,after,after_lo,after_hi,after_"
          "runs,ratio,ratio_lo,ratio_hi,difference,difference_lo,difference_hi,p,p_holm,break_even_"
          "run_cv,mde,verdict,verdict_text\n",
          f);
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            put_metric(f, c->ops[k].op, &c->ops[k].metrics[i], safe);
}
