/* Verification of Signature Version 4, written apart from the signer of s3load: it starts from the
 * request as it came. */
#ifndef S3_AUTH_H
#define S3_AUTH_H

#include "tests/target/request.h"

struct auth {
    const char *access_key;
    const char *secret_key;
    const char *session_token; /* NULL: none */
    const char *region;
};

/* Error code of S3, or NULL if the request is signed with our keys, at this time, and has the
 * payload that it says. For SignatureDoesNotMatch the string to sign and the canonical request are
 * added to `detail`. */
const char *auth_check(const struct auth *a, const struct request *r, struct buf *detail);

#endif
