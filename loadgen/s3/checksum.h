/* Checksums of objects that S3 accepts, in base64, in the header x-amz-checksum-NAME. */
#ifndef S3_LOADGEN_S3_CHECKSUM_H
#define S3_LOADGEN_S3_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum checksum_kind { CHECKSUM_NONE, CHECKSUM_CRC32C, CHECKSUM_CRC64NVME, CHECKSUM_SHA256 };

#define CHECKSUM_TEXT_SIZE 48 /* room for the longest in base64, with a NUL */

/* Tables to compute a CRC eight bytes at a time: entry [k][b] is the effect of byte b with k bytes
 * after it. */
struct checksum {
    uint64_t table[8][256];
    uint64_t all; /* all ones, as wide as the CRC */
};

/* Makes the tables for CHECKSUM_CRC32C (Castagnoli, RFC 3720) or CHECKSUM_CRC64NVME (NVM Express).
 * Both CRCs are reflected, and start and end with an xor of all ones. */
void checksum_init(struct checksum *c, enum checksum_kind kind);

/* Returns the CRC of the bytes so far and n more. `crc` is the CRC of the bytes so far (0:
 * none). */
uint64_t checksum_crc(const struct checksum *c, uint64_t crc, const void *data, size_t n);

/* Writes the bytes of a CRC, highest first, in base64. */
void checksum_text(const struct checksum *c, uint64_t crc, char text[static CHECKSUM_TEXT_SIZE]);

#endif
