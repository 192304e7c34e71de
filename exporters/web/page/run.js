/*
 * run - one test run: what describes it, and its steps against those of its group.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { title, figures, state } from "./parts.js";
import { table } from "./table.js";
import { steps } from "./bands.js";
import { legend } from "./breakdown.js";
import { STEP_ORDER, places } from "./look.js";
import { duration, millis, seconds, time } from "./format.js";

const STEP = "step.";

/* The rows of the route, each with its steps in the order in which they happen. */
export function runsOf(data) {
	return (data ? data.rows : []).map((row) => ({ ...row, steps: stepsOf(row) }));
}

function stepsOf(row) {
	const all = Object.entries(row).filter(([key, v]) => key.startsWith(STEP) && v !== null)
		.map(([key, v]) => ({ name: key.slice(STEP.length), seconds: v }));
	const found = all.filter((s) => s.name !== "testrun"), whole = all.find((s) => s.name === "testrun");
	const place = (s) => STEP_ORDER.includes(s.name) ? STEP_ORDER.indexOf(s.name) : STEP_ORDER.length;
	found.sort((a, b) => place(a) - place(b));
	found.total = whole ? whole.seconds : found.reduce((a, s) => a + s.seconds, 0);
	return found;
}

/* Give the steps of all rows their colours; returns [names, colours] of the legend. */
export function colour(list) {
	const names = [...new Set(list.flatMap((r) => r.steps.map((s) => s.name)))], colours = places(names);
	list.forEach((r) => r.steps.forEach((s) => {
		s.place = colours[names.indexOf(s.name)];
	}));
	return [names, colours];
}

export function stateOf(r) {
	return r.error ? state("failed", "bad") : state(r.state || "", r.state === "finished" ? "good" : "plain");
}

export function runView(context) {
	const { item, params } = context, facts = figures(), why = h("p", { class: "bad words" }), bar = h("div", { class: "trace" });
	const t = table({ caption: "Steps of this run, in seconds", columns: [
		{ key: "name", label: "Step", wide: true },
		{ key: "seconds", label: "Seconds", number: true, show: (r) => seconds(r.seconds) },
		{ key: "usual", label: "Usual", number: true, show: (r) => seconds(r.usual), title: "The median of its group" }] });
	const root = h("section", {}, title("Run " + item, h("a", { href: context.link("runs", undefined, { model: params.model }) }, "all runs")),
		facts.root, why, bar, t.root);
	const row = (key, label, r) => r[key] && [label, h("a", { href: context.link("runs", undefined, { model: params.model, [key]: r[key] }) }, r[key])];

	return { root, tables: [t], async load() {
		const [r] = runsOf(await context.get(["runs"], { run: item, model: params.model, start: "all" }));
		const of = r.group ? await context.maybe(["groups"], { group: r.group, model: params.model }) : null;
		const usual = (of ? of.steps : []).filter((s) => s.group === r.group && s.time === "event_emit" && s.of === "per_run_total");
		const list = r.steps.map((s) => ({ ...s, usual: (usual.find((each) => each.phase === s.name) || {}).p50 }));
		facts.set([["State", stateOf(r)], ["Began (UTC)", time(millis(r.first))], ["Whole", duration(r.steps.total)],
			row("group", "Group", r), row("queue", "Queue", r), row("configuration", "Configuration", r), row("requestor", "Requestor", r)]);
		why.textContent = r.error_text || "";
		fill(bar, legend(...colour([r])), steps(r.steps, r.steps.reduce((a, s) => a + s.seconds, 1e-9) * (r.error ? 1.07 : 1), r.error));
		t.set(list);
	} };
}
