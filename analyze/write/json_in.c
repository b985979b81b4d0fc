#include "analyze/write/json_in.h"

#include "libcommon/mem.h"

#include <stdio.h>

bool json_in_parse(const char *text, json_t **value, struct err *e)
{
    json_error_t error;

    *value = NULL;
    if (text == NULL)
        return true;
    /* When memory runs out, jansson may drop a byte or report a syntax error instead of saying so.
     * So the text is parsed twice, and the results must agree. */
    *value = json_loads(text, 0, &error);
    json_t *again = json_loads(text, 0, &error);
    bool is_same = json_equal(*value, again);
    bool is_wrong = *value == NULL && again == NULL && error.text[0] != '\0' &&
                    json_error_code(&error) != json_error_out_of_memory;
    json_decref(again);
    if (is_same || is_wrong)
        return true;
    json_decref(*value);
    *value = NULL;
    return mem_none(e);
}

void json_in_text(char *to, size_t size, const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    snprintf(to, size, "%s", text != NULL ? text : "");
}
