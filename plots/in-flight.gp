# Requests in flight: the mean number running in each segment.
# Also draws what `s3analyze analyze --analyze.out` writes.
call ARG0[1:strlen(ARG0) - strlen("in-flight.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
if (!plain) {
    @events
}

n_shades = 0; concurrency = 0
if (!plain) {
    stats data index "chart" using (n_shades = int(column("n_shades")), \
        concurrency = column("concurrency"), segment = column("segment_s"), 0) nooutput
}
top = concurrency > 0 ? concurrency : 0
n_points = 0
stats data index 0 using (plain && !mine(0) ? 0 : (n_points = n_points + 1, top = column("in_flight") > top ? \
    column("in_flight") : top, 0)) nooutput
top = top > 0 ? top * 1.06 : 1
set yrange [0:top]
axis_px = height - panel_top_px - foot_px
@y_tics
y_unit = "requests in flight"
@y_label
line = line_of(n_points)
@shading
@time_below
@time_above
threads = concurrency > 0 ? ', concurrency with lines dashtype 2 linewidth 1.4 linecolor rgb c_2 title "threads"' : ""
plot @shades data index 0 using (middle(0)):(column("in_flight")) with @line linewidth 1.8 \
    linecolor rgb c_1 title "in flight" @threads
