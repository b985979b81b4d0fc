#include "analyze/render/json/documents.h"

#include "analyze/render/report/figures.h"
#include "analyze/render/report/plan_sheet.h"
#include "analyze/tools/compare/metric.h"
#include "analyze/write/json.h"

static void put_run(struct json_out *w, const struct plan *p, const struct plan_run *r)
{
    bool ab = p->asked.kind == PLAN_AB;

    JSON_PUT(w, "capture", figures_file(r->path));
    JSON_PUT_IF(w, "level", !ab, r->point.level);
    json_put_bool(w, "counts", r->why_not == NULL);
    JSON_PUT_IF(w, "why", r->why_not != NULL, (const char *)r->why_not);
    JSON_PUT_IF(w, "verdict", p->asked.kind == PLAN_CAPACITY, slo_verdict_names[r->verdict]);
    JSON_PUT_IF(w, "requests_per_s", r->point.per_s > 0, r->point.per_s);
    JSON_MEMBERS(w, r, offered_frac, failed_frac, p50_ns, p99_ns, mean_ns);
}

static void put_gates(struct json_out *w, const struct plan *p)
{
    JSON_OBJECTS(w, "gates", g, p->n_gates) {
        struct plan_judged x = plan_ab_judge(p->gates, p->n_gates, g, p->points, p->n_points);

        JSON_PUT(w, "op", p->gates[g].op);
        JSON_PUT(w, "metric", metrics[p->gates[g].metric].name);
        JSON_PUT(w, "answer", plan_gate_names[x.answer]);
        JSON_PUT(w, "change_frac", plan_change_frac(p, g, x.theta));
        JSON_PUT(w, "lo", plan_change_frac(p, g, x.lo));
        JSON_PUT(w, "hi", plan_change_frac(p, g, x.hi));
        JSON_PUT(w, "alpha", x.alpha);
    }
}

bool plan_json(const void *plan, FILE *f, struct err *e)
{
    const struct plan *p = plan;
    struct json_out w;

    json_out_begin(&w, f, "s3analyze/plan-state/1");
    JSON_PUT(&w, "plan", plan_kind_names[p->asked.kind]);
    JSON_PUT(&w, "command", p->asked.command);
    JSON_PUT(&w, "answer", (const char *)plan_sentence(p).s);
    json_put_bool(&w, "done", p->next.done);
    JSON_PUT_IF(&w, "met_per_s", p->found.met > 0, p->found.met);
    JSON_PUT_IF(&w, "missed_per_s", p->found.missed > 0, p->found.missed);
    JSON_PUT(&w, "confirmed", p->found.confirmed);
    put_gates(&w, p);
    JSON_OBJECTS(&w, "runs", i, p->n)
        put_run(&w, p, &p->runs[i]);
    return json_out_finish(&w, e);
}
