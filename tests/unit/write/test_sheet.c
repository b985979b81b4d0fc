/* One sheet as text, HTML and Markdown: what each format contains, and what it leaves out. */
#include "analyze/write/sheet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LONG_BYTES 200000 /* more than a block of texts holds */

static void put_link(FILE *f, const void *ctx, size_t k)
{
    fprintf(f, "<a href=\"%s%zu\">one</a>", (const char *)ctx, k);
}

static void fill(struct sheet *s)
{
    sheet_item(s, TEXT_WARNING, "Mind <this>");
    sheet_table(s, "lrRl", "Title, in words");
    SHEET_HEADINGS(s, "", "n", "Detail", "Empty");
    SHEET_ROW(s, TEXT_PLAIN, "one");
    sheet_markup(s, put_link, "#op", 7);
    SHEET_CELLS(s, "1", "d1");
    s->when = SHEET_DETAIL;
    SHEET_ROW(s, TEXT_PLAIN, "two|", "22");
    s->when = SHEET_BRIEF;
    sheet_span(s, TEXT_FAINT, "and one more");
    s->when = SHEET_ALWAYS;
    sheet_line(s, TEXT_PLAIN, "The end.");
}

enum format { TEXT, VERBOSE, HTML, MARKDOWN };

/* Returns what a sheet writes, for the caller to free. */
static char *written(const struct sheet *s, enum format format)
{
    char *text = NULL;
    size_t n;
    struct err e = {0};
    FILE *f = open_memstream(&text, &n);
    const struct sheet_form form = {.verbose = format == VERBOSE};

    assert_non_null(f);
    assert_true(format == HTML       ? sheet_write_html(s, f, "op7", &e)
                : format == MARKDOWN ? sheet_write_markdown(s, f, &e)
                                     : sheet_write_text(s, &form, f, &e));
    assert_int_equal(fclose(f), 0);
    return text;
}

static void check(enum format format, const char *expected)
{
    struct sheet s = {.brief = format == TEXT};

    fill(&s);
    char *text = written(&s, format);
    assert_string_equal(text, expected);
    free(text);
    sheet_free(&s);
}

static void test_text_may_be_brief(void **state)
{
    (void)state;
    check(TEXT, " * Mind <this>\n\nTitle, in words:\n     n\none  1\nand one more\nThe end.\n");
    check(VERBOSE,
          " * Mind <this>\n\nTitle, in words:\n       n  Detail\none    1      d1\ntwo|  22\n"
          "The end.\n");
}

static void test_html_has_details_and_markup(void **state)
{
    (void)state;
    check(HTML,
          "<ul>\n<li class=\"warned\">Mind &lt;this&gt;</li>\n</ul>\n"
          "<div class=\"scroll\" tabindex=\"0\"><table id=\"op7-title\"><caption>Title, in words "
          "<a class=\"self\" href=\"#op7-title\" aria-label=\"Link to this table\">#</a></caption>"
          "<thead><tr><td class=\"l\"></td><th scope=\"col\">n</th><th scope=\"col\" "
          "class=\"more\">Detail</th></tr></thead><tbody>\n"
          "<tr><th scope=\"row\" class=\"l\"><a "
          "href=\"#op7\">one</a></th><td>1</td><td class=\"more\">d1</td></tr>\n"
          "<tr><th scope=\"row\" class=\"l\">two|</th><td>22</td><td class=\"more\"></td></tr>\n"
          "</tbody></table></div>\n<p>The end.</p>\n");
}

static void test_markdown_escapes(void **state)
{
    (void)state;
    check(MARKDOWN,
          "- **Mind &lt;this>**\n\n**Title, in words**\n\n|  | n | Detail |\n|---|---:|---:|\n"
          "| one | 1 | d1 |\n| two\\| | 22 |\n\nThe end.\n\n");
}

/* A table without rows writes nothing: no headings, no title. */
static void test_a_table_without_rows_is_none(void **state)
{
    (void)state;
    for (enum format format = TEXT; format <= MARKDOWN; format++) {
        struct sheet s = {0};

        sheet_table(&s, "lr", "Nothing");
        SHEET_HEADINGS(&s, "", "n");
        char *text = written(&s, format);
        assert_string_equal(text, "");
        free(text);
        sheet_free(&s);
    }
}

/* A rule separates text above a title from text below; a report does not begin with a rule. */
static void test_a_rule_stands_between_titles(void **state)
{
    struct sheet s = {0};

    (void)state;
    sheet_title(&s, "One");
    sheet_title(&s, "Two");
    char *text = written(&s, TEXT);
    assert_string_equal(text, "One\n\n----------------------------------------\nTwo\n");
    free(text);
    sheet_free(&s);
}

static void test_one_gap_is_left_where_nothing_stands_between_two(void **state)
{
    struct sheet s = {0};

    (void)state;
    sheet_line(&s, TEXT_PLAIN, "One");
    sheet_gap(&s);
    sheet_gap(&s);
    sheet_line(&s, TEXT_PLAIN, "Two");
    char *text = written(&s, TEXT);
    assert_string_equal(text, "One\n\nTwo\n");
    free(text);
    sheet_free(&s);
}

/* Texts are kept in blocks: those before and after a long one must not change. */
static void test_texts_of_any_length(void **state)
{
    char *large = malloc(LONG_BYTES + 1);
    struct sheet s = {0};

    (void)state;
    assert_non_null(large);
    memset(large, 'x', LONG_BYTES);
    large[LONG_BYTES] = '\0';
    sheet_line(&s, TEXT_PLAIN, "before");
    sheet_line(&s, TEXT_PLAIN, "%s", large);
    for (size_t i = 0; i < 20000; i++)
        sheet_line(&s, TEXT_PLAIN, "line %zu", i);
    assert_string_equal(s.v[0].text, "before");
    assert_string_equal(s.v[1].text, large);
    assert_string_equal(s.v[20001].text, "line 19999");
    sheet_free(&s);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_may_be_brief),
        cmocka_unit_test(test_html_has_details_and_markup),
        cmocka_unit_test(test_markdown_escapes),
        cmocka_unit_test(test_a_table_without_rows_is_none),
        cmocka_unit_test(test_one_gap_is_left_where_nothing_stands_between_two),
        cmocka_unit_test(test_a_rule_stands_between_titles),
        cmocka_unit_test(test_texts_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
