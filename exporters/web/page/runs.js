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
import { STEP_ORDER, places } from "./look.js";
import { count, millis, seconds, time } from "./format.js";

const PAGE = 20, SEARCHED = 1000; // runs in which a state is looked for
const STATES = [["", "all"], ["failed", "failed"], ["queued", "queued"], ["ongoing", "ongoing"], ["finished", "finished"]];
const STEP = "step.";

/* The rows of the route, each with its steps in the order in which they happen. */
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
		const colours = places(names), place = new Map(names.map((name, i) => [name, colours[i]]));
		list.forEach((r) => r.steps.forEach((s) => {
			s.place = place.get(s.name);
		}));
		const most = Math.max(...list.map((r) => r.steps.reduce((a, s) => a + s.seconds, 0)), 1e-9) *
			(list.some((r) => r.error) ? 1.07 : 1); // room for a cross
		const has = (key) => list.some((r) => r[key] !== undefined && r[key] !== null && r[key] !== "");
		const t = table({ caption: "The newest runs, steps in seconds", note: "Times of the steps are in seconds.", columns: [
			{ key: "run", label: "Run" },
			...(has("group") ? [{ key: "group", label: "Group" }] : []),
			...(has("state") || has("error") ? [{ key: "state", label: "State", show: (r) => r.error ?
				state("failed", "bad") : state(r.state || "", r.state === "finished" ? "good" : "plain") }] : []),
			...(has("first") ? [{ key: "first", label: "Began (UTC)", show: (r) => time(millis(r.first)) }] : []),
			{ key: "bar", label: "Steps", value: (r) => r.steps.total, show: (r) => steps(r.steps, most, r.error) },
			...names.map((name) => ({ key: name, label: name, number: true,
				value: (r) => (r.steps.find((s) => s.name === name) || { seconds: null }).seconds,
				show: (r) => seconds((r.steps.find((s) => s.name === name) || {}).seconds) })),
			{ key: "total", label: "Whole", number: true, value: (r) => r.steps.total, show: (r) => seconds(r.steps.total) }] });
		view.tables = [t];
		fill(body, legend(names, colours), t.root,
			pages(from, list.length, PAGE, all.length > skip + PAGE, (n) => context.set({ skip: n ? String(n) : "",
				after: isLive() && n > from ? list[list.length - 1].run : "" })));
		t.set(list);
	} };
	return view;
}
