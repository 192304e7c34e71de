/*
 * lines - values over time: a line a series, or the range of many with their median,
 * or points with levels and changes.
 *
 * set({ times, unit, axis, lines: [{ name, values, points, all }], bands: { min, p10, p50, p90, max },
 * total, nodes, few, marks: [{ time, text, worse }] }): times in milliseconds since 1970; axis: from
 * when to when.  The bands, and a line of all nodes, are in each step of `nodes` out of `total`:
 * where these are few, they say nothing of all, and are points.
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h } from "./dom.js";
import { picture, swatch, ticks, timeTicks } from "./picture.js";
import { table } from "./table.js";
import { SERIES, css, series } from "./look.js";
import { BYTES, count, millis, plural, range, time, timeUnit, value as show, unitName } from "./format.js";

const BANDS = ["min", "p10", "p50", "p90", "max"];
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

const ask = (context, params) => context.maybe(["series"], { ...params, shape: "columns", columns: "mean,nodes,few," + BANDS });

/* The line `k` of an answer, whose rows begin at `from`. */
function part({ rows, lines: of }, k, from) {
	const steps = of.steps[k], begin = millis(of.begin[k]), step = of.step[k] * 1000;
	const values = (call) => Array.from({ length: steps }, (_, i) => call(i)), cut = (name, at) => values((i) => rows[name] && rows[name][at + i]);
	return { steps, cut, base: { times: values((i) => begin + (i + 0.5) * step), unit: of.unit[k], axis: [begin, begin + steps * step] },
		all: { total: of.nodes[k], nodes: cut("nodes", from), few: cut("few", from) } };
}

/* What the route answers; null when there is nothing.  A metric can be of
 * several groups: a line for each, or the bands of the first. */
export async function chart(context, params) {
	const answer = await ask(context, params);
	if (!answer)
		return null;
	const of = answer.lines, { steps, cut, base, all } = part(answer, 0, 0);
	if (!of.node)
		return { ...base, ...all, bands: Object.fromEntries(BANDS.map((name) => [name, cut(name, 0)])) };
	const found = [], groups = new Set(of.group).size;
	for (let i = 0, from = 0; i < of.steps.length; from += of.steps[i++])
		if (of.begin[i] === of.begin[0] && of.steps[i] === steps)
			found.push({ values: cut("mean", from), name: of.nodes[i] === 1 && groups > 1 ? of.group[i] : of.node[i] });
	return { ...base, lines: found };
}

/* What all nodes together use, and have: [of what, its lines]. */
export async function used(context) {
	const answer = await ask(context, { as: "used" }), found = [];
	for (let i = 0, from = 0; answer && i < answer.lines.steps.length; i += 2) {
		const { steps, cut, base, all } = part(answer, i, from);
		found.push([answer.lines.group[i], { ...base, ...all, used: true, lines: ["used", "all"].map((name, k) => ({ name, values: cut("mean", from + k * steps), all: true })) }]);
		from += 2 * steps;
	}
	return found;
}

/* One unit for all steps of an axis: [how much it is, its name]. */
function scaleOf(unit, high) {
	const bytes = /^By(\/s)?$/.exec(unit || "");
	if (bytes) {
		const k = Math.min(5, Math.max(0, Math.floor(Math.log2(Math.max(1, high)) / 10)));
		return [2 ** (10 * k), " " + BYTES[k] + (bytes[1] || "")];
	}
	if (unit === "s")
		return timeUnit(Math.max(0, high));
	return [1, unit === "%" ? " %" : ""];
}

/* What there is between two times. */
function between(data, a, b) {
	const cut = (list) => list && list.filter((_, i) => data.times[i] >= a && data.times[i] <= b);
	return { ...data, axis: data.axis && [a, b], times: cut(data.times), nodes: cut(data.nodes), few: cut(data.few), lines: data.lines && data.lines.map((line) => ({ ...line, values: cut(line.values) })),
		bands: data.bands && Object.fromEntries(Object.entries(data.bands).map(([name, list]) => [name, cut(list)])),
		marks: (data.marks || []).filter((mark) => mark.time >= a && mark.time <= b) };
}

