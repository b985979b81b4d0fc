/* Names that were chosen to share a hash, or that share most of their bytes, still spread over the
 * table; and each process spreads them differently. */
#include "analyze/base/intern.h"
#include "analyze/data/unit.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define N_NAMES 2000

/* At most half of the slots are used. So with random hashes, a run of this many used slots has a
 * probability below 1e-9. */
#define LONGEST_RUN 150

/* Names that differ only in their numbers. In the first shape the third word is K1 of the hash
 * after two words without a key: it makes a factor 0, whatever the fourth word is. */
static const char *const shapes[] = {
    "prefix/000023393PTATDzYH%08d/object-name-of-24-bytes",
    "http://node%04d.storage.example.com:9000",
    "http://%d.example.com:9000",
    "%d-of-a-rank-on-a-host-with-a-long-name",
    "h%04d",
};

struct many_names {
    char text[N_NAMES][80];
    size_t n[N_NAMES];
};

static void make_names(struct many_names *names, const char *shape)
{
    for (int i = 0; i < N_NAMES; i++)
        names->n[i] = (size_t)snprintf(names->text[i], sizeof names->text[i], shape, i);
}

static struct slice name(const struct many_names *names, int i)
{
    return (struct slice){names->text[i], names->n[i]};
}

static void test_chosen_names_collide(void **state)
{
    static struct many_names names;

    (void)state;
    make_names(&names, shapes[0]);
    for (int i = 1; i < N_NAMES; i++)
        assert_true(intern_hash(names.text[i], names.n[i]) ==
                    intern_hash(names.text[0], names.n[0]));
}

static void test_table_of_strings(void **state)
{
    static struct many_names names;

    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct intern t = {0};
        size_t run = 0;
        size_t longest = 0;
        make_names(&names, shapes[k]);
        for (int i = 0; i < N_NAMES; i++)
            assert_int_equal(intern_add(&t, name(&names, i)), i);
        for (size_t i = 0; i < 2 * t.n_slots; i++) {
            run = t.slots[i % t.n_slots].id != INTERN_NONE ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
        assert_in_range(longest, 1, LONGEST_RUN);
        intern_fini(&t);
    }
}

/* Adds rows with these names. `what`: 0 for hosts, 1 for clients. */
static void add_rows(struct dataset_unit *u, const struct many_names *names, int what)
{
    for (int i = 0; i < N_NAMES; i++) {
        const struct slice fixed = {"http://127.0.0.1:9000\0\0\0\0\0\0\0\0", 21};
        const struct record row = {
            .end_ns = 1,
            .first_byte_ns = RECORD_NO_TIME,
            .intended_ns = RECORD_NO_TIME,
            .op = {"GET\0\0\0\0\0", 3},
            .endpoint = what == 0 ? name(names, i) : fixed,
            .client = what == 1 ? name(names, i) : fixed,
            .file = {"", 0},
            .error = {"", 0},
        };
        struct err e = {0};
        assert_true(dataset_unit_add(u, &row, 1, &e));
    }
}

static void test_table_of_groups(void **state)
{
    static const struct dataset_filter all;
    static struct many_names names;
    struct err e = {0};

    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (int what = 0; what < 2; what++) {
            struct dataset_unit *u = dataset_unit_new(&all, &e);
            size_t run = 0;
            size_t longest = 0;
            assert_non_null(u);
            make_names(&names, shapes[k]);
            add_rows(u, &names, what);
            size_t n_slots = (size_t)1 << u->known_log;
            for (size_t i = 0; i < 2 * n_slots; i++) {
                run = u->known[i % n_slots].group != UINT32_MAX ? run + 1 : 0;
                longest = run > longest ? run : longest;
            }
            assert_int_equal(u->groups.n, N_NAMES);
            assert_in_range(longest, 1, LONGEST_RUN);
            dataset_unit_free(u);
        }
    }
}

/* Returns the key of another process. tests/cross sets the emulator that starts the process. */
static uint64_t key_of_another(const char *program)
{
    const char *emulator = getenv("EMULATOR");
    char command[4096];
    uint64_t key = 0;

    snprintf(command, sizeof command, "%s '%s' --key", emulator != NULL ? emulator : "", program);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%" SCNx64, &key), 1);
    assert_int_equal(pclose(f), 0);
    return key;
}

static void test_keys(void **state)
{
    uint64_t key = intern_random_key();
    uint64_t first = key_of_another(*state);
    uint64_t second = key_of_another(*state);

    assert_true(key == intern_random_key());
    assert_true(key != first && key != second && first != second);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen_names_collide),
        cmocka_unit_test(test_table_of_strings),
        cmocka_unit_test(test_table_of_groups),
        cmocka_unit_test_prestate(test_keys, argv[0]),
    };

    if (argc > 1) {
        printf("%" PRIx64 "\n", intern_random_key());
        return 0;
    }
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
