# What all charts share: picture format, theme, fonts, colours, the axis of time.
#
#   gnuplot -c plots/CHART.gp DATA OUT [WIDTH HEIGHT [light|dark [FONT [INCHES]]]]
#
# FONT is the height of text in pixels; 0: 13, and more where the picture is larger than 860x400.
# INCHES is the width of a PDF; 0: a hundredth of WIDTH.
# A script finds this file by its own name, which its first line has: a copy under another name changes it.
# OUT ends in .svg, .png or .pdf. DATA is the .tsv that `s3analyze plot` leaves beside each picture:
# blocks of tab-separated rows, each after a comment with its name, which `index "NAME"` finds.
# Text of a capture is only ever a value here, never part of a command, and is drawn as it is
# (noenhanced).

# In a file that another one calls, ARG0 is its own path.
dir = ARG0[1:strlen(ARG0) - strlen("style.gp")]
data = ARG1
out = ARG2
out_width = strlen(ARG3) ? int(real(ARG3)) : 860
out_height = strlen(ARG4) ? int(real(ARG4)) : 400

# A picture is laid out with text of 13 pixels, and magnified as a whole. An SVG is written in the
# size of its layout; s3analyze sets the size at which it is shown.
lesser(a, b) = a < b ? a : b
font_px = strlen(ARG6) ? real(ARG6) : 0
zoom = font_px > 0 ? font_px / 13.0 : lesser(out_width / 860.0, out_height / 400.0)
zoom = font_px > 0 || zoom > 1 ? zoom : 1
width = int(out_width / zoom + 0.5)
height = int(out_height / zoom + 0.5)
pdf_in = strlen(ARG7) && real(ARG7) > 0 ? real(ARG7) : out_width / 100.0
pdf_zoom = zoom * pdf_in * 100 / out_width
magnified_by(zoom, font) = sprintf("fontscale %.4f linewidth %.4f pointscale %.4f", zoom * font, zoom, zoom)
magnified = magnified_by(zoom, 1)
pdf_magnified = magnified_by(pdf_zoom, 0.75) # what pdfcairo calls a point is 1.39 of one
dark = strlen(ARG5) && ARG5 eq "dark"

# Colours by role; this is where they are defined, for reports too, which replace those of the light
# theme by CSS variables: each value stands for one role only. There are four hues, c_1 to c_3 and
# c_bad, which people with deuteranopia or protanopia tell apart; further lines are dashed. What is
# drawn as a thin line has a contrast of at least 3:1 to the background.
if (dark) {
    c_back = "#14181d"; c_text = "#e6e9ed"; c_faint = "#9aa4af"; c_grid = "#2e353d"
    c_1 = "#5ab4f0"; c_2 = "#f2a541"; c_3 = "#3fd0a8"; c_bad = "#ff6b6b"; c_other = "#8c98a4"
    c_1_faint = "#4a86b5"; c_2_faint = "#a8732c"
    c_outside = "#20262d"; c_warm = "#4a3d17"; c_event = "#4a2430"
    h_0 = "#1d3145"; h_1 = "#24527a"; h_2 = "#2f7cb8"; h_3 = "#63aee6"; h_4 = "#d4ecff"
} else {
    c_back = "#ffffff"; c_text = "#1c2127"; c_faint = "#5b6570"; c_grid = "#dfe3e8"
    c_1 = "#0069b4"; c_2 = "#c75300"; c_3 = "#00805e"; c_bad = "#b3123f"; c_other = "#6d7986"
    c_1_faint = "#5a95c6"; c_2_faint = "#d4772e"
    c_outside = "#eef0f3"; c_warm = "#fbeecb"; c_event = "#f9dce4"
    h_0 = "#dbeafa"; h_1 = "#a3cbef"; h_2 = "#5c9fd8"; h_3 = "#1f6bab"; h_4 = "#0a3259"
}

rgb(c) = int("0x" . c[2:])
v_event = rgb(c_event)
v_2 = rgb(c_2)
v_3 = rgb(c_3)
v_other = rgb(c_other)
v_bad = rgb(c_bad)

