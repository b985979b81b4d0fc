#include "analyze/write/json_in.h"

#include "libcommon/mem.h"

bool json_in_parse(const char *text, json_t **value, struct err *e)
{
    json_error_t error;

    *value = NULL;
    if (text == NULL)
        return true;
    /* Where jansson gets no memory it may lose a byte, or call it a mistake of the text, and does
     * not say so. So it reads the text twice, and both must be the same. */
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
