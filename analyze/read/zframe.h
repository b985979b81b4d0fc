/* Recognises the beginning of a zstd frame and the length of its header (RFC 8878, 3.1). */
#ifndef S3_ANALYZE_READ_ZFRAME_H
#define S3_ANALYZE_READ_ZFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZFRAME_MAGIC                UINT32_C(0xFD2FB528)
#define ZFRAME_SKIPPABLE_MAGIC      UINT32_C(0x184D2A50)
#define ZFRAME_SKIPPABLE_MAGIC_MASK UINT32_C(0xFFFFFFF0)

/* Bits of the byte after the magic number. */
#define ZFRAME_CHECKSUM_FLAG       0x04
#define ZFRAME_DICTIONARY_FLAGS    0x03
#define ZFRAME_SINGLE_SEGMENT_FLAG 0x20

static inline bool zframe_is_skippable(uint32_t magic)
{
    return (magic & ZFRAME_SKIPPABLE_MAGIC_MASK) == ZFRAME_SKIPPABLE_MAGIC;
}

/* Whether this is the magic number of a zstd frame, skippable or not. */
static inline bool zframe_is_magic(uint32_t magic)
{
    return magic == ZFRAME_MAGIC || zframe_is_skippable(magic);
}

/* Returns the length of a header without the magic number, from its first byte (3.1.1.1). */
static inline size_t zframe_header_size(unsigned char descriptor)
{
    static const unsigned char dictionary_bytes[4] = {0, 1, 2, 4}, content_bytes[4] = {0, 2, 4, 8};
    bool single_segment = descriptor & ZFRAME_SINGLE_SEGMENT_FLAG;
    size_t n_window = !single_segment; /* the window descriptor */
    size_t n_content = single_segment && descriptor >> 6 == 0 ? 1 : content_bytes[descriptor >> 6];

    return 1 + n_window + dictionary_bytes[descriptor & ZFRAME_DICTIONARY_FLAGS] + n_content;
}

#endif
