/* Operations on objects. Each fills in the reply. Except for object_blob, the caller holds the
 * store's lock. */
#ifndef S3_OBJECT_H
#define S3_OBJECT_H

#include "tests/target/request.h"
#include "tests/target/store.h"

/* Returns the body as a blob with its MD5, which is checked against Content-MD5. NULL: the reply is
 * an error. */
struct blob *object_blob(struct request *r);

/* Returns a new version with this content and the metadata in the request's headers; NULL: out of
 * memory. */
struct version *object_new_version(const struct request *r, struct blob *blob);

/* Stores v as the request's key, and owns it in any case; false: the reply is an error. */
bool object_store(struct store *s, struct request *r, struct bucket *b, struct version *v);

/* GET and HEAD, with a range and a version. */
void object_get(struct request *r, struct bucket *b);
void object_put(struct store *s, struct request *r, struct bucket *b, struct blob *blob);
void object_delete(struct store *s, struct request *r, struct bucket *b);

/* POST ?delete: up to 1000 keys. */
void object_delete_batch(struct store *s, struct request *r, struct bucket *b);

/* GET and PUT ?retention. */
void object_retention(struct request *r, struct bucket *b);

#endif
