#!/usr/bin/env python3
"""palette_judge - can the colours of phases be told apart, and are they the same everywhere?

    palette_judge.py told PALETTE.js STYLE.css PLOT.light PLOT.dark
    palette_judge.py same PALETTE.js LIGHT|DARK BANDS.json TIMELINE.json PLOT...

An implementation of its own.  CIEDE2000: CIE 142:2001, checked against the pairs of Sharma,
Wu and Dalal, "The CIEDE2000 color-difference formula" (2005), table 1.  What people with
protanopia, deuteranopia and tritanopia see: Machado, Oliveira and Fernandes, "A
Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.0,
on linear light.  Contrast: WCAG 2.1, relative luminance.
SPDX-License-Identifier: MIT
"""
import itertools
import json
import math
import re
import sys

LEAST, CONTRAST, PLACES = 12, 3, 8
SEEN = {
    "normal sight": (1, 0, 0, 0, 1, 0, 0, 0, 1),
    "protanopia": (0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998),
    "deuteranopia": (0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881),
    "tritanopia": (1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900),
}
SHARMA = [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
    ((50, 2.5, 0), (73, 25, -18), 27.1492), ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
    ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082), ((50, 0, 0), (50, -1, 2), 2.3669),
]
failed = []


def judge(good, words):
    if not good:
        failed.append(words)


def light_of(colour):
    """Linear red, green, blue of #rrggbb."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]


def luminance(colour):
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), light_of(colour)))


def contrast(a, b):
    dark, bright = sorted((luminance(a), luminance(b)))
    return (bright + 0.05) / (dark + 0.05)


def lab_of(colour, sight):
    light = light_of(colour)
    seen = [min(1, max(0, sum(SEEN[sight][3 * i + j] * light[j] for j in range(3)))) for i in range(3)]
    rows = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
    xyz = [sum(a * b for a, b in zip(row, seen)) / white for row, white in zip(rows, (0.95047, 1, 1.08883))]
    x, y, z = (v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one, other):
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    if c1 * c2 == 0:
        turn, hue = 0, h1 + h2
    else:
        turn = (h2 - h1 + 180) % 360 - 180
        hue = (h1 + h2) / 2
        if abs(h1 - h2) > 180:
            hue += 180 if h1 + h2 < 360 else -180
    dl, dc, dh = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    t = (1 - 0.17 * math.cos(math.radians(hue - 30)) + 0.24 * math.cos(math.radians(2 * hue))
         + 0.32 * math.cos(math.radians(3 * hue + 6)) - 0.20 * math.cos(math.radians(4 * hue - 63)))
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rt = (-math.sin(math.radians(60 * math.exp(-((hue - 275) / 25) ** 2)))
          * 2 * math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7)))
    return math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * dc / sc * dh / sh)


def exported(script, name):
    return re.findall("#[0-9a-f]{6}", re.search("export const %s = (.*)" % name, script).group(1))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def apart(colours, grounds, where):
    least = {}
    for sight in SEEN:
        labs = [lab_of(colour, sight) for colour in colours]
        (least[sight], pair) = min((ciede2000(labs[i], labs[j]), (colours[i], colours[j]))
                                   for i, j in itertools.combinations(range(len(labs)), 2))
        judge(least[sight] >= LEAST, "%s, %s: %s and %s differ by %.1f" % (where, sight, *pair, least[sight]))
    least_contrast = min(contrast(colour, ground) for colour in colours[:PLACES] for ground in grounds)
    judge(least_contrast >= CONTRAST, "%s: a contrast of %.2f" % (where, least_contrast))
    print("%s: least difference %s; contrast %.2f" % (
        where, ", ".join("%s %.1f" % each for each in least.items()), least_contrast))


def told(palette, style, light_plot, dark_plot):
    for one, other, expected in SHARMA:
        for pair in ((one, other), (other, one)):
            judge(abs(ciede2000(*pair) - expected) < 0.0001, "%s %s is not %s" % (*pair, expected))
    script, css = read(palette), read(style)
    papers = re.findall(r"--paper: (#\w+).*--ground: (#\w+)", css)
    for number, (name, plot) in enumerate((("LIGHT", light_plot), ("DARK", dark_plot))):
        colours = exported(script, name)
        judge(len(colours) == PLACES, "%s has %d places" % (name, len(colours)))
        ground = re.search('background rgb "(#[0-9a-f]{6})"', read(plot)).group(1)
        apart(colours + [exported(script, "NONE")[number]], [*papers[number], ground], name.lower())


def bands_of(script):
    """Title, colour, and whether there is a pattern, of each band of a gnuplot script, or of its legend."""
    found = re.findall(r'with box(?:xyerror|es)( fs pattern \d+)? lc rgb "(#[0-9a-f]{6})" title "([^"]*)"', script)
    return [(title, colour, bool(pattern)) for pattern, colour, title in found]


def same(palette, name, bands, timeline, *plots):
    script = read(palette)
    colours, none, other = (exported(script, each) for each in (name, "NONE", "OTHER"))
    number = int(name == "DARK")
    places = {}
    for row in json.loads(read(bands))["bands"]:
        places[row["title"]] = row["colour"]
    for row in json.loads(read(timeline))["phases"]:
        phase = row["phase"].split(":")[1]
        here = places.setdefault(phase, row["colour"]) # one of the "other phases" has no band
        judge(here == row["colour"], "%s: %s in breakdown, %s in timeline" % (phase, here, row["colour"]))
    judge("no phase" in places and places["no phase"] is None, "no phase has a place")
    first = [place for place in places.values() if place is not None and place < PLACES]
    judge(len(first) == len(set(first)), "two phases have one colour: %s" % places)
    for plot in plots:
        drawn = bands_of(read(plot))
        # What a timeline draws is in the order of its legend.
        for words in re.findall('^colours = "(.*)"$', read(plot), re.M):
            judge(words.split() == [colour for _, colour, _ in drawn], "%s draws %s" % (plot, words))
        judge(len(drawn) > 2, "%s draws %s" % (plot, drawn))
        for title, colour, pattern in drawn:
            judge(title in places, "%s: '%s' is no name of breakdown: %s" % (plot, title, sorted(places)))
            place = places.get(title)
            expected = (none[number] if title == "no phase" else other[number]) if place is None else colours[place % PLACES]
            judge(colour == expected, "%s: %s is %s, not %s" % (plot, title, colour, expected))
            judge(pattern == (place is not None and place >= PLACES), "%s: %s, pattern: %s" % (plot, title, pattern))


{"told": told, "same": same}[sys.argv[1]](*sys.argv[2:])
for each in failed:
    print(each)
sys.exit(bool(failed))
