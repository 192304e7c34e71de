/*
 * breakdown - a row a node: how long it was in each phase, added up, no matter when.
 *
 * The rows are drawn into an image, pixel by pixel: the cost is that of the pixels, not
 * of the phases.  Data: see rowsOf.
 * SPDX-License-Identifier: MIT
 */
import { h } from "./dom.js";
import { picture, buttons, secondTicks, swatch } from "./picture.js";
import { table } from "./table.js";
import { css, pattern, pixel, placeTile, rgb } from "./look.js";
import { byName, count, duration, isolated, seconds, shorten, labels as labelsOf, plural } from "./format.js";

/* What the route answers, by column and in seconds: rows[i][k] is the time of node i in band
 * k, of[i] how many nodes the row stands for. */
export function rowsOf({ nodes, rows, bands }) {
	return { keys: bands.band, names: bands.title, places: placesOf(bands), node: rows.node, of: rows.nodes, total: rows.total, nodes,
		rows: rows.node.map((_, i) => bands.band.map((key) => rows[key][i])) };
}

/* Of no phase null, of the phases that share a band undefined. */
function placesOf({ band, colour }) {
	return band.map((key, k) => colour && colour[k] !== null ? colour[k] : key === "no_phase" ? null : undefined);
}

export function short(name) {
	return isolated(name.replace(/^[^:]*:/, ""));
}

const NAMES = 40;

/* The names of bands beside what shows their places in the palette. */
export function legend(names, places) {
	return h("ul", { class: "legend" }, names.slice(0, NAMES).map((name, k) => h("li", swatch((c) => {
		c.fillStyle = pattern(c, placeTile(places[k], false));
		c.fillRect(0, 0, 28, 16);
	}), shorten(short(name), 60))), names.length > NAMES ? h("li", "and " + count(names.length - NAMES) + " more") : null);
}

