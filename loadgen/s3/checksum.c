#include "loadgen/s3/s3.h"

#include "libcommon/le.h"

#include <openssl/evp.h>
#include <stdbool.h>

void checksum_init(struct checksum *c, enum checksum_kind kind)
{
    bool wide = kind == CHECKSUM_CRC64NVME;
    /* The polynomials 0xad93d23594c93659 and 0x1edc6f41, bit-reversed. */
    uint64_t polynomial = wide ? 0x9a6c9329ac4bc9b5u : 0x82f63b78u;

    c->all = wide ? UINT64_MAX : UINT32_MAX;
    for (unsigned b = 0; b < 256; b++) {
        uint64_t crc = b;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        c->table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (unsigned b = 0; b < 256; b++)
            c->table[k][b] = c->table[k - 1][b] >> 8 ^ c->table[0][c->table[k - 1][b] & 255];
}

uint64_t checksum_crc(const struct checksum *c, uint64_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;

    crc ^= c->all;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word = crc ^ le_load(p, 8);
        crc = c->table[7][word & 255] ^ c->table[6][word >> 8 & 255] ^
              c->table[5][word >> 16 & 255] ^ c->table[4][word >> 24 & 255] ^
              c->table[3][word >> 32 & 255] ^ c->table[2][word >> 40 & 255] ^
              c->table[1][word >> 48 & 255] ^ c->table[0][word >> 56];
    }
    for (; n > 0; p++, n--)
        crc = crc >> 8 ^ c->table[0][(crc ^ *p) & 255];
    return crc ^ c->all;
}

void checksum_text(const struct checksum *c, uint64_t crc, char text[static CHECKSUM_TEXT_SIZE])
{
    unsigned char bytes[8];
    int n = c->all == UINT32_MAX ? 4 : 8;

    for (int i = 0; i < n; i++)
        bytes[i] = (unsigned char)(crc >> 8 * (n - 1 - i));
    EVP_EncodeBlock((unsigned char *)text, bytes, n);
}