font = "sans-serif,13"
title_size = "16"; list_size = "13"
if (out[strlen(out)-3:] eq ".png") {
    set terminal pngcairo noenhanced size out_width,out_height @magnified font "sans-serif,10" background rgb c_back
    title_size = "12"; list_size = "10"
} else { if (out[strlen(out)-3:] eq ".pdf") {
    set terminal pdfcairo noenhanced size pdf_in,pdf_in*out_height/out_width @pdf_magnified font "sans-serif,9" background rgb c_back
    title_size = "11"; list_size = "9"
} else {
    set terminal svg noenhanced size width,height fixed font font background c_back
} }
set output out

set encoding utf8
set datafile separator "\t"
set datafile columnheaders
# A NaN breaks a line. With `set datafile missing` gnuplot would draw through it.

set border 3 linewidth 1 linecolor rgb c_faint
set grid ytics linetype 1 linewidth 1 linecolor rgb c_grid
set tics nomirror scale 0.5 textcolor rgb c_faint
set linetype 1 linecolor rgb c_1 # what gnuplot begins with before it is told a colour
set key horizontal left top Left reverse maxrows 1 samplen 1.4 width 0.5 textcolor rgb c_text noenhanced

# The block "chart" says the title and the axis of time. What `s3analyze analyze --analyze.out`
# writes has no such block: there the first series counts.
title = ""
segment = 0.0
stats data using (0) nooutput
plain = STATS_blocks < 2
if (plain) {
    mine(x) = strcol("op") eq op && strcol("host") eq host
    seconds(s) = strptime("%Y-%m-%dT%H:%M:%S", s)
    zero = NaN; op = ""; host = ""; t_min = 0; t_max = 0
    stats data using (zero == zero ? 0 : (zero = seconds(strcol("start_time")), op = strcol("op"), \
        host = strcol("host")), \
        mine(0) ? t_max = seconds(strcol("start_time")) - zero + column("duration_s") : 0) nooutput
} else {
    stats data index "chart" using (title = strcol("title"), zero = column("zero_unix"), \
        t_min = column("t_min"), t_max = column("t_max"), 0) nooutput
}

# The middle of a segment, as far as the chart shows it. Of a file with several series, the first.
cut(t) = t < t_min ? t_min : t > t_max ? t_max : t
from_s(x) = plain ? (mine(0) ? seconds(strcol("start_time")) - zero : NaN) : column("t_s")
middle(x) = (t = from_s(0), (cut(t) + cut(t + column("duration_s"))) / 2)

# Text of at most n characters: the end goes, or the middle; of a name "http://", too.
short(s, n) = strlen(s) > n ? s[1:n - 1] . "…" : s
bare(s) = strstrt(s, "://") > 0 ? s[strstrt(s, "://") + 3:] : s
short_middle(s, n) = strlen(s) > n ? s[1:n / 2] . "…" . s[strlen(s) - (n - 2) / 2 + 1:] : s
short_name(s, n) = short_middle(bare(s), n)

time_text(s) = s < 1e-6 ? sprintf("%.3gns", s * 1e9) : s < 1e-3 ? sprintf("%.3gus", s * 1e6) : \
    s < 1 ? sprintf("%.3gms", s * 1e3) : sprintf("%.6gs", s)

# A line through few points shows them, too: there may be no more than one.
line_of(n) = n <= 40 ? "linespoints pointtype 7 pointsize 0.35" : "lines"

# Pixels to fractions of the picture.
X(px) = px / real(width)
Y(px) = 1 - px / real(height)
# The most characters of a title that stands in the middle below the axes.
x_room(x) = int(2 * lesser(0.5 * (width + left_px - right_px), width - 0.5 * (width + left_px - right_px)) / 8.2) - 1
narrow = width < 560 # as for a phone
head_px = title eq "" ? 12 : 38
left_px = narrow ? 74 : 90
span = t_max - t_min
right_px = span < 6 ? 50 : 36 # half of a time with milliseconds
foot_px = 50
panel_top_px = head_px + 44
set lmargin at screen X(left_px)
set rmargin at screen X(width - right_px)
set tmargin at screen Y(panel_top_px)
set bmargin at screen Y(height - foot_px)
key_left_px = narrow ? 2 : left_px - 4
set key at screen X(key_left_px), screen Y(head_px - 6)
if (title ne "") {
    title_px = narrow ? 10 : left_px
    set label 1 short(title, int((width - title_px) / 9.2)) at screen X(title_px), screen Y(20) left front textcolor rgb c_text font "," . title_size
}

