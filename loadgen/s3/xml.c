#include "loadgen/s3/s3.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"

#include <stdlib.h>
#include <string.h>

/* The most bytes of keys in one answer: a page has 1,000 keys. */
#define HELD_MAX (64u << 20)

/* The most bytes without a complete element or text. Expat buffers an incomplete piece, such as a
 * comment, and scans it again with each call; no answer of S3 has one so long. */
#define UNENDING_MAX (1 << 16)

/* The deepest nesting. No answer of S3 is as deep. */
#define DEPTH_MAX 32

/* The kinds of answers: names of the root in use, the field that identifies the kind if the root
 * has another name, and the elements that are entries. */
static const struct {
    const char *names[2];
    const char *field;
    struct {
        const char *name;
        enum xml_entry_kind kind;
    } entries[2];
} ANSWERS[] = {
    [XML_ERROR] = {.names = {"Error"}},
    [XML_LIST] = {{"ListBucketResult"}, "IsTruncated", {{"Contents", XML_OBJECT}}},
    [XML_VERSIONS] = {{"ListVersionsResult", "ListBucketVersionsResult"},
                      "IsTruncated",
                      {{"Version", XML_VERSION}, {"DeleteMarker", XML_DELETE_MARKER}}},
    [XML_DELETED] = {{"DeleteResult"},
                     NULL,
                     {{"Deleted", XML_DELETED_KEY}, {"Error", XML_FAILED_KEY}}},
    [XML_INITIATE] = {.names = {"InitiateMultipartUploadResult", "InitiateMultipartUpload"},
                      .field = "UploadId"},
    [XML_COMPLETE] = {.names = {"CompleteMultipartUploadResult"}, .field = "ETag"},
    [XML_UPLOADS] = {{"ListMultipartUploadsResult"}, "IsTruncated", {{"Upload", XML_UPLOAD}}},
    [XML_VERSIONING] = {.names = {"VersioningConfiguration", "GetBucketVersioningResponse"},
                        .field = "Status"},
    [XML_LOCK] = {.names = {"ObjectLockConfiguration"}, .field = "ObjectLockEnabled"},
};
#define N_ANSWERS (sizeof ANSWERS / sizeof *ANSWERS)

/* The elements whose texts are kept; those of entries come first. */
static const struct {
    const char *name;
    enum xml_text text;
} TEXTS[] = {{"Key", XML_KEY},
             {"LastModified", XML_MODIFIED},
             {"Size", XML_SIZE},
             {"VersionId", XML_ID},
             {"UploadId", XML_ID},
             {"Initiated", XML_MODIFIED},
             {"Code", XML_CODE},
             {"Message", XML_MESSAGE},
             {"Status", XML_STATUS},
             {"NextContinuationToken", XML_NEXT_TOKEN},
             {"NextKeyMarker", XML_NEXT_KEY},
             {"NextVersionIdMarker", XML_NEXT_ID},
             {"NextUploadIdMarker", XML_NEXT_ID}};
enum { N_TEXTS = sizeof TEXTS / sizeof *TEXTS, N_ENTRY_TEXTS = 8 };

/* Stops reading the answer. `why` becomes the error, unless there is one already. */
static void stop(struct xml *x, const char *why)
{
    err_set(x->err, "%s", why);
    XML_StopParser(x->parser, XML_FALSE);
}

static void begin_document(struct xml *x, const char *name)
{
    for (size_t n = 0; n < sizeof x->name - 1 && name[n] >= ' ' && name[n] <= '~'; n++)
        x->name[n] = name[n];
    x->root = XML_OTHER;
    x->kind = x->wanted;
    for (size_t i = 0; i < 2 * N_ANSWERS; i++) {
        const char *known = ANSWERS[i / 2].names[i % 2];
        if (known != NULL && strcmp(name, known) == 0)
            x->kind = x->root = (enum xml_root)(i / 2);
    }
    /* S3Mock calls its list of versions so. */
    if (x->root == XML_LIST && x->wanted == XML_VERSIONS)
        x->kind = x->root = XML_VERSIONS;
}

static void put(struct xml *x, struct strbuf *to, enum xml_text which, const char *s, size_t n)
{
    strbuf_put(to, (const char[]){(char)which}, 1);
    strbuf_put(to, s, n);
    strbuf_put(to, "", 1);
    if (to->failed || to->n > HELD_MAX)
        stop(x, to->failed ? "out of memory" : "the answer's list is too long");
}

