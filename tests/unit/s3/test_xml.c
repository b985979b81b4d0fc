#include "loadgen/s3/s3.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct xml xml;
static char seen[16384];
static const char *prefix = ""; /* of the list asked for */
static enum xml_root wanted;

static bool on_entry(void *user, const struct xml_entry *x, struct err *e)
{
    static const char *const kinds[] = {NULL, "object", "version", "marker", "deleted", "failed"};
    size_t n = strlen(seen);

    snprintf(seen + n, sizeof seen - n, "%s '%s' %llu '%s' '%s' '%s'\n", kinds[x->kind], x->key,
             (unsigned long long)x->size_bytes, x->version_id, x->code, x->message);
    assert_int_equal(x->n_key, strlen(x->key));
    if (user != NULL && x->n_key == *(size_t *)user)
        return err_set(e, "enough");
    return true;
}

/* Reads `text` in pieces of `step` bytes. */
static bool read_text(const char *text, size_t step, struct err *e)
{
    size_t n = strlen(text);

    *e = (struct err){0};
    seen[0] = '\0';
    assert_true(xml_start(&xml, prefix, on_entry, NULL, e));
    xml.wanted = wanted;
    for (size_t at = 0; at < n; at += step) {
        size_t piece = n - at < step ? n - at : step;
        if (!xml_feed(&xml, text + at, piece, false, e))
            return false;
    }
    return xml_feed(&xml, "", 0, true, e);
}

/* The result is the same whole and byte by byte. */
static void good(const char *text, enum xml_root root, const char *entries)
{
    struct err e;

    for (size_t step = 1; step < 100000; step *= 99) {
        assert_true(read_text(text, step, &e));
        assert_int_equal(xml.root, root);
        assert_string_equal(seen, entries);
    }
}

#define NS     " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""
#define PROLOG "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

static void test_error(void **state)
{
    (void)state;
    good(PROLOG "<Error><Code>SlowDown</Code><Message>Please &lt;reduce&gt;</Message>"
                "<Key>k</Key><RequestId>1</RequestId></Error>",
         XML_ERROR, "");
    good(" \t\r\n \n" PROLOG "<Error><Code>SlowDown</Code><Message>Please &lt;reduce&gt;</Message>"
         "</Error>",
         XML_ERROR, "");
    assert_string_equal(xml_text(&xml, XML_CODE), "SlowDown");
    assert_string_equal(xml_text(&xml, XML_MESSAGE), "Please <reduce>");
}

static void test_list(void **state)
{
    (void)state;
    good(PROLOG
         "<ListBucketResult" NS "><Name>b</Name><Prefix>p</Prefix><KeyCount>2</KeyCount>"
         "<MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated>\n"
         "<Contents><Key>a/b &amp; c</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified>"
         "<ETag>&quot;e&quot;</ETag><Size>12345678901</Size><Owner><ID>x</ID>"
         "<DisplayName>Key</DisplayName></Owner><StorageClass>STANDARD</StorageClass></Contents>"
         "<Contents><Key>%41+\xc3\xa9</Key><Size>0</Size></Contents>"
         "<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>"
         "<NextContinuationToken>1/ab==</NextContinuationToken></ListBucketResult>",
         XML_LIST, "object 'a/b & c' 12345678901 '' '' ''\nobject '%41+\xc3\xa9' 0 '' '' ''\n");
    assert_true(xml.is_truncated);
    assert_int_equal(xml.n_entries, 2);
    assert_string_equal(xml_text(&xml, XML_NEXT_TOKEN), "1/ab==");

    /* Keys are URL-encoded if the list says so, before or after them. */
    for (int i = 0; i < 2; i++) {
        const char *type = "<EncodingType>url</EncodingType>";
        char text[400];
        snprintf(text, sizeof text,
                 "<ListBucketResult>%s<IsTruncated>false</IsTruncated><Prefix>%%01</Prefix>"
                 "<Contents><Key>%%41+%%2B%%C3%%A9</Key><Size>7</Size></Contents>"
                 "<CommonPrefixes><Prefix>%%01/</Prefix></CommonPrefixes>%s</ListBucketResult>",
                 i == 0 ? type : "", i == 0 ? "" : type);
        good(text, XML_LIST, "object 'A +\xc3\xa9' 7 '' '' ''\n");
    }
    /* The list has the element for an encoding, but it is empty. */
    good("<ListBucketResult><Contents><Key>%41+</Key></Contents><EncodingType/></ListBucketResult>",
         XML_LIST, "object '%41+' 0 '' '' ''\n");
    assert_false(xml.is_truncated);
    assert_string_equal(xml_text(&xml, XML_NEXT_TOKEN), "");
}

