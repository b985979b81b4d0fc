# Latency distribution: the share of requests that took at most so long (log scale), with marks at
# percentiles; time to first byte beside.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
dir = ARG0[1:slash]
call dir . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5

n_ttfb = 0
stats data index "chart" using (n_ttfb = int(column("n_ttfb")), 0) nooutput
low = 1e99; high = 0.0
stats data index "durations" using (low = column("ms") < low ? column("ms") : low, \
    high = column("ms") > high ? column("ms") : high, 0) nooutput
if (n_ttfb > 0) {
    stats data index "ttfb" using (low = column("ms") < low ? column("ms") : low, \
        high = column("ms") > high ? column("ms") : high, 0) nooutput
}
axis = "x"
load dir . "latency-axis.gp"
set yrange [0:104]
set ytics ("0" 0, "25" 25, "50 %%" 50, "75" 75, "90" 90, "100 %%" 100)
y_unit = "requests"
@y_label
set tmargin at screen Y(head_px + 26)
ttfb = n_ttfb == 0 ? "" : 'data index "ttfb" using (floor_ms(column("ms"))):(column("pct")) \
    with lines linewidth 1.8 linecolor rgb c_2 title "time to first byte", \
    data index "marks" using (column("is_ttfb") > 0 ? floor_ms(column("ms")) : NaN): \
    (column("pct")) with points pointtype 7 pointsize 0.7 linecolor rgb c_2 notitle, '
# The figures stand below the right end of the curve, where no line is.
at_x(x) = exp(log(low) + x * log(high / low))
figures = n_ttfb == 0 ? "" : ', data index "marks" using (column("is_ttfb") > 0 ? at_x(0.985) : NaN): \
    (42 - 8 * (int(column(0)) - 5)):(strcol("label")) with labels right textcolor rgb c_2 notitle'
column_x = n_ttfb > 0 ? 0.8 : 0.985
plot @ttfb data index "durations" using (floor_ms(column("ms"))):(column("pct")) with lines \
        linewidth 2 linecolor rgb c_1 title "duration", \
    data index "marks" using (column("is_ttfb") == 0 ? floor_ms(column("ms")) : NaN): \
        (column("pct")) with points pointtype 7 pointsize 0.7 linecolor rgb c_1 notitle, \
    data index "marks" using (column("is_ttfb") == 0 ? at_x(column_x) : NaN): \
        (42 - 8 * int(column(0))):(strcol("label")) with labels right textcolor rgb c_1 notitle \
        @figures
