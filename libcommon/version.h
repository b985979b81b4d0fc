/* Version of both programs: the release, and what git calls the commit, where that is
 * known ("1.0.0+1a2b3c4d5e6f"). */
#ifndef S3_LIBCOMMON_VERSION_H
#define S3_LIBCOMMON_VERSION_H

extern const char version_string[];

#endif
