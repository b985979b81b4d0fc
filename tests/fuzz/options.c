/* Command lines of both programs: the table of every command, the defaults and checks of s3load,
 * and what it shows of the options. A secret does not show.
 *
 * Input: a byte with the number of the command, then a word a line. */
#include "tests/fuzz/fuzz.h"

#include "analyze/cmd/commands.h"
#include "loadgen/cmd/commands.h"
#include "loadgen/options/options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 40

static const struct cli_command *const loading[] = {PROGRAMS_S3LOAD(PROGRAMS_ADDRESS) NULL};
static const struct cli_command *const commands[] = {PROGRAMS_S3LOAD(PROGRAMS_ADDRESS)
                                                         PROGRAMS_S3ANALYZE(PROGRAMS_ADDRESS)};
#define N_LOAD     (sizeof loading / sizeof *loading - 1)
#define N_COMMANDS (sizeof commands / sizeof *commands)

/* The number of words that contain the text. */
static int count_words_with(int argc, char *const *argv, const char *text)
{
    int n = 0;

    for (int i = 0; i < argc; i++)
        n += strstr(argv[i], text) != NULL;
    return n;
}

static void check_secret(int argc, char *const *argv, const char *shown, const char *secret)
{
    /* A short secret, or one without a digit, may be part of something else, such as the name of an
     * option; and quotes are written in another way. */
    if (secret != NULL && strlen(secret) >= 10 && strpbrk(secret, "0123456789") != NULL &&
        strchr(secret, '\'') == NULL && count_words_with(argc, argv, secret) == 1)
        assert(strstr(shown, secret) == NULL);
}

static void check_plain(const char *value)
{
    for (; value != NULL && *value != '\0'; value++)
        assert((unsigned char)*value >= ' ' && *value != 0x7f);
}

static void check_load(const struct cli_args *args, struct options *o, int argc, char *const *argv)
{
    const char *access_key = o->access_key, *secret_key = o->secret_key;
    const char *session_token = o->session_token;
    struct err e = {0};
    char *shown = options_redacted(loading, argv);

    assert(shown != NULL);
    check_secret(argc, argv, shown, access_key);
    check_secret(argc, argv, shown, secret_key);
    check_secret(argc, argv, shown, session_token);
    free(shown);
    bool ok = options_complete(o, args, &e);
    assert(ok == (e.msg[0] == '\0'));
    if (ok) {
        /* These go into the heads of requests. */
        check_plain(o->access_key);
        check_plain(o->session_token);
        check_plain(o->region);
        check_plain(o->bucket);
        check_plain(o->storage_class);
    }
    options_free(o);
}

static void check_command(const struct cli_command *command, bool loads, int argc, char **argv)
{
    struct cli_args args = {0};
    struct err e = {0};
    void *options = calloc(1, command->options_size);

    assert(options != NULL);
    if (command->defaults != NULL)
        memcpy(options, command->defaults, command->options_size);
    bool ok = cli_parse(command, argc, argv, &args, options, &e);
    args.argc = argc; /* as cli_main does */
    args.argv = argv;
    assert(ok == (e.msg[0] == '\0') && strlen(e.msg) < sizeof e.msg);
    if (ok && args.help_topic == NULL) {
        assert(args.n_operands >= command->min_operands);
        assert(args.n_operands <= command->max_operands);
        if (loads && command->options_size == sizeof(struct options))
            check_load(&args, options, argc, argv);
    }
    cli_args_free(&args);
    free(options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    char *argv[MAX_WORDS + 1] = {0};
    int argc = 1;
    size_t k = (size_t)fuzz_take(&in, 1) % N_COMMANDS;

    setenv("HOME", "/nonexistent", 1); /* keeps out the credentials of the user */
    argv[0] = strdup("program");
    assert(argv[0] != NULL);
    while (argc < MAX_WORDS && in.n > 0)
        argv[argc++] = fuzz_take_line(&in, NULL);
    check_command(commands[k], k < N_LOAD, argc, argv);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    return 0;
}
