/*
 * timeline - what nodes did when: a row a node, or several, or a lane; above them
 * how many nodes were in which phase.
 *
 * The route says what each pixel shows: asked() has its parameters, `resized` is called when
 * they are others.
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h } from "./dom.js";
import { picture, buttons, timeTicks } from "./picture.js";
import { table } from "./table.js";
import { css, pixel, placeTile, rgb } from "./look.js";
import { short, legend } from "./breakdown.js";
import { byName, clock, count, day, duration, isolated, labels as labelsOf, millis, NONE, plural, range, seconds, shorten, time } from "./format.js";

const ROWS = 320, PIXELS = 4000, AXIS = 26, AREA = 110, OPEN = 24, FEW = 12, FRAME = 18; // what a picture has around it

/* choose(from, to): another window of time, in milliseconds; open(node).  lanes: those of one node.
 * spans: in place of phases, in lanes of tracks, where the nodes are few. */
export function timeline(label, { choose, open, resized, lanes, spans }) {
	let d = null, bars = [], names = [], tiles = [], image = null, asking = 0, laned = lanes;
	const phase = spans ? "span" : "phase", none = "no " + phase;
	const left = (width) => lanes ? 66 : width < 600 ? 84 : 150;
	const scale = () => Math.min(2, devicePixelRatio || 1);
	const pixels = (width) => Math.max(1, Math.min(PIXELS, Math.floor((width - left(width)) * scale())));
	const top = () => AXIS + (!laned && d.nodes > FEW ? AREA + 8 : 0);
	const several = () => bars.length < d.nodes && !laned;

	/* For as many pixels as there will be. */
	function asked() {
		const main = document.getElementById("main"), style = getComputedStyle(main);
		const width = pic.width || main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - FRAME;
		asking = pixels(Math.floor(width));
		return { shape: "columns", columns: "row,pixel,pixels,phase,share,offset,duration,key,open",
			rows: lanes ? "" : ROWS, pixels: asking, lanes: lanes || spans ? "true" : "", model: spans ? "span" : "" };
	}

	function height() {
		const n = bars.length;
		return top() + (laned ? Math.min(n * 22, 1320) : n <= 3 ? n * 44 : n <= 120 ? Math.max(160, n * 17) : 640);
	}

	function draw(c, width, tall) {
		if (!d)
			return;
		const from = left(width), w = pixels(width);
		const fine = (tall - top()) / bars.length * scale() < 5;
		tiles = d.places.map((place) => placeTile(place, fine || several()));
		const grid = axis(c, from, width);
		raster(c, from, w, tall, grid);
		if (top() > AXIS)
			area(c, from, w);
		write(c, from, tall);
		trail(c, from, width, tall);
		if (w !== asking)
			resized();
	}

	function raster(c, from, w, tall, grid) {
		const s = scale(), lines = Math.floor((tall - top()) * s), per = lines / bars.length, k = w / d.pixels;
		if (lines < 1)
			return;
		if (!image || image.width !== w || image.height !== lines)
			image = new ImageData(w, lines);
		const out = new Uint32Array(image.data.buffer), base = rgb(css("paper")), paper = pixel(base);
		const gap = per >= 8 ? Math.min(4, Math.round(per * 0.18)) : 0;
		out.fill(paper);
		for (const x of grid)
			for (let at = Math.round((x - from) * s); at < out.length; at += w)
				out[at] = pixel(rgb(css("grid")));
		const pale = (cell, share) => pixel([0, 8, 16].map((bit, i) =>
			Math.round(base[i] + ((cell >> bit & 255) - base[i]) * (0.15 + 0.85 * share))));
		bars.forEach((bar, row) => {
			const y0 = Math.floor(row * per) + gap, y1 = Math.max(y0 + 1, Math.floor((row + 1) * per));
			for (const run of bar.runs) {
				const a = Math.floor(run.pixel * k), b = Math.max(a + 1, Math.floor((run.pixel + run.pixels) * k));
				const tile = tiles[run.phase], one = run.share === null ? 0 : pale(tile[0], run.share);
				for (let y = y0; y < y1 && y < lines; y++)
					for (let x = a; x < b && x < w; x++)
						out[y * w + x] = one || (run.open && x >= b - OPEN && (x + y) % 4 < 2 && b - a > 1 ? paper : tile[(y & 7) << 3 | x & 7]);
			}
		});
		c.putImageData(image, Math.round(from * s), Math.round(top() * s));
	}

	/* One above the other; what is in no phase is on top. */
	function area(c, from, w) {
		const s = scale(), lines = Math.round(AREA * s), flat = new ImageData(w, lines), out = new Uint32Array(flat.data.buffer);
		const idle = placeTile(null, true)[0], ground = pixel(rgb(css("paper"))), plain = d.places.map((place) => placeTile(place, true));
		out.fill(ground);
		for (let x = 0; x < w; x++) {
			let sum = 0, y = lines;
			d.area[Math.min(d.pixels - 1, Math.floor(x * d.pixels / w))].forEach((n, phase) => {
				sum += n;
				const end = lines - Math.round(sum / d.nodes * lines);
				for (; y > end;)
					out[--y * w + x] = phase < plain.length ? plain[phase][0] : idle;
			});
		}
		c.putImageData(flat, Math.round(from * s), Math.round(AXIS * s));
		c.textAlign = "right";
		c.fillStyle = css("muted");
		c.fillText(count(d.nodes), from - 8, AXIS + 7, from - 10);
		c.fillText("nodes in", from - 8, AXIS + AREA / 2, from - 10);
		c.fillText("0", from - 8, AXIS + AREA - 5);
	}

	/* Returns where the lines of the grid are. */
	function axis(c, from, width) {
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		c.fillStyle = css("muted");
		const grid = [], room = width - from;
		if (!lanes) {
			c.textAlign = "left";
			c.fillText(day(d.begin), 0, 9, from - 4);
		}
		c.textAlign = "center";
		for (const [part, text] of timeTicks(d.begin, d.end, room / 84)) {
			const x = from + part * room, half = c.measureText(text).width / 2;
			if (x >= width - 1)
				continue;
			grid.push(x);
			c.fillText(text, Math.min(width - half, Math.max(from + half, x)), 9);
			c.fillRect(Math.round(x), 18, 1, 5);
		}
		return grid;
	}

	function write(c, from, tall) {
		if (lanes)
			return;
		const per = (tall - top()) / bars.length, step = Math.max(1, Math.ceil(14 / per)), room = Math.floor((from - 12) / 6.6);
		c.textAlign = "right";
		c.fillStyle = css("text");
		/* The gap is above; a name needs half of its height there. */
		for (let r = Math.ceil(Math.max(0, 7 / per - 0.5)); r < bars.length; r += step)
			if (top() + (r + 0.5) * per < tall - 4)
				c.fillText(shorten(names[r], room), from - 8, top() + (r + 0.5) * per + Math.min(2, per * 0.09), from - 10);
	}

	/* The critical path, dashed where it waits; narrow from node to node, or many of these would be all. */
	function trail(c, from, width, tall) {
		const { row, offset, duration, kind } = d.path, x = (s) => from + Math.max(0, 1000 * s / (d.end - d.begin) * (width - from));
		const y = (at) => top() + (at + 0.5) * (tall - top()) / bars.length;
		for (const wide of [6, 1, 2])
			row.forEach((at, i) => {
				const begin = x(offset[i]), end = x(offset[i] + duration[i]), first = wide > 1 ? at : row[i - 1];
				if (at === null || !Number.isInteger(first) || end <= from)
					return;
				c.strokeStyle = css(wide > 2 ? "paper" : "text");
				c.lineWidth = wide;
				c.setLineDash(wide === 2 && /^[bw]/.test(kind[i]) ? [3, 3] : []);
				c.beginPath();
				c.moveTo(wide > 1 ? end : begin, y(first));
				c.lineTo(begin, y(at));
				c.stroke();
			});
		c.setLineDash([]);
	}

	const nodes = (bar) => bar.nodes > 1 ? bar.first + " to " + bar.last + " (" + plural(bar.nodes, "node") + ")" : isolated(bar.first) + (bar.key ? " " + isolated(bar.key) : "");
	const timeOf = (p) => d.begin + p / d.pixels * (d.end - d.begin);

	const rowAt = (y) => bars[Math.min(bars.length - 1, Math.floor((y - top()) / (height() - top()) * bars.length))];

	function at(x, y) {
		if (!d || y < AXIS || y > height())
			return "";
		const from = left(pic.width), p = Math.floor((x - from) / (pic.width - from) * d.pixels);
		if (y < top()) {
			const list = d.area[p];
			return !list ? "" : clock(timeOf(p)) + " UTC: " + [...d.names.map(short), none].map((name, i) => [list[i], name]).filter(([n]) => n > 0)
				.map(([n, name]) => name + " " + (Number.isInteger(n) || n >= 100 ? count(n) : n.toFixed(1))).join(", ") + "; " +
				count(list.reduce((sum, n) => sum + n, 0)) + " of " + plural(d.nodes, "node") + " have begun";
		}
		const bar = rowAt(y), run = bar.runs.find((each) => p >= each.pixel && p < each.pixel + each.pixels);
		if (!run)
			return nodes(bar) + (p < 0 ? "" : ", " + clock(timeOf(p)) + " UTC: " + none);
		return nodes(bar) + ": " + short(d.names[run.phase]) + (run.share !== null ? ", " + Math.round(100 * run.share) + " % of their time at " + clock(timeOf(p)) + " UTC" :
			(run.key && !bar.key ? " " + isolated(run.key) : "") + ", began " + clock(run.begin) + " UTC, " + duration(run.seconds) + (run.open ? " and has no end" : ""));
	}

	function sentence() {
		if (!d)
			return "";
		return (lanes ? "" : plural(d.nodes, "node") + ", ") + (laned ? plural(bars.length, "lane") + ", " : "") + range(d.begin, d.end) +
			(several() ? ". A row stands for " + "up to " + count(Math.max(...bars.map((bar) => bar.nodes))) + " nodes: the " + phase + " in which they spent most, paler the less of it" : "") +
			(d.open ? "; " + plural(d.open, "phase has", "phases have") + " no end" : "") + (d.lack ? "; " + d.lack : "") + "." + d.says;
	}

	function rowsTable() {
		const list = bars.flatMap((bar) => bar.runs.map((run) => ({ bar, run })));
		const shown = ({ run }) => run.share === null ? run.begin : timeOf(run.pixel);
		const t = table({ caption: label, columns: [
			{ key: "node", label: several() ? "Nodes" : "Node", wide: true, value: (r) => nodes(r.bar) },
			{ key: "phase", label: spans ? "Span" : "Phase", value: (r) => short(d.names[r.run.phase]) + (r.run.open ? " (no end)" : "") },
			{ key: "key", label: spans ? "Track" : "Key", value: (r) => r.run.key || "" },
			{ key: "begin", label: "Begin (UTC)", value: shown, show: (r) => time(shown(r)) },
			several() ? { key: "share", label: "% of their time", number: true, value: (r) => r.run.share, show: (r) => r.run.share === null ? NONE : count(100 * r.run.share) } :
				{ key: "seconds", label: "Seconds", value: (r) => r.run.seconds, as: seconds }] });
		queueMicrotask(() => t.set(list));
		return t.root;
	}

	const pic = picture({ label, height, draw, at, sentence, table: rowsTable,
		select: isLive() && ((a, b) => {
			if (!d)
				return;
			const from = left(pic.width), to = (x) => d.begin + Math.max(0, x - from) / (pic.width - from) * (d.end - d.begin);
			choose(to(a), to(b));
		}),
		click: open && ((x, y) => {
			if (d && y >= top() && y < height())
				open(rowAt(y).first);
		}) });
	const move = (a, b) => () => d && choose(d.begin + a * (d.end - d.begin), d.end + b * (d.end - d.begin));
	const moves = { left: move(-0.25, -0.25), right: move(0.25, 0.25), closer: move(1 / 6, -1 / 6), wider: move(-0.25, 0.25), all: () => choose(NaN, NaN) };
	const bar = buttons([["←", "Earlier", moves.left], ["→", "Later", moves.right], ["+", "Less time", moves.closer],
		["−", "More time", moves.wider], ["Reset", "Reset: all of the time", moves.all]]);
	const key = h("div");

	function colours() {
		const idle = top() > AXIS; // what is in no phase is shown, too
		key.replaceChildren(legend(idle ? [...d.names, none] : d.names, idle ? [...d.places, null] : d.places));
	}

	addEventListener("look", () => d && key.isConnected && colours());

	/* Lanes of a track follow each other, the first one has its name. */
	function byTrack() {
		const of = new Map(bars.map((bar, i) => [bar, names[i]])), nodes = [...new Set(bars.map((bar) => bar.first))], at = new Map(nodes.map((name, i) => [name, i]));
		bars.sort((a, b) => at.get(a.first) - at.get(b.first) || byName(a.key, b.key));
		names = bars.map((bar, i) => i && bars[i - 1].first === bar.first && bars[i - 1].key === bar.key ? "" : (at.size > 1 ? of.get(bar) + " " : "") + bar.key);
	}

	return { root: h("div", key, lanes || !isLive() ? null : bar, pic.root), moves, asked,
		/* until: the end of the axis, if it is later than that of the answer. */
		set(answer, until) {
			const { rows, bars: of, area: counts } = answer, all = answer.phases.phase, used = new Set(rows.phase);
			const list = all.filter((name) => used.has(name) || counts.phase?.includes(name)), number = new Map(list.map((name, i) => [name, i]));
			laned = Number.isInteger(of.lane?.[0]);
			/* A column without a number is null: none of its nodes has a row here. */
			const path = !laned && answer.path?.row ? answer.path : { row: [] };
			d = { lack: answer.notes?.find((n) => n.key === "without_lane")?.text, path, says: path.row.length ? " Line: path to ready: node " + isolated(answer.path_node) + ", " + duration(answer.path_duration) + "; dashed: it waits." : "", nodes: answer.nodes, begin: millis(answer.t0), end: millis(answer.t1), names: list, places: list.map((name) => answer.phases.colour[all.indexOf(name)]), pixels: answer.pixels, open: 0,
				area: Array.from({ length: answer.pixels }, () => new Array(list.length + 1).fill(0)) };
			const column = (name, i) => rows[name]?.[i] ?? null;
			bars = of.first.map((first, i) => ({ first, last: of.last[i], nodes: of.nodes[i], key: of.key?.[i], runs: [] }));
			rows.row.forEach((row, i) => {
				const open = column("open", i);
				d.open += open === true;
				bars[row].runs.push({ pixel: rows.pixel[i], pixels: rows.pixels[i], phase: number.get(rows.phase[i]), share: column("share", i),
					key: column("key", i), begin: millis(answer.t0) + 1000 * column("offset", i), seconds: column("duration", i), open });
			});
			for (let i = 0; i < counts.nodes?.length; i++)
				for (let p = counts.pixel[i]; p < counts.pixel[i] + counts.pixels[i]; p++)
					d.area[p][number.get(counts.phase?.[i]) ?? list.length] = counts.nodes[i];
			if (lanes && until > d.end) {
				d.pixels = Math.round(d.pixels * (until - d.begin) / (d.end - d.begin));
				d.end = until;
			}
			names = labelsOf(bars.map((each) => each.first));
			if (laned && spans)
				byTrack();
			colours();
			pic.redraw();
		} };
}
