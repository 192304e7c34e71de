/*
 * nodes - the view of the map: all nodes by state, by a phase or by a metric.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { title, choose, search, nothing } from "./parts.js";
import { windowOf } from "./time.js";
import { map } from "./map.js";
import { pattern } from "./node.js";
import { chart, lines } from "./lines.js";
import { age, byName } from "./format.js";

const SOME = 16;
const ADDS = /^(M?i?By|\{|[cmun]?s\b|m?J|W)/; // units of what several devices do together

export function mapView(context) {
	const { params } = context;
	const picture = map((node) => {
		location.hash = context.link("node", node);
	}, (node) => context.link("node", node));
	const which = choose("Show", null, "", (value) => context.set({ value, device: "" }));
	const field = search("Nodes, such as cn1*", params.node, (node) => context.set({ node }));
	const device = choose("Device", null, "", (name) => context.set({ device: name }));
	device.root.hidden = true;
	const over = h("div"), body = h("div", picture.root);
	const root = h("section", title("Nodes", field, which.root, device.root), body, over);
	let choices = null, series = null;

	/* Some nodes know which metrics there are: of each kind of name two, and others. */
	function some(nodes) {
		const kinds = new Map(), step = Math.max(1, nodes.length / SOME), list = nodes.filter((_, i) => i % step < 1);
		for (const name of nodes) {
			const kind = kinds.get(name.replace(/\d+/g, "0")) || [];
			kinds.set(name.replace(/\d+/g, "0"), kind);
			if (kind.length < 2 && kinds.size <= SOME)
				list.push(kind[kind.push(name) - 1]);
		}
		return list.length < nodes.length ? [...new Set(list)].map(pattern).join() : "";
	}

	async function options(nodes, of) {
		const metrics = of.samples ? await context.maybe(["samples"], { columns: "metric", node: some(nodes) }) : null;
		choices = [["heard", "state"]];
		for (const p of of.ofNodes.filter((each) => each.count > 0))
			choices.push(["phase:" + p.phase, "phase " + p.phase.replace(/^.*:/, "")]);
		for (const name of new Set((metrics ? metrics.rows : []).map((m) => m.metric)))
			choices.push(["metric:" + name, name]);
	}

	/* Nodes that nobody expects to hear from again all have one state: of those the phase in which one
	 * differs most. */
	function first(nodes, { ofNodes }) {
		const over = (p) => p.max - p.p50, most = ofNodes.filter((p) => over(p) > 0).sort((a, b) => over(b) - over(a))[0];
		return most && nodes.every((r) => ["imported", "stopped"].includes(r.state)) ? "phase:" + most.phase : "heard";
	}

	/* A node that is not heard is no busy one, whatever it did before: silent and gone ones are
	 * hatched, unless the whole pool is at rest. */
	async function states() {
		const answer = await context.maybe(["nodes"], { node: params.node, columns: "node,state,silence" });
		const of = new Map((answer ? answer.rows : []).map((r) => [r.node, r]));
		const rests = ![...of.values()].some((r) => r.state === "live" || r.state === "late");
		return { of, dead: (node) => !rests && of.has(node) && ["silent", "gone"].includes(of.get(node).state) };
	}

	/* A node can have several disks, cards, processors: what adds up is added up, of the rest the
	 * greatest counts; or one of them is chosen. */
	function ofDevices(rows) {
		const groups = [...new Set(rows.map((r) => r.group))].sort(byName), of = new Map();
		const adds = rows.length > 0 && ADDS.test(rows[0].unit);
		device.root.hidden = groups.length < 2;
		device.set([["", adds ? "sum of all" : "greatest of all"], ...groups.map((g) => [g, g])], params.device || "");
		for (const r of rows.filter((each) => !params.device || groups.length < 2 || each.group === params.device))
			of.set(r.node, !of.has(r.node) ? r.mean : adds ? of.get(r.node) + r.mean : Math.max(of.get(r.node), r.mean));
		return [of, groups.length < 2 || params.device ? "" : adds ? ", sum of " + groups.length + " devices" : ", greatest of " + groups.length + " devices"];
	}

	async function values(kind, name, now) {
		const node = params.node;
		if (kind === "phase") {
			const answer = await context.maybe(["phases"], { by: "node", name, node });
			return [(answer ? answer.rows : []).map((r) => ({ node: r.node, value: r.count ? r.sum : null })), "s", "seconds in " + name];
		}
		if (kind === "metric") {
			const answer = await context.maybe(["samples"], { by: "node", metric: name, node });
			const rows = answer ? answer.rows : [], [means, devices] = ofDevices(rows);
			/* Those without a sample in this time are there, too. */
			const names = new Set([...means.keys(), ...(rows.length ? now.of.keys() : [])]);
			return [[...names].map((n) => ({ node: n, value: means.has(n) ? means.get(n) : null })), rows.length ? rows[0].unit : "",
				"mean of " + name + devices];
		}
		return [[...now.of.values()].map((r) => ({ node: r.node, value: r.silence, text: r.state === "live" ? "live" :
			r.state + " " + age(r.silence) })), "s", "time since the last record"];
	}

	return { root, async load() {
		const [now, of] = await Promise.all([states(), context.has()]), nodes = [...now.of.values()];
		const value = params.value || first(nodes, of), [, kind, name] = /^([a-z]+):?(.*)$/s.exec(value) || [];
		const [[list, unit, label]] = await Promise.all([values(kind, name, now), choices || options([...now.of.keys()], of)]);
		which.set(choices.some(([v]) => v === value) ? choices : [...choices, [value, value]], value);
		device.root.hidden = device.root.hidden || kind !== "metric";
		for (const each of list)
			each.dead = now.dead(each.node);
		if (list.length === 0) {
			fill(body, nothing("No node to show.", context.why(params.node ? "No node of this name has a value." :
				kind === "heard" ? "None was heard." : "Choose another value.")));
			return;
		}
		if (!picture.root.isConnected)
			fill(body, picture.root);
		list.sort((a, b) => byName(a.node, b.node));
		picture.set(list, label, unit);
		if (kind !== "metric")
			return;
		if (!series) {
			series = lines(name, (from, to) => context.set(windowOf(from, to)));
			fill(over, h("h2", "Over time"), series.root);
		}
		const answer = await chart(context, { metric: name, node: params.node });
		over.hidden = !answer;
		if (answer)
			series.set(answer);
	} };
}
