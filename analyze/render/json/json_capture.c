#include "analyze/render/json/documents.h"

void json_capture_dropped(struct json_out *w, const struct recfile_info *info)
{
    json_out_array(w, "dropped");
    for (int i = 0; i < N_DROPS; i++) {
        if (info->n_dropped[i] == 0)
            continue;
        json_out_object(w, NULL);
        JSON_PUT(w, "why", recfile_drop_names[i]);
        JSON_PUT(w, "n", info->n_dropped[i]);
        JSON_PUT(w, "first", info->first_drop[i]);
        json_out_end(w);
    }
    json_out_end(w);
}
