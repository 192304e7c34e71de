/*
 * metrics - the metrics of a node by their groups: those that changed as rows, the others as words
 * below them.  Groups in which something changed come first.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { table } from "./table.js";
import { count, plural, value } from "./format.js";

const GROUPS = 100, OPEN = 40, WORDS = 30; // groups; rows that are shown at first; names of metrics that did not change

const columns = [{ key: "metric", label: "Metric", wide: true }, { key: "count", label: "Values", number: true, show: (r) => count(r.count) },
	...["last", "mean", "min", "p99", "max"].map((key) => ({ key, label: key === "p99" ? key : key[0].toUpperCase() + key.slice(1), number: true,
		show: (r) => value(r[key], r.unit) }))];

/* href(metric): what a row leads to. */
export function groupsOf(href) {
	const root = h("div", { class: "metrics" }), more = h("p", { class: "note" }), shown = new Map();
	let all = [], q = "";

	function group(name) {
		const t = table({ caption: "Metrics of " + name, columns, href: (r) => href(r.metric) });
		const head = h("summary"), words = h("p", { class: "note" }), body = h("div", {}, t.root, words);
		const each = { t, head, words, rows: [], root: h("details", { on: { toggle: () => each.fill() } }, head, body), fill() {
			if (each.root.open)
				t.set(each.rows);
		} };
		return each;
	}

	function draw() {
		const by = new Map();
		for (const r of all)
			if (!q || r.metric.toLowerCase().includes(q) || r.group.toLowerCase().includes(q))
				by.set(r.group, [...(by.get(r.group) || []), r]);
		const list = [...by].map(([name, of]) => [name, of.filter((r) => r.changed), of.filter((r) => !r.changed)]);
		list.sort((a, b) => (b[1].length > 0) - (a[1].length > 0));
		let rows = 0;
		more.textContent = list.length > GROUPS ? plural(list.length - GROUPS, "more group") + ": the filter finds them." : "";
		for (const [name, changed, others] of list.slice(0, GROUPS)) {
			const is = shown.get(name) || group(name), fresh = !shown.has(name);
			shown.set(name, is);
			is.rows = changed;
			is.head.textContent = name + ": " + (changed.length ? changed.length + " of " : "none of ") + plural(changed.length + others.length, "metric") + " changed";
			is.t.root.hidden = changed.length === 0;
			is.words.textContent = others.length ? "Unchanged: " + others.slice(0, WORDS).map((r) => r.metric + " " + value(r.last ?? r.mean, r.unit)).join(", ") +
				(others.length > WORDS ? " and " + (others.length - WORDS) + " more" : "") + "." : "";
			if (fresh)
				is.root.open = changed.length > 0 && rows < OPEN;
			rows += is.root.open ? changed.length : 0;
			is.fill();
		}
		const wanted = [...list.slice(0, GROUPS).map(([name]) => shown.get(name).root), more];
		if (wanted.length !== root.children.length || wanted.some((each, i) => root.children[i] !== each))
			fill(root, wanted);
	}

	return { root, get tables() {
		return [...shown.values()].filter((each) => each.root.open).map((each) => each.t);
	}, set(list) {
		all = list;
		draw();
	}, filter(text) {
		q = text.toLowerCase();
		draw();
	} };
}
