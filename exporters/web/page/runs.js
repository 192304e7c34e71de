/*
 * runs - the newest test runs: their steps one after the other.
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h, fill } from "./dom.js";
import { title, choose, search, pages, nothing, state } from "./parts.js";
import { table } from "./table.js";
import { steps } from "./bands.js";
import { legend } from "./breakdown.js";
import { STEP_ORDER, stepTile } from "./look.js";
import { count, millis, seconds, time } from "./format.js";

const PAGE = 20, SEARCHED = 1000; // runs in which a state is looked for
const STATES = [["", "all"], ["failed", "failed"], ["queued", "queued"], ["ongoing", "ongoing"], ["finished", "finished"]];
const total = (v) => (Array.isArray(v) ? v : [v]).reduce((a, b) => a + (Number(b) || 0), 0);

/* What the route answers, as a list, the newest first: an object of runs with their
 * steps, or a list of runs. */
export function runsOf(data) {
	if (!data)
		return [];
	const list = Array.isArray(data) ? data : data.runs;
	if (list)
		return list.map((r) => ({ ...r, steps: stepsOf(r.steps || {}) }));
	return (data.order || Object.keys(data)).map((run) => ({ run, steps: stepsOf(data[run]) }));
}

function stepsOf(of) {
	const found = Object.entries(of).filter(([name]) => name !== "testrun").map(([name, v]) => ({ name, seconds: total(v) }));
	const place = (s) => STEP_ORDER.includes(s.name) ? STEP_ORDER.indexOf(s.name) : STEP_ORDER.length;
	found.sort((a, b) => place(a) - place(b));
	found.total = of.testrun === undefined ? found.reduce((a, s) => a + s.seconds, 0) : total(of.testrun);
	return found;
}

export function runs(context) {
	const { params } = context, from = Number(params.skip) || 0;
	const group = search("Group, such as board*", params.group, (value) => context.set({ group: value, skip: "", after: "" }));
	const model = search("Model", params.model, (value) => context.set({ model: value, skip: "", after: "" }));
	const wanted = choose("State", STATES, params.state || "", (state) => context.set({ state, skip: "", after: "" }));
	const matches = (r) => !params.state || (params.state === "failed" ? r.error : r.state === params.state);
	const body = h("div"), root = h("section", {}, title("Runs", group, model, wanted.root), body);
	/* Undefined: the run that the page followed is gone, and it begins again. */
	const ask = async (follows, skip) => {
		try {
			return await context.maybe(["runs"], { newest: params.state ? SEARCHED : skip + PAGE + 1, after: follows ? params.after : "",
				group: params.group, model: params.model });
		} catch (error) {
			if (error.status !== 410)
				throw error;
			context.set({ skip: "", after: "" });
		}
	};
	const view = { root, tables: [], async load() {
		const follows = params.after && !params.state, skip = follows ? 0 : from;
		const answer = await ask(follows, skip);
		if (answer === undefined)
			return;
		const all = runsOf(answer).filter(matches), list = all.slice(skip, skip + PAGE);
		if (list.length === 0) {
			fill(body, nothing("No runs.", params.state ? "None of this state among the newest " + count(SEARCHED) + "." : params.group ? "None of this group." : "Runs come from events of a test farm."));
			return;
		}
		const names = [...new Set(list.flatMap((r) => r.steps.map((s) => s.name)))];
		const most = Math.max(...list.map((r) => r.steps.reduce((a, s) => a + s.seconds, 0)), 1e-9) *
			(list.some((r) => r.error) ? 1.07 : 1); // room for a cross
		const has = (key) => list.some((r) => r[key] !== undefined && r[key] !== null && r[key] !== "");
		const t = table({ caption: "The newest runs, steps in seconds", note: "Times of the steps are in seconds.", columns: [
			{ key: "run", label: "Run" },
			...(has("group") ? [{ key: "group", label: "Group" }] : []),
			...(has("state") || has("error") ? [{ key: "state", label: "State", show: (r) => r.error ?
				state("failed", "bad") : state(r.state || "", r.state === "finished" ? "good" : "plain") }] : []),
			...(has("first_ns") ? [{ key: "first_ns", label: "Began (UTC)", show: (r) => time(millis(r.first_ns)) }] : []),
			{ key: "bar", label: "Steps", value: (r) => r.steps.total, show: (r) => steps(r.steps, most, r.error) },
			...names.map((name) => ({ key: name, label: name, number: true,
				value: (r) => (r.steps.find((s) => s.name === name) || { seconds: null }).seconds,
				show: (r) => seconds((r.steps.find((s) => s.name === name) || {}).seconds) })),
			{ key: "total", label: "Whole", number: true, value: (r) => r.steps.total, show: (r) => seconds(r.steps.total) }] });
		view.tables = [t];
		fill(body, legend(names, names.map((name, i) => stepTile(name, i))), t.root,
			pages(from, list.length, PAGE, all.length > skip + PAGE, (n) => context.set({ skip: n ? String(n) : "",
				after: isLive() && n > from ? list[list.length - 1].run : "" })));
		t.set(list);
	} };
	return view;
}
