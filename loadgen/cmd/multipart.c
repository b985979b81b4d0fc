#include "loadgen/cmd/commands.h"

#include <string.h>

enum step { INITIATE, PARTS, COMPLETE, ABORT };

static enum phase_next set_body(struct work *k, struct work_own *own, struct s3op *op)
{
    strbuf_clear(&own->body);
    strbuf_puts(&own->body, "<CompleteMultipartUpload " S3OP_NAMESPACE ">");
    strbuf_put(&own->body, own->etags.s, own->etags.n);
    strbuf_puts(&own->body, "</CompleteMultipartUpload>");
    return work_set_body(k, &own->body, op);
}

/* Each worker makes one object after another. */
static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    struct work_own *own = work_own(k, w);

    switch ((enum step)own->step) {
    case INITIATE:
        own->object = work_new_object(k, w);
        op->kind = S3OP_INITIATE;
        break;
    case PARTS:
        op->kind = S3OP_PUT_PART;
        op->part = ++own->part;
        op->payload_seed = own->object.seed;
        op->payload_offset = (uint64_t)k->o->request.part_bytes * (own->part - 1);
        op->n_payload = (uint64_t)k->o->request.part_bytes;
        break;
    case COMPLETE:
        op->kind = S3OP_COMPLETE;
        if (set_body(k, own, op) == PHASE_END)
            return PHASE_END;
        break;
    case ABORT:
        op->kind = S3OP_ABORT;
        break;
    }
    work_set_key(k, &own->object, op);
    if (own->step != INITIATE)
        op->upload_id = own->upload_id.s;
    return PHASE_OP;
}

static void begin_parts(struct work *k, struct work_own *own, const char *upload_id)
{
    strbuf_set(&own->upload_id, upload_id, strlen(upload_id));
    strbuf_clear(&own->etags);
    own->part = 0;
    own->step = PARTS;
    if (own->upload_id.failed)
        work_fail(k, "out of memory");
}

static void end_upload(struct work_own *own)
{
    strbuf_clear(&own->upload_id);
    own->step = INITIATE;
}

static void done(struct work *k, struct worker *w, const struct s3op *op,
                 const struct worker_result *r)
{
    struct work_own *own = work_own(k, w);
    bool ok = r->error[0] == '\0';

    switch (op->kind) {
    case S3OP_INITIATE:
        if (ok)
            begin_parts(k, own, xml_text(r->xml, XML_ID));
        break;
    case S3OP_PUT_PART:
        strbuf_printf(&own->etags, "<Part><PartNumber>%u</PartNumber><ETag>", own->part);
        strbuf_xml(&own->etags, r->etag, strlen(r->etag));
        strbuf_puts(&own->etags, "</ETag>");
        if (k->o->data.checksum != CHECKSUM_NONE)
            strbuf_printf(&own->etags, "<Checksum%s>%s</Checksum%s>",
                          S3OP_CHECKSUMS[k->o->data.checksum], w->body.checksum,
                          S3OP_CHECKSUMS[k->o->data.checksum]);
        strbuf_puts(&own->etags, "</Part>");
        if (!ok)
            own->step = ABORT;
        else if (own->part == (uint64_t)k->o->request.n_parts)
            own->step = COMPLETE;
        break;
    case S3OP_COMPLETE:
        if (ok)
            end_upload(own);
        else
            own->step = ABORT;
        break;
    default:
        end_upload(own);
    }
}

static const struct cli_option own_table[] = {
    SETTING("parts", CLI_INT, request.n_parts, "N", "how many parts an object has", .min = 1,
            .max = 10000),
    SETTING("part.size", CLI_SIZE, request.part_bytes, "SIZE",
            "size of a part; S3 wants 5MiB at least", .min = 1, .max = 5.0 * (1ull << 30)),
    {0},
};

const struct cli_command cmd_multipart = {
    .name = "multipart",
    .summary = "upload objects in parts",
    .text = "Each worker uploads objects of --parts parts, one part after another, until "
            "--duration is over. Each request is a row: INITIATE begins an upload, PUTPART is a "
            "part, COMPLETE ends the upload. What is not completed is aborted, with --noclear "
            "too.",
    COMMAND_GROUPS({"Parts", NULL, own_table, 0}),
    COMMAND_EXAMPLES({"s3load multipart --parts 10 --part.size 16MiB", "objects of 160 MiB"}),
    COMMAND_DEFAULTS(.request.n_parts = 200, .request.part_bytes = INT64_C(5) << 20),
    COMMAND_WORKLOAD(.uploads = true, .next = next, .done = done),
};
