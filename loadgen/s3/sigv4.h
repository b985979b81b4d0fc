/* AWS Signature Version 4 in the Authorization header, in the form for S3: paths are encoded once
 * and not normalised. Source: Amazon S3 API Reference, "Signature Calculations for the
 * Authorization Header: Transferring Payload in a Single Chunk".
 *
 * A signer belongs to one thread. It keeps the day's signing key as two SHA-256 states (of the
 * inner and outer HMAC pads). So a signature costs three short SHA-256 runs, no key derivation and
 * no allocation. Keys, and what is derived from them, are in memory that core dumps leave out
 * (secret.h). */
#ifndef S3_LOADGEN_S3_SIGV4_H
#define S3_LOADGEN_S3_SIGV4_H

#include "libcommon/err.h"
#include "loadgen/util/strbuf.h"

#include <openssl/evp.h>
#include <stdint.h>

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

#endif
