/*
 * time - of which time a view is: what the address says of it, what questions are asked
 * with, and the field in which it is chosen.
 *
 * No view has a time of its own: ofTime() puts that of the address into each question
 * that takes one.  Addresses: exporters/web/api.md, "The page".
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h, fill } from "./dom.js";
import { millis, time } from "./format.js";

const OF_START = new Set(["phases", "cascade", "timeline", "breakdown", "slow", "samples", "series", "usage", "spans", "runs",
	"deltas", "iterations", "groups", "trace"]);
const OF_WINDOW = new Set(["starts", "results"]);
const LASTS = [["-15m", "last 15 min"], ["-1h", "last hour"], ["-1d", "last day"]];
const WINDOW = "window", WAIT_MS = 200;

/* What an address says of the time, for another address. */
export function timeOf({ start, from, to }) {
	return from || to ? { from, to } : { start };
}

/* Is it another time than that without a choice? */
export function isChosen({ start, from, to }) {
	return isLive() && Boolean(start || from || to);
}

/* The parameters of a question, with the time of the address, unless it is of another start.
 * A report has one time. */
export function ofTime(route, params, address) {
	const { start, from, to } = address, { start: own, ...others } = params || {};
	if (!isLive())
		return others;
	if (own || others.from || others.to)
		return params;
	if (from || to)
		return OF_START.has(route) || OF_WINDOW.has(route) ? { from, to, ...params } : params;
	return OF_START.has(route) ? { start: start || "newest", ...params } : params;
}

/* The parameters of a window in milliseconds; of none they are empty. */
export function windowOf(from, to) {
	const text = (ms) => Number.isFinite(ms) ? (ms / 1000).toFixed(6) : "";
	return { from: text(from), to: text(to) };
}

/* "2026-11-28 22:41:37, 2nd of 3" */
export function startWords(at, n, of) {
	const end = n % 100 - n % 10 === 10 ? "" : ["", "st", "nd", "rd"][n % 10];
	return time(millis(at)) + (of > 1 && n > 0 ? ", " + n + (end || "th") + " of " + of : "");
}

/* A time of the address as it is read, and back: without a zone it is that of UTC. */
const shown = (text) => /^\d+(\.\d*)?$/.test(text) ? time(1000 * text) : text.replace(/^([\d-]{10})T(.*)Z$/, "$1 $2");

function written(text) {
	const of = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?$/.exec(text);
	return !of ? text : of[1] + "T" + (of[2] || "00:00").replace(/^\d\d:\d\d$/, "$&:00") + "Z";
}

/* The field.  set(change) changes the address; list() is a promise of { starts, known }: the
 * begins of the starts of the pool, the newest first, and how many there are. */
export function timeField({ set, list }) {
	const select = h("select", { "aria-label": "Time", on: { change: chosen, focus: refresh } });
	const field = (label, example) => h("input", { type: "text", "aria-label": label + " (UTC)", placeholder: label + ", such as " + example,
		autocomplete: "off", spellcheck: "false" });
	const from = field("From", "-2h"), to = field("To", "2026-11-20 10:00");
	const fields = h("form", { class: "beside", hidden: true, on: { submit: (event) => {
		event.preventDefault();
		set({ start: "", from: value(from), to: value(to) });
	} } }, from, to, h("button", { type: "submit" }, "Show"));
	const leave = h("button", { title: "Leave this window", on: { click: () => set({ from: "", to: "" }) } }, "✕");
	const root = h("div", { class: "beside" },
		h("label", { class: "choose" }, h("span", "Time"), select), fields, leave);
	let params = {}, starts = [], known = 0, waiting = 0;

	/* What nobody changed is as exact as it was. */
	const value = (input) => input.value.trim() === shown(input.dataset.was) ? input.dataset.was : written(input.value.trim());

	/* Keys pass by other choices. */
	function chosen() {
		clearTimeout(waiting);
		waiting = setTimeout(() => {
			if (select.value === WINDOW)
				fields.hidden = false;
			else
				set(select.value.startsWith("-") ? { from: select.value, to: "" } : { from: "", to: "", start: select.value });
		}, WAIT_MS);
	}

	const words = (at) => startWords(at, starts.includes(at) ? known - starts.indexOf(at) : 0, known);

	function options(own) {
		const all = known > 1 ? "all " + known + " starts" : "all";
		const found = [["", known ? "newest start, " + words(starts[0]) : all], ...(known > 1 ? [["all", all]] : []), ...LASTS,
			[WINDOW, "from … to"], ...starts.slice(1).map((at) => [at, words(at)])];
		return found.some(([v]) => v === own) ? found : [...found, [own, own === "all" ? all : "start of " + words(own)]];
	}

	function draw() {
		const { start, from: begin, to: end } = params;
		const own = begin || end ? (!end && LASTS.some(([v]) => v === begin) ? begin : WINDOW) : start || "";
		fill(select, options(own).map(([v, text]) => h("option", { value: v, selected: v === own }, text)));
		fields.hidden = own !== WINDOW;
		leave.hidden = !begin && !end;
		for (const [input, text] of [[from, begin], [to, end]]) {
			input.dataset.was = text || "";
			input.value = shown(text || "");
		}
	}

	/* What somebody is choosing from, or writes, stays as it is. */
	async function refresh() {
		const found = await list();
		if (!found || (known === found.known && starts[0] === found.starts[0]))
			return;
		({ starts, known } = found);
		if (!root.contains(document.activeElement))
			draw();
	}

	return { root, refresh, show(address) {
		params = address;
		draw();
	} };
}
