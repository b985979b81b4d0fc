/* TLS on established connections, by OpenSSL. One SSL_CTX serves all connections of a run, so that
 * the authorities' certificates are read once. */
#ifndef S3_LOADGEN_NET_TLS_H
#define S3_LOADGEN_NET_TLS_H

#include "loadgen/net/conn.h"

/* Makes the context of a run. The authorities come from the file `cacert`; NULL: from the system,
 * or from SSL_CERT_FILE and SSL_CERT_DIR. The caller frees it with SSL_CTX_free. NULL on failure:
 * *e says why. */
SSL_CTX *tls_context(bool insecure, const char *cacert, struct err *e);

/* Makes a context of libcurl verify certificates by the same rules. The server's certificate must
 * be valid, and must be for `host`, which may have a :port. */
bool tls_verify(SSL_CTX *context, const char *host, const char *cacert, struct err *e);

/* Verifies that the certificate is for c->name. Resumes *c->session, which belongs to one thread,
 * and stores the next session there. */
extern const struct conn_wire tls_wire;

#endif
