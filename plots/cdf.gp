# Latency distribution: the share of requests that took at most that long (log scale), with marks at
# percentiles; time to first byte beside.
call ARG0[1:strlen(ARG0) - strlen("cdf.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (n_ttfb = int(column("n_ttfb")), time = strcol("time"), 0) nooutput
blocks = "durations" . (n_ttfb > 0 ? " ttfb" : "")
@find_range
panel_top_px = head_px + 26
key_entries = 1 + (n_ttfb > 0)
key_longest = 18
@key_layout
@cdf_axes
ttfb = n_ttfb == 0 ? "" : 'data index "ttfb" using (floor_ms(column("ms"))):(column("pct")) \
    with steps linewidth 1.8 linecolor rgb c_2 title "time to first byte", \
    data index "marks" using (column("is_ttfb") > 0 ? floor_ms(column("ms")) : NaN): \
    (column("pct")) with points pointtype 7 pointsize 0.7 linecolor rgb c_2 notitle, '
# The figures stand below the right end of the curve, or above its left end where it is low there.
at_x(x) = exp(log(low) + x * log(high / low))
column_px = 112
n_columns = n_ttfb > 0 && !narrow ? 2 : 1
column_frac = column_px / real(width - left_px - right_px)
edge = n_columns * column_frac
least_right = 100.0; most_left = 0.0
do for [name in blocks] {
    most_before = 0.0
    stats data index name using (column("ms") <= at_x(1 - edge) ? most_before = column("pct") : 0, \
        column("ms") <= at_x(edge) ? most_left = (column("pct") > most_left ? column("pct") : most_left) : 0) nooutput
    least_right = most_before < least_right ? most_before : least_right
}
is_left = least_right < 48 && most_left < 50
figure_y(i) = (is_left ? 92 : 42) - 8 * i
column_x(i) = is_left ? (i + 1) * column_frac : 0.985 - (n_columns - 1 - i) * column_frac
figures = n_columns < 2 ? "" : ', data index "marks" using (column("is_ttfb") > 0 ? at_x(column_x(1)) : NaN): \
    (figure_y(int(column(0)) - 5)):(strcol("label")) with labels right textcolor rgb c_2 notitle'
plot @ttfb data index "durations" using (floor_ms(column("ms"))):(column("pct")) with steps \
        linewidth 2 linecolor rgb c_1 title time, \
    data index "marks" using (column("is_ttfb") == 0 ? floor_ms(column("ms")) : NaN): \
        (column("pct")) with points pointtype 7 pointsize 0.7 linecolor rgb c_1 notitle, \
    data index "marks" using (column("is_ttfb") == 0 ? at_x(column_x(0)) : NaN): \
        (figure_y(int(column(0)))):(strcol("label")) with labels right textcolor rgb c_1 notitle \
        @figures
