/* Listings. The caller holds the store's lock. */
#ifndef S3_LIST_H
#define S3_LIST_H

#include "tests/target/request.h"
#include "tests/target/store.h"

/* ListObjectsV2: prefix, delimiter, start-after, continuation-token, max-keys, encoding-type. */
void list_objects(struct request *r, struct bucket *b);

/* ListObjectVersions: prefix, key-marker, version-id-marker, max-keys, encoding-type. */
void list_versions(struct request *r, struct bucket *b);

/* ListMultipartUploads: all of them. */
void list_uploads(struct request *r, struct bucket *b);

#endif
