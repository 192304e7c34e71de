/*
 * results - benchmarks: tests, their entries, and the timings of an entry with its
 * changes.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, note } from "./dom.js";
import { title, nothing, search } from "./parts.js";
import { table } from "./table.js";
import { lines } from "./lines.js";
import { windowOf } from "./time.js";
import { count, duration, time } from "./format.js";

const LIMIT = 1000;

export function results(context) {
	const { params } = context, test = params.test, entry = params.entry;
	const body = h("div");
	const back = test ? h("a", { href: context.link("results", undefined, entry ? { test } : {}) }, entry ? test : "all tests") : null;
	const root = h("section", title(entry || test || "Results", back), body);
	const view = { root, tables: [], load: () => entry ? timings() : test ? entries() : tests() };
	const ask = async (more) => ((await context.maybe(["results"], { test, entry, ...more })) || { rows: [] }).rows;

	function list(caption, key, rows, href, more) {
		const t = table({ caption, columns: [{ key, label: caption, wide: true }, ...(more || [])], href });
		view.tables = [t];
		fill(body, h("p", search("Filter", "", (q) => t.filter(q))), t.root);
		t.set(rows);
	}

	async function tests() {
		const rows = await ask();
		if (rows.length === 0)
			fill(body, nothing("No results of benchmarks.", "poolscope upload results sends them."));
		else
			list("Test", "test", rows, (r) => context.link("results", undefined, { test: r.test }));
	}

	async function entries() {
		const rows = await ask({ entries: "true" });
		if (rows.length === 0)
			return fill(body, nothing("No entries of this test."));
		list("Entry", "entry", rows, (r) => context.link("results", undefined, { test, entry: r.entry }));
		return undefined;
	}

	async function timings() {
		const [answer, found] = await Promise.all([ask({ limit: LIMIT }), changes()]);
		if (answer.length === 0)
			return fill(body, nothing("No timings.", context.why("")));
		const rows = answer.filter((r) => r.timing !== null).map((r) => ({ at: r.start_us / 1000, timing: r.timing }))
			.sort((a, b) => a.at - b.at);
		const chart = lines("Timings", (from, to) => context.set(windowOf(from, to)));
		const t = table({ caption: "Starts", columns: [
			{ key: "at", label: "Start (UTC)", show: (r) => time(r.at) },
			{ key: "timing", label: "Timing", as: duration }] });
		view.tables = [t];
		const levels = found.length ? level(rows, found) : null;
		fill(body, chart.root, found.length ? changesTable(found) : null,
			answer.length >= LIMIT ? note("The newest " + count(LIMIT) + "; older ones are left out.") : null, h("h2", "Starts"), t.root);
		chart.set({ times: rows.map((r) => r.at), unit: "s", lines: [{ name: entry, values: rows.map((r) => r.timing), points: true },
			...(levels ? [{ name: "level", values: levels, step: true }] : [])],
		marks: found.map((c) => ({ time: c.at, worse: c.percent > 0, text: signed(c.percent) })) });
		t.set(rows.slice().reverse());
		return undefined;
	}

	function signed(percent) {
		return (percent > 0 ? "+" : "−") + Math.abs(percent).toFixed(1) + " %";
	}

	async function changes() {
		const answer = await ask({ changes: "true", limit: LIMIT });
		return answer.map((c) => ({ at: c.start_us / 1000, percent: c.percent, before: c.before, after: c.after }));
	}

	function level(rows, found) {
		return rows.map((r) => found.reduce((v, c) => r.at >= c.at ? c.after : v, found[0].before));
	}

	function changesTable(found) {
		const t = table({ caption: "Changes of the level", columns: [
			{ key: "at", label: "From (UTC)", show: (r) => time(r.at) },
			{ key: "percent", label: "Change", number: true, show: (r) => h("span", { class: r.percent > 0 ? "bad" : "good" }, signed(r.percent)) },
			{ key: "before", label: "Before", as: duration },
			{ key: "after", label: "After", as: duration }] });
		queueMicrotask(() => t.set(found));
		return [h("h2", "Changes of the level"), t.root];
	}

	return view;
}
