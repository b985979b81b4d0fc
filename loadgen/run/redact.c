/* Keeps secrets out of command lines that others can see. */
#include "libcommon/secret.h"
#include "loadgen/run/options.h"
#include "loadgen/util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char REDACTED[] = "REDACTED";

static const char *const SECRET_OPTIONS[] = {"access-key", "secret-key", "session-token"};

/* The value within "--secret-key=VALUE"; or, where the option stands alone, *next is set. NULL: no
 * secret in this word. A misspelt option is refused, but must not show its value: what begins with
 * the name of a secret, or is one with other signs between, counts too. */
static char *secret_in(char *word, bool *next)
{
    *next = false;
    if (strncmp(word, "-", 1) != 0)
        return NULL;
    char *name = word + strspn(word, "-");
    size_t n = strcspn(name, "=");
    for (size_t i = 0; i < sizeof SECRET_OPTIONS / sizeof *SECRET_OPTIONS; i++) {
        const char *p = SECRET_OPTIONS[i];
        size_t at = 0;
        for (; at < n && *p != '\0'; at++) {
            if (name[at] == '_' || name[at] == '.' || name[at] == '-')
                continue;
            p += *p == '-';
            if ((name[at] | 0x20) != *p)
                break;
            p++;
        }
        if (*p != '\0')
            continue;
        *next = name[n] != '=';
        return *next ? NULL : name + n + 1;
    }
    return NULL;
}

/* user:password of a URL: from behind "://" to "@". */
static char *userinfo_in(char *word, size_t *n)
{
    char *start = strstr(word, "://");

    if (start == NULL)
        return NULL;
    start += 3;
    size_t n_authority = strcspn(start, "/?#");
    char *at = memrchr(start, '@', n_authority);
    if (at == NULL)
        return NULL;
    *n = (size_t)(at - start);
    return start;
}

char **options_hide(int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    bool next = false;

    if (copy == NULL)
        return NULL;
    for (int i = 0; i < argc; i++) {
        copy[i] = secret_copy(argv[i], strlen(argv[i]));
        if (copy[i] == NULL)
            return NULL;
        char *secret = next ? argv[i] : NULL;
        size_t n = 0;
        if (!next)
            secret = secret_in(argv[i], &next);
        else
            next = false;
        if (secret != NULL)
            memset(secret, 'x', strlen(secret));
        if ((secret = userinfo_in(argv[i], &n)) != NULL)
            memset(secret, 'x', n);
    }
    return copy;
}

/* A word of the command line as a shell would read it. */
static void put_word(struct strbuf *b, const char *word)
{
    bool plain = *word != '\0' && strpbrk(word, " \t\n\"'\\$`*?[]{}()<>|&;#~!") == NULL;

    if (plain) {
        strbuf_puts(b, word);
        return;
    }
    strbuf_puts(b, "'");
    for (; *word != '\0'; word++)
        strbuf_put(b, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    strbuf_puts(b, "'");
}

char *options_redacted(int argc, char *const *argv)
{
    struct strbuf line = {0};
    bool next = false;

    for (int i = 0; i < argc && !line.failed; i++) {
        struct strbuf word = {0};
        size_t n = 0;
        char *secret = NULL;
        bool whole = next;
        if (!next)
            secret = secret_in(argv[i], &next);
        else
            next = false;
        char *user = userinfo_in(argv[i], &n);
        if (whole) {
            strbuf_puts(&word, REDACTED);
        } else if (secret != NULL) {
            strbuf_put(&word, argv[i], (size_t)(secret - argv[i]));
            strbuf_puts(&word, REDACTED);
        } else if (user != NULL) {
            strbuf_put(&word, argv[i], (size_t)(user - argv[i]));
            strbuf_puts(&word, REDACTED);
            strbuf_puts(&word, user + n);
        } else {
            strbuf_puts(&word, argv[i]);
        }
        if (i > 0)
            strbuf_puts(&line, " ");
        put_word(&line, word.s != NULL ? word.s : "");
        line.failed |= word.failed;
        strbuf_fini(&word);
    }
    if (line.failed)
        strbuf_fini(&line);
    return line.s;
}

/* The words of f, each ended by a NUL. */
static bool read_words(FILE *f, char **words, int max, int *n)
{
    size_t size = 0;

    for (*n = 0; *n < max; ++*n) {
        words[*n] = NULL;
        ssize_t len = getdelim(&words[*n], &size, '\0', f);
        size = 0;
        if (len < 0) {
            free(words[*n]);
            return feof(f) != 0;
        }
    }
    return true;
}

char *options_command_line(void)
{
    char *words[4096];
    int n = 0;
    char *line = NULL;
    FILE *f = fopen("/proc/self/cmdline", "re");

    if (f == NULL)
        return strdup("s3load");
    if (read_words(f, words, sizeof words / sizeof *words, &n))
        line = options_redacted(n, words);
    fclose(f);
    for (int i = 0; i < n; i++)
        free(words[i]);
    return line;
}
