/* The XML that S3 answers with, read as it arrives. Its root element says which kind of answer it
 * is, as a server may answer 200 and then send an Error; where servers name the root in their own
 * way, its fields say it. */
#ifndef S3_LOADGEN_S3_XML_H
#define S3_LOADGEN_S3_XML_H

#include "libcommon/err.h"
#include "loadgen/util/strbuf.h"

#include <expat.h>
#include <stddef.h>
#include <stdint.h>

/* The longest text of an element that is kept, with a NUL: keys have up to 1,024 bytes, three times
 * that when URL-encoded. A longer text is an error; only a message is cut. */
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
    XML_PREFIX,        /* <CommonPrefixes>; its Prefix is in key */
    XML_VERSION,       /* <Version> */
    XML_DELETE_MARKER, /* <DeleteMarker> of a list of versions */
    XML_DELETED_KEY,   /* <Deleted> */
    XML_FAILED_KEY,    /* <Error> in a DeleteResult */
    XML_UPLOAD         /* <Upload> that was begun and not ended; its UploadId is in version_id */
};

/* One element of a list. What an answer does not hold is "", 0 or false. Lives during the call. */
struct xml_entry {
    enum xml_entry_kind kind;
    const char *key; /* n_key bytes and a NUL */
    size_t n_key;
    const char *version_id;
    const char *code, *message; /* of an XML_FAILED_KEY */
    uint64_t size_bytes;
    int64_t modified_ns; /* wall clock: LastModified, or Initiated; INT64_MAX: not said */
};

/* Called for each element of a list once the list is complete; false stops with the message put
 * into e. */
typedef bool xml_entry_fn(void *user, const struct xml_entry *entry, struct err *e);

/* The texts that are kept of an answer or of an entry. */
enum xml_text {
    XML_ENTRY = 1, /* begins an entry, and holds its kind; never of an answer */
    XML_KEY,
    XML_ID, /* of a version or an upload */
    XML_SIZE,
    XML_MODIFIED,
    XML_CODE,    /* of an XML_ERROR or an XML_FAILED_KEY */
    XML_MESSAGE, /* likewise */
    XML_STATUS,  /* of an XML_VERSIONING: "Enabled", "Suspended", or "" */
    XML_NEXT_TOKEN,
    XML_NEXT_KEY, /* NextKeyMarker, decoded as keys are */
    XML_NEXT_ID,  /* NextVersionIdMarker, or NextUploadIdMarker */
    XML_N_TEXTS
};

/* A reader, to be used for any number of answers, and what it found in the present one. Starts as
 * zeros. */
struct xml {
    enum xml_root root;
    enum xml_root wanted; /* for the caller to set after xml_start: what a root of an unknown name
                           * is if it has a field of that */
    char name[64];        /* of the root element, as far as it is ASCII */
    uint64_t n_entries;   /* read so far */
    uint64_t n_objects;   /* of these, all but common prefixes */
    bool is_truncated;

    /* Private. */
    enum xml_root kind; /* what elements are read as: root, or wanted */
    const char *prefix;
    xml_entry_fn *on_entry;
    void *user;
    struct err *err;
    bool url_encoded;
    enum xml_entry_kind entry; /* that is being read; 0: none */
    int depth;
    size_t n_unending; /* bytes since the last element or text */
    XML_Parser parser;
    struct strbuf text;  /* of the present element */
    struct strbuf found; /* texts of the answer, each behind a byte that says which, with a NUL */
    struct strbuf held;  /* likewise of its entries */
};

/* Makes ready for an answer; `prefix` is that of the list asked for, or "", and must live as long.
 * on_entry may be NULL: then entries are only counted. Keys of a list are decoded if it has
 * EncodingType "url"; since many servers say so only at the end, entries are handed out once the
 * answer is complete. False: out of memory. */
bool xml_start(struct xml *x, const char *prefix, xml_entry_fn *on_entry, void *user,
               struct err *e);
void xml_fini(struct xml *x);

/* Takes the next n bytes; `last` with the last ones (n may be 0). An error if it is not
 * well-formed, has a document type, or on_entry said so; then only xml_start and xml_fini may
 * follow. */
bool xml_feed(struct xml *x, const char *data, size_t n, bool last, struct err *e);

/* A text of the answer, as far as it has come; "": it has none. Lives until the next call of
 * another function. */
const char *xml_text(const struct xml *x, enum xml_text which);

#endif
