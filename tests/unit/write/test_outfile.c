#include "analyze/write/outfile.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/test_outfile.XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    if (chdir("/") != 0)
        return -1;
    return rmdir(folder); /* fails if a test left a file behind */
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char buffer[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(buffer, 1, sizeof buffer - 1, f);
    fclose(f);
    buffer[n] = '\0';
    assert_string_equal(buffer, text);
}

static void test_new_file(void **state)
{
    (void)state;
    struct outfile o;
    struct err e = {0};
    assert_true(outfile_open(&o, "new", OUTFILE_ANYTHING, &e));
    fputs("text", o.f);
    assert_int_equal(access("new", F_OK), -1);
    assert_true(outfile_close(&o, &e));
    assert_holds("new", "text");
    unlink("new");
}

static void test_old_file_stays_until_the_end(void **state)
{
    (void)state;
    struct outfile o;
    struct err e = {0};
    struct stat st;
    put("old", "before");
    assert_int_equal(chmod("old", 0640), 0);
    assert_true(outfile_open(&o, "old", OUTFILE_ANYTHING, &e));
    fputs("after", o.f);
    fflush(o.f);
    assert_holds("old", "before");
    assert_true(outfile_close(&o, &e));
    assert_holds("old", "after");
    assert_int_equal(stat("old", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    unlink("old");
}

static void test_discard(void **state)
{
    (void)state;
    struct outfile o;
    struct err e = {0};
    put("old", "before");
    assert_true(outfile_open(&o, "old", OUTFILE_ANYTHING, &e));
    fputs("after", o.f);
    outfile_discard(&o);
    assert_holds("old", "before");
    unlink("old");
}

static void test_finish(void **state)
{
    (void)state;
    struct outfile o;
    struct err e = {0};
    put("old", "before");
    assert_true(outfile_open(&o, "old", OUTFILE_ANYTHING, &e));
    fputs("after", o.f);
    assert_false(outfile_finish(&o, false, &e));
    assert_holds("old", "before");
    assert_true(outfile_open(&o, "old", OUTFILE_ANYTHING, &e));
    fputs("after", o.f);
    assert_true(outfile_finish(&o, true, &e));
    assert_holds("old", "after");
    unlink("old");
}

static void test_spares(void **state)
{
    (void)state;
    const char *const captures[] = {"-", "b", "a"};
    struct err e = {0};
    put("a", "");
    assert_int_equal(link("a", "c"), 0);
    assert_true(outfile_spares(NULL, captures, 3, &e));
    assert_true(outfile_spares("-", captures, 3, &e));
    assert_true(outfile_spares("new", captures, 3, &e));
    assert_true(outfile_spares("c", captures, 2, &e));
    assert_false(outfile_spares("c", captures, 3, &e));
    assert_string_equal(e.msg, "c, which is a, is to be read: it would be overwritten");
    unlink("a");
    unlink("c");
}

static void test_symbolic_link(void **state)
{
    (void)state;
    struct outfile o;
    struct err e = {0};
    struct stat st;
    put("target", "before");
    assert_int_equal(symlink("target", "link"), 0);
    assert_true(outfile_open(&o, "link", OUTFILE_ANYTHING, &e));
    fputs("after", o.f);
    assert_true(outfile_close(&o, &e));
    assert_holds("target", "after");
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink("link");
    unlink("target");
}

static void test_full_disk(void **state)
{
    (void)state;
    struct outfile o;
    struct err e = {0};
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_true(outfile_open(&o, "/dev/full", OUTFILE_ANYTHING, &e));
    fputs("text", o.f);
    assert_false(outfile_close(&o, &e));
    assert_string_equal(e.msg, "cannot write /dev/full: No space left on device");
}

/* What is left in stdio's buffer fits, or there is nothing left. So only the first write can report
 * the failure. */
static void test_an_earlier_write_failed(void **state)
{
    (void)state;
    static const char block[1 << 16];
    struct rlimit old, small;
    struct outfile o;
    struct err e = {0};

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_true(outfile_open(&o, "out", OUTFILE_ANYTHING, &e));
    fwrite(block, 1, sizeof block, o.f);
    fflush(o.f);
    bool ok = outfile_close(&o, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(ok);
    assert_string_equal(e.msg, "cannot write out: File too large");
    assert_int_not_equal(access("out", F_OK), 0);
}

static void test_no_such_folder(void **state)
{
    (void)state;
    struct outfile o;
    struct err e = {0};
    assert_false(outfile_open(&o, "nowhere/file", OUTFILE_ANYTHING, &e));
    assert_string_equal(e.msg, "cannot write nowhere/file: No such file or directory");
}

static void test_names(void **state)
{
    (void)state;
    assert_true(outfile_is_stdout("-"));
    assert_true(outfile_is_stdout("/dev/stdout"));
    assert_false(outfile_is_stdout("file"));
    put("a", "");
    assert_int_equal(link("a", "b"), 0);
    assert_true(outfile_is_same("a", "b"));
    assert_true(outfile_is_same("./a", "a"));
    assert_true(outfile_is_same("none", "none"));
    assert_false(outfile_is_same("a", "none"));
    unlink("a");
    unlink("b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_file),
        cmocka_unit_test(test_old_file_stays_until_the_end),
        cmocka_unit_test(test_discard),
        cmocka_unit_test(test_symbolic_link),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_such_folder),
        cmocka_unit_test(test_an_earlier_write_failed),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_finish),
        cmocka_unit_test(test_spares),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
