#include "loadgen/s3/xml.h"

#include "libcommon/rfc3339.h"
#include "loadgen/s3/uri.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What one answer may hold of keys: a page has 1,000. */
#define HELD_MAX (64u << 20)

/* Expat keeps what has no end yet, as a comment, and begins it anew with each piece: no answer of
 * S3 has as much without an element or text in it. */
#define UNENDING_MAX (1 << 16)

/* Deeper than any answer of S3. */
#define DEPTH_MAX 32

/* The kinds of answers: the names that servers have for the root, the field that tells the kind
 * where the root has none of them, and what makes an entry. */
static const struct {
    const char *names[2];
    const char *field;
    struct {
        const char *name;
        enum xml_entry_kind kind;
    } entries[3];
} ANSWERS[] = {
    [XML_ERROR] = {.names = {"Error"}},
    [XML_LIST] = {{"ListBucketResult"},
                  "IsTruncated",
                  {{"Contents", XML_OBJECT}, {"CommonPrefixes", XML_PREFIX}}},
    [XML_VERSIONS] = {{"ListVersionsResult", "ListBucketVersionsResult"},
                      "IsTruncated",
                      {{"Version", XML_VERSION},
                       {"DeleteMarker", XML_DELETE_MARKER},
                       {"CommonPrefixes", XML_PREFIX}}},
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

/* Where the text of an element is kept. */
struct text {
    const char *name;
    size_t offset, size; /* in struct xml */
};
#define TEXT(name, field)                                                                          \
    {                                                                                              \
        name, offsetof(struct xml, field), sizeof((struct xml *)0)->field                          \
    }

static const struct text ENTRY_TEXTS[] = {TEXT("Key", entry.key),
                                          TEXT("Prefix", entry.key),
                                          TEXT("VersionId", entry.version_id),
                                          TEXT("UploadId", entry.version_id),
                                          TEXT("Code", entry.code),
                                          TEXT("Message", entry.message),
                                          {0}};

static const struct text TEXTS[] = {TEXT("Code", code),
                                    TEXT("Message", message),
                                    TEXT("UploadId", upload_id),
                                    TEXT("Status", status),
                                    TEXT("NextContinuationToken", next_token),
                                    TEXT("NextKeyMarker", next_key_marker),
                                    TEXT("NextVersionIdMarker", next_version_marker),
                                    TEXT("NextUploadIdMarker", next_version_marker),
                                    {0}};

/* Reads no more of the answer. `why` is the error, unless there is one. */
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
}

