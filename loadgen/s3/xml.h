/* Reads the XML answers of S3 as they arrive. The root element determines the kind of answer,
 * because a server may send status 200 and then an Error. If a server uses another name for the
 * root, the fields determine the kind. */
#ifndef S3_LOADGEN_S3_XML_H
#define S3_LOADGEN_S3_XML_H

#include "libcommon/err.h"
#include "loadgen/util/strbuf.h"

#include <expat.h>
#include <stdint.h>

/* Room for the longest text of an element, with a NUL: keys have up to 1,024 bytes, three times as
 * much when URL-encoded. A longer text is an error; only messages are cut. */
#define XML_TEXT_MAX 4096

enum xml_root {
    XML_NOTHING,    /* no root element yet */
    XML_OTHER,      /* well-formed, but none of the following */
    XML_ERROR,      /* <Error> */
    XML_LIST,       /* <ListBucketResult>: ListObjectsV2 */
    XML_VERSIONS,   /* <ListVersionsResult> */
    XML_DELETED,    /* <DeleteResult> */
    XML_INITIATE,   /* <InitiateMultipartUploadResult> */
    XML_COMPLETE,   /* <CompleteMultipartUploadResult> */
    XML_UPLOADS,    /* <ListMultipartUploadsResult> */
    XML_VERSIONING, /* <VersioningConfiguration> */
    XML_LOCK        /* <ObjectLockConfiguration> */
};

enum xml_entry_kind {
    XML_OBJECT = 1,    /* <Contents> */
    XML_VERSION,       /* <Version> */
    XML_DELETE_MARKER, /* <DeleteMarker> in a list of versions */
    XML_DELETED_KEY,   /* <Deleted> */
    XML_FAILED_KEY,    /* <Error> in a DeleteResult */
    XML_UPLOAD         /* <Upload> not yet completed; its UploadId is in version_id */
};

/* One element of a list. Fields that the answer lacks are "", 0 or false. Valid only during the
 * call. */
struct xml_entry {
    enum xml_entry_kind kind;
    const char *key; /* n_key bytes and a NUL */
    size_t n_key;
    const char *version_id;
    const char *code, *message; /* only for XML_FAILED_KEY */
    uint64_t size_bytes;
    int64_t modified_ns; /* wall clock: LastModified or Initiated; INT64_MAX: not given */
};

/* Called for each element of a list, once the list is complete. Returns false, with the reason in
 * e, to stop. */
typedef bool xml_entry_fn(void *user, const struct xml_entry *entry, struct err *e);

/* The texts that are kept of an answer or an entry. */
enum xml_text {
    XML_ENTRY = 1, /* marks the start of an entry and holds its kind; not for answers */
    XML_KEY,
    XML_ID, /* id of a version or an upload */
    XML_SIZE,
    XML_MODIFIED,
    XML_CODE,    /* XML_ERROR and XML_FAILED_KEY */
    XML_MESSAGE, /* XML_ERROR and XML_FAILED_KEY */
    XML_STATUS,  /* XML_VERSIONING: "Enabled", "Suspended", or "" */
    XML_NEXT_TOKEN,
    XML_NEXT_KEY, /* NextKeyMarker, decoded like keys */
    XML_NEXT_ID,  /* NextVersionIdMarker, or NextUploadIdMarker */
    XML_N_TEXTS
};

/* A reader, and what it has found in the current answer. It can be used for any number of answers.
 * Starts as zeros. */
struct xml {
    enum xml_root root;
    enum xml_root wanted; /* set by the caller after xml_start: the kind of a root with an unknown
                           * name, if it has the field of that kind */
    char name[64];        /* of the root element, cut at the first byte that is not ASCII */
    uint64_t n_entries;   /* entries so far */
    bool is_truncated;

    /* Private. */
    enum xml_root kind; /* how elements are read: as root, or as wanted */
    const char *prefix;
    xml_entry_fn *on_entry;
    void *user;
    struct err *err;
    bool url_encoded;
    bool begun;                /* more than white space came */
    enum xml_entry_kind entry; /* the entry being read; 0: none */
    int depth;
    size_t n_unending; /* bytes since the last complete element or text */
    XML_Parser parser;
    struct strbuf text;  /* of the element being read */
    struct strbuf found; /* texts of the answer, each: a byte that says which, text, NUL */
    struct strbuf held;  /* texts of its entries, in the same form */
};

/* Prepares for an answer. `prefix` is that of the requested list, or "", and must live as long.
 * on_entry NULL: entries are only counted. Keys of a list are decoded if the list has EncodingType
 * "url". Many servers put that at the end, so entries are passed on once the answer is complete.
 * Returns false if out of memory. */
bool xml_start(struct xml *x, const char *prefix, xml_entry_fn *on_entry, void *user,
               struct err *e);
void xml_fini(struct xml *x);

/* Takes the next n bytes; `last`: there are no more (n may be 0). Skips white space at the start,
 * which servers send while they work, even before <?xml. Fails if the document is not
 * well-formed, has a document type, or if on_entry fails. After a failure call only xml_start or
 * xml_fini. */
bool xml_feed(struct xml *x, const char *data, size_t n, bool last, struct err *e);

/* Returns a text of the answer, as far as it has arrived; "": the answer has none. Valid until the
 * next call of another function. */
const char *xml_text(const struct xml *x, enum xml_text which);

#endif
