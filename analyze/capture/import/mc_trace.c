/* Reads what `mc admin trace --json` writes, with --verbose or without (github.com/minio/mc,
 * cmd/admin-trace.go; github.com/minio/madmin-go, trace.go): an object for each call, on one line
 * or several. Only calls of S3 are requests; calls inside of the server are left out. */
#include "analyze/capture/import/import_internal.h"
#include "libcommon/rfc3339.h"

#include <inttypes.h>
#include <jansson.h>

static struct slice text_of(const json_t *o, const char *key)
{
    const json_t *s = json_object_get(o, key);
    return (struct slice){json_is_string(s) ? json_string_value(s) : "", json_string_length(s)};
}

static int64_t count_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* Converts the name of a call: MinIO names calls after its handlers. Unknown calls keep that
 * name. */
static struct slice op_of(struct slice api)
{
    static const char *const ops[][2] = {
        {"GetObject", "GET"},       {"PutObject", "PUT"},      {"HeadObject", "STAT"},
        {"DeleteObject", "DELETE"}, {"ListObjects", "LIST"},   {"DeleteMultipleObjects", "DELETE"},
        {"ListObjectsV1", "LIST"},  {"ListObjectsV2", "LIST"}, {"ListObjectsV2M", "LIST"}};

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (slice_is(api, ops[i][0]))
            return slice_of(ops[i][1]);
    return api;
}

/* Returns the bytes of the body. The count of received bytes includes the headers; with --verbose,
 * the request's headers are better. */
static int64_t bytes_of(const json_t *call, struct slice op)
{
    const json_t *stats = json_object_get(call, "callStats");
    const json_t *headers = json_object_get(json_object_get(call, "request"), "headers");
    struct slice length = text_of(headers, "X-Amz-Decoded-Content-Length");
    int64_t bytes;

    if (!slice_begins(op, "PUT") && !slice_begins(op, "PutObjectPart"))
        return slice_is(op, "GET") ? count_of(stats, "tx") : 0;
    if (length.n == 0)
        length = text_of(headers, "Content-Length");
    return slice_decimal(length, 0, &bytes) ? bytes : count_of(stats, "rx");
}

/* Takes the error that mc printed before it ended. */
static bool take_end(struct import *m, const json_t *call)
{
    const json_t *error = json_object_get(call, "error");
    struct slice what = text_of(error, "message");
    struct slice why = text_of(json_object_get(error, "cause"), "message");

    snprintf(m->result->ended_by, sizeof m->result->ended_by, "%.*s%s%.*s", (int)what.n, what.p,
             why.n > 0 ? ": " : "", (int)why.n, why.p);
    return m->result->is_cut = true;
}

static bool take(struct import *m, const json_t *call, struct err *e)
{
    struct lines *l = &m->lines;
    static const char prefix[] = "s3.";
    const json_t *stats = json_object_get(call, "callStats");
    const json_t *answer = json_object_get(call, "response");
    struct slice api = text_of(call, "api"), when = text_of(call, "time");
    int64_t status = count_of(answer != NULL ? answer : call, "statusCode");
    struct slice id = text_of(json_object_get(answer, "headers"), "X-Amz-Request-Id");
    char times[64]; /* tell calls apart if they have no request id */
    /* Until 2021 only callStats had the duration. */
    bool is_new = json_object_get(call, "duration") != NULL;
    const json_t *duration = json_object_get(is_new ? call : stats, "duration");
    struct record row = {.end_ns = json_integer_value(duration),
                         .first_byte_ns = count_of(stats, "timeToFirstByte"),
                         .last_byte_ns = RECORD_NO_TIME,
                         .client = text_of(call, "client"),
                         .endpoint = text_of(call, "host"),
                         .file = text_of(call, "path")};

    if (slice_is(text_of(call, "status"), "error"))
        return take_end(m, call);
    if (api.n == 0)
        return lines_bad(l, e,
                         "a call without \"api\": this is not what `mc admin trace --json` "
                         "writes (--stats has no calls)");
    if (!slice_begins(api, prefix))
        return gather_leave_out(m, IMPORT_NO_REQUEST);
    if (slice_begins(when, "0001-01-01T00:00:00")) /* how Go writes that there is none */
        return gather_leave_out(m, IMPORT_NO_TIME);
    if (!rfc3339_parse(when.p, when.n, &row.start_ns))
        return lines_bad(l, e, "\"time\" is no time");
    if (status == 0)
        return gather_leave_out(m, IMPORT_NO_STATUS);
    if (row.end_ns < 0 || !json_is_integer(duration))
        return lines_bad(l, e, "\"duration\" is no number of ns");
    row.op = op_of(slice_from(api, strlen(prefix)));
    row.bytes = status >= 400 ? 0 : bytes_of(call, row.op);
    if (row.bytes < 0)
        return lines_bad(l, e, "a size below 0");
    /* The time to the first byte of an upload's answer means nothing: when the last byte of the
     * body arrived is not recorded. */
    if (row.first_byte_ns <= 0 || row.first_byte_ns > row.end_ns || slice_is(row.op, "PUT"))
        row.first_byte_ns = RECORD_NO_TIME;
    snprintf(times, sizeof times, "%" PRId64 " %" PRId64, row.end_ns, row.first_byte_ns);
    return gather_add(m, &row, status, text_of(call, "statusMsg"), id.n > 0 ? id : slice_of(times),
                      e);
}

/* Goes on by n letters. */
static const char *advance(struct lines *l, const char *text, size_t n)
{
    for (; n > 0; n--)
        l->number += *text++ == '\n';
    return text;
}

/* Reads a call, and what may follow it up to a line that begins with "{": the next call. */
bool mc_trace_read(struct import *m, struct err *e)
{
    struct lines *l = &m->lines;
    const char *text = l->text, *end = l->text + l->n;
    bool ok = true;

    while (ok && (text = advance(l, text, strspn(text, " \t\r\n"))) < end) {
        json_error_t why;
        json_t *call = json_loadb(text, (size_t)(end - text), JSON_DISABLE_EOF_CHECK, &why);

        if (call == NULL)
            lines_bad(l, e, "%s: %s",
                      json_error_code(&why) == json_error_premature_end_of_input
                          ? "the call is not whole"
                          : "no JSON",
                      why.text);
        ok = json_is_object(call) ? take(m, call, e)
                                  : call != NULL && lines_bad(l, e, "no object of JSON");
        text = advance(l, text, call != NULL ? (size_t)why.position : 0);
        json_decref(call);
    }
    return ok;
}
