/* A certificate made at start, signed by itself. */
#ifndef S3_CERT_H
#define S3_CERT_H

#include "libcommon/err.h"

/* A certificate for localhost, *.localhost, 127.0.0.1, ::1 and, if not NULL, `domain` and *.domain,
 * valid for a day, with its key; both PEM texts are the caller's to free. */
bool cert_make(const char *domain, char **cert_pem, char **key_pem, struct err *e);

#endif
