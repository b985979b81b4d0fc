/* A self-signed certificate, made at start. */
#ifndef S3_CERT_H
#define S3_CERT_H

#include "libcommon/err.h"

/* Makes a certificate for localhost, *.localhost, 127.0.0.1, ::1 and, if `domain` is not NULL,
 * `domain` and *.domain. If `cn` is not NULL, it has this common name instead, and no other. It is
 * valid for a day. The caller frees both PEM texts. */
bool cert_make(const char *domain, const char *cn, char **cert_pem, char **key_pem, struct err *e);

#endif