# As many rows of the key as key_entries titles of at most key_longest characters need: about what
# gnuplot, which takes characters for wider than they are, will make of them.
key_layout = 'key_spare = narrow ? 0.2 * key_longest : 0; set key width 0.5 - key_spare; \
    key_in_row = int((width - left_px - right_px) / (8.2 * (key_longest - key_spare) + 52)); \
    key_in_row = key_in_row > 0 ? key_in_row : 1; \
    n_key_rows = (key_entries + key_in_row - 1) / key_in_row; set key maxrows n_key_rows; \
    panel_top_px = panel_top_px + 18 * (n_key_rows - 1); set tmargin at screen Y(panel_top_px)'

# The key of both sides of a comparison: title_1 and title_2.
side_runs = " (%d runs)"
side_title(s, n) = (more = n > 1 ? sprintf(side_runs, n) : "", short_name(s, key_most(42) - strlen(more)) . more)
compare_key = 'title_1 = side_title(before, n_before); title_2 = side_title(after, n_after); \
    panel_top_px = head_px + 26; key_entries = 2; \
    key_longest = strlen(title_1) > strlen(title_2) ? strlen(title_1) : strlen(title_2); @key_layout'

# The most characters of a title in the key, at most n.
key_most(n) = (k = int((width - left_px - right_px - 75) / 8.2), k = narrow ? int((k < 26 ? k + 1 : k) / 0.8) : k, \
    k < n ? k : n)

# About n rounded steps over a span of numbers; no more than n of a clock.
step_of(span, n) = (m = 10.0 ** floor(log10(span / real(n))), r = span / real(n) / m, \
    (r < 1.5 ? 1 : r < 3.5 ? 2 : r < 7.5 ? 5 : 10) * m)
y_step(top, px) = step_of(top, px < 36 ? 0.7 : px < 60 ? 1.5 : px < 240 ? px / 40.0 : 6)
step_up(x) = (m = 10.0 ** floor(log10(x)), r = x / m, (r <= 1 ? 1 : r <= 2 ? 2 : r <= 5 ? 5 : 10) * m)
clock_step(span, n) = (s = span / real(n), s <= 1 ? step_up(s) : s <= 2 ? 2 : s <= 3 ? 3 : s <= 5 ? 5 : \
    s <= 10 ? 10 : s <= 15 ? 15 : s <= 30 ? 30 : s <= 60 ? 60 : s <= 120 ? 120 : s <= 300 ? 300 : \
    s <= 600 ? 600 : s <= 1800 ? 1800 : s <= 3600 ? 3600 : s <= 7200 ? 7200 : s <= 21600 ? 21600 : \
    86400 * ceil(s / 86400))

# Rates are in MiB/s in the data; large ones are drawn in GiB/s or TiB/s. Other numbers get SI letters.
byte_scale(top) = top < 2e4 ? 1.0 : top < 2e7 ? 1024.0 : 1048576.0
byte_unit(top) = top < 2e4 ? "MiB/s" : top < 2e7 ? "GiB/s" : "TiB/s"
y_digits(step) = step < 1 ? int(ceil(-log10(step) - 1e-9)) : 0
y_format(top, step) = top < 1e5 ? sprintf("%%.%df", y_digits(step)) : "%.1s%c"
# The ticks of an axis from 0 to `top` over `axis_px` pixels, all with as many digits.
y_tics = 'set ytics y_step(top, axis_px); set format y y_format(top, y_step(top, axis_px))'
# What all names share has a "*" for the rest; of no shared part gnuplot reads anything.
has_shared(s) = strstrt(s, "*") > 0

# What the y axis shows.
y_label = 'set label 3 y_unit at screen X(narrow ? 10 : 16), graph 0.5 center rotate by 90 front \
    textcolor rgb c_faint'

