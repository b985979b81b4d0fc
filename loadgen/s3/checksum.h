/* Checksums that S3 takes with an object, in base64, as x-amz-checksum-NAME. */
#ifndef S3_LOADGEN_S3_CHECKSUM_H
#define S3_LOADGEN_S3_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum checksum_kind { CHECKSUM_NONE, CHECKSUM_CRC32C, CHECKSUM_CRC64NVME, CHECKSUM_SHA256 };

#define CHECKSUM_TEXT_SIZE 48 /* of the longest, with a NUL */

/* Tables of a CRC, for eight bytes at a time: entry [k][b] is what byte b does when k bytes follow.
 */
struct checksum {
    uint64_t table[8][256];
    uint64_t all; /* ones, as wide as the CRC */
};

/* For CHECKSUM_CRC32C (Castagnoli, RFC 3720) or CHECKSUM_CRC64NVME (NVM Express), both reflected,
 * with ones before and after. */
void checksum_init(struct checksum *c, enum checksum_kind kind);

/* The CRC of what `crc` is the CRC of (0: nothing) and n more bytes. */
uint64_t checksum_crc(const struct checksum *c, uint64_t crc, const void *data, size_t n);

/* The CRC's bytes, the highest first, in base64. */
void checksum_text(const struct checksum *c, uint64_t crc, char text[static CHECKSUM_TEXT_SIZE]);

#endif
