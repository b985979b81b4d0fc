#include "analyze/report/json_capture.h"

json_t *json_capture_dropped(struct json_out *w, const struct recfile_info *info)
{
    json_t *list = json_array();
    for (int i = 0; i < N_DROPS; i++) {
        if (info->n_dropped[i] == 0)
            continue;
        json_t *drop = json_object();
        json_out_set(w, drop, "why", json_string(recfile_drop_names[i]));
        json_out_set_int(w, drop, "n", (int64_t)info->n_dropped[i]);
        json_out_set(w, drop, "first", json_out_text(info->first_drop[i]));
        json_out_append(w, list, drop);
    }
    return list;
}
