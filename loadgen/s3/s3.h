#ifndef S3_LOADGEN_S3_S3_H
#define S3_LOADGEN_S3_S3_H

#include "libcommon/err.h"
#include "loadgen/util/util.h"

#include <expat.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Percent-encoding for Signature Version 4: every byte except A-Z a-z 0-9 - . _ ~ becomes %XX with
 * upper-case digits. So the path sent is the canonical path. */

/* The longest encoding of n bytes, without a NUL. */
#define URI_MAX(n) (3 * (n))

/* Adds the encoding of n bytes: an object's key in a path (is_path), which keeps '/'; or a name or
 * value in a query, which does not. */
void uri_encode(struct strbuf *b, const char *s, size_t n, bool is_path);

/* Decodes the *n bytes at s in place and sets *n to the new length; adds no NUL. '+' becomes a
 * space, as in forms and in listings with encoding-type=url. Returns false if a '%' lacks its two
 * hexadecimal digits; then s is partly decoded. */
bool uri_decode(char *s, size_t *n);

/* Reads the XML answers of S3 as they arrive. The root element determines the kind of answer,
 * because a server may send status 200 and then an Error. If a server uses another name for the
 * root, the fields determine the kind. */

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

/* AWS Signature Version 4 in the Authorization header, in the form for S3: paths are encoded once
 * and not normalised. Source: Amazon S3 API Reference, "Signature Calculations for the
 * Authorization Header: Transferring Payload in a Single Chunk".
 *
 * A signer belongs to one thread. It keeps the day's signing key as two SHA-256 states (of the
 * inner and outer HMAC pads). So a signature costs three short SHA-256 runs, no key derivation and
 * no allocation. Keys, and what is derived from them, are in memory that core dumps leave out
 * (secret.h). */

/* The hash to give if the payload is not signed, and if it is empty. */
#define SIGV4_UNSIGNED      "UNSIGNED-PAYLOAD"
#define SIGV4_EMPTY_PAYLOAD "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

#define SIGV4_HASH_BYTES 32 /* size of a SHA-256 */
#define SIGV4_HASH_SIZE  65 /* room for one in hexadecimal, with a NUL */

/* The most signed headers in a request. */
#define SIGV4_HEADERS_MAX 24

/* Room for the canonical request: a path with a key of 1,024 bytes takes 3 KiB, a prefix and a
 * marker in a query take 3 KiB each, session tokens up to 2 KiB. */
#define SIGV4_CANONICAL_MAX 16384

struct sigv4_header {
    const char *name;  /* lower case */
    const char *value; /* without CR and LF */
};

struct sigv4_request {
    const char *method;
    const char *host;  /* as in the Host header */
    const char *path;  /* as sent: absolute, encoded as by uri_encode */
    const char *query; /* as sent, without '?': encoded as by uri_encode, in order of names,
                        * each with a '='; "": none */
    const struct sigv4_header *headers; /* further headers to sign and send, in any order, no name
                                         * twice, none of those sigv4_sign adds */
    size_t n_headers;
    const char *payload_hash; /* SHA-256 in hexadecimal, SIGV4_UNSIGNED or SIGV4_EMPTY_PAYLOAD */
    int64_t time_s;           /* seconds since 1970, UTC */
};

struct sigv4 {
    char *access_key;
    char *secret; /* "AWS4" and the secret key */
    char *token;  /* session token or NULL */
    char *region;
    char *service;
    EVP_MD *sha256;          /* also for digests of payloads */
    struct sigv4_work *work; /* in memory of secret.h, like the keys */
    int64_t day;             /* day of the signing key, in days since 1970; -1: none yet */
    int64_t time_s;          /* time of `date`; -1: none yet */
    char date[17];           /* 20130524T000000Z */
    char scope[160];         /* 20130524/us-east-1/s3/aws4_request */
};

/* Makes a signer; copies all strings. `token` may be NULL or empty. For a service other than "s3"
 * (in tests) it makes no x-amz-content-sha256 header. */
bool sigv4_init(struct sigv4 *s, const char *access_key, const char *secret_key, const char *token,
                const char *region, const char *service, struct err *e);

