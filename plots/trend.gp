# A metric over the runs of an archive: a dot for each run, its levels as lines, changes between them.
call ARG0[1:strlen(ARG0) - strlen("trend.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (n = int(column("n")), changes = column("n_changes") > 0, least = column("least"), \
    most = column("most"), y_unit = strcol("unit"), 0) nooutput
right_px = 36
set rmargin at screen X(width - right_px)
panel_top_px = head_px + 26
key_entries = 1 + changes; key_longest = 16
@key_layout
axis_px = height - panel_top_px - foot_px
room = (most - least) * 0.08
room = room > 0 ? room : most * 0.05
low = least - room > 0 ? least - room : 0
high = most + room
set yrange [low:high]
step = step_of(high - low, axis_px < 240 ? axis_px / 40.0 : 6)
set ytics step
set format y y_format(high, step)
@y_label
set xrange [0.5:n + 0.5]
x_step = step_of(n, (width - left_px - right_px) / 64.0)
x_step = x_step < 1 ? 1 : x_step
set xtics x_step format "%.0f"
set xlabel "run" offset 0,0.4 textcolor rgb c_faint
levels = changes ? ', data index "levels" using "from":"value":(column("to") - column("from")):(0) \
    with vectors nohead linewidth 2.4 linecolor rgb c_2 title "level"' : ""
plot data index "runs" using "run":"value" with points pointtype 7 pointsize 0.5 \
    linecolor rgb c_1 title "run" @levels
