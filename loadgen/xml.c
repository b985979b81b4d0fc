#include "xml.h"

#include "uri.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than any answer of S3. */
#define DEPTH_MAX 32

static const char *const ROOTS[] = {
    [XML_ERROR] = "Error",
    [XML_LIST] = "ListBucketResult",
    [XML_VERSIONS] = "ListVersionsResult",
    [XML_DELETED] = "DeleteResult",
    [XML_INITIATE] = "InitiateMultipartUploadResult",
    [XML_COMPLETE] = "CompleteMultipartUploadResult",
};

/* The elements below the roots that make entries. */
static const struct {
    enum xml_root root;
    enum xml_entry_kind kind;
    const char *name;
} ENTRIES[] = {
    {XML_LIST, XML_OBJECT, "Contents"},           {XML_LIST, XML_PREFIX, "CommonPrefixes"},
    {XML_VERSIONS, XML_VERSION, "Version"},       {XML_VERSIONS, XML_DELETE_MARKER, "DeleteMarker"},
    {XML_VERSIONS, XML_PREFIX, "CommonPrefixes"}, {XML_DELETED, XML_DELETED_KEY, "Deleted"},
    {XML_DELETED, XML_FAILED_KEY, "Error"},
};

/* After an error was put into x->err: nothing more of the answer is read. */
static void stop(struct xml *x)
{
    XML_StopParser(x->parser, XML_FALSE);
}

static enum xml_root root_of(const char *name)
{
    for (size_t i = XML_ERROR; i < sizeof ROOTS / sizeof *ROOTS; i++)
        if (strcmp(name, ROOTS[i]) == 0)
            return (enum xml_root)i;
    return XML_OTHER;
}

static void begin_entry(struct xml *x, const char *name)
{
    struct xml_entry *entry = &x->entry;

    for (size_t i = 0; i < sizeof ENTRIES / sizeof *ENTRIES; i++) {
        if (ENTRIES[i].root != x->root || strcmp(ENTRIES[i].name, name) != 0)
            continue;
        entry->kind = ENTRIES[i].kind;
        entry->n_key = 0;
        entry->size_bytes = 0;
        entry->is_latest = false;
        entry->key[0] = '\0';
        entry->version_id[0] = '\0';
        entry->code[0] = '\0';
        entry->message[0] = '\0';
        x->in_entry = true;
    }
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct xml *x = user;

    (void)attributes;
    if (++x->depth > DEPTH_MAX) {
        err_set(x->err, "the answer's XML is nested too deeply");
        stop(x);
    }
    if (x->depth == 1)
        x->root = root_of(name);
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

    memcpy(x->text + x->n_text, s, take);
    x->n_text += take;
    x->too_long = x->too_long || take < (size_t)n;
}

/* Keeps the text whole, or stops; `decode`: it is URL-encoded if keys are. Returns its length. */
static size_t keep(struct xml *x, char dst[static XML_TEXT_MAX], bool decode)
{
    size_t n = x->n_text;

    memcpy(dst, x->text, n + 1);
    if (x->too_long) {
        err_set(x->err, "a key, token or id in the answer's XML is longer than %d bytes",
                XML_TEXT_MAX - 1);
        stop(x);
    } else if (decode && x->url_encoded && !uri_decode(dst, &n, true)) {
        err_set(x->err, "a key in the answer's XML is not URL-encoded");
        stop(x);
    }
    dst[n] = '\0';
    return n;
}

/* Keeps as much of the text as fits. */
static void keep_some(const struct xml *x, char *dst, size_t size)
{
    size_t n = x->n_text < size - 1 ? x->n_text : size - 1;

    memcpy(dst, x->text, n);
    dst[n] = '\0';
}

static uint64_t size_of_text(struct xml *x)
{
    char *end = NULL;
    bool digits = x->n_text > 0 && x->n_text <= 19 && strspn(x->text, "0123456789") == x->n_text;

    if (!digits) {
        err_set(x->err, "a Size in the answer's XML is not a number");
        stop(x);
        return 0;
    }
    return strtoull(x->text, &end, 10);
}

