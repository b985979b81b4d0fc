/* XML answers: the result does not depend on where they are split, and texts fit their buffers.
 *
 * Input: a byte of flags, a byte with the size of the pieces, the document. */
#include "tests/fuzz/fuzz.h"

#include "analyze/base/intern.h"
#include "loadgen/s3/s3.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

struct outcome {
    bool ok;
    uint64_t entries; /* a hash */
    uint64_t n_entries;
    struct err err;
};

static uint64_t hash_text(const char *s)
{
    size_t n = strlen(s);

    assert(n <= XML_TEXT_MAX);
    return intern_hash(s, n);
}

static bool on_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct outcome *o = user;

    (void)e;
    assert(entry->n_key < XML_TEXT_MAX && entry->key[entry->n_key] == '\0');
    o->entries = o->entries * 31 + intern_hash(entry->key, entry->n_key) +
                 3 * hash_text(entry->version_id) + 5 * hash_text(entry->code) +
                 7 * hash_text(entry->message) + 11 * entry->size_bytes +
                 13 * (uint64_t)entry->kind;
    o->n_entries++;
    return true;
}

static struct outcome read_document(struct xml *x, const char *data, size_t n, size_t piece,
                                    const char *prefix)
{
    struct outcome o = {.ok = true};

    o.ok = xml_start(x, prefix, on_entry, &o, &o.err);
    assert(o.ok);
    for (size_t at = 0; o.ok && at < n; at += piece)
        o.ok = xml_feed(x, data + at, n - at < piece ? n - at : piece, false, &o.err);
    o.ok = o.ok && xml_feed(x, NULL, 0, true, &o.err);
    assert(o.ok == (o.err.msg[0] == '\0') && strchr(o.err.msg, '\n') == NULL);
    assert(!o.ok || (x->root != XML_NOTHING && o.n_entries == x->n_entries));
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct xml x[2];
    struct fuzz_input in = {data, n};
    const char *prefix = fuzz_take(&in, 1) & 1 ? "a/" : "";
    size_t piece = 1 + (size_t)fuzz_take(&in, 1);
    const char *document = (const char *)in.p;

    struct outcome whole = read_document(&x[0], document, in.n, in.n + 1, prefix);
    struct outcome parts = read_document(&x[1], document, in.n, piece, prefix);
    assert(whole.ok == parts.ok && whole.n_entries == parts.n_entries);
    assert(whole.entries == parts.entries);
    if (whole.ok) {
        assert(x[0].root == x[1].root && x[0].is_truncated == x[1].is_truncated);
        for (enum xml_text t = XML_KEY; t < XML_N_TEXTS; t++)
            assert(strcmp(xml_text(&x[0], t), xml_text(&x[1], t)) == 0);
    }
    return 0;
}
