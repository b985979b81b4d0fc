/* TLS on connections that stand, on OpenSSL. One SSL_CTX serves all connections of a run, so that
 * the certificates of authorities are read once. */
#ifndef S3_LOADGEN_NET_TLS_H
#define S3_LOADGEN_NET_TLS_H

#include "libcommon/err.h"

#include <openssl/ssl.h>

/* Authorities come from the file `cacert`; NULL: where OpenSSL of this system has them, or where
 * SSL_CERT_FILE and SSL_CERT_DIR say. To be freed by SSL_CTX_free; NULL: *e says why. */
SSL_CTX *tls_context(bool insecure, const char *cacert, struct err *e);

/* TLS on fd, which stays the caller's, to `host` (a name or an address, [...] or not, with a port
 * or without), for SSL_do_handshake. *session is the one to resume, or NULL; a newer one that the
 * server gives takes its place. As sessions are not made for several threads at once, it belongs to
 * one. To be freed by tls_free; NULL: out of memory. */
SSL *tls_new(SSL_CTX *context, int fd, const char *host, SSL_SESSION **session);

/* Says goodbye to the server, if it was ever greeted. NULL is allowed. */
void tls_free(SSL *ssl);

/* Why the last call on ssl, which returned n, could not go on. */
enum tls_stop { TLS_WANTS_READ, TLS_WANTS_WRITE, TLS_CLOSED, TLS_FAILED };

/* TLS_FAILED: *e says why. */
enum tls_stop tls_stopped(const SSL *ssl, int n, struct err *e);

#endif
