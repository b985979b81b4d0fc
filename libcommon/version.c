#include "libcommon/version.h"

const char version_string[] = S3_VERSION;
