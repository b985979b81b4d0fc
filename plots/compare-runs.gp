# The runs of a comparison: a dot for each, against the median run before, and the medians as bars.
call ARG0[1:strlen(ARG0) - strlen("compare-runs.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (n = int(column("n")), least = column("least"), \
    most = column("most"), before = strcol("before"), after = strcol("after"), 0) nooutput
array name[n + 1]
longest = 4
stats data index "names" using (name[int(column("index")) + 1] = strcol("name"), 0) nooutput
do for [i = 1:n] {
    name[i] = short_name(name[i], narrow ? 18 : 30)
    longest = strlen(name[i]) > longest ? strlen(name[i]) : longest
}
left_px = 26 + 8 * longest
set lmargin at screen X(left_px)
panel_top_px = head_px + 26
key_entries = 2
before = short_name(before, key_most(24)); after = short_name(after, key_most(24))
key_longest = strlen(before) > strlen(after) ? strlen(before) : strlen(after)
@key_layout
room = (most - least) * 0.05
low = least - room
high = most + room
set xrange [low:high]
set yrange [n - 0.5:-0.5]
set xtics step_of(high - low, (width - left_px - right_px) / 64.0) format "%+g%%"
set xtics add ("0%%" 0)
unset grid
set grid xtics linetype 1 linewidth 1 linecolor rgb c_grid
unset ytics
@row_names
set xlabel short("change against the median run of " . before, x_room(0)) offset 0,0.4 textcolor rgb c_faint
row(side) = column("index") + (side == 0 ? -0.17 : 0.17)
plot for [side = 0:1] data index "dots" \
        using (column("side") == side && column("is_median") == 0 ? column("pct") : NaN):(row(side)) \
        with points pointtype (side == 0 ? 6 : 8) pointsize 0.9 linewidth 1.4 \
        linecolor rgb (side == 0 ? c_1 : c_2) title (side == 0 ? before : after), \
    for [side = 0:1] data index "dots" \
        using (column("side") == side && column("is_median") > 0 ? column("pct") : NaN):(row(side) - 0.14):(0):(0.28) \
        with vectors nohead linewidth 2.6 linecolor rgb (side == 0 ? c_1 : c_2) notitle