# Finds the least and the greatest "ms" of the blocks named in `blocks`.
find_range = 'low = 1e99; high = 0.0; do for [name in blocks] { \
    stats data index name using (low = column("ms") < low ? column("ms") : low, \
        high = column("ms") > high ? column("ms") : high, 0) nooutput }'

time = "duration" # of an open loop: response time
# The axes of a distribution, from `low` to `high`.
cdf_axes = 'axis = "x"; load dir . "latency-axis.gp"; set yrange [0:104]; \
    set ytics ("0 %%" 0, "25 %%" 25, "50 %%" 50, "75 %%" 75, "90 %%" 90, "100 %%" 100); \
    set xlabel time offset 0,0.4 textcolor rgb c_faint; y_unit = "requests"; @y_label'

# Names of n rows. They are labels, not tics, as they may hold anything: the text of a tic is a format.
row_names = 'do for [i = 0:n - 1] { \
    set label 100 + i name[i + 1] at graph 0, first i offset -1,0 right textcolor rgb c_text }'

# Time: seconds into the run below, the time of day above. Further panels above the last one call
# time_hidden instead.
n_tics = (width - left_px - right_px) / (narrow ? 70.0 : 80.0)
if (span > 86400 || clock_step(span, n_tics) < 1) { n_tics = (width - left_px - right_px) / 108.0 }
clock_format = span > 86400 ? "%m-%d %H:%M" : clock_step(span, n_tics) < 1 ? "%H:%M:%.3S" : "%H:%M:%S"
# Long runs count in minutes or hours.
time_s = span > 7200 ? 3600 : span > 600 ? 60 : 1
time_unit = span > 7200 ? "hours" : span > 600 ? "minutes" : "seconds"
x_step = clock_step(span, n_tics)
has_clock = x_step >= 1e-3 # shorter steps have no clock
x_format = sprintf("%%.%df", y_digits(x_step / real(time_s)))
time_tics = 'set xtics (); do for [i = int(ceil(t_min / x_step)):int(floor(t_max / x_step))] { \
    set xtics add (sprintf(x_format, i * real(x_step) / time_s) i * x_step) }'
time_below = 'set xrange [t_min:t_max]; @time_tics; set xlabel (narrow ? time_unit : time_unit . " into the run") . \
    (segment > 0 ? ", steps of " . time_text(segment) : "") . \
    (!has_clock ? "" : narrow ? "; above: UTC" : "; above: time of day, UTC") offset 0,0.4 textcolor rgb c_faint'
time_hidden = 'set xrange [t_min:t_max]; set xtics clock_step(t_max - t_min, n_tics) format ""; \
    unset xlabel'
time_above = 'if (has_clock) { set x2range [zero + t_min:zero + t_max]; set x2tics time format clock_format \
    clock_step(t_max - t_min, n_tics) scale 0 offset 0,screen event_row_px * n_event_rows / real(height) }; \
    @events_above'

# Time outside the active range, behind all else, up to `top`. To be expanded once
# n_shades is known.
shading = 'shades = n_shades == 0 ? "" : "data index \"shades\" using (0):(0):(column(\"from_s\")):\
    (column(\"to_s\")):(bottom):(top) \
    with boxxyerror fillstyle solid noborder linecolor rgb c_outside notitle, "'
bottom = 0

# What happened (block "events"): a shaded span, or a dashed line at its moment, and its name in a strip
# above the axes, in the first row in which it lies over no other one. Names are taken for a little wider
# than they are, and the chart for narrower. A line ends at the row of its name: where names lie beside each
# other the one that is nearest to the middle takes the lower row, so that no line passes through the name of
# another. The sentences of numbered events are listed below the picture, cut to its width.
array event_kind[10]; array event_from[10]; array event_to[10]; array event_text[10]; array event_says[10]
array event_left[10]; array event_row[10]
n_events = 0; n_event_rows = 0; n_listed = 0
event_is_late(i) = event_from[i] > t_min + 0.7 * (t_max - t_min)
event_row_px = 18
list_row_px = 16
event_turn(i) = event_is_late(i) ? -event_from[i] : event_from[i]
event_px(s) = 8.0 * strlen(s) + 12
event_lies_over(i, j) = event_left[i] < event_left[j] + event_px(event_text[j]) && \
    event_left[j] < event_left[i] + event_px(event_text[i])
