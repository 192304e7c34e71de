/*
 * runs - the newest test runs: what describes them, their errors, their steps; and one run.
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h, fill, note } from "./dom.js";
import { title, choose, figures, search, pages, nothing, state } from "./parts.js";
import { table } from "./table.js";
import { steps } from "./bands.js";
import { legend } from "./breakdown.js";
import { STEP_ORDER, places } from "./look.js";
import { count, duration, millis, seconds, shorten, time } from "./format.js";

const PAGE = 20, ERRORS = 5, SHOWN = 160; // of a text; the run has all of it
const NO_TEXT = "failed, no text";
const STATES = [["", "all"], ...["failed", "queued", "ongoing", "finished"].map((s) => [s, s])];
const FIELDS = { group: "Group, such as board*", queue: "Queue", configuration: "Configuration", requestor: "Requestor",
	error: "Error, such as *timeout*", model: "Model" };

const STEP = "step.";

/* Steps in the order in which they happen. */
function runsOf(data) {
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

function colour(list) {
	const names = [...new Set(list.flatMap((r) => r.steps.map((s) => s.name)))], colours = places(names);
	list.forEach((r) => r.steps.forEach((s) => {
		s.place = colours[names.indexOf(s.name)];
	}));
	return [names, colours];
}

function stateOf(r) {
	return r.error ? state("failed", "bad") : state(r.state || "", r.state === "finished" ? "good" : "plain");
}

function runView(context) {
	const { item, params } = context, facts = figures(), why = h("p", { class: "bad words" }), bar = h("div", { class: "trace" });
	const t = table({ caption: "Steps of this run, in seconds", columns: [
		{ key: "name", label: "Step", wide: true },
		{ key: "seconds", label: "Seconds", as: seconds },
		{ key: "usual", label: "Usual", as: seconds, title: "The median of its group" }] });
	const root = h("section", title("Run " + item, h("a", { href: context.link("runs", undefined, { model: params.model }) }, "all runs")),
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

export function runs(context) {
	const { params } = context, from = Number(params.skip) || 0;
	if (context.item !== undefined)
		return runView(context);
	const first = (change) => context.set({ ...change, skip: "", after: "" });
	const fields = Object.entries(FIELDS).map(([name, label]) => search(label, params[name], (value) => first({ [name]: value })));
	const wanted = choose("State", STATES, params.state || "", (chosen) => first({ state: chosen }));
	const filter = { ...Object.fromEntries(Object.keys(FIELDS).map((name) => [name, params[name]])), state: params.state };
	const body = h("div"), errors = h("div"), root = h("section", title("Runs", wanted.root), h("div", { class: "filters" }, fields), errors, body);
	const worst = table({ caption: "The most frequent errors", columns: [
		{ key: "error_text", label: "Error", wide: true, value: (r) => r.error_text || NO_TEXT, show: (r) => shorten(r.error_text || NO_TEXT, SHOWN) },
		{ key: "runs", label: "Runs", as: count },
		{ key: "newest", label: "Newest", show: (r) => h("a", { href: context.link("runs", r.newest) }, r.newest) },
		{ key: "newest_began", label: "Began (UTC)", value: (r) => millis(r.newest_began), show: (r) => time(millis(r.newest_began)) }],
	href: (r) => context.link("runs", undefined, { ...params, skip: "", after: "", error: r.error_text || "", state: "failed" }) });

	/* Undefined: the run after which it goes on is gone. */
	const ask = async (skip) => {
		try {
			return await context.maybe(["runs"], { ...filter, newest: skip + PAGE + 1, after: params.after });
		} catch (error) {
			if (error.status !== 410)
				throw error;
			first({});
		}
	};

	function show(top) {
		if (!top || top.rows.length === 0 || params.after || from)
			return fill(errors);
		worst.set(top.rows.slice(0, ERRORS));
		return fill(errors, h("h2", "Top errors"), worst.root, top.rows.length > ERRORS ? note("There are more, of fewer runs.") : null,
			h("h2", "Newest runs"));
	}

	const view = { root, tables: [], async load() {
		const skip = params.after ? 0 : from;
		const [answer, top] = await Promise.all([ask(skip), context.maybe(["runs"], { ...filter, by: "error", top: ERRORS + 1 })]);
		if (answer === undefined)
			return;
		show(top);
		const all = runsOf(answer), list = all.slice(skip, skip + PAGE);
		if (list.length === 0) {
			fill(body, nothing("No runs.", Object.values(filter).some(Boolean) ? "None is like this." : context.why("Runs come from events of a test farm.")));
			return;
		}
		const [names, colours] = colour(list);
		const most = Math.max(...list.map((r) => r.steps.reduce((a, s) => a + s.seconds, 0)), 1e-9) *
			(list.some((r) => r.error) ? 1.07 : 1); // room for a cross
		const has = (key) => list.some((r) => r[key] !== undefined && r[key] !== null && r[key] !== "");
		const word = (key, label) => has(key) ? [{ key, label, wide: true, show: (r) => shorten(r[key] || "", SHOWN) }] : [];
		const t = table({ caption: "The newest runs, steps in seconds", note: "Times of the steps are in seconds.", columns: [
			{ key: "run", label: "Run", wide: true },
			...(has("state") || has("error") ? [{ key: "state", label: "State", show: stateOf }] : []), ...word("error_text", "Error"),
			...(has("first") ? [{ key: "first", label: "Began (UTC)", show: (r) => time(millis(r.first)) }] : []),
			{ key: "bar", label: "Steps", value: (r) => r.steps.total, show: (r) => steps(r.steps, most, r.error) },
			{ key: "total", label: "Whole", value: (r) => r.steps.total, as: seconds },
			...word("group", "Group"), ...word("queue", "Queue"), ...word("configuration", "Configuration"), ...word("requestor", "Requestor"),
			...names.map((name) => ({ key: name, label: name,
				value: (r) => r.steps.find((s) => s.name === name)?.seconds, as: seconds }))],
		href: (r) => context.link("runs", r.run, { model: params.model }) });
		view.tables = [t];
		const turn = (n) => () => context.set({ skip: n > 0 ? String(n) : "", after: isLive() && n > from ? list[list.length - 1].run : "" });
		fill(body, legend(names, colours), t.root, pages(["Newer", from > 0 && turn(from - PAGE)], "newest " + (from + 1) + " to " + (from + list.length),
			["Older", all.length > skip + PAGE && turn(from + PAGE)]));
		t.set(list);
	} };
	return view;
}