/* Some servers announce URL-encoded keys, and do not encode them. */
static void test_false_encoding(void **state)
{
    const char *text = "<ListBucketResult><Contents><Key>a+%25/100%</Key></Contents>"
                       "<Contents><Key>a+%25/b+c</Key></Contents>"
                       "<EncodingType>url</EncodingType></ListBucketResult>";

    (void)state;
    prefix = "a+%25/";
    good(text, XML_LIST, "object 'a+%25/100%' 0 '' '' ''\nobject 'a+%25/b+c' 0 '' '' ''\n");
    prefix = "a %/";
    good(text, XML_LIST, "object 'a+%25/100%' 0 '' '' ''\nobject 'a %/b c' 0 '' '' ''\n");
    prefix = "";
}

static void test_versions(void **state)
{
    (void)state;
    good("<ListVersionsResult" NS "><NextKeyMarker>k%2F2</NextKeyMarker>"
         "<NextVersionIdMarker>v2</NextVersionIdMarker><IsTruncated>true</IsTruncated>"
         "<Version><Key>k</Key><VersionId>v1</VersionId><IsLatest>false</IsLatest><Size>3</Size>"
         "</Version><DeleteMarker><Key>k</Key><VersionId>v2</VersionId><IsLatest>true</IsLatest>"
         "</DeleteMarker><EncodingType>url</EncodingType></ListVersionsResult>",
         XML_VERSIONS, "version 'k' 3 'v1' '' ''\nmarker 'k' 0 'v2' '' ''\n");
    assert_string_equal(xml_text(&xml, XML_NEXT_KEY), "k/2");
    assert_string_equal(xml_text(&xml, XML_NEXT_ID), "v2");
    assert_true(xml.is_truncated);
    /* The name that gofakes3 uses. */
    good("<ListBucketVersionsResult><Version><Key>k</Key></Version></ListBucketVersionsResult>",
         XML_VERSIONS, "version 'k' 0 '' '' ''\n");
}

/* S3Mock gives its list of versions the name of a list of objects. Other servers ignore that
 * versions were asked for, and send a list of objects. */
static void test_versions_by_another_name(void **state)
{
    (void)state;
    wanted = XML_VERSIONS;
    good("<ListBucketResult><IsTruncated>false</IsTruncated><Version><Key>k</Key>"
         "<VersionId>v1</VersionId></Version><DeleteMarker><Key>k</Key><VersionId>v2</VersionId>"
         "</DeleteMarker></ListBucketResult>",
         XML_VERSIONS, "version 'k' 0 'v1' '' ''\nmarker 'k' 0 'v2' '' ''\n");
    good("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>", XML_VERSIONS, "");
    good("<ListBucketResult><Contents><Key>k</Key></Contents><IsTruncated>false</IsTruncated>"
         "</ListBucketResult>",
         XML_LIST, "object 'k' 0 '' '' ''\n");
    wanted = XML_NOTHING;
}

static void test_deleted(void **state)
{
    (void)state;
    good("<DeleteResult" NS "><Deleted><Key>a%41</Key></Deleted><Error><Key>b</Key>"
         "<VersionId>v</VersionId><Code>AccessDenied</Code><Message>No</Message></Error>"
         "</DeleteResult>",
         XML_DELETED, "deleted 'a%41' 0 '' '' ''\nfailed 'b' 0 'v' 'AccessDenied' 'No'\n");
    assert_string_equal(xml_text(&xml, XML_CODE), "");
}

static void test_multipart(void **state)
{
    (void)state;
    good("<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><UploadId>u-1</UploadId>"
         "</InitiateMultipartUploadResult>",
         XML_INITIATE, "");
    assert_string_equal(xml_text(&xml, XML_ID), "u-1");
    good("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>",
         XML_COMPLETE, "");
    good("<LocationConstraint/>", XML_OTHER, "");
}

