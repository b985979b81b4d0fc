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

/* Finds user:password of a URL: from behind "://" to "@". */
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

/* Finds the secret of n bytes in a word; NULL: there is none. *next goes from word to word. */
static char *find_secret(char *word, bool *next, size_t *n)
{
    bool whole = *next;

    *next = false;
    char *secret = whole ? word : secret_in(word, next);
    *n = secret != NULL ? strlen(secret) : 0;
    return secret != NULL ? secret : userinfo_in(word, n);
}

char **options_hide(int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    bool next = false;

    for (int i = 0; copy != NULL && i < argc; i++) {
        size_t n = 0;
        copy[i] = secret_copy(argv[i], strlen(argv[i]));
        if (copy[i] == NULL)
            return NULL;
        char *secret = find_secret(argv[i], &next, &n);
        if (secret != NULL)
            memset(secret, 'x', n);
    }
    return copy;
}

/* Writes a word of the command line as a shell would read it. */
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
        char *word = NULL;
        size_t n = 0;
        const char *secret = find_secret(argv[i], &next, &n);
        size_t n_before = secret != NULL ? (size_t)(secret - argv[i]) : strlen(argv[i]);

        line.failed |= asprintf(&word, "%.*s%s%s", (int)n_before, argv[i],
                                secret != NULL ? REDACTED : "", argv[i] + n_before + n) < 0;
        strbuf_puts(&line, i > 0 ? " " : "");
        put_word(&line, line.failed ? "" : word);
        free(word);
    }
    if (line.failed)
        strbuf_fini(&line);
    return line.s;
}