static void begin_entry(struct xml *x, const char *name)
{
    /* A server that knows no versions sends the list of objects in place of that of versions. */
    if (x->kind == XML_VERSIONS && strcmp(name, "Contents") == 0)
        x->kind = x->root = XML_LIST;
    for (size_t i = 0; i < 2 && ANSWERS[x->kind].entries[i].name != NULL; i++) {
        if (strcmp(ANSWERS[x->kind].entries[i].name, name) != 0)
            continue;
        x->root = x->kind;
        x->entry = ANSWERS[x->kind].entries[i].kind;
        if (x->on_entry != NULL)
            put(x, &x->held, XML_ENTRY, (const char[]){(char)x->entry}, 1);
    }
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct xml *x = user;

    (void)attributes;
    x->n_unending = 0;
    if (++x->depth > DEPTH_MAX)
        stop(x, "the answer's XML is nested too deeply");
    if (x->depth == 1)
        begin_document(x, name);
    else if (x->depth == 2)
        begin_entry(x, name);
    strbuf_clear(&x->text);
}

static void XMLCALL on_text(void *user, const XML_Char *s, int n)
{
    struct xml *x = user;
    size_t room = XML_TEXT_MAX - x->text.n;

    x->n_unending = 0;
    strbuf_put(&x->text, s, (size_t)n < room ? (size_t)n : room);
}

/* Keeps the text of an element that is listed in TEXTS. */
static void keep(struct xml *x, const char *name)
{
    bool in_entry = x->entry != 0;
    size_t i = 0;
    size_t n = in_entry ? N_ENTRY_TEXTS : N_TEXTS;

    while (i < n && strcmp(TEXTS[i].name, name) != 0)
        i++;
    if (i == n || (in_entry && x->on_entry == NULL))
        return;
    put(x, in_entry ? &x->held : &x->found, TEXTS[i].text, x->text.s, x->text.n);
    if (x->text.n == XML_TEXT_MAX && TEXTS[i].text != XML_MESSAGE)
        stop(x, "a key, token or id in the answer's XML is longer than 4095 bytes");
}

const char *xml_text(const struct xml *x, enum xml_text which)
{
    for (size_t at = 0; at < x->found.n; at += strlen(x->found.s + at) + 1)
        if (x->found.s[at] == (char)which)
            return x->found.s + at + 1;
    return "";
}

/* ---- Entries, once the encoding of keys is known ---- */

/* Decodes a key in place if keys are encoded; fills the rest of its space with zeros. Some servers
 * announce an encoding and do not use it. So a key stays as it is if it cannot be decoded, or if
 * only the undecoded key begins with the requested prefix. */
static bool decode(const struct xml *x, char *text)
{
    char decoded[XML_TEXT_MAX];
    size_t n_prefix = strlen(x->prefix);
    size_t n_text = strlen(text);
    size_t n = n_text;

    /* Most keys contain nothing to decode. */
    if (!x->url_encoded || strpbrk(text, "%+") == NULL)
        return true;
    memcpy(decoded, text, n);
    bool begins =
        uri_decode(decoded, &n) && n >= n_prefix && memcmp(decoded, x->prefix, n_prefix) == 0;
    if (!begins && (n == n_text || strncmp(text, x->prefix, n_prefix) == 0))
        return true;
    memset(mempcpy(text, decoded, n), 0, n_text - n);
    return strlen(text) == n || err_set(x->err, "a key in the answer's XML holds a NUL");
}

/* Passes an entry to on_entry. Its texts begin at *at in x->held; sets *at to the next entry. */
static bool hand_out(struct xml *x, size_t *at)
{
    char none[] = "";
    char *text[XML_N_TEXTS];

    for (size_t i = 0; i < XML_N_TEXTS; i++)
        text[i] = none;
    do {
        char *s = x->held.s + *at;
        text[(unsigned char)*s] = s + 1;
        *at += strlen(s) + 1;
    } while (*at < x->held.n && x->held.s[*at] != XML_ENTRY);

    struct xml_entry entry = {.kind = (enum xml_entry_kind)text[XML_ENTRY][0],
                              .key = text[XML_KEY],
                              .version_id = text[XML_ID],
                              .code = text[XML_CODE],
                              .message = text[XML_MESSAGE],
                              .size_bytes = strtoull(text[XML_SIZE], NULL, 10),
                              .modified_ns = INT64_MAX};
    size_t n_size = strspn(text[XML_SIZE], "0123456789");
    if (text[XML_SIZE] != none && (n_size == 0 || n_size > 19 || text[XML_SIZE][n_size] != '\0'))
        return err_set(x->err, "a Size in the answer's XML is not a number");
    rfc3339_parse(text[XML_MODIFIED], strlen(text[XML_MODIFIED]), &entry.modified_ns);
    if (!decode(x, text[XML_KEY]))
        return false;
    entry.n_key = strlen(entry.key);
    return x->on_entry(x->user, &entry, x->err);
}

