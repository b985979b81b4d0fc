/* A request to S3: what it is, and its bytes up to the body. */
#ifndef S3_LOADGEN_S3_S3OP_H
#define S3_LOADGEN_S3_S3OP_H

#include "libcommon/err.h"
#include "loadgen/s3/checksum.h"
#include "loadgen/s3/pages.h"
#include "loadgen/s3/sigv4.h"
#include "loadgen/s3/xml.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define S3OP_KEY_MAX 1024

/* The longest request head: a key of 1,024 bytes takes 3 KiB in a path, a prefix and a token in a
 * query as much each, and a session token 2 KiB. */
#define S3OP_HEAD_MAX 16384

/* What a kind of request does. */
enum {
    S3OP_LISTS = 1,    /* names a prefix, and is answered page by page */
    S3OP_UPLOADS = 2,  /* sends the content of an object or a part */
    S3OP_CREATES = 4,  /* begins an object, and says how that is stored */
    S3OP_ENCRYPTS = 8, /* says the key of --encrypt */
    S3OP_DELETES = 16, /* passes retention */
    S3OP_MD5 = 32,     /* S3 wants a Content-MD5 */
    S3OP_UPLOAD = S3OP_UPLOADS | S3OP_ENCRYPTS,
    S3OP_CREATE = S3OP_CREATES | S3OP_ENCRYPTS,
    S3OP_BATCH = S3OP_DELETES | S3OP_MD5,
};

/* All kinds: the enum's name, the capture's, the method, what the query names (NULL: nothing), the
 * answer's document (XML_NOTHING: none), what it does. */
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
    X(BUCKET_LOCK, "BUCKET", "GET", "object-lock", XML_LOCK, 0)
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
    bool recorded; /* a row, else only if it fails */
    bool bench;    /* of the benchmark itself: counts for autoterm */

    /* The object; in a listing the prefix; "" in requests on the bucket. */
    char key[S3OP_KEY_MAX + 1];
    size_t n_key;
    const char
        *version_id; /* NULL: none. Strings and bodies are borrowed until the request ends. */
    const char *upload_id;
    unsigned part;                     /* of an S3OP_PUT_PART, from 1 */
    const char *header, *header_value; /* one more to be signed, in lower case; NULL: none */

    /* The body: n_payload bytes of the object of payload_seed (payload.h), from payload_offset on,
     * or n_body bytes at body. */
    uint64_t payload_seed;
    uint64_t payload_offset;
    uint64_t n_payload;
    const char *body;
    size_t n_body;

    /* GET: `length` bytes from `offset` on, `whole` the whole object. */
    uint64_t offset, length;
    bool whole;
    bool verify; /* compare the body with that of payload_seed */

    /* Listings: on_entry gets each element; all pages, or one if one_page: the first that is not
     * empty, or the one behind `pages`. */
    bool one_page;
    struct pages *pages;   /* NULL: none */
    uint64_t max_keys;     /* of a page; 0: as many as the server gives */
    const char *delimiter; /* NULL: none */
    const char *start_after;
    xml_entry_fn *on_entry;
    void *user;

    uint64_t n_objects;   /* asked for; a batch has several */
    uint64_t min_objects; /* that a listing must have */
};

/* Names its object, or the prefix of a listing: of up to S3OP_KEY_MAX bytes. */
static inline void s3op_set_key(struct s3op *op, const char *key)
{
    op->n_key = strlen(key);
    memcpy(op->key, key, op->n_key + 1);
}

enum s3op_lookup { S3OP_LOOKUP_AUTO, S3OP_LOOKUP_PATH, S3OP_LOOKUP_HOST };

/* What all requests of a run have in common. */
struct s3op_style {
    const char *bucket;
    const char *region;
    bool tls;
    enum s3op_lookup lookup;
    bool sign_payload;
    bool md5;
    enum checksum_kind checksum; /* of objects and parts */
    const char *storage_class;   /* NULL: none */
    bool sse_s3;
    const char *sse_c_key; /* base64, with its MD5; NULL: none */
    const char *sse_c_key_md5;
    bool object_lock; /* buckets are made with it */
};

/* Whether requests to `host` name the bucket in the host name. `auto` does so for the hosts of
 * Amazon, Google and Alibaba, which want it, if the bucket's name can be part of one. */
bool s3op_uses_virtual_host(const struct s3op_style *s, const char *host);

/* What goes into one head beside the request itself. */
struct s3op_head {
    const char *host;         /* as in the Host header */
    bool virtual_host;        /* which holds the bucket's name */
    const char *payload_hash; /* SHA-256 in hexadecimal, or SIGV4_UNSIGNED */
    const char *content_md5;  /* base64; NULL: none */
    const char *checksum;     /* base64, if s3op_takes_checksum */
    const char *user_agent;
    const char *token;    /* where a listing goes on; NULL: at its start */
    const char *token_id; /* likewise, of versions and uploads */
    int64_t time_s;       /* UTC */
};

/* Writes request line and headers to the last bytes of out[0..size-1], so that what follows out
 * can be the body, and returns their length; 0: *e says why. signer NULL: not signed. */
size_t s3op_build(const struct s3op_style *s, struct sigv4 *signer, const struct s3op *op,
                  const struct s3op_head *head, char *out, size_t size, struct err *e);

/* The bytes of its body. */
uint64_t s3op_n_body(const struct s3op *op);

/* Whether it goes with a checksum of its body. */
bool s3op_takes_checksum(const struct s3op_style *s, const struct s3op *op);

/* The names that --checksum and S3 have for them, NULL at the end. */
extern const char *const S3OP_CHECKSUMS[];

/* Whether it goes with a Content-MD5: where S3 wants one, and where the user does. */
bool s3op_needs_md5(const struct s3op_style *s, const struct s3op *op);

#endif