static void begin_entry(struct xml *x, const char *name)
{
    for (size_t i = 0; i < 3 && ANSWERS[x->kind].entries[i].name != NULL; i++) {
        if (strcmp(ANSWERS[x->kind].entries[i].name, name) != 0)
            continue;
        x->root = x->kind;
        memset(&x->entry, 0, offsetof(struct xml_entry, key) + 1);
        x->entry.kind = ANSWERS[x->kind].entries[i].kind;
        x->entry.modified_ns = INT64_MAX;
        x->entry.version_id[0] = '\0';
        x->entry.code[0] = '\0';
        x->entry.message[0] = '\0';
        x->in_entry = true;
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
    x->n_text = 0;
    x->too_long = false;
}

static void XMLCALL on_text(void *user, const XML_Char *s, int n)
{
    struct xml *x = user;
    size_t room = sizeof x->text - 1 - x->n_text;
    size_t take = (size_t)n < room ? (size_t)n : room;

    x->n_unending = 0;
    memcpy(x->text + x->n_text, s, take);
    x->n_text += take;
    x->too_long = x->too_long || take < (size_t)n;
}

/* Keeps the text of an element of the table. One that is too long stops it where it must be whole.
 */
static void keep(struct xml *x, const struct text *t, const char *name)
{
    while (t->name != NULL && strcmp(t->name, name) != 0)
        t++;
    if (t->name == NULL)
        return;
    size_t n = x->n_text < t->size ? x->n_text : t->size - 1;
    *(char *)mempcpy((char *)x + t->offset, x->text, n) = '\0';
    if (x->too_long && t->size == XML_TEXT_MAX) {
        err_set(x->err, "a key, token or id in the answer's XML is longer than %d bytes",
                XML_TEXT_MAX - 1);
        stop(x, "");
    }
}

static uint64_t size_of_text(struct xml *x)
{
    bool digits = x->n_text > 0 && x->n_text <= 19 && strspn(x->text, "0123456789") == x->n_text;

    if (!digits)
        stop(x, "a Size in the answer's XML is not a number");
    return digits ? strtoull(x->text, NULL, 10) : 0;
}

static void end_of_field(struct xml *x, const char *name)
{
    if (strcmp(name, "Size") == 0)
        x->entry.size_bytes = size_of_text(x);
    else if (strcmp(name, "LastModified") == 0 || strcmp(name, "Initiated") == 0)
        rfc3339_parse(x->text, x->n_text, &x->entry.modified_ns);
    else
        keep(x, ENTRY_TEXTS, name);
}

/* ---- Entries that are held back ---- */

/* What a list tells of an entry: all before its key, and of key and version the texts. */
static bool hold(struct xml *x)
{
    const struct xml_entry *entry = &x->entry;

    strbuf_put(&x->held, (const char *)entry, offsetof(struct xml_entry, key));
    strbuf_put(&x->held, entry->key, entry->n_key + 1);
    strbuf_put(&x->held, entry->version_id, strlen(entry->version_id) + 1);
    if (x->held.failed)
        return err_set(x->err, "out of memory");
    return x->held.n <= HELD_MAX || err_set(x->err, "the answer's list is too long");
}

/* Decodes a key in place if keys are encoded. Some servers say so and do not: what begins with the
 * prefix asked for only as it stands, or cannot be decoded, is left. */
static bool decode(struct xml *x, char *text, size_t *n)
{
    char decoded[XML_TEXT_MAX];
    size_t n_decoded = *n;
    size_t n_prefix = strlen(x->prefix);

    /* Most keys hold nothing that is encoded. */
    if (!x->url_encoded || (strchr(text, '%') == NULL && strchr(text, '+') == NULL))
        return true;
    memcpy(decoded, text, *n);
    if (uri_decode(decoded, &n_decoded)) {
        bool begins = n_decoded >= n_prefix && memcmp(decoded, x->prefix, n_prefix) == 0;
        if (begins || strncmp(text, x->prefix, n_prefix) != 0) {
            memcpy(text, decoded, n_decoded);
            *n = n_decoded;
        }
    }
    text[*n] = '\0';
    return strlen(text) == *n || err_set(x->err, "a key in the answer's XML holds a NUL");
}

/* Hands out what was held, as it is known now how keys are written. */
static bool release(struct xml *x)
{
    struct xml_entry *entry = &x->entry;
    bool ok = true;

    for (size_t n = 0; ok && n < x->held.n;) {
        memcpy(entry, x->held.s + n, offsetof(struct xml_entry, key));
        n += offsetof(struct xml_entry, key);
        memcpy(entry->key, x->held.s + n, entry->n_key + 1);
        n += entry->n_key + 1;
        n += (size_t)(stpcpy(entry->version_id, x->held.s + n) - entry->version_id) + 1;
        ok = decode(x, entry->key, &entry->n_key) && x->on_entry(x->user, entry, x->err);
    }
    return ok;
}

static bool end_of_entry(struct xml *x)
{
    bool is_list = x->root == XML_LIST || x->root == XML_VERSIONS || x->root == XML_UPLOADS;

    x->in_entry = false;
    x->entry.n_key = strlen(x->entry.key);
    x->n_entries++;
    x->n_objects += x->entry.kind != XML_PREFIX;
    if (x->on_entry == NULL)
        return true;
    return is_list ? hold(x) : x->on_entry(x->user, &x->entry, x->err);
}

/* An element directly below the root. */
static void end_of_property(struct xml *x, const char *name)
{
    if (ANSWERS[x->kind].field != NULL && strcmp(name, ANSWERS[x->kind].field) == 0)
        x->root = x->kind;
    if (strcmp(name, "EncodingType") == 0)
        x->url_encoded = strcmp(x->text, "url") == 0;
    else if (strcmp(name, "IsTruncated") == 0)
        x->is_truncated = strcmp(x->text, "true") == 0;
    else
        keep(x, TEXTS, name);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct xml *x = user;

    x->n_unending = 0;
    x->text[x->n_text] = '\0';
    if (x->depth == 3 && x->in_entry) {
        end_of_field(x, name);
    } else if (x->depth == 2 && x->in_entry) {
        if (!end_of_entry(x))
            stop(x, "");
    } else if (x->depth == 2) {
        end_of_property(x, name);
    }
    x->n_text = 0;
    x->depth--;
}

/* No answer of S3 has a document type; entities are not to be expanded for anyone. */
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

bool xml_init(struct xml *x, struct err *e)
{
    *x = (struct xml){.parser = XML_ParserCreate("UTF-8")};
    return x->parser != NULL || err_set(e, "out of memory");
}

void xml_fini(struct xml *x)
{
    if (x->parser != NULL)
        XML_ParserFree(x->parser);
    x->parser = NULL;
    strbuf_fini(&x->held);
}

bool xml_start(struct xml *x, const char *prefix, xml_entry_fn *on_entry, void *user, struct err *e)
{
    if (!XML_ParserReset(x->parser, "UTF-8"))
        return err_set(e, "out of memory");
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, on_start, on_end);
    XML_SetCharacterDataHandler(x->parser, on_text);
    XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);

    memset(x, 0, offsetof(struct xml, parser));
    strbuf_clear(&x->held);
    for (const struct text *t = TEXTS; t->name != NULL; t++)
        ((char *)x)[t->offset] = '\0';
    x->prefix = prefix;
    x->on_entry = on_entry;
    x->user = user;
    return true;
}

/* A list that names no encoding has none. */
static bool end_of_document(struct xml *x)
{
    size_t n = strlen(x->next_key_marker);

    return release(x) && decode(x, x->next_key_marker, &n);
}

bool xml_feed(struct xml *x, const char *data, size_t n, bool last, struct err *e)
{
    struct err stopped = {0};
    bool ok = true;

    /* Expat takes an int. */
    x->err = &stopped;
    size_t at = 0;
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
    ok = ok && (!last || end_of_document(x));
    x->err = NULL;
    if (ok)
        return true;
    if (stopped.msg[0] != '\0')
        return err_set(e, "%s", stopped.msg);
    return err_set(e, "bad XML in the answer: %s", XML_ErrorString(XML_GetErrorCode(x->parser)));
}
