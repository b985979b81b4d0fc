/* TLS on connections that stand, by OpenSSL. One SSL_CTX serves all connections of a run, so that
 * the certificates of authorities are read once. */
#ifndef S3_LOADGEN_NET_TLS_H
#define S3_LOADGEN_NET_TLS_H

#include "loadgen/net/conn.h"

/* Authorities come from the file `cacert`; NULL: from where OpenSSL of this system has them, or
 * where SSL_CERT_FILE and SSL_CERT_DIR say. To be freed by SSL_CTX_free; NULL: *e says why. */
SSL_CTX *tls_context(bool insecure, const char *cacert, struct err *e);

/* Verifies that the certificate is for c->name. Resumes *c->session, which belongs to one thread,
 * and puts the next session there. */
extern const struct conn_wire tls_wire;

#endif