events = 'stats data index "events" using (int(column("kind")) < 0 ? 0 : (n_events = n_events + 1, \
    event_kind[n_events] = int(column("kind")), event_from[n_events] = cut(column("from_s")), \
    event_to[n_events] = cut(column("to_s")), event_text[n_events] = strcol("text"), event_says[n_events] = strcol("sentence"), event_row[n_events] = -1, 0)) nooutput; \
    do for [k = 1:n_events] { \
        i = 0; \
        do for [j = 1:n_events] { if (event_row[j] < 0 && (i == 0 || event_turn(j) < event_turn(i))) { i = j } }; \
        event_left[i] = (event_from[i] - t_min) / (span > 0 ? span : 1) * (width - right_px - (narrow ? 118 : 180)) - \
            (event_is_late(i) ? event_px(event_text[i]) : 0); \
        event_next = -1; event_is_free = 0; \
        while (!event_is_free) { \
            event_next = event_next + 1; event_is_free = 1; \
            do for [j = 1:n_events] { \
                if (event_row[j] == event_next && event_lies_over(i, j)) { event_is_free = 0 } \
            } \
        }; \
        event_row[i] = event_next; \
        n_event_rows = event_next < n_event_rows ? n_event_rows : event_next + 1 \
    }; \
    n_event_rows = lesser(n_event_rows, int(0.2 * height / event_row_px)); \
    panel_top_px = panel_top_px + event_row_px * n_event_rows; set tmargin at screen Y(panel_top_px); \
    n_listed = 0; most_listed = int((height - panel_top_px - foot_px - 200) / list_row_px); \
    most_listed = most_listed < 0 ? 0 : most_listed; \
    do for [i = 1:n_events] { if (event_says[i] ne "-" && n_listed < most_listed) { \
        n_listed = n_listed + 1; \
        set label 400 + n_listed short(event_says[i], int((width - 24) / 7.4)) at screen X(12), \
            screen Y(height - 8) offset 0,0 left front textcolor rgb c_faint font "," . list_size } }; \
    foot_px = foot_px + (n_listed > 0 ? list_row_px * n_listed + 4 : 0); \
    do for [i = 1:n_listed] { set label 400 + i at screen X(12), screen Y(height - 10 - list_row_px * (n_listed - i)) }; \
    set bmargin at screen Y(height - foot_px)'
events_above = 'do for [i = 1:n_events] { \
        if (event_kind[i] < 2) { \
            set object 300 + i rectangle from first event_from[i], graph 0 to first event_to[i], graph 1 \
                behind fillstyle solid noborder fillcolor rgb (event_kind[i] == 1 ? c_warm : c_event) \
        }; \
        event_top_px = panel_top_px - event_row_px * (event_row[i] < n_event_rows ? n_event_rows - event_row[i] : 0); \
        set arrow 300 + i from first event_from[i], graph 0 to first event_from[i], screen Y(event_top_px + 2) nohead front \
            linewidth 1.2 dashtype 2 linecolor rgb (event_kind[i] == 1 ? c_other : c_bad); \
        if (event_row[i] >= n_event_rows) { continue }; \
        if (event_is_late(i)) { set label 300 + i event_text[i] at first event_from[i], screen Y(event_top_px + 0.5 * event_row_px) offset -0.5,0 right front textcolor rgb c_text } \
        else { set label 300 + i event_text[i] at first event_from[i], screen Y(event_top_px + 0.5 * event_row_px) offset 0.5,0 left front textcolor rgb c_text } \
    }'
# A further panel has the lines, without names.
events_unnamed = 'do for [i = 1:n_events] { unset label 300 + i; \
    set arrow 300 + i from first event_from[i], graph 0 to first event_from[i], graph 1 }; \
    do for [i = 1:n_listed] { unset label 400 + i }'

# Heat maps: colours between h_0 (few) and h_4 (`most`), by the logarithm unless `linear`.
linear = 0
part(h, k) = int("0x" . h[2 * k:2 * k + 1])
mix(k, x) = (j = int(x * 4) > 3 ? 3 : int(x * 4), a = heat[j + 1], b = heat[j + 2], \
    part(a, k) + (part(b, k) - part(a, k)) * (x * 4 - j))
