# Latency percentiles: the duration (log scale) within which a share of the requests ended, in nines,
# with a band of confidence; of an open loop response time; time to first byte and service time beside.
call ARG0[1:strlen(ARG0) - strlen("spectrum.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (n_ttfb = int(column("n_ttfb")), n_service = int(column("n_service")), time = strcol("time"), \
    n_band = int(column("n_band")), 0) nooutput
low = 1e99; high = 0.0; last = 1.0
do for [name in "durations" . (n_ttfb > 0 ? " ttfb" : "") . (n_service > 0 ? " service" : "")] {
    stats data index name using (low = column("ms") < low ? column("ms") : low, \
        high = column("ms") > high ? column("ms") : high, \
        last = column("nines") > last ? column("nines") : last, 0) nooutput
}
# The figures stand below the right end of the curve.
n_marks = 0
array mark[5]
stats data index "marks" using (n_marks = n_marks + 1, mark[n_marks] = strcol("label"), 0) nooutput
key_entries = 1 + (n_band > 0) + (n_ttfb > 0) + (n_service > 0)
key_longest = 18
panel_top_px = head_px + 26
@key_layout
axis = "y"
y_unit = time
@y_label
load dir . "latency-axis.gp"
set xrange [0:last * 1.08]
@nines_tics
set xlabel "share of the requests that took at most that long" offset 0,0.4 textcolor rgb c_faint
do for [i = 1:n_marks] {
    set label 400 + i mark[i] at graph 0.985, graph 0.05 + 0.085 * (n_marks - i) right front textcolor rgb c_text
}
band = n_band == 0 ? "" : 'data index "durations" using (column("nines")):(floor_ms(column("lo_ms"))): \
    (floor_ms(column("hi_ms"))) with filledcurves fillstyle transparent solid 0.2 noborder \
    linecolor rgb c_1 title "95 % CI", '
ttfb = n_ttfb == 0 ? "" : 'data index "ttfb" using (column("nines")):(floor_ms(column("ms"))) with lines \
    linewidth 1.6 dashtype 2 linecolor rgb c_2 title "time to first byte", '
service = n_service == 0 ? "" : 'data index "service" using (column("nines")):(floor_ms(column("ms"))) \
    with lines linewidth 1.6 dashtype 4 linecolor rgb c_3 title "service time", '
plot @band @ttfb @service data index "durations" using (column("nines")):(floor_ms(column("ms"))) \
        with lines linewidth 2 linecolor rgb c_1 title time, \
    data index "marks" using (column("nines")):(floor_ms(column("ms"))) with points pointtype 7 \
        pointsize 0.7 linecolor rgb c_1 notitle
