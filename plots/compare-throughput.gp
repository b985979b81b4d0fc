# Throughput of both sides of a comparison over time, aligned at the start: the median of a side's runs,
# and a band from the lower to the upper quartile; of fewer than four runs a thin line for each.
call ARG0[1:strlen(ARG0) - strlen("compare-throughput.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (most = column("most"), has_bytes = int(column("has_bytes")), \
    before = strcol("before"), after = strcol("after"), n_before = int(column("n_before")), \
    n_after = int(column("n_after")), 0) nooutput
scale = has_bytes ? byte_scale(most) : 1.0
top = most > 0 ? most * 1.06 / scale : 1
axis_px = height - panel_top_px - foot_px
@y_tics
set yrange [0:top]
y_unit = has_bytes ? byte_unit(most) : "objects/s"
@y_label
set xrange [0:t_max]
set xtics clock_step(t_max, n_tics)
set xlabel "seconds since the start of the operation" offset 0,0.4 textcolor rgb c_faint
side_runs = " (median of %d)"
@compare_key
plot for [i = 1:n_before > 3] data index "before_median" using 1:(column("lo") / scale):(column("hi") / scale) \
        with filledcurves fillstyle transparent solid 0.2 noborder linecolor rgb c_1 notitle, \
    for [i = 1:n_after > 3] data index "after_median" using 1:(column("lo") / scale):(column("hi") / scale) \
        with filledcurves fillstyle transparent solid 0.2 noborder linecolor rgb c_2 notitle, \
    for [i = 1:n_before > 1 && n_before < 4] data index "before_runs" using 1:($2 / scale) with lines linewidth 0.7 \
        linecolor rgb c_1_faint notitle, \
    for [i = 1:n_after > 1 && n_after < 4] data index "after_runs" using 1:($2 / scale) with lines linewidth 0.7 \
        linecolor rgb c_2_faint notitle, \
    data index "before_median" using 1:($2 / scale) with lines linewidth 2.2 linecolor rgb c_1 \
        title title_1, \
    data index "after_median" using 1:($2 / scale) with lines linewidth 2.2 dashtype (10,4) linecolor rgb c_2 \
        title title_2
