# Latency by object size: how many requests of which size took how long, and the percentiles of each
# class of sizes.
call ARG0[1:strlen(ARG0) - strlen("latency-size.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (first_size = int(column("first_size")), \
    last_size = int(column("last_size")), first = int(column("first")), last = int(column("last")), \
    most = column("most"), 0) nooutput
@bucket_tics
size_text(b) = b < 1024 ? sprintf("%.0fB", b) : b < 2.0 ** 20 ? sprintf("%.0fKiB", b / 1024) : \
    b < 2.0 ** 30 ? sprintf("%.0fMiB", b / 2.0 ** 20) : sprintf("%.0fGiB", b / 2.0 ** 30)
set xrange [first_size - 0.5:last_size + 0.5]
set xtics ()
size_step = int(ceil((last_size - first_size + 1) / 4.0 * 66 / (width - left_px - right_px)))
do for [k = 0:62:size_step] {
    if (4 * k >= first_size && 4 * k <= last_size) { set xtics add (size_text(2.0 ** k) 4 * k - 0.5) }
}
unset grid
y_unit = "requests"
@heat_colours
@heat_unit
y_unit = "duration"
@y_label
set xlabel "object size" offset 0,0.4 textcolor rgb c_faint
bucket(v) = v > 1 ? log(v) / log(2) * 4 - 0.5 : -0.5
from_x(x) = bucket(column("min_bytes")) > first_size - 0.5 ? bucket(column("min_bytes")) : first_size - 0.5
to_x(x) = column("max_bytes") > 0 && bucket(column("max_bytes")) < last_size + 0.5 ? \
    bucket(column("max_bytes")) : last_size + 0.5
plot data index "density" using (column("size_bucket")):(column("bucket")): \
        (heat_r(column("requests"))):(heat_g(column("requests"))):(heat_b(column("requests"))): \
        (column("requests") > 0 ? 255 : 0) with rgbalpha notitle, \
    data index "classes" using (from_x(0)):(bucket(column("p50_ms") * 1e6)):(to_x(0) - from_x(0)):(0) \
        with vectors nohead linewidth 2.4 linecolor rgb c_2 title "p50", \
    data index "classes" using (from_x(0)):(bucket(column("p99_ms") * 1e6)):(to_x(0) - from_x(0)):(0) \
        with vectors nohead linewidth 1.6 dashtype 2 linecolor rgb c_bad title "p99", @heat_key