/* Handles the end of an element directly below the root. */
static void end_of_property(struct xml *x, const char *name)
{
    if (ANSWERS[x->kind].field != NULL && strcmp(name, ANSWERS[x->kind].field) == 0)
        x->root = x->kind;
    if (strcmp(name, "EncodingType") == 0)
        x->url_encoded = strcmp(x->text.s, "url") == 0;
    else if (strcmp(name, "IsTruncated") == 0)
        x->is_truncated = strcmp(x->text.s, "true") == 0;
    else
        keep(x, name);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct xml *x = user;

    x->n_unending = 0;
    if (x->depth == 3 && x->entry != 0) {
        keep(x, name);
    } else if (x->depth == 2 && x->entry != 0) {
        x->n_entries++;
        x->entry = 0;
    } else if (x->depth == 2) {
        end_of_property(x, name);
    }
    strbuf_clear(&x->text);
    x->depth--;
}

/* Stops reading: no answer of S3 has a document type, and entities must not be expanded. */
static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_internal_subset)
{
    struct xml *x = user;

    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    stop(x, "the answer's XML has a document type");
}

void xml_fini(struct xml *x)
{
    if (x->parser != NULL)
        XML_ParserFree(x->parser);
    strbuf_fini(&x->text);
    strbuf_fini(&x->found);
    strbuf_fini(&x->held);
    *x = (struct xml){0};
}

bool xml_start(struct xml *x, const char *prefix, xml_entry_fn *on_entry, void *user, struct err *e)
{
    *x = (struct xml){.prefix = prefix,
                      .on_entry = on_entry,
                      .user = user,
                      .parser = x->parser != NULL ? x->parser : XML_ParserCreate("UTF-8"),
                      .text = x->text,
                      .found = x->found,
                      .held = x->held};
    strbuf_clear(&x->text);
    strbuf_clear(&x->found);
    strbuf_clear(&x->held);
    /* From here on there is room for the text of any element. */
    if (x->parser == NULL || !XML_ParserReset(x->parser, "UTF-8") ||
        !strbuf_reserve(&x->text, XML_TEXT_MAX))
        return mem_none(e);
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, on_start, on_end);
    XML_SetCharacterDataHandler(x->parser, on_text);
    XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
    return true;
}

bool xml_feed(struct xml *x, const char *data, size_t n, bool last, struct err *e)
{
    struct err stopped = {0};
    bool ok = true;

    /* Expat takes the length as an int. */
    x->err = &stopped;
    size_t at = 0;
    while (!x->begun && at < n && memchr(" \t\r\n", data[at], 4) != NULL)
        at++;
    x->begun |= at < n;
    do {
        size_t part = n - at > 1 << 20 ? 1 << 20 : n - at;
        const char *p = part > 0 ? data + at : NULL;

        at += part;
        x->n_unending += part;
        ok = XML_Parse(x->parser, p, (int)part, last && at == n) == XML_STATUS_OK &&
             (x->n_unending <= UNENDING_MAX ||
              err_set(&stopped, "the answer's XML has a tag or comment of more than %d bytes",
                      UNENDING_MAX));
    } while (ok && at < n);
    /* Only now it is known whether keys are encoded. */
    for (size_t next = 0; ok && last && next < x->held.n;)
        ok = hand_out(x, &next);
    /* The text is in memory of x, which we may change. */
    ok = ok && (!last || decode(x, (char *)xml_text(x, XML_NEXT_KEY)));
    x->err = NULL;
    if (ok)
        return true;
    if (stopped.msg[0] != '\0')
        return err_set(e, "%s", stopped.msg);
    return err_set(e, "bad XML in the answer: %s", XML_ErrorString(XML_GetErrorCode(x->parser)));
}
