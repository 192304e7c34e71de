/*
 * pool - the overview: who is heard, and how long the phases took.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, note } from "./dom.js";
import { title, figures, nothing, since, state, PHASES_FROM } from "./parts.js";
import { table } from "./table.js";
import { spread } from "./bands.js";
import { poolsOf } from "./pools.js";
import { lead } from "./lead.js";
import { occurs } from "./has.js";
import { runs } from "./runs.js";
import * as api from "./api.js";
import { count, millis, seconds, shorten, time } from "./format.js";

const WRONG = 8; // nodes that are named

export const SPREAD = "Times are in seconds. The line is least to greatest, the bar the median to p90, lighter to p99.";

export function phaseColumns(most) {
	const s = (key, label) => ({ key, label, as: seconds });
	return [{ key: "phase", label: "Phase", wide: true },
		{ key: "count", label: "Count", as: count },
		s("p50", "p50"), s("p90", "p90"), s("p99", "p99"), s("max", "Max"),
		{ key: "sum", label: "Sum", as: seconds },
		{ key: "open_starts", label: "Open", number: true, title: "Begun and not ended",
			show: (r) => r.open_starts ? count(r.open_starts) : "" },
		{ key: "spread", label: "Spread", value: (r) => r.max, show: (r) => spread(r, most()), title: SPREAD }];
}

export function overview(context) {
	const facts = figures();
	let most = 1, list = null;
	const phases = table({ caption: "Phases, in seconds", columns: phaseColumns(() => most),
		href: (r) => context.link("map", undefined, { value: "phase:" + r.phase }),
		empty: context.why("No phases yet. " + PHASES_FROM) });
	const trouble = h("div"), first = lead(context, trouble), farm = h("div");
	const words = note(SPREAD), times = h("div", h("h2", "Phases"), phases.root, words);
	const root = h("section", title(context.pool), facts.root, first.root, farm, first.charts, times);

	/* `many`: how many need attention; only the first ones are asked for.  `notes`: what is wrong with the head. */
	function wrong(nodes, many, notes) {
		const list = nodes.filter((n) => n.attention).slice(0, WRONG), more = many - list.length;
		const head = notes.filter((n) => n.key !== "left_out");
		if (list.length + head.length === 0)
			return fill(trouble);
		return fill(trouble, h("h2", "Needs attention"), h("ul", { class: "plain" }, head.map((n) => h("li", state("head", "warn"), " ", n.text)), list.map((n) => h("li", {},
			state(n.state === "live" ? "wrong" : n.state), " ", h("a", { href: context.link("node", n.node), title: n.node }, shorten(n.node, 64)), " ",
			n.wrong && n.wrong !== "not heard" ? n.wrong : since(millis(n.last_record), "last record "))),
		more > 0 ? h("li", h("a", { href: context.link("map", undefined, { value: "heard" }) },
			count(more) + " more")) : null));
	}

	/* The newest runs of a pool that has some. */
	async function newest(of) {
		if (!of.runs)
			return;
		if (!list) {
			list = runs(context);
			fill(farm, list.root);
		}
		await list.load();
	}

	return { root, tables: [phases], async load() {
		const has = await context.has();
		if (!has.known)
			return fill(root, title(context.pool), nothing("There is no such pool, or it has no records."));
		const known = api.maybe(["pools"], { name: context.pool }, context.signal)
			.then((all) => poolsOf(all).find((each) => each.name === context.pool));
		times.hidden = has.phases.length === 0;
		const [p, of, nodes] = await Promise.all([known, times.hidden ? null : context.maybe(["phases"]),
			context.maybe(["nodes"], { top: WRONG }), first.load(has), newest(has)]);
		const rows = (of ? of.rows : []).filter(occurs);
		most = rows.reduce((m, r) => Math.max(m, r.max || 0), 0);
		rows.sort((a, b) => a.place - b.place);
		facts.set(p ? [["Nodes", count(p.nodes)], p.live && ["Live", count(p.live), "good"],
			p.late && ["Late", count(p.late), "warn"], p.silent && ["Silent", count(p.silent), "bad"], p.gone && ["Gone", count(p.gone), "bad"],
			p.stopped && ["Stopped", count(p.stopped)], p.imported && ["Imported", count(p.imported)],
			["Records", count(p.records)],
			!Number.isNaN(p.last) && ["Newest record", since(p.last)],
			!Number.isNaN(p.first) && ["Oldest record", time(p.first) + " UTC"]] : []);
		phases.set(rows);
		words.hidden = rows.length === 0;
		wrong(nodes ? nodes.rows : [], nodes ? nodes.attention : 0, (nodes && nodes.notes) || []);
		return undefined;
	} };
}