export function breakdown(open) {
	let d = null, order = [], view = null, tiles = [], names = [], longest = 20, image = null;
	const LEFT = () => Math.min(pic.width < 600 ? 84 : 210, 16 + 7 * longest), TOP = 40;

	function reset() {
		view = { x0: 0, x1: Math.max(Math.max(...d.total) * 1.02, 0.001), y0: 0, y1: order.length };
	}

	function rowHeight(height) {
		return (height - TOP) / (view.y1 - view.y0);
	}

	function draw(c, width, height, scale) {
		const left = LEFT();
		/* A pattern needs some rows of pixels. */
		const fine = rowHeight(height) * scale < 5;
		tiles = d.places.map((place) => placeTile(place, fine));
		raster(c, left, width, height, scale, axis(c, left, width));
		labels(c, left, height);
	}

	function raster(c, left, width, height, scale, grid) {
		const w = Math.floor((width - left) * scale), rows = Math.floor((height - TOP) * scale);
		if (w < 1 || rows < 1)
			return;
		if (!image || image.width !== w || image.height !== rows)
			image = new ImageData(w, rows);
		const out = new Uint32Array(image.data.buffer);
		out.fill(pixel(rgb(css("paper"))));
		const plain = tiles.map((cells) => cells.every((v) => v === cells[0]));
		const per = w / (view.x1 - view.x0), tall = rows / (view.y1 - view.y0);
		const gap = tall >= 8 ? Math.min(4, Math.round(tall * 0.18)) : 0;
		for (let y = 0; y < rows; y++) {
			const r = view.y0 + (y + 0.5) / tall, i = order[Math.floor(r)];
			if (i === undefined || (gap && y - (Math.floor(r) - view.y0) * tall < gap))
				continue;
			let at = 0;
			const row = d.rows[i];
			for (let k = 0; k < row.length; k++) {
				if (row[k] <= 0)
					continue;
				const a = Math.max(0, Math.round((at - view.x0) * per));
				at += row[k];
				const b = Math.min(w, Math.round((at - view.x0) * per));
				const cells = tiles[k], line = (y & 7) << 3, base = y * w;
				if (plain[k])
					out.fill(cells[0], base + a, base + b);
				else
					for (let x = a; x < b; x++)
						out[base + x] = cells[line | x & 7];
			}
		}
		const line = pixel(rgb(css("grid"))), paper = pixel(rgb(css("paper")));
		for (const x of grid)
			for (let at = Math.round((x - left) * scale); at < out.length; at += w)
				if (out[at] === paper)
					out[at] = line;
		c.putImageData(image, Math.round(left * scale), Math.round(TOP * scale));
	}

	/* Returns where the lines of the grid are. */
	function axis(c, left, width) {
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		c.textAlign = "center";
		c.fillStyle = css("muted");
		const most = Math.max(2, Math.floor((width - left) / 64)), list = secondTicks(view.x0, view.x1, most);
		const step = list.length > 1 ? list[1] - list[0] : 1, minutes = step >= 60, grid = [];
		c.fillText((step >= 3600 ? "Hours" : minutes ? "Minutes" : "Seconds") + " in the phase, added up", (left + width) / 2, 9);
		for (const t of list) {
			const x = left + (t - view.x0) / (view.x1 - view.x0) * (width - left);
			if (x < left || x >= width - 1)
				continue;
			grid.push(x);
			const text = t === 0 ? "0" : step >= 3600 ? (t / 3600).toFixed(step % 3600 ? 1 : 0) + " h" : minutes ? (t / 60).toFixed(step % 60 ? 1 : 0) + " min" : t.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))) + " s";
			c.fillText(text.replace(/\.0+ /, " "), Math.min(width - c.measureText(text).width / 2, x), 29);
		}
		return grid;
	}

	function labels(c, left, height) {
		const tall = rowHeight(height), step = Math.max(1, Math.ceil(14 / tall));
		c.textAlign = "right";
		c.fillStyle = css("text");
		const room = Math.floor((left - 12) / 6.6);
		for (let r = Math.ceil(view.y0 / step) * step; r < view.y1; r += step) {
			const i = order[r];
			if (i === undefined)
				continue;
			const y = TOP + (r + 0.5 - view.y0) * tall + Math.min(2, tall * 0.09); // the gap is above
			if (y > TOP + 4 && y < height - 4)
				c.fillText(shorten(names[i], room), left - 8, y, left - 10);
		}
	}

	function rowAt(y) {
		if (!view || y < TOP)
			return undefined;
		return order[Math.floor(view.y0 + (y - TOP) / rowHeight(height()))];
	}

	function at(x, y) {
		const i = rowAt(y), left = LEFT();
		if (i === undefined)
			return "";
		const t = view.x0 + (x - left) / (pic.width - left) * (view.x1 - view.x0);
		let from = 0, band = "";
		for (let k = 0; k < d.names.length; k++) {
			if (t >= from && t < from + d.rows[i][k])
				band = short(d.names[k]) + " " + duration(d.rows[i][k]) + ", ";
			from += d.rows[i][k];
		}
		return isolated(d.node[i]) + (d.of[i] > 1 ? " (the middle one of " + d.of[i] + ")" : "") + ": " + band + duration(d.total[i]) + " in all";
	}

	function zoom(x, factor) {
		const left = LEFT(), f = Math.min(1, Math.max(0, (x - left) / (pic.width - left)));
		const centre = view.x0 + f * (view.x1 - view.x0), span = (view.x1 - view.x0) * factor;
		view.x0 = centre - f * span;
		view.x1 = view.x0 + span;
	}

	function zoomRows(y, factor) {
		const f = Math.min(1, Math.max(0, (y - TOP) / (height() - TOP)));
		const centre = view.y0 + f * (view.y1 - view.y0);
		const span = Math.min(order.length, Math.max(8, (view.y1 - view.y0) * factor));
		view.y0 = Math.max(0, Math.min(order.length - span, centre - f * span));
		view.y1 = view.y0 + span;
	}

	function pan(dx, dy) {
		const px = (view.x1 - view.x0) / (pic.width - LEFT()), span = view.y1 - view.y0;
		view.x0 -= dx * px;
		view.x1 -= dx * px;
		view.y0 = Math.max(0, Math.min(order.length - span, view.y0 - dy / rowHeight(height())));
		view.y1 = view.y0 + span;
	}

	function height() {
		const n = order.length;
		return TOP + (n <= 3 ? n * 44 : n <= 120 ? Math.max(160, n * 17) : 640);
	}

	const act = (call) => () => {
		if (!view)
			return;
		call();
		pic.redraw();
	};
	const moves = {
		left: act(() => pan(pic.width / 6, 0)), right: act(() => pan(-pic.width / 6, 0)),
		closer: act(() => zoom((pic.width + LEFT()) / 2, 1 / 1.5)), wider: act(() => zoom((pic.width + LEFT()) / 2, 1.5)),
		fewer: act(() => zoomRows(height() / 2, 1 / 2)), more: act(() => zoomRows(height() / 2, 2)),
		up: act(() => pan(0, 120)), down: act(() => pan(0, -120)), all: act(reset),
	};
	const pic = picture({
		label: "Breakdown", cursor: true, height, draw, at, sentence,
		table: rowsTable,
		drag: (dx, dy) => pan(dx, dy),
		wheel: (x, y, by) => zoom(x, by > 0 ? 1.2 : 1 / 1.2),
		click: (x, y) => {
			const i = rowAt(y);
			if (i !== undefined)
				open(d.node[i]);
		},
	});

	function sentence() {
		if (!d)
			return "";
		const longest = d.total.indexOf(Math.max(...d.total));
		return (d.nodes > d.node.length ? plural(d.nodes, "node") + ", of which " + count(d.node.length) + " are shown" :
			plural(d.node.length, "node")) + ". The longest took " + duration(d.total[longest]) + ": " +
			shorten(d.node[longest], 40) + ".";
	}

	function rowsTable() {
		const t = table({ caption: "Seconds of each node in each phase, added up",
			columns: [{ key: "node", label: "Node", wide: true, value: (r) => d.node[r] },
				...d.names.map((name, k) => ({ key: name, label: short(name),
					value: (r) => d.rows[r][k], as: seconds })),
				{ key: "total", label: "Total", value: (r) => d.total[r], as: seconds }] });
		queueMicrotask(() => t.set(order));
		return t.root;
	}

	const bar = buttons([["←", "Left", moves.left], ["→", "Right", moves.right], ["+", "Less time", moves.closer],
		["−", "More time", moves.wider], ["↕+", "Fewer nodes", moves.fewer], ["↕−", "More nodes", moves.more],
		["↑", "Nodes above", moves.up], ["↓", "Nodes below", moves.down], ["Reset", "Reset: the whole picture", moves.all]]);

	return {
		root: h("div", bar, pic.root), moves,
		set(data, by, keep) {
			d = data;
			names = labelsOf(d.node);
			longest = names.reduce((most, name) => Math.max(most, name.length), 4);
			order = d.node.map((_, i) => i);
			const band = d.keys.indexOf(by);
			if (by === "name")
				order.sort((x, y) => byName(d.node[x], d.node[y]));
			else
				order.sort(band < 0 ? (x, y) => d.total[y] - d.total[x] : (x, y) => d.rows[y][band] - d.rows[x][band]);
			if (!keep || !view || view.y1 > order.length)
				reset();
			pic.redraw();
		},
	};
}
