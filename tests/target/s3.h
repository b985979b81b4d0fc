/* The operations of S3 on the store: fills in the reply to a whole request. */
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

/* What the request is for, as the log names it; request_parse comes before. */
const char *s3_op(const struct request *r);

/* Verifies the request and answers it. For any number of threads. */
void s3_handle(struct s3 *s, struct request *r);

#endif
