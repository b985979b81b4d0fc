#include "libcommon/cli_help.h"

#include <ctype.h>
#include <string.h>

typedef void option_writer(FILE *out, const struct cli_command *c, const struct cli_option *o);

static void each_option(FILE *out, const struct cli_command *c, option_writer *write)
{
    for (const struct cli_group *g = c->groups; g && g->options; g++) {
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
            write(out, c, o);
    }
}

static bool takes_path(const struct cli_option *o)
{
    return strstr(o->arg, "FILE") || strstr(o->arg, "DIR") || strstr(o->arg, "CAPTURE");
}

/* Writes text for use between single quotes in any of the shells, with a backslash before each
 * character of `special`. */
static void put_quoted(FILE *out, const char *s, const char *special)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr(special, *s) ? "\\" : "", *s);
    }
}

static void put_choices(FILE *out, const struct cli_option *o)
{
    for (size_t i = 0; cli_help_choice(o, i); i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", cli_help_choice(o, i));
}

/* If the first operand is one of several words ("a|b FILE"), writes `before`, the words with blanks
 * between them, and `after`. */
static void put_first_words(FILE *out, const struct cli_command *c, const char *before,
                            const char *after)
{
    const char *s = c->operands != NULL ? c->operands : "";
    size_t n = strcspn(s, " ");

    if (!islower((unsigned char)*s) || memchr(s, '|', n) == NULL)
        return;
    fputs(before, out);
    for (size_t i = 0; i < n; i++)
        fputc(s[i] == '|' ? ' ' : s[i], out);
    fputs(after, out);
}

/* ---- Bash: a case per option that takes a value, by "COMMAND OPTION" ---- */

static void bash_names(FILE *out, const struct cli_command *c, const struct cli_option *o)
{
    (void)c;
    fprintf(out, " --%s", o->name);
    if (o->alias)
        fprintf(out, " --%s", o->alias);
    if (o->letter)
        fprintf(out, " -%c", o->letter);
}

static void bash_value(FILE *out, const struct cli_command *c, const struct cli_option *o)
{
    if (o->type == CLI_FLAG)
        return;
    fprintf(out, "    '%s --%s'", c->name, o->name);
    if (o->alias)
        fprintf(out, "|'%s --%s'", c->name, o->alias);
    if (o->letter)
        fprintf(out, "|'%s -%c'", c->name, o->letter);
    if (cli_help_choice(o, 0)) {
        fputs(") words='", out);
        put_choices(out, o);
        fputs("';;\n", out);
    } else {
        fputs(takes_path(o) ? ") paths=1;;\n" : ") ;;\n", out);
    }
}

static void write_bash(FILE *out, const struct cli_program *program)
{
    fprintf(out, "# bash completion of %s\n_%s()\n{\n", program->name, program->name);
    fputs("    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= paths=\n"
          "    # bash takes --option=value for three words.\n"
          "    if [ \"$cur\" = = ]; then\n"
          "        cur=\n"
          "    elif [ \"$prev\" = = ]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    [ \"$COMP_CWORD\" -eq 1 ] && prev=\n"
          "    case \"${COMP_WORDS[COMP_CWORD > 1]} $prev\" in\n"
          "    *' ') words='",
          out);
    for (const struct cli_command *const *c = program->commands; *c; c++)
        fprintf(out, "%s ", (*c)->name);
    fputs("--help --version';;\n", out);
    for (const struct cli_command *const *c = program->commands; *c; c++)
        each_option(out, *c, bash_value);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "    '%s '*) paths=%s; [[ $cur == -* ]] && words='--help", (*c)->name,
                (*c)->operands ? "1" : "");
        each_option(out, *c, bash_names);
        fputs("'", out);
        put_first_words(out, *c, "; [[ $COMP_CWORD -eq 2 && $cur != -* ]] && words='", "'");
        fputs(";;\n", out);
    }
    fputs("    esac\n"
          "    COMPREPLY=()\n"
          "    # In a list, complete the item after the last comma.\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -P \"${cur%\"${cur##*,}\"}\" -W \"$words\" -- "
          "\"${cur##*,}\"))\n"
          "    elif [ -n \"$paths\" ]; then\n"
          "        compopt -o default\n"
          "    fi\n"
          "}\n",
          out);
    fprintf(out, "complete -F _%s %s\n", program->name, program->name);
}

/* ---- Zsh: a call of _arguments per command ---- */

