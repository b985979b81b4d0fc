/* What a run has stored, and what of it is listed: by the names that it gives. */
#include "loadgen/work/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define N_RANKS 3
#define RANK    1

struct run {
    struct options o;
    struct engine g;
    struct work k;
};

static void begin(struct run *r, const struct workload *kind, int64_t n_objects)
{
    *r = (struct run){.o = {.prefix = "p/", .run_id = "23456789abcd"},
                      .g = {.seed = 7, .rank = RANK, .n_ranks = N_RANKS}};
    r->o.data.n_objects = n_objects;
    r->o.load.n_workers = 2;
    assert_true(work_init(&r->k, kind, &r->o, &r->g, NULL));
}

static void list(struct work *k, const struct work_object *o)
{
    struct s3op op;

    work_set_key(k, o, &op);
    assert_int_equal(strncmp(op.key, k->root, strlen(k->root)), 0);
    work_note_listed(k, op.key + strlen(k->root));
}

static void test_pool(void **state)
{
    (void)state;
    const struct workload kind = {.prepares = true};
    struct run r;
    struct work *k = &r.k;

    begin(&r, &kind, 1000);
    /* Two versions of each object. */
    for (uint64_t i = 0; i < 200; i++)
        assert_true(work_add(k, &(struct work_object){.id = i % 100 * N_RANKS + RANK},
                             i < 100 ? "a" : "b"));
    assert_true(work_begin_listing(k, 50, NULL));
    assert_int_equal(work_count_stored(k, false), 100);
    assert_int_equal(work_count_stored(k, true), 100);
    work_note_listed(k, "");
    work_note_listed(k, "0000/");
    list(k, &(struct work_object){.id = RANK + 1});
    list(k, &(struct work_object){.id = 1000 + 50 * N_RANKS});
    list(k, &(struct work_object){.id = UINT64_MAX});
    assert_int_equal(work_count_stored(k, true), 100);
    for (int times = 0; times < 2; times++) {
        r.o.data.no_prefix = times == 1;
        for (size_t i = 0; i < 60; i++)
            list(k, &k->objects[i]);
        assert_int_equal(work_count_stored(k, true), 40);
    }
    /* An object is left if one of its versions is. */
    k->objects[99].gone = true;
    k->objects[98].gone = k->objects[198].gone = true;
    assert_int_equal(work_count_stored(k, true), 39);
    work_fini(k);
}

static void end(struct work *k, uint32_t thread, enum s3op_kind kind, const char *error)
{
    struct worker w = {.thread = thread};
    const struct s3op op = {.kind = kind};
    struct worker_result r = {.status = 200};

    strcpy(r.error, error);
    work_own(k, &w)->object = work_new_object(k, &w);
    work_bench_done(k, &w, &op, &r);
}

/* Commands without a pool: what was answered is noted. */
static void test_no_pool(void **state)
{
    (void)state;
    const struct workload kind = {.prepares = false};
    struct run r;
    struct work *k = &r.k;

    begin(&r, &kind, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        end(k, i % 2, i % 4 < 2 ? S3OP_PUT : S3OP_COMPLETE, "");
        end(k, i % 2, S3OP_PUT, "timeout");
        end(k, i % 2, S3OP_PUT_PART, "");
    }
    assert_true(work_begin_listing(k, k->n_new, NULL));
    assert_int_equal(work_count_stored(k, false), 1000);
    for (uint64_t i = 0; i < 2000; i++)
        list(k, &(struct work_object){.id = i * N_RANKS + RANK});
    assert_int_equal(work_count_stored(k, true), 333);
    work_fini(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_no_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
