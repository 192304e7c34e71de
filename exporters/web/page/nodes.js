/*
 * nodes - the view of the map: all nodes by state, by a phase or by a metric.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { title, range, choose, search, nothing } from "./parts.js";
import { map } from "./map.js";
import { lines } from "./lines.js";
import { chart } from "./node.js";
import { age, byName } from "./format.js";

const USUAL = ["system.cpu.time.user", "system.memory.usage.used"];

export function mapView(context) {
	const { params } = context;
	const picture = map((node) => {
		location.hash = context.link("node", node);
	}, (node) => context.link("node", node));
	const which = choose("Show", null, "", (value) => context.set({ value }));
	const field = search("Nodes, such as cn1*", params.node, (node) => context.set({ node }));
	const over = h("div"), body = h("div", {}, picture.root);
	const root = h("section", {}, title("Nodes", range(context), field, which.root), body, over);
	let choices = null, series = null;

	async function options() {
		const [phases, metrics] = await Promise.all([context.maybe(["phases"]), context.maybe(["samples"])]);
		choices = [["heard", "silence"]];
		for (const p of (phases ? phases.phases : []).filter((each) => each.count > 0).sort((a, b) => a.place - b.place))
			choices.push(["phase:" + p.phase, "phase " + p.phase.replace(/^.*:/, "")]);
		for (const name of new Set((metrics ? metrics.samples : []).map((m) => m.metric)))
			choices.push(["metric:" + name, name]);
	}

	async function values(kind, name) {
		const node = params.node;
		if (kind === "phase") {
			const answer = await context.maybe(["phases"], { by: "node", name, node });
			return [(answer ? answer.phases : []).map((r) => ({ node: r.node, value: r.count ? r.sum : null })), "s"];
		}
		if (kind === "metric") {
			const answer = await context.maybe(["samples"], { by: "node", metric: name, node, from: params.from, to: params.to });
			const of = new Map(), list = answer ? answer.samples : [];
			for (const r of list)
				if (!of.has(r.node))
					of.set(r.node, { node: r.node, value: r.mean });
			return [[...of.values()], list.length ? list[0].unit : ""];
		}
		const answer = await context.maybe(["nodes"], { node, from: params.from });
		return [(answer || []).map((r) => ({ node: r.node, value: r.silence, text: r.state === "live" ? "live" :
			r.state + " " + age(r.silence) })), "s"];
	}

	function usual() {
		const metric = choices.find(([v]) => USUAL.some((u) => v === "metric:" + u));
		return (metric || choices[1] || choices[0])[0];
	}

	return { root, async load() {
		if (!choices)
			await options();
		const value = params.value || usual();
		which.set(choices.some(([v]) => v === value) ? choices : [...choices, [value, value]], value);
		const [, kind, name] = /^([a-z]+):?(.*)$/s.exec(value) || [];
		const [list, unit] = await values(kind, name);
		if (list.length === 0) {
			fill(body, nothing("No node to show.", params.node ? "No node of this name has a value." : kind === "heard" ? "None was heard in this time." : "Choose another value."));
			return;
		}
		if (!picture.root.isConnected)
			fill(body, picture.root);
		list.sort((a, b) => byName(a.node, b.node));
		picture.set(list, kind === "phase" ? "seconds in " + name : kind === "metric" ? "mean of " + name : "time since the last record", unit);
		if (kind !== "metric")
			return;
		if (!series) {
			series = lines(name, (from, to) => context.set({ from: String(from / 1000), to: String(to / 1000) }));
			fill(over, h("h2", {}, "Over time"), series.root);
		}
		const answer = await chart(context, { metric: name, node: params.node, from: params.from, to: params.to });
		over.hidden = !answer;
		if (answer)
			series.set(answer);
	} };
}
