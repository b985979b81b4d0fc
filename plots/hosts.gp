# Throughput by host: a line for each of a few hosts, a heat map of many. More than 24 come sorted, the
# slowest first: of these each has a wide row with its name, the others are a picture below.
call ARG0[1:strlen(ARG0) - strlen("hosts.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
@events

stats data index "chart" using (n_hosts = int(column("n_hosts")), lines = int(column("lines")), \
    most = column("most"), has_bytes = int(column("has_bytes")), segment = column("bin_s"), \
    n_in_all = int(column("n_hosts_in_all")), n_shades = int(column("n_shades")), \
    n_bins = int(column("n_bins")), shared = strcol("shared"), 0) nooutput
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
        set label 5 short_middle(shared, 48) at screen X(width - right_px), screen Y(title eq "" ? head_px + 2 : 20) right textcolor rgb c_faint
    }
    key_entries = n_hosts
    @key_layout
    @time_below
    @time_above
    array colour[4] = [c_1, c_2, c_3, c_other]
    array dashes[8] = [1, 2, 3, 4, 5, 2, 3, 4] # as many as there are; so colours begin anew at another one
    plot @shades for [h = 0:n_hosts - 1] data index "rates" \
        using (column("host") == h ? column("t_s") : NaN):(column("rate") / scale) with @line \
        linewidth 1.6 dashtype dashes[h + 1] linecolor rgb colour[h % 4 + 1] title name[h + 1]
} else {
    unset grid
    linear = 1
    left_px = narrow ? 118 : 180
    set lmargin at screen X(left_px)
    unset ytics
    @heat_colours
    @heat_unit
    axis_px = height - panel_top_px - foot_px
    n_wide = n_hosts > 24 ? 20 : n_hosts
    wide_px = n_wide == n_hosts ? axis_px : lesser(15.0 * n_wide, 0.75 * axis_px)
    gap = n_wide == n_hosts ? 0 : 0.4
    rows_in_all = n_wide * axis_px / wide_px
    thin = n_wide == n_hosts ? 0 : (rows_in_all - n_wide - gap) / (n_hosts - n_wide)
    row_at(h) = h < n_wide ? h : n_wide - 0.5 + gap + (h - n_wide + 0.5) * thin
    set yrange [rows_in_all - 0.5:-0.5]
    # As many names as there is room for.
    do for [h = 0:n_wide - 1:int(ceil(14.5 * n_wide / wide_px))] {
        set label 100 + h short_name(name[h + 1], narrow ? 13 : 22) at graph 0, first h offset -1,0 right textcolor rgb c_faint
    }
    if (n_wide < n_hosts) {
        set label 400 (n_in_all > n_hosts ? sprintf("%d of the other %d", n_hosts - n_wide, n_in_all - n_wide) : \
            sprintf("%d more", n_hosts - n_wide)) at graph 0, first row_at((n_wide + n_hosts) / 2) offset -1,0 right textcolor rgb c_faint
    }
    y_unit = has_shared(shared) ? short_middle(shared, narrow ? 24 : 48) : "hosts"
    @y_label
    t_max = t_min + n_bins * segment
    segment = 0
    @time_below
    @time_above
    # Each picture has rows of one height.
    plot for [i = 0:n_wide < n_hosts] data index "rates" \
        every ::(i * n_wide * n_bins)::((i > 0 ? n_hosts : n_wide) * n_bins - 1) \
        using (column("t_s")):(row_at(column("host"))):@heat_pixel with rgbalpha notitle, @heat_key
}
