/* Multipart uploads. Each fills in the reply; the caller holds the store's lock. */
#ifndef S3_MULTIPART_H
#define S3_MULTIPART_H

#include "tests/target/request.h"
#include "tests/target/store.h"

/* POST ?uploads */
void multipart_initiate(struct store *s, struct request *r, struct bucket *b);

/* Requests with ?uploadId: PUT of a part, POST to complete, DELETE to abort. */
void multipart_handle(struct store *s, struct request *r, struct bucket *b, struct blob *blob);

#endif
