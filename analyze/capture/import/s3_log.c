/* Reads server access logs of Amazon S3 ("Amazon S3 server access log format", S3 User Guide): a
 * line for each request, fields separated by blanks, "-" for none. Starts are in whole seconds,
 * times in whole ms. */
#include "analyze/capture/import/import_internal.h"
#include "libcommon/int64.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <stdio.h>

/* The fields up to the last that each line has. */
enum { OWNER, BUCKET, TIME, CLIENT, REQUESTER, ID, OPERATION, KEY, REQUEST };
enum { STATUS = REQUEST + 1, ERROR, SENT, SIZE, TOTAL, TURN_AROUND, N_FIELDS };

/* Takes the next field, which is empty at the end of the line. */
static struct slice word(struct slice *rest)
{
    return slice_take(rest, ' ');
}

static bool is_operation(struct slice s)
{
    return slice_begins(s, "REST.") || slice_begins(s, "WEBSITE.") || slice_begins(s, "SOAP.") ||
           slice_begins(s, "BATCH.") || slice_begins(s, "S3.");
}

/* Whether a field may be the last word of a request, and a status follows. */
static bool ends_request(struct slice s, struct slice rest)
{
    struct slice status = word(&rest);
    int64_t v;

    return s.n > 0 && (slice_is(s, "-") || s.p[s.n - 1] == '"') &&
           (slice_is(status, "-") || (status.n == 3 && slice_decimal(status, 0, &v)));
}

/* Takes the fields. A requester may contain blanks, so the operation is looked for. A request is
 * what the client sent, quotation marks too: it ends where a status follows. False: one is
 * missing. */
static bool take_fields(struct slice *rest, struct slice f[N_FIELDS])
{
    f[OWNER] = word(rest);
    f[BUCKET] = word(rest);
    f[TIME] = slice_take(rest, ']');
    word(rest); /* nothing, and the blank */
    f[CLIENT] = word(rest);
    f[REQUESTER] = word(rest);
    f[ID] = word(rest);
    while (rest->n > 0 && !is_operation(f[OPERATION] = word(rest)))
        f[ID] = f[OPERATION];
    f[KEY] = word(rest);
    bool ok = rest->n > 0 && (*rest->p == '"' || slice_begins(*rest, "- "));
    while (rest->n > 0 && !ends_request(word(rest), *rest))
        ;
    for (size_t i = STATUS; i < N_FIELDS; i++)
        f[i] = word(rest);
    return ok && f[TURN_AROUND].n > 0;
}

static struct slice known(struct slice s)
{
    return slice_is(s, "-") ? (struct slice){"", 0} : s;
}

static bool is_signature(struct slice s)
{
    return slice_is(s, "-") || slice_begins(s, "Sig");
}

/* Returns the Host Header, of what follows the fields. Clients may write anything into Referer and
 * User-Agent, quotation marks too, but the fields behind these have none. */
static struct slice host_of(struct slice rest)
{
    const char *mark = rest.n > 0 ? memrchr(rest.p, '"', rest.n) : NULL;

    if (mark != NULL)
        rest = slice_from(rest, (size_t)(mark + 1 - rest.p));
    else
        word(&rest);
    for (size_t i = 0; i < 3; i++) /* User-Agent or the blank, Version Id, Host Id */
        word(&rest);
    struct slice signature = word(&rest);
    if (!is_signature(signature)) /* "-" without marks is the User-Agent */
        signature = word(&rest);
    word(&rest); /* Cipher Suite, Authentication Type */
    word(&rest);
    return is_signature(signature) ? known(word(&rest)) : (struct slice){"", 0};
}

/* "[06/Feb/2019:00:00:38 +0000" */
static bool parse_time(struct slice s, int64_t *ns)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4], text[40];

    if (s.n != 27 || s.p[0] != '[' || s.p[3] != '/' || s.p[7] != '/' || s.p[12] != ':')
        return false;
    memcpy(month, s.p + 4, 3);
    month[3] = '\0';
    const char *found = strstr(months, month);
    if (found == NULL || (found - months) % 3 != 0)
        return false;
    int n = snprintf(text, sizeof text, "%.4s-%02d-%.2sT%.8s%.3s:%.2s", s.p + 8,
                     (int)(found - months) / 3 + 1, s.p + 1, s.p + 13, s.p + 22, s.p + 25);
    return n > 0 && rfc3339_parse(text, (size_t)n, ns);
}

