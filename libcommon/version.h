/* Version of both programs: the release, and the commit where it is known ("0.1.0+1a2b3c4"). */
#ifndef S3_VERSION_H
#define S3_VERSION_H

extern const char version_string[];

#endif
