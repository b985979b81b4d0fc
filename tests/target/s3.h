/* The operations of S3 on the store. */
#ifndef S3_S3_H
#define S3_S3_H

#include "tests/target/auth.h"
#include "tests/target/request.h"
#include "tests/target/store.h"

struct s3 {
    struct store store;
    struct auth auth;
    const char *domain;   /* of virtual hosts; NULL: path style only */
    bool refuses_batches; /* POST ?delete */
};

/* Returns the operation of a request as the log names it. Call request_parse before. */
const char *s3_op(const struct request *r);

/* Verifies the request and fills in the reply. Any number of threads may call it. */
void s3_handle(struct s3 *s, struct request *r);

#endif
