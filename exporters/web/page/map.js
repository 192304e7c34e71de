/*
 * map - a cell a node, in one hue by lightness; a node without a value, or that is not
 * heard, is hatched.
 *
 * values: [{ node, value, text, dead }], value null when there is none; a dead one has one
 * and is not compared with the others.  tallest: the height that it may have, in a view
 * that shows more than it; then without the distribution of the values.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { picture } from "./picture.js";
import { table } from "./table.js";
import { css, heat, pattern, placeTile } from "./look.js";
import { count, isolated, labels, plural, shorten, value as show } from "./format.js";

export function map(open, chosen, tallest) {
	let list = [], unit = "", label = "", low = 0, high = 1, range = null, rows = null, names = [];

	function layout(width) {
		const n = list.length || 1;
		if (tallest && n > 24) {
			const cell = Math.max(2, Math.min(40, Math.floor(2 * Math.sqrt(width * tallest / n)) / 2));
			const across = Math.max(1, Math.floor(width / cell));
			return { across, cell, tall: cell, rows: Math.ceil(n / across), words: false };
		}
		const size = n <= 12 ? 120 : n <= 100 ? 84 : n <= 600 ? 40 : n <= 3000 ? 16 : 10;
		const across = Math.max(1, Math.min(n, Math.floor(width / (n <= 100 ? Math.min(size, width / 3) : size))));
		const cell = n <= 100 ? Math.min(width / across, 150) : size;
		return { across, cell, tall: n <= 100 ? Math.max(46, Math.min(64, cell * 0.62)) : cell,
			rows: Math.ceil(n / across), words: n <= 100 };
	}

	const known = (each) => !each.dead && each.value !== null && Number.isFinite(each.value);

	function inRange(v) {
		return !range || (v !== null && v >= range[0] && v <= range[1]);
	}

	function draw(c, width) {
		const l = layout(width), hatch = pattern(c, placeTile(null, false));
		const gap = l.cell > 20 ? 2 : l.cell > 4 ? 1 : 0;
		c.textBaseline = "middle";
		c.textAlign = "center";
		list.forEach((each, i) => {
			const x = i % l.across * l.cell, y = Math.floor(i / l.across) * l.tall;
			const has = known(each);
			const share = has ? (each.value - low) / (high - low || 1) : 0, colour = heat(share);
			c.globalAlpha = inRange(has ? each.value : null) ? 1 : 0.15;
			c.fillStyle = has ? "rgb(" + colour.join(",") + ")" : hatch;
			c.fillRect(x, y, l.cell - gap, l.tall - gap);
			if (l.words) {
				const bright = colour[0] * 0.3 + colour[1] * 0.6 + colour[2] * 0.1 > 128;
				if (!has) {
					c.fillStyle = css("paper");
					c.fillRect(x + 4, y + 6, l.cell - gap - 8, l.tall - gap - 12);
				}
				c.fillStyle = !has ? css("text") : bright ? "#10161c" : "#ffffff";
				c.font = "12px system-ui, sans-serif";
				c.fillText(shorten(names[i], Math.floor(l.cell / 7.4)), x + l.cell / 2, y + l.tall / 2 - 9, l.cell - 8);
				c.font = "600 13px system-ui, sans-serif";
				c.fillText(each.text || show(each.value, unit), x + l.cell / 2, y + l.tall / 2 + 8, l.cell - 8);
			}
		});
		c.globalAlpha = 1;
	}

	function find(x, y) {
		const l = layout(pic.width), column = Math.floor(x / l.cell);
		return column < l.across ? list[Math.floor(y / l.tall) * l.across + column] : undefined;
	}

	const pic = picture({
		label: "Node map",
		height: (width) => {
			const l = layout(width);
			return l.rows * l.tall;
		},
		draw,
		at: (x, y) => {
			const each = find(x, y);
			return each ? isolated(each.node) + ": " + (each.text || show(each.value, unit)) : "";
		},
		click: (x, y) => {
			const each = find(x, y);
			if (each)
				open(each.node);
		},
		sentence, table: () => rowsTable(list).root,
	});

	function sentence() {
		const seen = list.filter(known), dead = list.filter((each) => each.dead).length, none = list.length - seen.length - dead;
		if (list.length === 0)
			return "";
		const worst = seen.reduce((a, b) => a && a.value >= b.value ? a : b, null);
		return plural(list.length, "node") + ", " + label + (dead ? "; " + plural(dead, "node is", "nodes are") +
			" not heard" : "") + (none ? "; " + count(none) + " without a value" : "") + (worst && !(worst.text && high === low) ? ". Greatest: " +
			shorten(worst.node, 40) + " with " + (worst.text || show(worst.value, unit)) + "." : ".");
	}

	function rowsTable(rows) {
		const t = table({ caption: "The same values as a table", href: (r) => chosen(r.node),
			columns: [{ key: "node", label: "Node", wide: true },
				{ key: "value", label: label || "Value", number: true, show: (r) => r.text || show(r.value, unit) }] });
		queueMicrotask(() => t.set(rows));
		return t;
	}

	/* The values from least to greatest, and how many nodes have them: drag over it
	 * to see only these nodes. */
	const BINS = 60;
	const scale = picture({
		label: "Distribution of the values", height: () => 74,
		draw: (c, width, height) => {
			const bins = new Array(BINS).fill(0);
			for (const each of list)
				if (known(each))
					bins[Math.min(BINS - 1, Math.floor((each.value - low) / (high - low || 1) * BINS))]++;
			const most = Math.max(1, ...bins), w = width / BINS;
			bins.forEach((n, i) => {
				const tall = n ? Math.max(2, n / most * (height - 34)) : 0;
				c.fillStyle = css("muted");
				c.fillRect(i * w, height - 30 - tall, Math.max(1, w - 1), tall);
				c.fillStyle = "rgb(" + heat((i + 0.5) / BINS).join(",") + ")";
				c.fillRect(i * w, height - 28, w + 1, 10);
			});
			c.fillStyle = css("muted");
			c.font = "12px system-ui, sans-serif";
			c.textBaseline = "bottom";
			c.textAlign = "left";
			c.fillText(show(low, unit), 0, height);
			c.textAlign = "right";
			c.fillText(show(high, unit), width, height);
		},
		sentence: () => range ? "Nodes from " + show(range[0], unit) + " to " + show(range[1], unit) + "." :
			"Drag over the scale to list only the nodes of this range.",
		select: (a, b) => {
			const to = (x) => low + Math.min(1, Math.max(0, x / scale.width)) * (high - low);
			pick([to(a), to(b)]);
		},
		click: () => pick(null),
	});
	const picked = h("div", { class: "picked" });

	const nodesIn = () => list.filter((each) => known(each) && inRange(each.value));

	function pick(next) {
		range = next;
		pic.redraw();
		scale.redraw();
		rows = range && rowsTable(nodesIn());
		fill(picked, range && [h("h2", "Nodes of this range"), rows.root]);
	}

	return {
		root: h("div", pic.root, scale.root, picked),
		set(nodes, name, of) {
			list = nodes;
			label = name;
			unit = of;
			names = labels(list.map((each) => each.node));
			const values = list.filter(known).map((each) => each.value);
			low = values.reduce((a, b) => Math.min(a, b), Infinity);
			high = values.reduce((a, b) => Math.max(a, b), -Infinity);
			if (low > high)
				low = high = 0;
			scale.root.hidden = Boolean(tallest) || !(high > low);
			pic.redraw();
			scale.redraw();
			if (range)
				rows.set(nodesIn());
		},
	};
}
