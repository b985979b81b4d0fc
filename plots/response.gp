# Latency by throughput, a point for each level of load, a line for each system: medians of the runs at a level,
# with their least and greatest. p50 has solid lines and full points, p99 dashed lines and open points.
call ARG0[1:strlen(ARG0) - strlen("response.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6

stats data index "chart" using (n = int(column("systems")), y_unit = strcol("latency"), \
    x_unit = strcol("unit"), level = strcol("level"), 0) nooutput
array name[n]
key_longest = 3
stats data index "systems" using (i = int(column("system")) + 1, name[i] = short_name(strcol("name"), key_most(30)), \
    key_longest = strlen(name[i]) > key_longest ? strlen(name[i]) : key_longest, 0) nooutput
panel_top_px = head_px + 26
key_entries = n + 2
@key_layout

x_top = 0.0; low = 1e99; high = 0.0
stats data index "points" using (x_top = column("rate_most") > x_top ? column("rate_most") : x_top, \
    low = column("ms_least") < low ? column("ms_least") : low, \
    high = column("ms_most") > high ? column("ms_most") : high, 0) nooutput
axis = "y"
load dir . "latency-axis.gp"
@y_label
scale = x_unit eq "MiB/s" ? byte_scale(x_top) : 1.0
x_top = x_top / scale
x_step = step_of(x_top, (width - left_px - right_px) / 80.0)
set xrange [0:x_top * 1.08]
set xtics x_step format y_format(x_top, x_step)
set xlabel (x_unit eq "MiB/s" ? byte_unit(x_top * scale) : x_unit) . "; numbers: " . level \
    offset 0,0.4 textcolor rgb c_faint

# Each system has a colour, a shape and, at its tail, dashes; from the fourth on colours are the fainter ones.
array colour[6] = [c_1, c_2, c_3, c_other, c_1_faint, c_2_faint]
array full[6] = [7, 5, 9, 11, 13, 15]
shape(i, tail) = full[i] - tail
x_of(i, tail) = column("system") == i - 1 && column("is_tail") == tail ? column("rate") / scale : NaN
set errorbars 0
plot for [tail = 0:1] for [i = 1:n] data index "points" using (x_of(i, tail)):(column("ms")) with linespoints \
        pointtype shape(i, tail) pointsize 0.8 dashtype 1 + tail * i linewidth 1.6 linecolor rgb colour[i] \
        title (tail ? "" : name[i]), \
    for [tail = 0:1] for [i = 1:n] data index "points" using (x_of(i, tail)):(column("ms")): \
        (column("rate_least") / scale):(column("rate_most") / scale):(column("ms_least")):(column("ms_most")) \
        with xyerrorbars pointtype 0 linewidth 1.2 linecolor rgb colour[i] notitle, \
    for [i = 1:n] data index "points" using (x_of(i, 0)):(column("ms")):(sprintf("%g", column("level"))) \
        with labels offset 0.4,-0.6 left font ",10" textcolor rgb colour[i] notitle, \
    keyentry with linespoints pointtype 7 pointsize 0.8 linewidth 1.6 linecolor rgb c_text title "p50", \
    keyentry with linespoints pointtype 6 pointsize 0.8 dashtype 2 linewidth 1.6 linecolor rgb c_text title "p99"
