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
 * that when URL-encoded. Longer texts are an error in keys, ids and tokens, and are cut in others.
 */
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
    XML_OBJECT,        /* <Contents> */
    XML_PREFIX,        /* <CommonPrefixes>; its Prefix is in key */
    XML_VERSION,       /* <Version> */
    XML_DELETE_MARKER, /* <DeleteMarker> of a list of versions */
    XML_DELETED_KEY,   /* <Deleted> */
    XML_FAILED_KEY,    /* <Error> in a DeleteResult */
    XML_UPLOAD         /* <Upload> that was begun and not ended; its UploadId is in version_id */
};

/* One element of a list. What an answer does not hold is empty, 0 or false. Lives during the call.
 */
struct xml_entry {
    enum xml_entry_kind kind;
    size_t n_key;
    uint64_t size_bytes;
    int64_t modified_ns;    /* wall clock: LastModified, or Initiated; INT64_MAX: not said */
    char key[XML_TEXT_MAX]; /* n_key bytes and a NUL */
    char version_id[XML_TEXT_MAX];
    char code[128];    /* of an XML_FAILED_KEY */
    char message[512]; /* likewise */
};

/* Called for each element of a list at its end; false stops with the message put into e. */
typedef bool xml_entry_fn(void *user, const struct xml_entry *entry, struct err *e);

/* A reader, to be used for any number of answers, and what it found in the present one. */
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
    bool in_entry;
    bool too_long;
    int depth;
    size_t n_text;
    size_t n_unending; /* bytes since the last element or text */
    XML_Parser parser;
    struct strbuf held; /* entries of a list, until its end */
    struct xml_entry entry;
    char text[XML_TEXT_MAX];

    /* The texts that it has found. */
    char code[128];    /* of an XML_ERROR */
    char message[512]; /* likewise */
    char upload_id[XML_TEXT_MAX];
    char status[16];                    /* of an XML_VERSIONING: "Enabled", "Suspended", or "" */
    char next_token[XML_TEXT_MAX];      /* NextContinuationToken */
    char next_key_marker[XML_TEXT_MAX]; /* decoded, as are keys */
    char next_version_marker[XML_TEXT_MAX]; /* of uploads: NextUploadIdMarker */
};

/* False: out of memory. xml_fini in any case. */
bool xml_init(struct xml *x, struct err *e);
void xml_fini(struct xml *x);

/* Makes ready for an answer; `prefix` is that of the list asked for, or "", and must live as long.
 * on_entry may be NULL: then entries are only counted. Keys of a list are decoded if it has
 * EncodingType "url"; since many servers say so only at the end, its entries are handed out once it
 * is complete. */
bool xml_start(struct xml *x, const char *prefix, xml_entry_fn *on_entry, void *user,
               struct err *e);

/* Takes the next n bytes; `last` with the last ones (n may be 0). An error if it is not
 * well-formed, has a document type, or on_entry said so; then only xml_start and xml_fini may
 * follow. */
bool xml_feed(struct xml *x, const char *data, size_t n, bool last, struct err *e);

#endif
