# Where autoterm would have stopped: the window that decided, a red frame over the throughput.
call ARG0[1:strlen(ARG0) - strlen("autoterm.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
@events

stats data index "chart" using (has_bytes = int(column("has_bytes")), \
    n_shades = int(column("n_shades")), n_windows = int(column("n_windows")), \
    segment = column("segment_s"), 0) nooutput
rate = has_bytes ? "mb_per_sec" : "objs_per_sec"
top = 0.0; n_points = 0
stats data index 0 using (n_points = n_points + 1, top = column(rate) > top ? column(rate) : top, 0) nooutput
if (n_windows > 0) {
    stats data index "window" using (top = column("hi") > top ? column("hi") : top, 0) nooutput
}
scale = has_bytes ? byte_scale(top) : 1.0
y_unit = has_bytes ? byte_unit(top) : "objects/s"
top = top > 0 ? top * 1.06 / scale : 1
axis_px = height - panel_top_px - foot_px
@y_tics
set yrange [0:top]
@y_label
line = line_of(n_points)
key_entries = 1 + 2 * n_windows
key_longest = 9
@key_layout
@shading
@time_below
@time_above
if (n_windows == 0) {
    set label 4 "never stable by these settings" at graph 0.5, graph 0.5 center front textcolor rgb c_bad
}
window = n_windows == 0 ? "" : ', data index "window" using (column("from_s")):(column("lo") / scale): \
    (column("from_s")):(column("to_s")):(column("lo") / scale):(column("hi") / scale) with boxxyerror \
    fillstyle empty border linewidth 2.4 linecolor rgb c_bad title "window", \
    data index "window" using (column("at_s")):(0):(0):(top) with vectors nohead dashtype 2 \
    linewidth 1.6 linecolor rgb c_bad title "stop"'
plot @shades data index 0 using (middle(0)):(column(rate) / scale) with @line linewidth 1.8 \
    linecolor rgb c_1 title y_unit @window