/* zoomed(from, to): ask again; a report shows less of what it has. */
export function lines(label, zoomed, tall) {
	let d = null, whole = null;
	const LEFT = 66, BOTTOM = 22, TOP = 8, right = () => d && d.axis ? 0 : 6;

	function extent() {
		let low = Infinity, high = -Infinity;
		const see = (v) => {
			if (v !== null && v !== undefined && Number.isFinite(v)) {
				low = Math.min(low, v);
				high = Math.max(high, v);
			}
		};
		for (const line of d.lines || [])
			line.values.forEach(see);
		see(d.used && 0);
		for (const name of d.bands ? ["min", "max", "p50"] : [])
			d.bands[name].forEach(see);
		if (low > high)
			return [0, 1];
		if (low > 0 && (low < high * 0.6 || low === high))
			low = 0;
		return low === high ? [low, low + 1] : [low, high + (high - low) * 0.05];
	}

	const span = () => d.axis || [d.times[0], d.times.length > 1 ? d.times[d.times.length - 1] : d.times[0] + 1000];

	function draw(c, width, height) {
		if (!d || d.times.length === 0)
			return;
		const [t0, t1] = span(), [low, high] = extent();
		const X = (t) => LEFT + (t - t0) / (t1 - t0) * (width - LEFT - right());
		const Y = (v) => TOP + (1 - (v - low) / (high - low)) * (height - TOP - BOTTOM);
		axes(c, width, height, X, Y, [t0, t1], [low, high]);
		if (d.bands) {
			area(c, X, Y, d.bands.min, d.bands.max, css("band-wide"));
			area(c, X, Y, d.bands.p10, d.bands.p90, css("band"));
			ofAll(c, X, Y, d.bands.p50, css("band-line"));
		}
		if (d.used)
			area(c, X, Y, d.lines[0].values, d.times.map(() => 0), css("band"));
		(d.lines || []).forEach((line, i) => line.points ? dots(c, X, Y, line.values, series(i)) : line.all ? ofAll(c, X, Y, line.values, series(i)) :
			stroke(c, X, Y, line.values, series(i), DASHES[Math.floor(i / SERIES) % 4], line.step));
		marks(c, X, height);
	}

	function axes(c, width, height, X, Y, [t0, t1], [low, high]) {
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		c.textAlign = "right";
		const [scale, unit] = scaleOf(d.unit, high), steps = ticks(low / scale, high / scale, Math.max(2, Math.floor(height / 45)));
		const digits = steps.length > 1 ? Math.max(0, -Math.floor(Math.log10(steps[1] - steps[0]) + 1e-9)) : 2;
		for (const v of steps) {
			c.fillStyle = css("grid");
			c.fillRect(LEFT, Math.round(Y(v * scale)), width, 1);
			c.fillStyle = css("muted");
			c.fillText(Math.abs(v) < 1e6 ? v.toFixed(digits) + unit : show(v, ""), LEFT - 6, Y(v * scale), LEFT - 8);
		}
		c.textAlign = "center";
		for (const [part, text] of timeTicks(t0, t1, (width - LEFT) / 88)) {
			const x = X(t0 + part * (t1 - t0)), half = c.measureText(text).width / 2;
			c.fillStyle = css("grid");
			c.fillRect(Math.round(x), TOP, 1, height - TOP - BOTTOM);
			c.fillStyle = css("muted");
			c.fillText(text, Math.min(width - half, Math.max(LEFT, x)), height - 9);
		}
	}

	const parted = (values, few) => values.map((v, i) => Boolean(d.few[i]) === few ? v : null);

	function ofAll(c, X, Y, values, colour) {
		stroke(c, X, Y, parted(values, false), colour, []);
		dots(c, X, Y, parted(values, true), css("muted"));
	}

	function stroke(c, X, Y, values, colour, dash, step) {
		c.beginPath();
		let on = false, last = 0;
		values.forEach((v, i) => {
			if (v === null || v === undefined || !Number.isFinite(v)) {
				on = on && step;
				return;
			}
			if (on && step)
				c.lineTo(X(d.times[i]), last);
			c[on ? "lineTo" : "moveTo"](X(d.times[i]), last = Y(v));
			on = true;
		});
		c.strokeStyle = colour;
		c.lineWidth = 1.6;
		c.setLineDash(dash);
		c.stroke();
		c.setLineDash([]);
	}

	function dots(c, X, Y, values, colour) {
		c.fillStyle = colour;
		values.forEach((v, i) => {
			if (v !== null && Number.isFinite(v)) {
				c.beginPath();
				c.arc(X(d.times[i]), Y(v), 2.6, 0, 7);
				c.fill();
			}
		});
	}

	function area(c, X, Y, from, to, colour) {
		c.fillStyle = colour;
		for (let a = 0, b; a < from.length; a = b + 1) {
			for (b = a; b < from.length && from[b] !== null && !d.few[b]; b++)
				;
			c.beginPath();
			for (let i = a; i < b; i++)
				c.lineTo(X(d.times[i]), Y(from[i]));
			for (let i = b; i-- > a;)
				c.lineTo(X(d.times[i]), Y(to[i]));
			c.fill();
		}
	}

	function marks(c, X, height) {
		c.textAlign = "left";
		c.textBaseline = "top";
		for (const mark of d.marks || []) {
			c.strokeStyle = c.fillStyle = css(mark.worse ? "bad" : "good");
			c.setLineDash([5, 4]);
			c.beginPath();
			c.moveTo(X(mark.time), TOP);
			c.lineTo(X(mark.time), height - BOTTOM);
			c.stroke();
			c.setLineDash([]);
			c.fillText(mark.text, X(mark.time) + 4, TOP);
		}
	}

	function nearest(x) {
		const [t0, t1] = span(), t = t0 + (x - LEFT) / (pic.width - LEFT - right()) * (t1 - t0);
		let best = 0;
		d.times.forEach((each, i) => {
			if (Math.abs(each - t) < Math.abs(d.times[best] - t))
				best = i;
		});
		return best;
	}

	function at(x) {
		if (!d || d.times.length === 0)
			return "";
		const i = nearest(x);
		const values = d.bands ? BANDS.map((name) => name + " " + show(d.bands[name][i], d.unit)) :
			d.lines.slice(0, 6).filter((line) => line.values[i] !== null).map((line) => line.name + " " + show(line.values[i], d.unit));
		if (d.nodes && d.nodes[i] < d.total)
			values.push(count(d.nodes[i]) + " of " + plural(d.total, "node"));
		return [time(d.times[i]), ...values].join("   ");
	}

	function sentence() {
		if (!d || d.times.length === 0)
			return "";
		const [a, b] = span(), what = d.bands ? "least, middle and greatest of all nodes" : d.lines.some((line) => line.points) ? plural(d.times.length, "value") : plural(d.lines.length, "line");
		return label + (d.unit !== "s" && unitName(d.unit) ? " in " + (d.unit === "By" ? "bytes" : unitName(d.unit)) : "") + ", " + what + ", " +
			range(a, b) + (d.few && d.few.includes(true) ? "; points are of fewer than half of the nodes" : "") +
			((d.marks || []).length ? "; " + plural(d.marks.length, "change") + " of the level" : "");
	}

	function rowsTable() {
		const of = d.bands ? BANDS.map((name) => [name, d.bands[name]]) :
			d.lines.slice(0, 12).map((line) => [line.name, line.values]);
		const t = table({ caption: label, columns: [{ key: "time", label: "Time (UTC)", value: (i) => d.times[i],
			show: (i) => time(d.times[i]) }, ...of.map(([name, values], k) => ({ key: String(k), label: name,
			value: (i) => values[i], as: (v) => show(v, d.unit) })), ...(d.bands || d.used ? [{ key: "nodes", label: "nodes", value: (i) => d.nodes[i], as: count }] : [])] });
		queueMicrotask(() => t.set(d.times.map((_, i) => i)));
		return t.root;
	}

	const pic = picture({ label, height: (width) => tall || (width < 500 ? 180 : 210), draw, at, sentence, table: rowsTable,
		select: zoomed && ((a, b) => {
			const [t0, t1] = span(), to = (x) => t0 + Math.max(0, x - LEFT) / (pic.width - LEFT - right()) * (t1 - t0);
			(isLive() ? zoomed : closer)(to(a), to(b));
		}) });
	const key = h("ul", { class: "legend" });
	const all = h("button", { hidden: true, on: { click: () => {
		d = whole;
		all.hidden = true;
		pic.redraw();
	} } }, "Show all times");

	function closer(a, b) {
		const part = between(d, a, b);
		if (part.times.length < 2)
			return;
		d = part;
		all.hidden = false;
		pic.redraw();
	}

	return {
		root: h("div", { class: "lines" }, pic.root, key, all),
		set(data) {
			d = whole = data;
			all.hidden = true;
			key.replaceChildren();
			if (!d.bands && d.lines.length > 1)
				d.lines.slice(0, 12).forEach((line, i) => {
					key.append(h("li", swatch((c) => {
						c.strokeStyle = series(i);
						c.lineWidth = 3;
						c.setLineDash(DASHES[Math.floor(i / SERIES) % 4]);
						c.moveTo(0, 8);
						c.lineTo(28, 8);
						c.stroke();
					}), line.name));
				});
			pic.redraw();
		},
	};
}