/* Frees the signer, and wipes the secrets from memory. */
void sigv4_fini(struct sigv4 *s);

/* Signs r and adds all signed header lines to `out`, each "name: value\r\n": host, the headers of
 * r, x-amz-content-sha256, x-amz-date, x-amz-security-token if there is a token, and Authorization.
 * The lines are built from the signed data. Fails if the lines do not fit, or if the request
 * exceeds the limits above. */
bool sigv4_sign(struct sigv4 *s, const struct sigv4_request *r, struct strbuf *out, struct err *e);

/* Adds n header lines, each "name: value\r\n". */
void sigv4_put_lines(struct strbuf *out, const struct sigv4_header *headers, size_t n);

/* Writes a SHA-256 in hexadecimal. */
void sigv4_hex(const unsigned char hash[static SIGV4_HASH_BYTES], char hex[static SIGV4_HASH_SIZE]);

/* A request to S3: its description, and the bytes of its head. */

/* Reads a listing page by page: checks the keys, finds where the next page begins, and makes sure
 * that the listing ends. */

/* Starts as zeros. */
struct pages {
    struct strbuf token; /* where the next page begins: its token and its id, each with a NUL */
    struct strbuf mark;  /* the token of an earlier page */
    struct strbuf last;  /* the last key of the previous page, with a NUL */
    struct strbuf now;   /* the last key so far of this page, with a NUL */
    uint64_t n;          /* pages that were followed by another one */
    unsigned n_empty;    /* empty pages in a row, up to now */
};

/* Clears and frees everything. */
void pages_clear(struct pages *p);

/* Begins a page: a new page, or a repetition of the same one. */
void pages_begin(struct pages *p);

/* Takes an entry. Fails if its key is outside of the prefix, or not after the keys listed before;
 * *e says which. */
bool pages_take(struct pages *p, const char *prefix, const struct xml_entry *entry, struct err *e);

/* Ends a page that is not the last one. Fails if the page does not say where the next one begins,
 * or if the listing would never end: tokens repeat, or too many pages are empty. */
bool pages_next(struct pages *p, const struct xml *x, struct err *e);

/* Return where the next page begins, in the form that S3 expects; NULL: at the start. */
const char *pages_token(const struct pages *p);
const char *pages_token_id(const struct pages *p); /* for versions and uploads */

/* Checksums of objects that S3 accepts, in base64, in the header x-amz-checksum-NAME. */

enum checksum_kind { CHECKSUM_NONE, CHECKSUM_CRC32C, CHECKSUM_CRC64NVME, CHECKSUM_SHA256 };

#define CHECKSUM_TEXT_SIZE 48 /* room for the longest in base64, with a NUL */

/* Tables to compute a CRC eight bytes at a time: entry [k][b] is the effect of byte b with k bytes
 * after it. */
struct checksum {
    uint64_t table[8][256];
    uint64_t all; /* all ones, as wide as the CRC */
};

/* Makes the tables for CHECKSUM_CRC32C (Castagnoli, RFC 3720) or CHECKSUM_CRC64NVME (NVM Express).
 * Both CRCs are reflected, and start and end with an xor of all ones. */
void checksum_init(struct checksum *c, enum checksum_kind kind);

/* Returns the CRC of the bytes so far and n more. `crc` is the CRC of the bytes so far (0:
 * none). */
uint64_t checksum_crc(const struct checksum *c, uint64_t crc, const void *data, size_t n);

/* Writes the bytes of a CRC, highest first, in base64. */
void checksum_text(const struct checksum *c, uint64_t crc, char text[static CHECKSUM_TEXT_SIZE]);

#define S3OP_KEY_MAX 1024

/* The namespace of documents for S3, as an attribute of their root. */
#define S3OP_NAMESPACE "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""

/* The longest request head. A key of 1,024 bytes takes 3 KiB in a path; a prefix and a token in a
 * query take 3 KiB each; a session token takes 2 KiB. */
#define S3OP_HEAD_MAX 16384

