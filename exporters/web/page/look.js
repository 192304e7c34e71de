/*
 * look - light or dark, pictures or tables, and the colours of both.
 *
 * The colours are those of exporters/gnuplot/colours.h.  A colour never stands alone:
 * a band has a pattern of its own as well.
 * SPDX-License-Identifier: MIT
 */

const THEME = "poolscope-theme";

/* As colours_series; pictures that stack take them in order. */
const LIGHT = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#9c755f",
	"#ff9da7", "#edc948", "#3b5b2e", "#79706e", "#1f1f6e"];
const DARK = ["#6f9fd0", "#f5a04b", "#6dba63", "#ee6f71", "#c793b9", "#83c9c3", "#b58d75",
	"#ffb0b8", "#f0d264", "#7da36c", "#a39a97", "#8f8fe0"];
/* Steps of test runs: the colours of the older test-farm monitor. */
const STEPS = { initialisation: "#a5cee3", queue: "#1f78b3", flash: "#b2de89", boot: "#3b5b2e",
	test: "#fcbf6f", publish: "#693d9a" };
const STEPS_DARK = { ...STEPS, boot: "#5f9150", publish: "#9a6fd0", queue: "#3f96cf" };
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
let tables = false;
let colours = {}; /* asking for styles is slow: once for each look */

export function isDark() {
	return chosen ? chosen === "dark" : night;
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

/* 8 x 8 pixels of a colour with pattern number i; even ones are plain.  Time outside
 * of phases, and waiting, is hatched. */
export function tile(colour, i, waits) {
	const base = rgb(colour), paper = rgb(css("paper"));
	const mix = (t) => pixel(base.map((v, k) => Math.round(v + (paper[k] - v) * t)));
	const plain = mix(0), light = mix(waits ? 0.65 : 0.35);
	const cells = new Uint32Array(64);
	for (let y = 0; y < 8; y++)
		for (let x = 0; x < 8; x++)
			cells[y * 8 + x] = marked(waits ? "wait" : i % 6, x, y) ? light : plain;
	return cells;
}

function marked(kind, x, y) {
	switch (kind) {
	case "wait": return (x + y) % 4 < 2;
	case 1: return (x + y) % 8 < 2;
	case 2: return y % 8 < 1;
	case 3: return (x - y + 8) % 8 < 2;
	case 4: return x % 4 < 1 && y % 4 < 1;
	case 5: return x % 8 < 1;
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

/* Of step i of a test run. */
export function stepTile(name, i) {
	return tile((isDark() ? STEPS_DARK : STEPS)[name] || series(i), i, isWaiting(name));
}

export function isWaiting(name) {
	return /(^|[:_ -])(wait|queue|queued|no phase|other|slot)/i.test(name);
}
