/* Compares CRC-32C and CRC-64/NVME with published values, and whole texts with pieces. */
#include "loadgen/s3/s3.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_check_values(void **state)
{
    (void)state;
    struct checksum c;
    char text[CHECKSUM_TEXT_SIZE];

    checksum_init(&c, CHECKSUM_CRC32C);
    assert_int_equal(checksum_crc(&c, 0, "123456789", 9), 0xe3069283u);
    checksum_text(&c, 0xe3069283u, text);
    assert_string_equal(text, "4waSgw==");
    /* RFC 3720, B.4: 32 bytes of zeros, of ones, and rising. */
    unsigned char bytes[32] = {0};
    assert_int_equal(checksum_crc(&c, 0, bytes, 32), 0x8a9136aau);
    memset(bytes, 255, sizeof bytes);
    assert_int_equal(checksum_crc(&c, 0, bytes, 32), 0x62a8ab43u);
    for (unsigned char i = 0; i < 32; i++)
        bytes[i] = i;
    assert_int_equal(checksum_crc(&c, 0, bytes, 32), 0x46dd794eu);

    checksum_init(&c, CHECKSUM_CRC64NVME);
    assert_int_equal(checksum_crc(&c, 0, "123456789", 9), 0xae8b14860a799888u);
    checksum_text(&c, 0xae8b14860a799888u, text);
    assert_string_equal(text, "rosUhgp5mIg=");
}

static void test_pieces(void **state)
{
    (void)state;
    char data[64];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 37);
    for (enum checksum_kind kind = CHECKSUM_CRC32C; kind <= CHECKSUM_CRC64NVME; kind++) {
        struct checksum c;
        checksum_init(&c, kind);
        uint64_t whole = checksum_crc(&c, 0, data, sizeof data);
        for (size_t n = 0; n <= sizeof data; n++)
            assert_int_equal(
                checksum_crc(&c, checksum_crc(&c, 0, data, n), data + n, sizeof data - n), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check_values),
                                       cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