/* Properties of a kind of request. */
enum {
    S3OP_LISTS = 1,    /* has a prefix; the answer comes in pages */
    S3OP_UPLOADS = 2,  /* sends the content of an object or a part */
    S3OP_CREATES = 4,  /* begins an object and sets how it is stored */
    S3OP_ENCRYPTS = 8, /* passes the key of --encrypt */
    S3OP_DELETES = 16, /* passes the retention */
    S3OP_MD5 = 32,     /* S3 requires a Content-MD5 */
    S3OP_UPLOAD = S3OP_UPLOADS | S3OP_ENCRYPTS,
    S3OP_CREATE = S3OP_CREATES | S3OP_ENCRYPTS,
    S3OP_BATCH = S3OP_DELETES | S3OP_MD5,
};

/* All kinds: name in the enum, name in the capture, method, resource in the query (NULL: none),
 * document of the answer (XML_NOTHING: none), what it does. */
/* clang-format off */
#define S3OP_KINDS(X) \
    X(PUT, "PUT", "PUT", NULL, XML_NOTHING, S3OP_UPLOAD | S3OP_CREATE) \
    X(GET, "GET", "GET", NULL, XML_NOTHING, S3OP_ENCRYPTS) \
    X(STAT, "STAT", "HEAD", NULL, XML_NOTHING, S3OP_ENCRYPTS) \
    X(DELETE, "DELETE", "DELETE", NULL, XML_NOTHING, S3OP_DELETES) \
    X(DELETE_BATCH, "DELETE", "POST", "delete", XML_DELETED, S3OP_BATCH) \
    X(LIST, "LIST", "GET", NULL, XML_LIST, S3OP_LISTS) \
    X(LIST_VERSIONS, "LISTVERSIONS", "GET", "versions", XML_VERSIONS, S3OP_LISTS) \
    X(LIST_UPLOADS, "LISTUPLOADS", "GET", "uploads", XML_UPLOADS, S3OP_LISTS) \
    X(RETENTION, "RETENTION", "PUT", "retention", XML_NOTHING, S3OP_MD5) \
    X(INITIATE, "INITIATE", "POST", "uploads", XML_INITIATE, S3OP_CREATE) \
    X(PUT_PART, "PUTPART", "PUT", NULL, XML_NOTHING, S3OP_UPLOAD) \
    X(COMPLETE, "COMPLETE", "POST", NULL, XML_COMPLETE, 0) \
    X(ABORT, "ABORT", "DELETE", NULL, XML_NOTHING, 0) \
    X(BUCKET_STAT, "BUCKET", "HEAD", NULL, XML_NOTHING, 0) \
    X(BUCKET_CREATE, "BUCKET", "PUT", NULL, XML_NOTHING, 0) \
    X(BUCKET_VERSIONING, "BUCKET", "GET", "versioning", XML_VERSIONING, 0) \
    X(BUCKET_SET_VERSIONING, "BUCKET", "PUT", "versioning", XML_NOTHING, S3OP_MD5) \
    X(BUCKET_LOCK, "BUCKET", "GET", "object-lock", XML_LOCK, 0) \
    X(FETCH, "FETCH", "GET", NULL, XML_NOTHING, 0) \
    X(FETCH_POST, "FETCH", "POST", NULL, XML_NOTHING, 0)
/* clang-format on */

#define S3OP_ENUM(kind, ...) S3OP_##kind,
enum s3op_kind { S3OP_KINDS(S3OP_ENUM) S3OP_N_KINDS };

struct s3op_row {
    const char *name, *method, *resource;
    enum xml_root answer;
    unsigned does;
};

extern const struct s3op_row S3OP[];

static inline bool s3op_does(enum s3op_kind kind, unsigned what)
{
    return (S3OP[kind].does & what) != 0;
}

struct s3op {
    enum s3op_kind kind;
    bool recorded; /* makes a row; if false, makes one only if it fails */
    bool bench;    /* part of the benchmark: counts for autoterm */

    /* Strings and bodies are borrowed until the request ends. */
    const char *version_id, *upload_id; /* NULL: none */
    unsigned part;                      /* of an S3OP_PUT_PART; the first is 1 */
    const char *header, *header_value;  /* one more header to sign, in lower case; NULL: none */

