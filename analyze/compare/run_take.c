/* Fills runs from analyses, whether these were made of requests or of seconds. */
#include "analyze/compare/run.h"

#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points *name to a copy that the run owns; NULL stays NULL. */
static bool own_name(struct run *r, const char **name, struct err *e)
{
    if (*name == NULL)
        return true;
    uint32_t id = intern_add(&r->names, slice_of(*name));
    if (id == INTERN_NONE)
        return mem_none(e);
    *name = r->names.strings[id].p;
    return true;
}

bool run_take_findings(struct run *r, const struct findings *from, struct err *e)
{
    for (size_t i = 0; i < from->n; i++) {
        struct finding f = from->v[i];
        /* This finding is about files of sums. Here the sums were made from a capture. */
        if (r->source != RUN_OF_SUMS && strcmp(f.kind->name, "from-sums") == 0)
            continue;
        bool ok = own_name(r, &f.op, e) && own_name(r, &f.party, e) && own_name(r, &f.client, e);
        for (size_t k = 0; ok && k < f.n_others; k++)
            ok = own_name(r, &f.others[k], e);
        if (!ok || !findings_add(&r->findings, &f, e, "%s", from->v[i].sentence))
            return false;
    }
    return true;
}

bool run_asks_for_autoterm(const char *text)
{
    const char *at = strstr(text, "--autoterm");
    for (; at != NULL; at = strstr(at + 1, "--autoterm")) {
        const char *value = at + strlen("--autoterm");
        if (*value == '\0' || *value == ' ' || *value == '"' || strncmp(value, "=true", 5) == 0)
            return true;
    }
    return false;
}

void run_take_recorded(struct run *r, const struct dataset *d)
{
    const struct dataset_input *first = &d->inputs[0];
    r->n_file_bytes = first->info.n_file_bytes;
    r->recorded = first->recorded;
    json_incref(r->recorded.settings);
    for (size_t i = 0; i < d->n_inputs; i++)
        for (size_t k = 0; k < d->inputs[i].comments.n; k++)
            r->autoterm |= run_asks_for_autoterm(keptlines_get(&d->inputs[i].comments, k));
}

bool run_op_init(struct run_op *op, const char *name, struct err *e)
{
    *op = (struct run_op){.n_parts = 1};
    if (!mem_text(&op->op, name, e) || !mem_cleared(&op->parts, 1, e))
        return false;
    op->report.op = op->op;
    return true;
}

static void take_rates(struct run_figures *f, const struct throughput *t, const struct segments *s)
{
    if (!t->present)
        return;
    const struct segment_pick average = {0, t->bytes_per_s, t->objects_per_s};
    const struct segment_pick *picks[RUN_N_RATES] = {
        [RUN_AVERAGE] = &average,
        [RUN_FASTEST] = &s->fastest,
        [RUN_MEDIAN] = &s->median,
        [RUN_SLOWEST] = &s->slowest,
    };
    for (int i = 0; i < (s->present ? RUN_N_RATES : RUN_AVERAGE + 1); i++) {
        f->objects_per_s[i] = picks[i]->objects_per_s;
        if (t->n_bytes > 0)
            f->bytes_per_s[i] = picks[i]->bytes_per_s;
    }
    if (s->present)
        f->n_segments = (double)s->n;
}

static void take_times(double *to, const struct times *t)
{
    const struct {
        enum figure figure;
        double ns;
    } of_report[RUN_N_TIMES] = {
        [RUN_MEAN] = {FIGURE_MEAN, t->mean_ns},
        [RUN_Q50] = {FIGURE_P50, (double)t->p50_ns},
        [RUN_Q90] = {FIGURE_P90, (double)t->p90_ns},
        [RUN_Q99] = {FIGURE_P99, (double)t->p99_ns},
        [RUN_BEST] = {FIGURE_FASTEST, (double)t->fastest_ns},
        [RUN_WORST] = {FIGURE_SLOWEST, (double)t->slowest_ns},
    };
    for (int i = 0; t->present && i < RUN_N_TIMES; i++)
        if (known_all(&t->known, 1u << of_report[i].figure))
            to[i] = of_report[i].ns;
}

struct run_figures run_figures_of(const struct run_op *op)
{
    const struct operation *r = &op->report;
    const struct requests *q = &r->requests;
    struct run_figures f = {.n_segments = NAN};

    for (int i = 0; i < RUN_N_RATES; i++)
        f.bytes_per_s[i] = f.objects_per_s[i] = NAN;
    for (int i = 0; i < RUN_N_TIMES; i++)
        f.duration_ns[i] = f.ttfb_ns[i] = NAN;
    take_rates(&f, throughput_shown(&r->judged, &r->throughput), &r->segments);
    if (!q->with_failed) {
        take_times(f.duration_ns, op->of_response ? &q->response_time.dur : &q->all.dur);
        take_times(f.ttfb_ns, &q->all.ttfb);
    }
    return f;
}

void run_fill_shares(struct run *r)
{
    double n = 0;
    for (size_t i = 0; i < r->n_ops; i++)
        n += (double)r->ops[i].report.n_requests;
    for (size_t i = 0; i < r->n_ops; i++)
        r->ops[i].share = n > 0 ? (double)r->ops[i].report.n_requests / n : 0;
}