static void end_of_field(struct xml *x, const char *name)
{
    struct xml_entry *entry = &x->entry;

    if (strcmp(name, "Key") == 0 || (entry->kind == XML_PREFIX && strcmp(name, "Prefix") == 0)) {
        /* Answers to a batch DELETE have no encoding. */
        bool decode = x->root == XML_LIST || x->root == XML_VERSIONS;
        entry->n_key = keep(x, entry->key, decode);
    } else if (strcmp(name, "VersionId") == 0) {
        keep(x, entry->version_id, false);
    } else if (strcmp(name, "Size") == 0) {
        entry->size_bytes = size_of_text(x);
    } else if (strcmp(name, "IsLatest") == 0) {
        entry->is_latest = strcmp(x->text, "true") == 0;
    } else if (strcmp(name, "Code") == 0) {
        keep_some(x, entry->code, sizeof entry->code);
    } else if (strcmp(name, "Message") == 0) {
        keep_some(x, entry->message, sizeof entry->message);
    }
}

/* An element directly below the root. */
static void end_of_property(struct xml *x, const char *name)
{
    if (strcmp(name, "Code") == 0 && x->root == XML_ERROR)
        keep_some(x, x->code, sizeof x->code);
    else if (strcmp(name, "Message") == 0 && x->root == XML_ERROR)
        keep_some(x, x->message, sizeof x->message);
    else if (strcmp(name, "IsTruncated") == 0)
        x->is_truncated = strcmp(x->text, "true") == 0;
    else if (strcmp(name, "NextContinuationToken") == 0)
        keep(x, x->next_token, false);
    else if (strcmp(name, "NextKeyMarker") == 0)
        keep(x, x->next_key_marker, true);
    else if (strcmp(name, "NextVersionIdMarker") == 0)
        keep(x, x->next_version_marker, false);
    else if (strcmp(name, "UploadId") == 0 && x->root == XML_INITIATE)
        keep(x, x->upload_id, false);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct xml *x = user;

    x->text[x->n_text] = '\0';
    if (x->depth == 3 && x->in_entry) {
        end_of_field(x, name);
    } else if (x->depth == 2 && x->in_entry) {
        x->in_entry = false;
        x->n_entries++;
        if (x->on_entry != NULL && !x->on_entry(x->user, &x->entry, x->err))
            stop(x);
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
    err_set(x->err, "the answer's XML has a document type");
    stop(x);
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
}

bool xml_start(struct xml *x, bool url_encoded, xml_entry_fn *on_entry, void *user, struct err *e)
{
    if (!XML_ParserReset(x->parser, "UTF-8"))
        return err_set(e, "out of memory");
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, on_start, on_end);
    XML_SetCharacterDataHandler(x->parser, on_text);
    XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);

    x->root = XML_NOTHING;
    x->n_entries = 0;
    x->is_truncated = false;
    x->code[0] = '\0';
    x->message[0] = '\0';
    x->upload_id[0] = '\0';
    x->next_token[0] = '\0';
    x->next_key_marker[0] = '\0';
    x->next_version_marker[0] = '\0';
    x->on_entry = on_entry;
    x->user = user;
    x->url_encoded = url_encoded;
    x->in_entry = false;
    x->too_long = false;
    x->depth = 0;
    x->n_text = 0;
    return true;
}

bool xml_feed(struct xml *x, const char *data, size_t n, bool last, struct err *e)
{
    struct err stopped = {0};
    bool ok = true;

    /* Expat takes an int. */
    x->err = &stopped;
    do {
        int part = n > 1 << 20 ? 1 << 20 : (int)n;
        n -= (size_t)part;
        ok = XML_Parse(x->parser, data, part, last && n == 0) == XML_STATUS_OK;
        data += part;
    } while (ok && n > 0);
    x->err = NULL;
    if (ok)
        return true;
    if (stopped.msg[0] != '\0')
        return err_set(e, "%s", stopped.msg);
    return err_set(e, "bad XML in the answer, line %lu: %s",
                   (unsigned long)XML_GetCurrentLineNumber(x->parser),
                   XML_ErrorString(XML_GetErrorCode(x->parser)));
}

/* How a byte is written in XML text: NULL as it is, "" not at all. */
static const char *reference(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return c < ' ' ? "" : NULL;
    }
}

size_t xml_escape(char *dst, size_t size, const char *s, size_t n)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        const char *form = reference((unsigned char)s[i]);
        size_t need = form == NULL ? 1 : strlen(form);

        if (need == 0 || size - len <= need)
            return SIZE_MAX;
        memcpy(dst + len, form == NULL ? &s[i] : form, need);
        len += need;
    }
    if (len >= size)
        return SIZE_MAX;
    dst[len] = '\0';
    return len;
}
