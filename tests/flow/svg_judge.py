"""svg_judge - is a picture that gnuplot drew as SVG legible?

Usage: svg_judge.py FILE...

Fails with what is wrong: two equal labels of an axis or a legend, texts that lie on each
other, a text that reaches out of the picture, axes without anything between them.  Widths
of letters are estimated, rather too small than too large.
SPDX-License-Identifier: MIT
"""

import re
import sys
import xml.etree.ElementTree as tree
from collections import Counter

SVG = "{http://www.w3.org/2000/svg}"
LETTER = 0.48  # of the size of the font


class Text:
    def __init__(self, group, text):
        move = re.match(r"translate\(([-\d.]+),([-\d.]+)\)(.*)", group.get("transform"))
        self.x, self.y = float(move[1]), float(move[2])
        self.text, self.anchor = text, group.get("text-anchor")
        self.turned = "rotate" in move[3]
        size = float(group.get("font-size"))
        width = LETTER * size * len(text)
        left = {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        if self.turned:
            self.box = (self.x - 0.7 * size, self.y - left, self.x + 0.1 * size, self.y - left + width)
        else:
            self.box = (self.x - left, self.y - 0.7 * size, self.x - left + width, self.y + 0.1 * size)


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def wrong(root):
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    texts = [Text(group, text.text or "") for group in root.iter(SVG + "g")
             for text in group.findall(SVG + "text") if group.get("transform")]
    # gnuplot draws a label with a box twice, in one place.
    texts = list({(t.x, t.y, t.text): t for t in texts if t.text.strip()}.values())
    for t in texts:
        if t.box[0] < 0 or t.box[1] < 0 or t.box[2] > width or t.box[3] > height:
            yield "reaches out of the picture: %r" % t.text
    for i, a in enumerate(texts):
        for b in texts[i + 1:]:
            if overlap(a.box, b.box):
                yield "lie on each other: %r, %r" % (a.text, b.text)
    columns = Counter((t.anchor, round(t.x), t.text) for t in texts if not t.turned)
    rows = Counter((t.anchor, round(t.y), t.text) for t in texts if not t.turned)
    for (_, _, text), count in list(columns.items()) + list(rows.items()):
        # Two axes of time, one above the other, have the same labels.
        if count > 1 and not re.fullmatch(r"[\d:. -]+|UTC, from .*", text):
            yield "%d equal labels: %r" % (count, text)
    for (_, _, text), count in rows.items():
        if count > 1:
            yield "%d equal labels in a row: %r" % (count, text)
    drawn = 0
    for plot in root.iter(SVG + "g"):
        if (plot.get("id") or "").startswith("gnuplot_plot_"):
            # One of them is the sample of the legend.
            shapes = sum(1 for tag in ("polygon", "use", "image", "rect", "circle")
                         for _ in plot.iter(SVG + tag))
            drawn += max(0, shapes + sum(path.get("d").count("M") for path in plot.iter(SVG + "path")) - 1)
    # Groups without an error are rows without a bar.
    if drawn == 0 and "Runs that ended with an error" not in (t.text for t in texts):
        yield "nothing is drawn"


def main():
    bad = [(name, what) for name in sys.argv[1:] for what in wrong(tree.parse(name).getroot())]
    for name, what in bad[:20]:
        print("%s: %s" % (name.rsplit("/", 1)[-1], what))
    sys.exit(bool(bad))


main()