static void zsh_one(FILE *out, const char *dashes, const char *name, const struct cli_option *o)
{
    bool many = o->type == CLI_LIST || o->type == CLI_STRINGS || o->type == CLI_OPERANDS;
    bool is_letter = !dashes[1];

    fprintf(out, " \\\n        '%s%s%s", many ? "*" : "", dashes, name);
    if (o->type != CLI_FLAG)
        fputs(is_letter ? "+" : "=", out);
    fputc('[', out);
    put_quoted(out, o->help, "[]:\\");
    fputc(']', out);
    if (o->type != CLI_FLAG) {
        fputc(':', out);
        put_quoted(out, o->arg, "[]:\\");
        fputs(!cli_help_choice(o, 0) ? takes_path(o) ? ":_files" : ": "
              : o->type == CLI_LIST  ? ":_sequence compadd - "
                                     : ":(",
              out);
    }
    if (cli_help_choice(o, 0)) {
        put_choices(out, o);
        fputs(o->type == CLI_LIST ? "" : ")", out);
    }
    fputc('\'', out);
}

static void zsh_option(FILE *out, const struct cli_command *c, const struct cli_option *o)
{
    (void)c;
    zsh_one(out, "--", o->name, o);
    if (o->alias)
        zsh_one(out, "--", o->alias, o);
    if (o->letter)
        zsh_one(out, "-", (const char[]){o->letter, '\0'}, o);
}

static void write_zsh(FILE *out, const struct cli_program *program)
{
    fprintf(out, "#compdef %s\n_%s()\n{\n", program->name, program->name);
    fputs("    if (( CURRENT == 2 )); then\n        local -a commands=(", out);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "\n            '%s:", (*c)->name);
        put_quoted(out, (*c)->summary, "\\");
        fputc('\'', out);
    }
    fputs(")\n        _describe command commands\n        _arguments --help --version\n"
          "        return\n    fi\n"
          "    local name=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $name in\n",
          out);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "    %s) _arguments '--help[explain]'", (*c)->name);
        each_option(out, *c, zsh_option);
        put_first_words(out, *c, " \\\n        '1:word:(", ")'");
        fputs((*c)->operands ? " \\\n        '*:file:_files';;\n" : ";;\n", out);
    }
    fprintf(out, "    esac\n}\n_%s \"$@\"\n", program->name);
}

/* ---- Fish: a line per option ---- */

static void fish_line(FILE *out, const struct cli_program *program, const struct cli_command *c)
{
    fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s'", program->name, c->name);
}

static void write_fish_option(FILE *out, const struct cli_program *program,
                              const struct cli_command *c, const struct cli_option *o)
{
    fish_line(out, program, c);
    fprintf(out, " -l %s", o->name);
    if (o->alias)
        fprintf(out, " -l %s", o->alias);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    if (cli_help_choice(o, 0)) {
        fprintf(out, " -x -a '%s", o->type == CLI_LIST ? "(__fish_append , " : "");
        put_choices(out, o);
        fputs(o->type == CLI_LIST ? ")'" : "'", out);
    } else if (o->type != CLI_FLAG) {
        fputs(takes_path(o) ? " -rF" : " -x", out);
    }
    fputs(" -d '", out);
    put_quoted(out, o->help, "");
    fputs("'\n", out);
}

static void write_fish(FILE *out, const struct cli_program *program)
{
    fprintf(out, "# fish completion of %s\n", program->name);
    fprintf(out, "complete -c %s -f\n", program->name);
    fprintf(out, "complete -c %s -n __fish_use_subcommand -l help -d explain\n", program->name);
    fprintf(out, "complete -c %s -n __fish_use_subcommand -l version -d 'version and libraries'\n",
            program->name);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s -d '", program->name,
                (*c)->name);
        put_quoted(out, (*c)->summary, "");
        fputs("'\n", out);
    }
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fish_line(out, program, *c);
        fputs(" -l help -d explain\n", out);
        if ((*c)->operands) {
            fish_line(out, program, *c);
            fputs(" -F\n", out);
        }
        char condition[200];
        snprintf(condition, sizeof condition,
                 "complete -c %s -n '__fish_seen_subcommand_from %s; and test (count (commandline "
                 "-opc)) -eq 2' -a '",
                 program->name, (*c)->name);
        put_first_words(out, *c, condition, "'\n");
        for (const struct cli_group *g = (*c)->groups; g && g->options; g++) {
            for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
                write_fish_option(out, program, *c, o);
        }
    }
}

bool cli_completion_write(FILE *out, const char *shell, const struct cli_program *program)
{
    if (strcmp(shell, "bash") == 0)
        write_bash(out, program);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(out, program);
    else if (strcmp(shell, "fish") == 0)
        write_fish(out, program);
    else
        return false;
    return true;
}