level(n) = n <= 0 ? 0 : linear ? n / most : most > 1 ? least_level(0) + \
    (1 - least_level(0)) * (n > 1 ? log(n) / log(most) : 0) : 1
least_level(x) = most < 5 ? 0.5 : 0 # of few requests none is faint
heat_colours = 'array heat[5] = [h_0, h_1, h_2, h_3, h_4]'
in_steps(x) = int(x * 16 + 0.5) / 16.0 # no eye tells more apart, and the picture is smaller
heat_r(n) = mix(1, in_steps(level(n)))
heat_g(n) = mix(2, in_steps(level(n)))
heat_b(n) = mix(3, in_steps(level(n)))
heat_pixel = '(heat_r(column("rate") / scale)):(heat_g(column("rate") / scale)): \
        (heat_b(column("rate") / scale)):(column("rate") > 0 ? 255 : 0)'
heat_rgb(n) = rgb(heat[1 + int(level(n) * 4 + 0.5)]) # one of the five, which themes know
at_level(x) = linear ? x * most : exp(x * log(most > 1 ? most : 1))
n_keys(x) = linear || most >= 5 ? (narrow ? 3 : 5) : most > 1 ? int(most) : 1
key_at(i) = linear || most >= 5 ? at_level(i / (n_keys(0) - 1.0)) : i + 1
key_text(n) = linear && n < 100 ? sprintf("%.2g", n) : sprintf("%.0f", ceil(n - 1e-6))
heat_key = 'for [i = 0:n_keys(0) - 1] NaN with points pointtype 5 pointsize 1.6 \
    linecolor rgb heat[1 + int(level(key_at(i)) * 4 + 0.5)] \
    title key_text(key_at(i))'
# The unit stands at the right end of the key; above it where that is too close.
heat_unit = 'key_entries = n_keys(0); key_longest = linear ? 4 : strlen(key_text(most)); \
    unit_px = width < 720 ? 16 : 0; \
    panel_top_px = panel_top_px + unit_px; set key at screen X(key_left_px), screen Y(head_px - 6 + unit_px); \
    if (unit_px > 0) { set label 5 y_unit at screen X(12), screen Y(head_px + 2) left textcolor rgb c_faint } \
    else { set label 5 y_unit at screen X(width - right_px), screen Y(head_px + 2) right textcolor rgb c_faint }; \
    @key_layout'
# Durations in buckets upwards: bucket k starts at 2^(k/4) ns. Tics at 1, 2, 5 where there is room.
bucket_tics = 'set yrange [first - 0.5:last + 0.5]; set ytics (); \
    bucket_tics_of = (last - first + 1) * 4.5 < height - panel_top_px - foot_px ? 3 : 1; \
    do for [decade = 0:18] { do for [m = 1:bucket_tics_of] { \
        ns = (m == 1 ? 1 : m == 2 ? 2 : 5) * 10.0 ** decade; at = log(ns) / log(2) * 4 - 0.5; \
        if (at >= first - 0.5 && at <= last + 0.5) { set ytics add (time_text(ns / 1e9) at) } } }'
# Percentiles to the right, each step one nine more: up to `last` nines.
nines_text(k) = k == 1 ? "p90" : k == 2 ? "p99" : "p99." . "999999999999"[1:k - 2]
# p50, p90 and p99 always have a tick; of those above as many as there is room for, the last one first.
nines_tics = 'nine_px = (width - left_px - right_px) / (last * 1.08); \
    set xtics (0.301 * nine_px > 36 ? "p0" : "" 0); \
    set xtics add ("p50" 0.30103); \
    nines_step = int(ceil((8.0 * (2 + int(last)) + 6) / nine_px)); \
    do for [k = 1:int(last)] { set xtics add (k < 3 || ((int(last) - k) % nines_step == 0 && \
        (k - 2) * nine_px > 4 * (k + 5) + 6) ? nines_text(k) : "" k) }; \
    set grid xtics linetype 1 linewidth 1 linecolor rgb c_grid'
y_unit = ""
v_back = rgb(c_back)
