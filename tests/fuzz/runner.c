#include "tests/fuzz/runner.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reports of sanitizers go here; standard error is a file that nobody sees. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/* Replaces that of libc: on short captures huge and prepared pages cost more than they save. */
int madvise(void *at, size_t n, int advice)
{
    (void)at, (void)n, (void)advice;
    return 0;
}

static char folder[] = "/dev/shm/s3fuzz-XXXXXX"; /* in memory */
static int real_stderr, said; /* what the commands print goes to the file `said` */

static void remove_folder(void)
{
    DIR *d = opendir(folder);

    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;)
        unlinkat(dirfd(d), entry->d_name, 0);
    if (d != NULL)
        closedir(d);
    rmdir(folder);
}

/* A sanitizer clears its data of a stack when a thread begins and when it ends. */
static void make_stacks_small(void)
{
    pthread_attr_t attributes;

    assert(pthread_attr_init(&attributes) == 0);
    assert(pthread_attr_setstacksize(&attributes, 512 << 10) == 0);
    assert(pthread_setattr_default_np(&attributes) == 0);
    pthread_attr_destroy(&attributes);
}

bool runner_init(void)
{
    if (said > 0)
        return false;
    make_stacks_small();
    assert(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    /* Without gnuplot: charts are not tested here. */
    setenv("PATH", folder, 1);
    setenv("TMPDIR", folder, 1);
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    said = memfd_create("said", MFD_CLOEXEC);
    assert(real_stderr >= 0 && said >= 0);
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(intptr_t)real_stderr);
    return true;
}

struct runner_path runner_path(const char *name)
{
    struct runner_path path;

    snprintf(path.s, sizeof path.s, "%s/%s", folder, name);
    return path;
}

void runner_write(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert(f != NULL && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

size_t runner_n_said(void)
{
    off_t n = lseek(said, 0, SEEK_END);

    assert(n >= 0);
    return (size_t)n;
}

static void check_message(bool parsed)
{
    static const char salvage[] = "s3analyze --salvage: ";
    char text[16384], *line = text;
    ssize_t n = pread(said, text, sizeof text - 1, 0);

    assert(n > 0);
    text[n] = '\0';
    /* What --salvage left out comes before the error. */
    while (strncmp(line, salvage, strlen(salvage)) == 0)
        assert((line = strchr(line, '\n')) != NULL && *++line != '\0');
    assert(strncmp(line, "fuzz: ", 6) == 0);
    char *end = strchr(line, '\n');
    assert(end != NULL);
    /* If the options are wrong, the message says where help is. If an input does not fit them, it
     * need not. */
    bool hint = strncmp(end, "\nTry 'fuzz ", 11) == 0;
    assert(hint || parsed);
    if (hint)
        assert((end = strchr(end + 1, '\n')) != NULL);
    assert(end == text + n - 1);
}

enum exit_code runner_run(const struct cli_command *command, const char *const *words)
{
    char *argv[64] = {"command"};
    int argc = 1;
    struct cli_args args = {0};
    struct err e = {0};
    void *options = calloc(1, command->options_size);
    enum exit_code status = EXIT_USAGE;

    assert(options != NULL);
    if (command->defaults != NULL)
        memcpy(options, command->defaults, command->options_size);
    for (; *words != NULL; words++)
        argv[argc++] = (char *)*words;
    assert(ftruncate(said, 0) == 0 && lseek(said, 0, SEEK_SET) == 0);
    fflush(stderr);
    dup2(said, STDERR_FILENO);
    bool parsed = cli_parse(command, argc, argv, &args, options, &e);
    args.program = "fuzz";
    args.command = command;
    status = parsed ? (enum exit_code)command->run(&args, options)
                    : (enum exit_code)cli_wrong_usage(&args, "%s", e.msg);
    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    cli_args_free(&args);
    free(options);
    if (status == EXIT_USAGE || (status == EXIT_FAILED && runner_n_said() > 0))
        check_message(parsed);
    return status;
}

void runner_check_written(const char *path, bool expected)
{
    assert((access(path, F_OK) == 0) == expected);
    if (expected)
        unlink(path);
}

json_t *runner_read_json(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    assert(document != NULL);
    return document;
}

void runner_check_no_markup(const char *path)
{
    size_t n = 0;
    char *text = NULL;
    FILE *f = fopen(path, "rb");

    assert(f != NULL && getdelim(&text, &n, '\0', f) > 0);
    assert(feof(f) && strstr(text, RUNNER_MARKUP) == NULL);
    free(text);
    fclose(f);
}
