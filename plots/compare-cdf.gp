# Latency distributions of both sides of a comparison: each run thin, all runs of a side together
# thick.
call ARG0[1:strlen(ARG0) - strlen("compare-cdf.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (before = strcol("before"), after = strcol("after"), \
    n_before = int(column("n_before")), n_after = int(column("n_after")), 0) nooutput
blocks = "all_before all_after before_runs after_runs"
@find_range
@cdf_axes
@compare_key
plot for [i = 1:n_before > 1] data index "before_runs" using (floor_ms($1)):2 with steps \
        linewidth 0.7 linecolor rgb c_1_faint notitle, \
    for [i = 1:n_after > 1] data index "after_runs" using (floor_ms($1)):2 with steps \
        linewidth 0.7 linecolor rgb c_2_faint notitle, \
    data index "all_before" using (floor_ms($1)):2 with steps linewidth 2.2 linecolor rgb c_1 \
        title title_1, \
    data index "all_after" using (floor_ms($1)):2 with steps linewidth 2.2 dashtype (10,4) linecolor rgb c_2 \
        title title_2
