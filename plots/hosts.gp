# Throughput by host: a line for each of a few hosts, a heat map of many.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
dir = ARG0[1:slash]
call dir . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6
@events

stats data index "chart" using (n_hosts = int(column("n_hosts")), lines = int(column("lines")), \
    most = column("most"), has_bytes = int(column("has_bytes")), segment = column("bin_s"), \
    n_in_all = int(column("n_hosts_in_all")), n_shades = int(column("n_shades")), \
    n_bins = column("n_bins"), shared = strcol("shared"), 0) nooutput
y_unit = has_bytes ? byte_unit(most) : "objects/s"
scale = has_bytes ? byte_scale(most) : 1.0
most = most / scale
array name[n_hosts + 1]
stats data index "names" using (name[int(column("index")) + 1] = strcol("name"), 0) nooutput

line = line_of(n_bins)
@shading
if (lines) {
    top = most > 0 ? most * 1.06 : 1
    set yrange [0:top]
    axis_px = height - panel_top_px - foot_px
    @y_tics
    @y_label
    key_longest = 0
    do for [h = 1:n_hosts] {
        name[h] = short_name(name[h], key_most(34))
        key_longest = strlen(name[h]) > key_longest ? strlen(name[h]) : key_longest
    }
    if (has_shared(shared) && !narrow) {
        set label 5 short(shared, 48) at screen X(width - right_px), screen Y(title eq "" ? head_px + 2 : 20) right textcolor rgb c_faint
    }
    key_entries = n_hosts
    @key_layout
    @time_below
    @time_above
    array colour[4] = [c_1, c_2, c_3, c_other]
    plot @shades for [h = 0:n_hosts - 1] data index "rates" \
        using (column("host") == h ? column("t_s") : NaN):(column("rate") / scale) with @line \
        linewidth 1.6 dashtype 1 + (h > 3) linecolor rgb colour[h % 4 + 1] title name[h + 1]
} else {
    unset grid
    linear = 1
    left_px = narrow ? 118 : 180
    set lmargin at screen X(left_px)
    unset ytics
    @heat_colours
    @heat_unit
    set yrange [n_hosts - 0.5:-0.5 - event_rows(n_hosts)]
    # As many names as there is room for.
    step = int(ceil(n_hosts / ((height - panel_top_px - foot_px) / 15.0)))
    do for [h = 0:n_hosts - 1:step] {
        set label 100 + h short_name(name[h + 1], narrow ? 13 : 22) at graph 0, first h offset -1,0 right textcolor rgb c_faint
    }
    y_unit = has_shared(shared) ? short(shared, narrow ? 24 : 48) : "hosts"
    @y_label
    t_max = t_min + n_bins * segment
    segment = 0
    @time_below
    @time_above
    plot data index "rates" using (column("t_s")):(column("host")):(heat_r(column("rate") / scale)): \
        (heat_g(column("rate") / scale)):(heat_b(column("rate") / scale)):(column("rate") > 0 ? 255 : 0) \
        with rgbalpha notitle, @heat_key
}
