#include "analyze/render/json/documents.h"

#include "analyze/render/json/json_internal.h"
#include "analyze/tools/slo/slo.h"
#include "analyze/write/json.h"

void json_slo_put(struct json_out *w, const struct slo_report *r)
{
    if (r == NULL)
        return;
    json_out_object(w, "slo");
    JSON_PUT(w, "verdict", slo_verdict_names[slo_verdict(r)]);
    JSON_OBJECTS(w, "assertions", i, r->n) {
        const struct slo_answer *a = &r->v[i];

        JSON_PUT_IF(w, "op", *a->op != '\0', a->op);
        JSON_PUT(w, "assertion", a->of->text);
        JSON_PUT(w, "of_response_time", a->of_response);
        JSON_PUT(w, "verdict", slo_verdict_names[a->verdict]);
        JSON_PUT(w, "limit", a->of->limit);
        JSON_PUT(w, "value", a->measure.value);
        JSON_PUT(w, "lo", a->measure.lo);
        JSON_PUT(w, "hi", a->measure.hi);
        JSON_PUT_IF(w, "times_as_wide", a->measure.known, a->measure.guard);
        JSON_PUT(w, "n_requests", a->measure.n);
        JSON_PUT_IF(w, "n_more", a->n_more > 0, a->n_more);
        JSON_PUT_IF(w, "why", *a->measure.why != '\0', a->measure.why);
    }
    json_out_end(w);
}
