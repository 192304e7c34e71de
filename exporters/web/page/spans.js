/*
 * spans - how long commands and programs took: by name, node or track, and the slowest of them.
 * SPDX-License-Identifier: MIT
 */
import { h } from "./dom.js";
import { title, choose, search, nothing } from "./parts.js";
import { table } from "./table.js";
import { count, duration, millis, number, seconds, time } from "./format.js";

const SLOWEST = 100;

export function spans(context) {
	const { params } = context, by = params.by || "name", order = params.order || "duration";
	const word = (key) => ({ key, label: key[0].toUpperCase() + key.slice(1), wide: true,
		show: (r) => key === "node" ? h("a", { href: context.link("node", r.node) }, r.node) : r[key] });
	const all = table({ caption: "Spans, in seconds", columns: [word(by), { key: "count", label: "Count", number: true, show: (r) => count(r.count) },
		...["p50", "p90", "p99", "max", "sum"].map((key) => ({ key, label: key, number: true, show: (r) => seconds(r[key]) })),
		{ key: "wall_share", label: "% of the time", number: true, show: (r) => number(100 * r.wall_share) }] });
	const slow = table({ caption: "The slowest spans", columns: [word("name"), word("node"), word("track"),
		{ key: "begin", label: "Began (UTC)", show: (r) => time(millis(r.begin)) },
		{ key: "duration", label: "Took", number: true, show: (r) => duration(r.duration) }] });
	const none = nothing("No spans.", params.name ? "None is called so." : context.why(""));
	const pick = (label, name, list, chosen) => choose(label, list.map((v) => [v, v]), chosen, (to) => context.set({ [name]: to })).root;
	const some = h("div", {}, all.root, h("div", { class: "title" }, h("h2", {}, "The " + SLOWEST + " slowest"), pick("Order", "order", ["duration", "begin"], order)), slow.root);
	const root = h("section", {}, title("Spans", search("Names, such as cc*", params.name, (name) => context.set({ name })),
		pick("By", "by", ["name", "node", "track"], by)), none, some);

	return { root, tables: [all, slow], async load() {
		const { name } = params, [sums, list] = await Promise.all([context.maybe(["spans"], { by, name, top: 1000 }),
			context.maybe(["spans"], { by: "span", name, top: SLOWEST })]);
		none.hidden = Boolean(sums);
		some.hidden = !sums || !list;
		if (sums && list) {
			all.set(sums.rows);
			slow.set(order === "begin" ? [...list.rows].sort((a, b) => a.begin < b.begin ? -1 : 1) : list.rows);
		}
	} };
}
