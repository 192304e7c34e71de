/*
 * groups - test runs by group of devices.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, note } from "./dom.js";
import { title, choose, nothing, search } from "./parts.js";
import { table } from "./table.js";
import { SPREAD } from "./pool.js";
import { spread } from "./bands.js";
import { STEP_ORDER } from "./look.js";
import { count, number, seconds } from "./format.js";

export function groups(context) {
	const { params } = context, when = params.time === "receive" ? "event_receive" : "event_emit";
	const step = choose("Step", null, "", (value) => context.set({ step: value }));
	const clock = choose("Times", [["emit", "emitted"], ["receive", "received"]], params.time || "emit",
		(value) => context.set({ time: value }));
	const t = table({ caption: "Groups of test runs", empty: "No group.", columns: columns() });
	const field = search("Filter groups", params.q, (q) => {
		context.set({ q }, true);
		t.filter(q);
	});
	const body = h("div", t.root, note(SPREAD)), root = h("section", title("Groups", field, step.root, clock.root), body);
	let most = 1;

	function columns() {
		const s = (key, label) => ({ key, label, value: (r) => r.of[key], as: seconds });
		return [{ key: "group", label: "Group", wide: true },
			{ key: "finished", label: "Finished", as: count },
			{ key: "ongoing", label: "Ongoing", number: true, show: (r) => r.ongoing || "" },
			{ key: "errors", label: "Errors", number: true, show: (r) => r.errors || "" },
			{ key: "error_pct_of_ended", label: "% of ended", number: true, show: (r) => r.errors ? number(r.error_pct_of_ended) : "" },
			{ key: "error_pct_of_all", label: "% of all", number: true, show: (r) => r.errors ? number(r.error_pct_of_all) : "" },
			s("min", "Min"), s("mean", "Mean"), s("std_sample", "SD"), s("p50", "p50"), s("p90", "p90"), s("p99", "p99"), s("max", "Max"),
			{ key: "spread", label: "Spread", value: (r) => r.of.max, show: (r) => spread(r.of, most), title: SPREAD }];
	}

	return { root, tables: [t], async load() {
		const answer = await context.maybe(["groups"], { group: params.group, model: params.model });
		step.root.hidden = !answer;
		if (!answer) {
			fill(body, nothing("No runs.", context.why("Runs come from events of a test farm.")));
			return;
		}
		const names = [...new Set(answer.steps.map((each) => each.phase))];
		const place = (n) => n === "testrun" ? -1 : STEP_ORDER.includes(n) ? STEP_ORDER.indexOf(n) : 99;
		names.sort((a, b) => place(a) - place(b));
		const wanted = names.includes(params.step) ? params.step : names[0];
		step.set(names.map((n) => [n, n === "testrun" ? "the whole run" : n]), wanted);
		const of = new Map(answer.steps.filter((each) => each.phase === wanted && each.time === when && each.of === "per_run_total")
			.map((each) => [each.group, each]));
		const list = answer.rows.map((each) => ({ ...each, group: each.known ? each.group : "(unknown)", of: of.get(each.group) || {} }));
		most = list.reduce((m, r) => Math.max(m, r.of.max || 0), 0);
		t.set(list);
		if (params.q)
			t.filter(params.q);
	} };
}
