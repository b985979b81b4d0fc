# An axis ("x" or "y", in `axis`) of durations in ms on a log scale, from `low` to `high` with some
# room; both are moved. Zero is drawn as 1 ns.
floor_ms(ms) = ms > 1e-6 ? ms : ms == ms ? 1e-6 : NaN
ms_label(ms) = ms < 1e-3 ? sprintf("%g ns", ms * 1e6) : ms < 1 ? sprintf("%g µs", ms * 1e3) : \
    ms < 1e3 ? sprintf("%g ms", ms) : sprintf("%g s", ms / 1e3)
low = floor_ms(low < 1e98 ? low : 0.1)
high = floor_ms(high)
high = high > low * 1.5 ? high * 1.15 : low * 1.5
low = low / 1.15
narrow = log10(high / low) < 2.2
if (axis eq "y") {
    set logscale y
    set yrange [low:high]
    set ytics ()
} else {
    set logscale x
    set xrange [low:high]
    set xtics ()
    set grid xtics linetype 1 linewidth 1 linecolor rgb c_grid
}
do for [decade = -6:12] {
    do for [m = 1:(narrow ? 3 : 1)] {
        ms = (m == 1 ? 1 : m == 2 ? 2 : 5) * 10.0 ** decade
        if (ms >= low && ms <= high) {
            if (axis eq "y") { set ytics add (ms_label(ms) ms) } else { set xtics add (ms_label(ms) ms) }
        }
    }
}
