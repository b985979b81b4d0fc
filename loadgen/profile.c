#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts white space off both ends. */
static char *trim(char *s)
{
    s += strspn(s, " \t\r\n");
    for (size_t n = strlen(s); n > 0 && strchr(" \t\r\n", s[n - 1]) != NULL; n--)
        s[n - 1] = '\0';
    return s;
}

static void forget(char **field)
{
    if (*field != NULL)
        explicit_bzero(*field, strlen(*field));
    free(*field);
    *field = NULL;
}

static bool set(char **field, const char *value)
{
    forget(field);
    *field = strdup(value);
    return *field != NULL;
}

/* A line "name = value" of the section. */
static bool take(struct profile *p, char *line)
{
    char *equals = strchr(line, '=');

    if (equals == NULL)
        return true;
    *equals = '\0';
    const char *name = trim(line);
    const char *value = trim(equals + 1);
    if (strcmp(name, "aws_access_key_id") == 0)
        return set(&p->access_key, value);
    if (strcmp(name, "aws_secret_access_key") == 0)
        return set(&p->secret_key, value);
    if (strcmp(name, "aws_session_token") == 0)
        return set(&p->session_token, value);
    return true;
}

/* False: errno says why. */
static bool read_section(struct profile *p, FILE *f, const char *name, bool *found)
{
    char *line = NULL;
    size_t size = 0;
    bool inside = false;
    bool ok = true;

    while (ok && getline(&line, &size, f) >= 0) {
        char *text = trim(line);
        size_t n = strlen(text);
        if (*text == '#' || *text == ';')
            continue;
        if (*text == '[' && text[n - 1] == ']') {
            text[n - 1] = '\0';
            inside = strcmp(trim(text + 1), name) == 0;
            *found |= inside;
        } else if (inside) {
            ok = take(p, text);
        }
    }
    ok = ok && feof(f);
    int cause = errno;
    if (line != NULL)
        explicit_bzero(line, size);
    free(line);
    errno = cause;
    return ok;
}

bool profile_read(struct profile *p, const char *name, bool required, struct err *e)
{
    const char *path = getenv("AWS_SHARED_CREDENTIALS_FILE");
    const char *home = getenv("HOME");
    char from_home[4096];
    bool found = false;

    *p = (struct profile){0};
    if (path == NULL || *path == '\0') {
        snprintf(from_home, sizeof from_home, "%s/.aws/credentials", home != NULL ? home : "");
        path = from_home;
    }
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return !required || err_errno(e, errno, "profile %s: cannot read '%s'", name, path);
    bool ok = read_section(p, f, name, &found) || err_errno(e, errno, "cannot read '%s'", path);
    fclose(f);
    if (!ok) {
        forget(&p->access_key);
        forget(&p->secret_key);
        forget(&p->session_token);
    }
    if (ok && required && !found)
        return err_set(e, "there is no profile '%s' in '%s'", name, path);
    return ok;
}
