#include "json_in.h"

bool json_in_parse(const char *text, json_t **value, struct err *e)
{
    json_error_t error;

    *value = text != NULL ? json_loads(text, 0, &error) : NULL;
    if (text == NULL || *value != NULL)
        return true;
    /* What is wrong with a text is said; without memory, jansson mostly says nothing. */
    bool is_wrong = error.text[0] != '\0' && json_error_code(&error) != json_error_out_of_memory;
    return is_wrong || err_set(e, "out of memory");
}