static void bad(const char *text, const char *message)
{
    struct err e;

    for (size_t step = 1; step < 100000; step *= 99) {
        assert_false(read_text(text, step, &e));
        assert_non_null(strstr(e.msg, message));
    }
}

static void test_bad(void **state)
{
    (void)state;
    static char deep[64 * 3 + 1];
    static char long_key[XML_TEXT_MAX + 100];

    bad("", "bad XML");
    bad("plain text", "bad XML");
    bad(" \r\n", "bad XML");
    bad("<Error><Code>x</Error>", "bad XML");
    bad("<ListBucketResult><Contents><Key>a</Key>", "bad XML");
    bad("<Error>\x01</Error>", "bad XML");
    bad("<!DOCTYPE x [<!ENTITY a \"b\">]><Error><Code>&a;</Code></Error>", "document type");
    bad("<ListBucketResult><Contents><Size>-1</Size></Contents></ListBucketResult>",
        "not a number");
    bad("<ListBucketResult><Contents><Key>a%00b</Key></Contents><EncodingType>url</EncodingType>"
        "</ListBucketResult>",
        "NUL");
    for (size_t i = 0; i < 64; i++)
        memcpy(deep + 3 * i, "<a>", 3);
    bad(deep, "too deeply");
    int n = sprintf(long_key, "<ListBucketResult><Contents><Key>");
    memset(long_key + n, 'k', XML_TEXT_MAX);
    strcpy(long_key + n + XML_TEXT_MAX, "</Key></Contents></ListBucketResult>");
    bad(long_key, "longer than");
}

/* The longest text that is kept, and messages cut to their room. */
static void test_long(void **state)
{
    (void)state;
    static char text[XML_TEXT_MAX + 200];
    struct err e;
    int n = sprintf(text, "<InitiateMultipartUploadResult><UploadId>");

    memset(text + n, 'u', XML_TEXT_MAX - 1);
    strcpy(text + n + XML_TEXT_MAX - 1, "</UploadId></InitiateMultipartUploadResult>");
    assert_true(read_text(text, 1000, &e));
    assert_int_equal(strlen(xml_text(&xml, XML_ID)), XML_TEXT_MAX - 1);

    n = sprintf(text, "<Error><Message>");
    memset(text + n, 'm', XML_TEXT_MAX + 50);
    strcpy(text + n + XML_TEXT_MAX + 50, "</Message></Error>");
    assert_true(read_text(text, 1000, &e));
    assert_int_equal(strlen(xml_text(&xml, XML_MESSAGE)), XML_TEXT_MAX);
}

/* An endless piece is not kept forever: a tag, a comment, also before the root. */
static void test_unending(void **state)
{
    (void)state;
    static const char *const begins[] = {"<Error a=\"", "<Error><!--", "<!--", "<Error><?x "};
    static char text[100000];

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        struct err e = {0};
        memset(text, 'x', sizeof text - 1);
        memcpy(text, begins[i], strlen(begins[i]));
        assert_true(xml_start(&xml, "", NULL, NULL, &e));
        size_t n = 0;
        while (n < sizeof text && xml_feed(&xml, text + n, 1000, false, &e))
            n += 1000;
        assert_true(n < sizeof text);
        assert_non_null(strstr(e.msg, "more than 65536 bytes"));
    }
}

static void test_callback_stops(void **state)
{
    (void)state;
    struct err e = {0};
    size_t stop_at = 2;
    const char *text = "<ListBucketResult><Contents><Key>a</Key></Contents><Contents><Key>bb</Key>"
                       "</Contents><Contents><Key>c</Key></Contents></ListBucketResult>";

    seen[0] = '\0';
    assert_true(xml_start(&xml, "", on_entry, &stop_at, &e));
    assert_false(xml_feed(&xml, text, strlen(text), true, &e));
    assert_string_equal(e.msg, "enough");
    assert_string_equal(seen, "object 'a' 0 '' '' ''\nobject 'bb' 0 '' '' ''\n");
}

static int teardown(void **state)
{
    (void)state;
    xml_fini(&xml);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_false_encoding),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_versions_by_another_name),
        cmocka_unit_test(test_deleted),
        cmocka_unit_test(test_multipart),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_unending),
        cmocka_unit_test(test_callback_stops),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
