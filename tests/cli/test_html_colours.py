"""The colours of pages and charts: few, and told apart by colour-blind people."""
import itertools
import math
import re
import unittest

import capgen
from harness import ROOT, CliTest

# What a dichromat sees, in linear RGB: Machado, Oliveira and Fernandes, 2009, severity 1.
SEEN_WITH = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((.152286, 1.052583, -.204868), (.114503, .786281, .099216), (-.003882, -.048116, 1.051998)),
    "deuteranopia": ((.367322, .860646, -.227968), (.280085, .672501, .047413), (-.011820, .042940, .968881)),
}


def linear(colour):
    """#rrggbb (sRGB) as three fractions of light."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4 for p in parts]


def seen(colour, cones):
    return [min(1, max(0, sum(a * b for a, b in zip(row, linear(colour))))) for row in SEEN_WITH[cones]]


def lab(rgb):
    """CIE L*a*b* under D65."""
    rows = ((.4124564, .3575761, .1804375), (.2126729, .7151522, .0721750), (.0193339, .1191920, .9503041))
    white = (.95047, 1, 1.08883)
    f = [(t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116)
         for t in (sum(a * b for a, b in zip(row, rgb)) / w for row, w in zip(rows, white))]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def ciede2000(one, two):
    """Sharma, Wu and Dalal, 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    c = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = .5 * (1 - math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    cos = lambda x: math.cos(math.radians(x))
    t = 1 - .17 * cos(h - 30) + .24 * cos(2 * h) + .32 * cos(3 * h + 6) - .2 * cos(4 * h - 63)
    sl = 1 + .015 * (mean_l - 50) ** 2 / math.sqrt(20 + (mean_l - 50) ** 2)
    sc, sh = 1 + .045 * mean_c, 1 + .015 * mean_c * t
    rt = (-2 * math.sqrt(mean_c ** 7 / (mean_c ** 7 + 25 ** 7)) *
          math.sin(math.radians(60 * math.exp(-((h - 275) / 25) ** 2))))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, dh / sh
    return math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rt * dc * dh)


def contrast(one, two):
    """WCAG 2."""
    light, dark = sorted((.2126 * r + .7152 * g + .0722 * b for r, g, b in (linear(one), linear(two))), reverse=True)
    return (light + .05) / (dark + .05)


class Colours(CliTest):
    SERIES = ("c_1", "c_2", "c_3", "c_bad")

    def themes(self):
        """Variables of a page in each theme: light, dark."""
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(capgen.steady(50)))
        page = self.tmp / "page.html"
        self.s3analyze("analyze", "-q", "--html", page, path, env={"PATH": str(self.tmp)})
        light, dark = {}, {}
        style = "".join(page.read_text().split("<style>")[1].split("</style>")[0].split())
        for is_dark, block in re.findall(r"(prefers-color-scheme:dark\)\{)?:root\{([^}]*)\}", style):
            (dark if is_dark else light).update(re.findall(r"--([\w-]+):(#\w{6})", block))
            if not is_dark:
                dark = {**light, **dark}
        return {"light": light, "dark": dark}

    def test_formula(self):
        """Pairs of Sharma, Wu and Dalal's table of test data."""
        for one, two, wanted in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
                                 ((50, 2.5, 0), (73, 25, -18), 27.1492),
                                 ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
                                 ((2.0776, .0795, -1.1350), (.9033, -.0636, -.5514), .9082)):
            self.assertAlmostEqual(ciede2000(one, two), wanted, places=4)

    def test_series_are_told_apart(self):
        for theme, colours in self.themes().items():
            for cones in SEEN_WITH:
                for one, two in itertools.combinations(self.SERIES, 2):
                    with self.subTest(theme=theme, cones=cones, pair=(one, two)):
                        difference = ciede2000(*(lab(seen(colours[c], cones)) for c in (one, two)))
                        self.assertGreaterEqual(difference, 10)

    def test_contrast(self):
        for theme, colours in self.themes().items():
            back = "card"
            if len(colours["card"]) != 7:
                self.fail(colours["card"])
            for name, least in [(c, 3) for c in self.SERIES] + [("text", 4.5), ("faint", 4.5), ("accent", 4.5),
                                                                ("bad", 4.5)]:
                for behind in (back, "page"):
                    with self.subTest(theme=theme, colour=name, behind=behind):
                        self.assertGreaterEqual(contrast(colours[name], colours[behind]), least)

    def test_a_message_has_one_colour(self):
        """Bars of errors: on a page's timeline, and in the chart of errors."""
        style = (ROOT / "analyze" / "render" / "page" / "page.css").read_text()
        chart = (ROOT / "plots" / "errors.gp").read_text()
        bars = re.findall(r"\.b\d \{ fill: var\(--(\w+)\) \}", style)
        self.assertEqual(len(bars), 3)
        self.assertIn(f"array colour[3] = [{', '.join(bars)}]", chart)

    def test_pages_have_the_colours_of_charts(self):
        style = (ROOT / "plots" / "style.gp").read_text()
        dark, light = style.split("} else {")[0], style.split("} else {")[1]
        themes = self.themes()
        for name in self.SERIES:
            for theme, text in (("dark", dark), ("light", light)):
                drawn = re.search(rf'\b{name} = "(#\w+)"', text)[1]
                self.assertEqual(themes[theme][name], drawn, (name, theme))


if __name__ == "__main__":
    unittest.main()