/* What an operation is called here, if not like there without "REST."; which field has the bytes
 * of its body. */
static const struct operation {
    const char *theirs, *ours;
    int body;
} operations[] = {
    {"REST.GET.OBJECT", "GET", SENT},    {"WEBSITE.GET.OBJECT", NULL, SENT},
    {"REST.PUT.OBJECT", "PUT", SIZE},    {"REST.PUT.PART", NULL, SIZE},
    {"REST.POST.OBJECT", NULL, SIZE},    {"REST.HEAD.OBJECT", "STAT", 0},
    {"REST.DELETE.OBJECT", "DELETE", 0}, {"REST.POST.MULTI_OBJECT_DELETE", "DELETE", 0},
    {"REST.GET.BUCKET", "LIST", 0}};

static struct operation operation_of(struct slice theirs)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (slice_is(theirs, operations[i].theirs))
            return operations[i];
    return (struct operation){0};
}

static bool read_number(struct lines *l, const struct slice *fields, size_t i, int64_t *v,
                        struct err *e)
{
    *v = 0;
    return known(fields[i]).n == 0 || slice_decimal(fields[i], 0, v) ||
           lines_bad(l, e, "field %zu is no number", i + 1);
}

bool s3_log_read(struct import *m, struct err *e)
{
    struct lines *l = &m->lines;
    struct slice f[N_FIELDS] = {{0}}, rest = {l->text, l->n};
    int64_t start_ns, status, sent, size, total_ms, turn_ms;

    if (l->n == 0)
        return true;
    if (!take_fields(&rest, f))
        return lines_bad(l, e, "expected a line of a server access log: at least %d fields",
                         N_FIELDS);
    if (!parse_time(f[TIME], &start_ns))
        return lines_bad(l, e, "field %d is no time such as [06/Feb/2019:00:00:38 +0000]",
                         TIME + 1);
    if (!read_number(l, f, STATUS, &status, e) || !read_number(l, f, SENT, &sent, e) ||
        !read_number(l, f, SIZE, &size, e) || !read_number(l, f, TOTAL, &total_ms, e) ||
        !read_number(l, f, TURN_AROUND, &turn_ms, e))
        return false;
    /* Actions of the service itself, and single objects of a multi-object deletion, have no
     * time. */
    if (known(f[TOTAL]).n == 0)
        return gather_leave_out(m, IMPORT_NO_REQUEST);
    if (known(f[STATUS]).n == 0)
        return gather_leave_out(m, IMPORT_NO_STATUS);
    if (total_ms > INT64_C(1) << 33)
        return lines_bad(l, e, "field %d: a request of more than 99 days", TOTAL + 1);
    const struct operation operation = operation_of(f[OPERATION]);
    const struct slice host = host_of(rest);
    bool is_rest = slice_begins(f[OPERATION], "REST.");
    struct record row = {.start_ns = start_ns,
                         .end_ns = total_ms * NS_PER_MS,
                         .first_byte_ns = RECORD_NO_TIME,
                         .last_byte_ns = RECORD_NO_TIME,
                         .op = operation.ours != NULL
                                   ? slice_of(operation.ours)
                                   : slice_from(f[OPERATION], is_rest ? strlen("REST.") : 0),
                         .client = known(f[CLIENT]),
                         .endpoint = known(host.n > 0 ? host : f[BUCKET]),
                         .file = known(f[KEY]),
                         .bytes = operation.body == SENT   ? sent
                                  : operation.body == SIZE ? size
                                                           : 0};
    /* From the last byte of the request to the first one of the answer. */
    turn_ms = int64_min(turn_ms, total_ms);
    if (known(f[TURN_AROUND]).n > 0 && operation.body == SIZE)
        row.last_byte_ns = (total_ms - turn_ms) * NS_PER_MS;
    else if (known(f[TURN_AROUND]).n > 0)
        row.first_byte_ns = turn_ms * NS_PER_MS;
    return gather_add(m, &row, status, known(f[ERROR]), known(f[ID]), e);
}
