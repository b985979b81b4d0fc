/* Keeps secrets out of command lines that others can see. */
#include "libcommon/secret.h"
#include "libcommon/slice.h"
#include "loadgen/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char REDACTED[] = "REDACTED";

/* Whether n bytes name the option. A longer word, or one with other separators, counts too: a
 * misspelt option is refused, but its value must not be shown either. */
static bool names(const char *option, const char *name, size_t n)
{
    for (size_t at = 0; at < n && *option != '\0'; at++) {
        if (strchr("_.-", name[at]) != NULL)
            continue;
        option += *option == '-';
        if ((name[at] | 0x20) != *option++)
            return false;
    }
    return *option == '\0';
}

/* Whether an option is secret. One that does not declare its use counts as secret. */
static bool is_secret(const struct cli_command *const *commands, const char *name, size_t n)
{
    for (; *commands != NULL; commands++)
        for (const struct cli_group *g = (*commands)->groups; g->options != NULL; g++)
            for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
                if ((o->is == CLI_SECRET || o->is == CLI_UNDECLARED) && names(o->name, name, n))
                    return true;
    return false;
}

/* Returns the value in "--secret-key=VALUE". If the word is the option alone, sets *next. NULL:
 * there is no secret in this word. */
static char *secret_in(const struct cli_command *const *commands, char *word, bool *next)
{
    char *name = word + strspn(word, "-");
    size_t n = strcspn(name, "=");

    *next = false;
    if (name == word || !is_secret(commands, name, n))
        return NULL;
    *next = name[n] != '=';
    return *next ? NULL : name + n + 1;
}

/* Finds the secret of *n bytes in a word; NULL: there is none. *next says whether the whole next
 * word is a secret; pass it on from word to word. */
static char *find_secret(const struct cli_command *const *commands, char *word, bool *next,
                         size_t *n)
{
    bool whole = *next;

    *next = false;
    char *secret = whole ? word : secret_in(commands, word, next);
    struct slice userinfo = slice_userinfo(word);
    *n = secret != NULL ? strlen(secret) : userinfo.n;
    return secret != NULL ? secret : (char *)userinfo.p;
}

bool options_hold_secret(const struct cli_command *const *commands, char *const *words)
{
    bool found = false, next = false;
    size_t n;

    for (; *words != NULL; words++)
        found |= find_secret(commands, *words, &next, &n) != NULL || next;
    return found;
}

char **options_hide(const struct cli_command *const *commands, int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    bool next = false;

    for (int i = 0; copy != NULL && i < argc; i++) {
        size_t n = 0;
        copy[i] = secret_copy(argv[i], strlen(argv[i]));
        if (copy[i] == NULL)
            return NULL;
        char *secret = find_secret(commands, argv[i], &next, &n);
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

char *options_redacted(const struct cli_command *const *commands, char *const *argv)
{
    struct strbuf line = {0};
    bool next = false;

    strbuf_puts(&line, ""); /* for no words at all */
    for (; *argv != NULL && !line.failed; argv++) {
        char *word = NULL;
        size_t n = 0;
        const char *secret = find_secret(commands, *argv, &next, &n);
        size_t n_before = secret != NULL ? (size_t)(secret - *argv) : strlen(*argv);

        line.failed |= asprintf(&word, "%.*s%s%s", (int)n_before, *argv,
                                secret != NULL ? REDACTED : "", *argv + n_before + n) < 0;
        strbuf_puts(&line, line.n > 0 ? " " : "");
        put_word(&line, line.failed ? "" : word);
        free(word);
    }
    if (line.failed)
        strbuf_fini(&line);
    return line.s;
}

char *options_to_clean(const struct options *o)
{
    static const struct options usual = {OPTIONS_DEFAULTS};
    const struct cli_option *const tables[] = {options_where, options_connection, NULL};
    struct options given = *o;
    struct strbuf line = {0};

    if (o->hosts_file != NULL)
        given.hosts = o->hosts_file;
    strbuf_printf(&line, "s3load clean --run %s", o->run_id);
    for (const struct cli_option *const *t = tables; *t != NULL; t++)
        for (const struct cli_option *k = *t; k->type != CLI_NONE; k++) {
            const void *value = (char *)&given + k->offset, *other = (char *)&usual + k->offset;
            const char *text = NULL;

            if (k->type == CLI_STRING)
                text = *(const char *const *)value;
            else if (k->type == CLI_CHOICE && *(const int *)value != *(const int *)other)
                text = k->choices[*(const int *)value];
            bool is_usual = text == NULL && !(k->type == CLI_FLAG && *(const bool *)value);
            if (k->type == CLI_STRING && text != NULL && *(const char *const *)other != NULL)
                is_usual = strcmp(text, *(const char *const *)other) == 0;
            if (k->is == CLI_SECRET || is_usual)
                continue;
            strbuf_printf(&line, " --%s%s", k->name, text != NULL ? " " : "");
            if (text != NULL)
                put_word(&line, text);
        }
    if (*o->prefix != '\0') {
        strbuf_puts(&line, " --prefix ");
        put_word(&line, o->prefix);
    }
    if (line.failed)
        strbuf_fini(&line);
    return line.s;
}
