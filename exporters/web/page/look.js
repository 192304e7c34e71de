/*
 * look - light or dark, pictures or tables, and the colours of both.
 *
 * palette.js is made of exporters/plot/palette.def: phases have the same colours in the
 * pictures of poolscope-plot.
 * SPDX-License-Identifier: MIT
 */
import { LIGHT, DARK, NONE, OTHER, PLACES } from "./palette.js";

const THEME = "poolscope-theme";

/* The order in which they happen. */
export const STEP_ORDER = ["initialisation", "queue", "flash", "boot", "test", "publish"];

const stored = (() => {
	try {
		return localStorage.getItem(THEME);
	} catch {
		return null;
	}
})();
const system = matchMedia("(prefers-color-scheme: dark)");
/* Only the event changes it: who asks the query itself before it can miss the event. */
let night = system.matches;
let chosen = stored;
let tables = false, paper = false;
let colours = {}; /* asking for styles is slow: once for each look */

export function isDark() {
	return !paper && (chosen ? chosen === "dark" : night);
}

function apply() {
	document.documentElement.dataset.theme = isDark() ? "dark" : "light";
	colours = {};
	dispatchEvent(new Event("look"));
}

export function toggleTheme() {
	chosen = isDark() ? "light" : "dark";
	try {
		localStorage.setItem(THEME, chosen);
	} catch {
		/* not kept */
	}
	apply();
}

export function asTables() {
	return tables;
}

export function toggleTables() {
	tables = !tables;
	dispatchEvent(new Event("look"));
	return tables;
}

system.addEventListener("change", (event) => {
	night = event.matches;
	apply();
});
/* Paper is white. */
for (const when of ["beforeprint", "afterprint"])
	addEventListener(when, () => {
		paper = when === "beforeprint";
		apply();
	});
apply();

export function css(name) {
	colours[name] = colours[name] || getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
	return colours[name];
}

export const SERIES = LIGHT.length;

export function series(i) {
	const list = isDark() ? DARK : LIGHT;
	return list[i % list.length];
}

/* The colour of a share of the greatest value, in one hue by lightness. */
export function heat(share) {
	const t = Math.min(1, Math.max(0, share));
	const [a, b] = isDark() ? [[34, 48, 64], [150, 205, 255]] : [[226, 237, 247], [8, 64, 129]];
	return a.map((v, i) => Math.round(v + (b[i] - v) * t));
}

export function rgb(text) {
	const m = /^#([0-9a-f]{6})$/i.exec(text);
	const v = m ? parseInt(m[1], 16) : 0x808080;
	return [v >> 16, v >> 8 & 255, v & 255];
}

export function pixel([r, g, b]) {
	return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

/* 8 x 8 pixels of a colour with pattern number i; 0 is plain.  Time outside of phases is
 * hatched. */
function tile(colour, i, waits) {
	const base = rgb(colour), paper = rgb(css("paper"));
	const mix = (t) => pixel(base.map((v, k) => Math.round(v + (paper[k] - v) * t)));
	const plain = mix(0), light = mix(waits ? 0.65 : 0.55);
	const cells = new Uint32Array(64);
	for (let y = 0; y < 8; y++)
		for (let x = 0; x < 8; x++)
			cells[y * 8 + x] = marked(waits ? "wait" : i, x, y) ? light : plain;
	return cells;
}

function marked(kind, x, y) {
	switch (kind) {
	case "wait": return (x + y) % 4 < 2;
	case 1: return (x + y) % 8 < 3;
	case 2: return y % 4 < 1;
	case 3: return (x - y + 8) % 8 < 3;
	case 4: return x % 4 < 1 && y % 4 < 1;
	case 5: return x % 4 < 1;
	default: return false;
	}
}

/* The same as a pattern that a context can fill with. */
export function pattern(context, cells) {
	const small = document.createElement("canvas");
	small.width = small.height = 8;
	const image = new ImageData(8, 8);
	new Uint32Array(image.data.buffer).set(cells);
	small.getContext("2d").putImageData(image, 0, 0);
	return context.createPattern(small, "repeat");
}

/* Of a place in the palette; null: no phase, undefined: the phases that share a band. */
export function placeTile(place, plain) {
	const of = isDark() ? 1 : 0;
	if (place === null || place === undefined)
		return tile((place === null ? NONE : OTHER)[of], 0, place === null && !plain);
	return tile(series(place), plain ? 0 : patternOf(place), false);
}

function patternOf(place) {
	const round = Math.floor(place / SERIES);
	return round === 0 ? 0 : 1 + (round - 1) % 5;
}

/* The places of the steps of test runs: as palette_place in palette.c. */
export function places(names) {
	const taken = new Set(names.map((name) => PLACES.get(name)));
	let next = 0;
	return names.map((name) => {
		if (PLACES.has(name))
			return PLACES.get(name);
		while (taken.has(next))
			next++;
		return next++;
	});
}
