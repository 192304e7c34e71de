/*
 * picture - a canvas with a sentence for those who do not see it, and a table of the
 * same numbers, which the key T shows instead.
 *
 * options: label, height(width), draw(context, width, height), sentence(),
 * table() (an element), and what the pointer does: at(x, y) returns a text,
 * click(x, y), drag(dx, dy), wheel(x, y, by), select(x0, x1).
 * SPDX-License-Identifier: MIT
 */
import { h, fill, say } from "./dom.js";
import { asTables } from "./look.js";
import { clock, day } from "./format.js";

const all = new Set();
let size = null;

export function picture(options) {
	const canvas = h("canvas", { role: "img", "aria-label": options.label });
	const words = h("figcaption", { class: "words" });
	const tip = h("p", { class: "readout", "aria-hidden": "true" });
	const instead = h("div", { class: "instead", hidden: true });
	const holder = h("div", { class: "canvas" }, canvas);
	const root = h("figure", { class: "picture" + (options.cursor ? " pan" : "") }, words, holder, tip, instead);
	let pending = false, tabled = false, width = 0, height = 0, mark = null;

	function paint() {
		pending = false;
		if (!root.isConnected)
			return;
		tabled = asTables() && Boolean(options.table);
		holder.hidden = tip.hidden = tabled;
		instead.hidden = !tabled;
		const text = options.sentence();
		say(words, text);
		canvas.setAttribute("aria-label", options.label + ". " + text);
		if (tabled) {
			fill(instead, options.table());
			return;
		}
		width = Math.max(1, Math.floor(canvas.clientWidth)); // what the pointer is in
		height = Math.round(options.height(width));
		const scale = Math.min(2, devicePixelRatio || 1);
		if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
			canvas.width = Math.round(width * scale);
			canvas.height = Math.round(height * scale);
			canvas.style.height = height + "px";
		}
		const context = canvas.getContext("2d");
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.clearRect(0, 0, width, height);
		options.draw(context, width, height, scale);
		if (mark) {
			context.fillStyle = "rgba(90,140,200,0.25)";
			context.fillRect(Math.min(...mark), 0, Math.abs(mark[1] - mark[0]), height);
		}
	}

	function redraw() {
		if (!pending) {
			pending = true;
			requestAnimationFrame(paint);
		}
	}

	pointer(canvas, options, tip, (range) => {
		mark = range;
		redraw();
	}, redraw);
	const self = { root, paint, redraw, get width() {
		return width;
	} };
	all.add(self);
	size = size || new ResizeObserver((entries) => {
		for (const entry of entries)
			for (const each of all)
				if (each.root === entry.target)
					each.redraw();
	});
	size.observe(root);
	return self;
}

/* Beside the pointer, in the window. */
function tell(tip, text, x, y) {
	say(tip, text);
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 4)) + "px";
	tip.style.top = (y + 18 + tip.offsetHeight < innerHeight ? y + 18 : Math.max(4, y - 12 - tip.offsetHeight)) + "px";
}

function pointer(canvas, options, tip, mark, redraw) {
	let from = null, moved = false;
	const place = (event) => {
		const box = canvas.getBoundingClientRect();
		return [event.clientX - box.left, event.clientY - box.top];
	};
	canvas.addEventListener("pointermove", (event) => {
		const [x, y] = place(event);
		if (from) {
			moved = moved || Math.hypot(x - from[0], y - from[1]) > 4;
			if (moved && options.drag) {
				options.drag(x - from[2], y - from[3]);
				from[2] = x;
				from[3] = y;
				redraw();
			} else if (moved && options.select) {
				mark([from[0], x]);
			}
			return;
		}
		tell(tip, (options.at && options.at(x, y)) || "", event.clientX, event.clientY);
	});
	canvas.addEventListener("pointerleave", () => say(tip, ""));
	canvas.addEventListener("pointerdown", (event) => {
		if (event.button !== 0 || (event.pointerType === "touch" && options.select))
			return;
		const [x, y] = place(event);
		from = [x, y, x, y];
		moved = false;
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointerup", (event) => {
		const begin = from;
		from = null;
		if (!begin)
			return;
		const [x, y] = place(event);
		if (!moved && options.click)
			options.click(x, y);
		else if (moved && options.select) {
			mark(null);
			options.select(Math.min(begin[0], x), Math.max(begin[0], x));
		}
	});
	canvas.addEventListener("pointercancel", () => {
		from = null;
		mark(null);
	});
	if (options.wheel)
		canvas.addEventListener("wheel", (event) => {
			if (!event.ctrlKey && !event.shiftKey)
				return;
			event.preventDefault();
			options.wheel(...place(event), event.deltaY || event.deltaX);
			redraw();
		}, { passive: false });
}

/* Forget those that left the page. */
export function sweep() {
	for (const each of all)
		if (!each.root.isConnected) {
			size.unobserve(each.root);
			all.delete(each);
		}
}

addEventListener("look", () => {
	for (const each of all)
		each.paint(); // there is no frame before paper
});

/* A keyboard's way to move a picture: buttons above it. */
export function buttons(list) {
	return h("div", { class: "buttons", role: "group", "aria-label": "Move the picture" },
		list.map(([label, name, call]) => h("button", { "aria-label": name, title: name,
			on: { click: call } }, label)));
}

/* Steps of an axis from 0 or low to high: 1, 2 or 5 times a power of ten. */
export function ticks(low, high, most) {
	const span = high - low;
	if (!(span > 0) || most < 1)
		return [low];
	const power = 10 ** Math.floor(Math.log10(span / most));
	const step = [1, 2, 5, 10].map((v) => v * power).find((v) => span / v <= most) || 10 * power;
	const list = [];
	for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
		list.push(i * step);
	return list;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800,
	604800, 1209600, 2592000, 7776000, 31536000];

/* The same for seconds. */
export function secondTicks(low, high, most) {
	const span = high - low;
	if (span < most)
		return ticks(low, high, most);
	const year = STEPS[STEPS.length - 1], step = STEPS.find((v) => span / v <= most) || Math.ceil(span / most / year) * year;
	const list = [];
	for (let i = Math.ceil(low / step); i * step <= high; i++)
		list.push(i * step);
	return list;
}

/* Of an axis of time, in milliseconds: [how far from its begin, as a part of it; what is written
 * there], of as many as there is room for. */
export function timeTicks(begin, end, room) {
	/* From the whole second on: sums of small steps and of years lose digits. */
	const base = Math.floor(begin / 1000), low = begin / 1000 - base, high = end / 1000 - base, long = high - low > 172800, most = Math.max(2, Math.floor(room));
	const list = secondTicks(low, high, most), step = list.length > 1 ? list[1] - list[0] : 1, digits = step < 1 ? Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
	const all = step < 2 ? list : secondTicks(base + low, base + high, most).map((t) => t - base);
	return all.filter((t) => t >= low && t <= high).map((t) => [(t - low) / (high - low), long ? day((base + t) * 1000) :
		clock((base + Math.floor(t + 1e-9)) * 1000) + (digits ? (t % 1).toFixed(digits).slice(1) : "")]);
}

/* What a line of a legend begins with. */
export function swatch(draw) {
	const canvas = h("canvas", { class: "swatch", "aria-hidden": "true" });
	canvas.width = 28;
	canvas.height = 16;
	draw(canvas.getContext("2d"));
	return canvas;
}
