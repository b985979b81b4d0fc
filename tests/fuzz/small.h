/* Limits of the programs in the fuzz build (-include). A target allocates all buffers for each
 * input, and a capture of a few rows that span years has the largest number of segments and bins.
 * So large limits would take most of the time: an allocation above 128 KiB costs a sanitizer ten
 * system calls. */
#ifndef S3_FUZZ_SMALL_H
#define S3_FUZZ_SMALL_H

#define ANALYSIS_MAX_SEGMENTS 2000
#define COURSE_MAX_BINS       1024
#define DEAD_END_BITS         6
#define DIRECT_THREADS        256
#define PROFILE_MAX_BYTES     65536u
#define RECFILE_SMALL_BYTES   8192u
#define RECORD_MAX_ROW_BYTES  16384u /* of the longest input: an escaped line break takes three */
#define RECWRITE_FRAME_BYTES  16384u
#define SHA256_BUFFER_BYTES   8192u
#define SUPER_BLOCK           2
#define ZREADER_INPUT_BYTES   16384u
#define ZSOURCE_NEAR_BYTES    1024u

#endif
