/*
 * spans - how long commands and programs took: in time, by name, node or track, and the slowest of them.
 * SPDX-License-Identifier: MIT
 */
import { h } from "./dom.js";
import { title, choose, search, nothing } from "./parts.js";
import { table } from "./table.js";
import { windowOf } from "./time.js";
import { timeline } from "./timeline.js";
import { count, duration, millis, number, seconds, time } from "./format.js";

const SLOWEST = 100;

export function spans(context) {
	const { params } = context, by = params.by || "name", { name, node } = params;
	const word = (key) => ({ key, label: key[0].toUpperCase() + key.slice(1), wide: true,
		show: (r) => key === "node" ? h("a", { href: context.link("node", r.node) }, r.node) : r[key] });
	const all = table({ caption: "Spans, in seconds", columns: [word(by), { key: "count", label: "Count", as: count },
		...["p50", "p90", "p99", "max", "sum"].map((key) => ({ key, label: key, as: seconds })),
		{ key: "wall_share", label: "% of the time", number: true, show: (r) => number(100 * r.wall_share) }] });
	const slow = table({ caption: "The slowest spans", columns: [word("name"), word("node"), word("track"),
		{ key: "begin", label: "Began (UTC)", show: (r) => time(millis(r.begin)) },
		{ key: "duration", label: "Took", as: duration }] });
	const none = nothing("No spans.", name || node ? "None is like this." : context.why(""));
	const picture = timeline("Spans in time", { spans: true, choose: (from, to) => context.set(windowOf(from, to)),
		open: (of) => {
			location.hash = context.link("node", of);
		}, resized: () => draw().catch(() => {}) }); // asked again anyway, or left
	const some = h("div", picture.root, h("div", { class: "title" }, h("h2", "Durations"),
		choose("By", ["name", "node", "track"].map((v) => [v, v]), by, (to) => context.set({ by: to })).root), all.root,
	h("h2", "The " + SLOWEST + " slowest"), slow.root);
	const root = h("section", title("Spans", search("Names, such as cc*", name, (to) => context.set({ name: to })),
		search("Nodes, such as cn1*", node, (to) => context.set({ node: to }))), none, some);

	async function draw() {
		const answer = await context.maybe(["timeline"], { ...picture.asked(), order: "name", name, node });
		picture.root.hidden = !answer;
		if (answer)
			picture.set(answer);
	}

	return { root, moves: picture.moves, tables: [all, slow], async load() {
		const [sums, list] = await Promise.all([context.maybe(["spans"], { by, name, node, top: 1000 }),
			context.maybe(["spans"], { by: "span", name, node, top: SLOWEST }), draw()]);
		none.hidden = Boolean(sums || list);
		some.hidden = !sums || !list;
		if (sums && list) {
			all.set(sums.rows);
			slow.set(list.rows);
		}
	} };
}
