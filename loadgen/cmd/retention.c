#include "loadgen/cmd/commands.h"

#include "libcommon/rfc3339.h"

/* Objects are protected for a day from the start of the run. The time is the same for all objects,
 * since it must not be shortened. Cleaning overrides it. */
#define RETAIN_NS (24 * 3600 * NS_PER_S)

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    const struct work_object *o = &k->objects[rng_below(&w->rng, k->n_objects)];
    struct strbuf *body = &work_own(k, w)->body;

    strbuf_clear(body);
    strbuf_printf(body,
                  "<Retention " S3OP_NAMESPACE "><Mode>GOVERNANCE</Mode>"
                  "<RetainUntilDate>%.19sZ</RetainUntilDate></Retention>",
                  rfc3339_format(k->start_ns + RETAIN_NS).s);
    work_ask(k, S3OP_RETENTION, o, op);
    return work_set_body(k, body, op);
}

const struct cli_command cmd_retention = {
    .name = "retention",
    .summary = "set the retention of objects",
    .text = "Uploads --versions versions of each of --objects objects, then sets the retention of "
            "versions chosen at random until --duration is over. The bucket needs object lock, "
            "which it can only get when it is made: s3load makes one that is not there. The "
            "uploads are recorded too.",
    COMMAND_GROUPS({"Pool", NULL, options_pool, 0}, {"Pool", NULL, options_versions, 0},
                   {"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES(
        {"s3load retention --objects 2500 --duration 1m", "how fast retention is set"}),
    COMMAND_DEFAULTS(.data.n_objects = 25000, .data.size_bytes = 1024, .data.n_versions = 5),
    COMMAND_WORKLOAD(.prepares = true, .versions = true, .object_lock = true, .no_payload = true,
                     .next = next),
};
