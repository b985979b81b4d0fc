# Throughput over time: MiB/s above, objects/s below (alone where there are no bytes).
# Also draws what `s3analyze analyze --analyze.out` writes.
call ARG0[1:strlen(ARG0) - strlen("throughput.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
if (!plain) {
    @events
}

n_errors = 0; n_shades = 0; n_means = 0; n_bands = 0; n_marks = 0; n_fine = 0
if (!plain) {
    stats data index "chart" using (n_errors = int(column("n_errors")), \
        n_shades = int(column("n_shades")), n_means = int(column("n_means")), \
        n_bands = int(column("n_bands")), \
        n_marks = int(column("n_marks")), n_fine = int(column("n_fine")), \
        fine_s = column("fine_s"), segment = column("segment_s"), 0) nooutput
}

# What there is besides the line, each a part of the plot command; "" where there is none.
fine = n_fine == 0 ? "" : 'data index "fine" using (column("t_s")):(column(rate) / scale) with lines \
    linewidth 1 linecolor rgb c_1_faint title (is_main && has_fine_key ? "per " . time_text(fine_s) : ""), '
bands = n_bands == 0 ? "" : 'data index "means" using (0):(column("mean") / scale): \
    (column("panel") == panel ? column("from_s") : NaN):(column("to_s")):(column("lo") / scale): \
    (column("hi") / scale) with boxxyerror fillstyle transparent solid 0.2 noborder linecolor rgb c_2 \
    title (is_main ? "95 % CI" : ""), '
means = n_means == 0 ? "" : 'data index "means" \
    using (column("panel") == panel ? column("from_s") : NaN):(column("mean") / scale): \
    (column("to_s") - column("from_s")):(0) with vectors nohead linewidth 1.6 linecolor rgb c_2 \
    title (is_main ? "mean" : ""), '
marks = n_marks == 0 ? "" : 'for [i = 0:(is_main ? 2 : -1):(n_marks > 2 ? 1 : 2)] data index "marks" \
    using (column("kind") == i ? column("t_s") : NaN):(column(rate) / scale) with points \
    pointtype (i == 0 ? 9 : i == 1 ? 7 : 11) pointsize 1 \
    linecolor rgb (i == 0 ? c_3 : i == 1 ? c_text : c_bad) \
    title (i == 0 ? "fastest" : i == 1 ? "median" : "slowest"), '
errors = n_errors == 0 ? "" : 'for [i = 1:is_main] data index "errors" \
    using (column("t_s")):(top * 0.03) with points pointtype 2 pointsize 0.5 linewidth 1.4 \
    linecolor rgb c_bad title "errors", '

mb_top = -1.0; objs_top = -1.0
greater(a, b) = a > b ? a : b
n_points = 0
stats data index 0 using (plain && !mine(0) ? 0 : (n_points = n_points + 1, \
    mb_top = greater(mb_top, column("mb_per_sec")), \
    objs_top = greater(objs_top, column("objs_per_sec")), 0)) nooutput
if (n_fine > 0) {
    stats data index "fine" using (mb_top = greater(mb_top, column("mb_per_sec")), \
        objs_top = greater(objs_top, column("objs_per_sec")), 0) nooutput
}
has_bytes = mb_top > 0
has_fine_key = n_fine > 0 && !narrow
key_entries = 1 + has_fine_key + (n_means > 0) + (n_bands > 0) + n_marks + (n_errors > 0)
key_longest = has_fine_key ? strlen("per " . time_text(fine_s)) : has_bytes ? 7 : 9
@key_layout
line = line_of(n_points)
main = has_bytes ? 0 : 1 # the panel with the marks
middle_px = foot_px + (height - panel_top_px - foot_px) * 0.36
@shading
set multiplot
do for [panel = main:1] {
    rate = panel == 0 ? "mb_per_sec" : "objs_per_sec"
    is_main = panel == main
    scale = panel == 0 ? byte_scale(mb_top) : 1.0
    top = 1.06 * (panel == 0 ? mb_top : objs_top) / scale
    if (top <= 0) { top = 1 }
    axis_px = (height - panel_top_px - foot_px) * (!has_bytes ? 1 : is_main ? 0.64 : 0.36)
    @y_tics
    set yrange [0:top]
    y_unit = panel == 0 ? byte_unit(mb_top) : "objects/s"
    @y_label
    if (has_bytes && panel == 0) {
        set bmargin at screen Y(height - middle_px - 9)
        @time_hidden
        @time_above
    } else {
        set bmargin at screen Y(height - foot_px)
        @time_below
        if (has_bytes) {
            set tmargin at screen Y(height - middle_px + 9)
            unset label 1
            @events_unnamed
            unset x2tics
            unset key
        } else {
            @time_above
        }
    }
    plot @shades @bands @fine @means data index 0 using (middle(0)):(column(rate) / scale) with @line \
        linewidth 1.6 linecolor rgb (panel == 0 ? c_1 : c_3) \
        title y_unit, @marks @errors
}
unset multiplot
