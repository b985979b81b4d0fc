/* Verification of Signature Version 4, written independently of s3load's signer: it starts from the
 * request as it was received. */
#ifndef S3_AUTH_H
#define S3_AUTH_H

#include "tests/target/request.h"

struct auth {
    const char *access_key;
    const char *secret_key;
    const char *session_token; /* NULL: none */
    const char *region;
};

/* Returns NULL if the request is signed with our keys, at this time, and has the payload that it
 * declares; else the error code of S3. For SignatureDoesNotMatch, adds the string to sign and the
 * canonical request to `detail`. */
const char *auth_check(const struct auth *a, const struct request *r, struct buf *detail);

#endif
