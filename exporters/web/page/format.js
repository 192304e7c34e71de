/*
 * format - numbers, times and sizes as people read them.
 * SPDX-License-Identifier: MIT
 */

export const NONE = "–";

function known(v) {
	return typeof v === "number" && Number.isFinite(v);
}

const groups = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function count(v) {
	return known(v) ? groups.format(v) : NONE;
}

/* Names in their natural order: n2 before n10. */
export const byName = new Intl.Collator("en", { numeric: true }).compare;

/* Three significant digits, without exponents where that can be. */
export function number(v) {
	if (!known(v))
		return NONE;
	const a = Math.abs(v);
	if (a === 0)
		return "0";
	if (a >= 1e15 || a < 1e-4)
		return v.toExponential(2);
	if (a >= 1000)
		return groups.format(v);
	return v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : a >= 0.1 ? 3 : 4);
}

/* Seconds, for columns: one decimal, aligned. */
export function seconds(v) {
	if (!known(v))
		return NONE;
	const a = Math.abs(v);
	return a !== 0 && a < 0.05 ? number(v) : tenths.format(v);
}

/* As quantity_time: from so many seconds on, the unit. */
const UNITS = [[172620, 86400, " d"], [7197, 3600, " h"], [599.95, 60, " min"], [0.99995, 1, " s"], [999.95e-6, 1e-3, " ms"], [999.95e-9, 1e-6, " µs"], [0, 1e-9, " ns"]];

export function timeUnit(s) {
	return UNITS.find(([from]) => s >= from).slice(1);
}

/* Seconds, in a sentence. */
export function duration(v) {
	if (!known(v))
		return NONE;
	const a = Math.abs(v), [one, unit] = timeUnit(a);
	return (v < 0 ? "−" : "") + (v ? (a / one).toFixed(a / one < 9.995 ? 2 : 1) + unit : "0 s");
}

/* By powers of 1024. */
export const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(v) {
	if (!known(v))
		return NONE;
	let a = Math.abs(v), unit = 0;
	while (a >= 999.95 && unit < 5) { // as quantity_bytes
		a /= 1024;
		unit++;
	}
	const digits = unit === 0 || a >= 100 ? 0 : 1;
	return (v < 0 ? "−" : "") + a.toFixed(digits) + " " + BYTES[unit];
}

const EPOCH = 8e8; // more seconds are not how long something took, but a time since 1970

/* A value with its UCUM unit. */
export function value(v, unit) {
	if (!known(v))
		return NONE;
	if (unit === "By" || unit === "By/s")
		return bytes(v) + unit.slice(2);
	if (unit === "s")
		return v > EPOCH ? time(1000 * v) + " UTC" : duration(v);
	if (unit === "ns" && v > EPOCH * 1e9)
		return time(v / 1e6) + " UTC";
	if (Number.isInteger(v) && /^\{/.test(unit))
		return count(v) + " " + unitName(unit);
	return number(v) + (unitName(unit) ? " " + unitName(unit) : "");
}

export function unitName(unit) {
	return unit === "{cpu}" ? "processors" : !unit || unit === "1" ? "" : unit.replace(/[{}]/g, "");
}

/* Nanoseconds since 1970, or the text of a time, as milliseconds. */
export function millis(v) {
	if (v === null || v === undefined || v === "")
		return NaN;
	return typeof v === "string" && /[-T:]/.test(v) ? Date.parse(v) : Number(v) / 1e6;
}

/* Empty of what is no time. */
function iso(ms) {
	const d = new Date(ms);
	return Number.isNaN(d.getTime()) ? "" : d.toISOString();
}

export function time(ms) {
	return iso(ms) ? day(ms) + " " + clock(ms) : NONE;
}

export function clock(ms) {
	return iso(ms).slice(-13, -5);
}

export function day(ms) {
	return iso(ms).split("T")[0];
}

/* From one time to another. */
export function range(a, b) {
	return time(a) + " to " + (day(a) === day(b) ? clock(b) : time(b)) + " UTC";
}

/* How old something is: fewer digits than a duration, since it grows while it is read. */
export function age(s) {
	return s < 99.5 ? Math.max(0, Math.round(s)) + " s" : s < 5970 ? Math.round(s / 60) + " min" :
		s < 172800 ? (s / 3600).toFixed(1) + " h" : (s / 86400).toFixed(1) + " d";
}

/* Now by the server's clock: the browser's may be wrong.  Date has whole seconds, so that a
 * small difference says nothing. */
let ahead = 0;
export const now = () => Date.now() - ahead;

export function setClock(date) {
	const ms = Date.now() - Date.parse(date);
	ahead = Math.abs(ms) > 3000 ? ms : 0;
}

/* How long ago; the date when that is days. */
export function ago(ms) {
	const s = (now() - ms) / 1000;
	if (Number.isNaN(s))
		return NONE;
	return s > 259200 ? time(ms).slice(0, 16) + " UTC" : s < 2 ? "now" : age(s) + " ago";
}

export function plural(n, one, many) {
	return count(n) + " " + (n === 1 ? one : many || one + "s");
}

/* Long names: both ends tell more than the begin. */
export function shorten(text, most) {
	const all = [...text], tail = Math.floor((most - 1) / 3);
	return isolated(all.length <= most ? text : all.slice(0, most - 1 - tail).join("") + "…" + all.slice(all.length - tail).join(""));
}

/* A name that is written from right to left, or says so, does not turn what is around it. */
export function isolated(text) {
	return /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/.test(text) ? "\u2068" + text + "\u2069" : text;
}

/* A text, as parts that are broken into lines between them: a number and its units are one. */
export function unbroken(text, wrap) {
	return text.split(/([+−]?\d[\d.,]* (?:min|h|[mµn]?s|d)(?!\w))/).map((part, i) => i % 2 ? wrap(part) : part);
}

/* Names for pictures, which have little room: without what most have in common at their
 * ends.  Those that begin otherwise stay whole. */
export function labels(names) {
	const begin = (name) => /^\D*/.exec(name)[0], groups = new Map();
	for (const name of names)
		groups.set(begin(name), (groups.get(begin(name)) || 0) + 1);
	const [most, n] = [...groups].reduce((a, b) => a && a[1] >= b[1] ? a : b, ["", 0]);
	if (n < 2 || n * 2 < names.length)
		return names;
	const [a, b] = commonEnds(names.filter((name) => begin(name) === most));
	return names.map((name) => begin(name) === most ? name.slice(a, name.length - b) || name : name);
}

/* What the names have in common at their ends. */
function commonEnds(names) {
	let a = 0, b = 0;
	const first = names[0];
	while (a < first.length && names.every((n) => n[a] === first[a]))
		a++;
	const at = (n, i) => n[n.length - 1 - i];
	while (b < first.length - a && names.every((n) => n.length > a + b && at(n, b) === at(first, b)))
		b++;
	/* Keep whole words and digits. */
	while (a > 0 && /[A-Za-z0-9]/.test(first[a - 1]))
		a--;
	while (b > 0 && /[A-Za-z0-9]/.test(first[first.length - b]))
		b--;
	return [a, b];
}