    /* The body: n_payload bytes of the object of payload_seed (payload.c) from payload_offset on,
     * or else the n_body bytes at `body`. */
    uint64_t payload_seed;
    uint64_t payload_offset;
    uint64_t n_payload;
    const char *body;
    size_t n_body;

    /* GET: `length` bytes from `offset` on; with `whole` the whole object. */
    uint64_t offset, length;
    bool whole;
    bool verify; /* compare the body with the object of payload_seed */

    /* Listings: on_entry gets each element. Reads all pages, unless one_page is set: then one page,
     * the one after `pages` or, if that is NULL, the first that is not empty. */
    bool one_page;
    struct pages *pages; /* NULL: none */
    uint64_t max_keys;   /* per page; 0: the server decides */
    const char *start_after;
    xml_entry_fn *on_entry;
    void *user;

    /* Requests that are not for S3: path and query as they are sent (NULL: none), and where the
     * body goes, which fails if it is larger. */
    const char *path, *query;
    FILE *to;
    uint64_t max_bytes;

    uint64_t n_objects;   /* number of objects that the request is for; above 1 for a batch */
    uint64_t min_objects; /* a listing with fewer objects fails */

    /* The object; for a listing its prefix; "" for requests on the bucket. It comes last, as only
     * its beginning is used. */
    size_t n_key;
    char key[S3OP_KEY_MAX + 1];
};

/* Sets the key of the object, or the prefix of a listing; up to S3OP_KEY_MAX bytes. */
static inline void s3op_set_key(struct s3op *op, const char *key)
{
    op->n_key = strlen(key);
    memcpy(op->key, key, op->n_key + 1);
}

enum s3op_lookup { S3OP_LOOKUP_AUTO, S3OP_LOOKUP_PATH, S3OP_LOOKUP_HOST };

/* Settings that all requests of a run share. */
struct s3op_style {
    const char *bucket;
    const char *region;
    bool tls;
    enum s3op_lookup lookup;
    bool sign_payload;
    bool md5;
    enum checksum_kind checksum; /* for objects and parts */
    const char *storage_class;   /* NULL: none */
    bool sse_s3;
    char *sse_c_key; /* in base64, as is its MD5; NULL: none */
    char sse_c_key_md5[32];
    bool object_lock; /* create buckets with object lock */
};

/* Makes a random key for SSE-C, in memory of secret.h: the caller frees s->sse_c_key in any case.
 */
bool s3op_make_key(struct s3op_style *s, struct err *e);

/* True if requests to `host` have the bucket in the host name. With S3OP_LOOKUP_AUTO this is so for
 * the hosts of Amazon, Google and Alibaba, which expect it, if the bucket's name can be part of a
 * host name. */
bool s3op_uses_virtual_host(const struct s3op_style *s, const char *host);

/* Data for a request head, besides the request itself. */
struct s3op_head {
    const char *host;         /* as in the Host header */
    bool virtual_host;        /* the host name contains the bucket's name */
    const char *payload_hash; /* SHA-256 in hexadecimal, or SIGV4_UNSIGNED */
    const char *content_md5;  /* base64; NULL: none */
    const char *checksum;     /* base64, if s3op_takes_checksum */
    const char *user_agent;
    const char *token;    /* where a listing continues; NULL: at its start */
    const char *token_id; /* the same for the id of a version or upload */
    int64_t time_s;       /* UTC */
};

/* Writes the request line and headers to out[0..size-1], and returns their length. signer NULL:
 * does not sign. Returns 0 on failure: *e says why. */
size_t s3op_build(const struct s3op_style *s, struct sigv4 *signer, const struct s3op *op,
                  const struct s3op_head *head, char *out, size_t size, struct err *e);

/* Returns the size of the body in bytes. */
uint64_t s3op_n_body(const struct s3op *op);

/* True if the request carries a checksum of its body. */
bool s3op_takes_checksum(const struct s3op_style *s, const struct s3op *op);

/* Names of checksums for --checksum and for S3, with NULL at the end. */
extern const char *const S3OP_CHECKSUMS[];

/* True if the request carries a Content-MD5: S3 requires it, or the user wants it. */
bool s3op_needs_md5(const struct s3op_style *s, const struct s3op *op);

#endif
