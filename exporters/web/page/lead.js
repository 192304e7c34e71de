/*
 * lead - what the overview says first: is the pool ready, which nodes are slow and in
 * what, what runs.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { opening } from "./api.js";
import { map } from "./map.js";
import { chart, lines } from "./lines.js";
import { short } from "./breakdown.js";
import { windowOf } from "./time.js";
import { byName, clock, count, day, duration, millis, plural, shorten, time, unbroken, value } from "./format.js";

const STARTS = 4, SLOW = 5, JOBS = 8, TALL = 260, OTHERS = 4;
const MUCH_S = 1, MUCH = 0.25; // slower than usual by both of these is worth a line
const METRICS = [{ metric: "system.cpu.time.user" }, { metric: "system.memory.usage.used" }];
const JOB = "job", NOW = { by: "key", name: JOB + ":*", columns: "key,open_starts", start: "all" };

const at = (ms) => (day(ms) === day(Date.now()) ? clock(ms) : time(ms)) + " UTC";

/* What is between the shortest and the longest of these. */
function between(list) {
	const low = Math.min(...list), high = Math.max(...list);
	return low === high ? duration(low) : duration(low) + " to " + duration(high);
}

/* A start in a sentence, against those before it; rows of `starts`, the newest first. */
function startWords([start, ...before]) {
	const began = millis(start.start), last = start.duration ?? start.last_ready, took = last === null ? "" : duration(last);
	const past = before.map((r) => r.duration).filter((s) => s !== null);
	const usual = past.length ? " The " + (past.length === 1 ? "start" : past.length + " starts") + " before took " + between(past) + "." : "";
	if (start.state === "ready")
		return (start.nodes === 1 ? "The node is" : last < start.last_ready || start.ready < start.nodes ? "The pool is" : "All " + count(start.nodes) + " nodes are") + " ready since " + at(began + 1000 * last) +
			", " + took + " after the " + (start.nodes === 1 ? "begin" : "first began") + "." + usual;
	const goesOn = start.state === "starting", ready = count(start.ready) + " of " + plural(start.nodes, "node") + (goesOn ? " are" : " became") + " ready";
	return (goesOn ? "Starting since " + at(began) + ": " : "The start of " + at(began) + " is incomplete: ") + ready +
		(goesOn || !took ? "." : ", the last of them after " + took + ".") + usual;
}

/* "pull gcr.io/ml/train 88 s, usual 22 s, +66 s" */
function slowWords(r) {
	return shorten(short(r.phase), 60) + (r.key ? " " + shorten(r.key, 60) : "") + " " + duration(r.time) +
		(r.open ? " and not ended" : "") + ", usual " + duration(r.usual) + ", +" + duration(r.above);
}

const whole = (text) => unbroken(text, (part) => h("span", { class: "state" }, part));

/* trouble: what stands after the slowest nodes. */
export function lead(context, trouble) {
	const { params } = context, link = (node) => context.link("node", node);
	const said = opening(), words = h("div", { class: "lead" }, said && said.sentences.map((text) => h("p", {}, whole(text)))), slow = h("div"), jobs = h("div"), charts = h("div", { class: "charts" });
	const picture = map((node) => {
		location.hash = link(node);
	}, link, TALL);
	const nodes = h("div", {}, picture.root);
	const root = h("div", {}, words, h("div", { class: "halves" }, nodes, h("div", {}, slow, trouble, jobs)));
	const drawn = new Map();

	const item = (node, text) => h("li", {}, h("a", { href: link(node), title: node }, shorten(node, 48)), ": ", whole(text));

	function slowest(rows) {
		const list = rows.filter((r) => r.above >= MUCH_S && r.above >= MUCH * r.usual).slice(0, SLOW);
		fill(slow, h("h2", {}, "Slowest nodes"), list.length ? h("ul", { class: "plain" }, list.map((r) => item(r.node, slowWords(r)))) :
			h("p", { class: "note" }, "No node was much slower than usual."));
	}

	function running(rows) {
		const list = rows.filter((r) => r.open_starts > 0 && r.key);
		fill(jobs, list.length ? [h("h2", {}, "Running"), h("ul", { class: "plain" }, list.slice(0, JOBS).map((r) =>
			h("li", {}, "job " + shorten(r.key, 60) + " on " + plural(r.open_starts, "node")))),
		list.length > JOBS ? h("p", { class: "note" }, count(list.length - JOBS) + " more") : null] : null);
	}

	/* Nodes by what they lost; where nothing says what is usual, by when they were heard. */
	function draw(all, answer, pool) {
		/* A report of a large pool has not all of them. */
		nodes.hidden = all.length < 2 || (pool && all.length < pool.nodes);
		if (nodes.hidden)
			return;
		const lost = new Map((answer ? answer.rows : []).map((r) => [r.node, r]));
		const judged = lost.size > 0, rests = !all.some((r) => r.state === "live" || r.state === "late");
		picture.set([...all].sort((a, b) => byName(a.node, b.node)).map((r) => {
			const of = lost.get(r.node);
			return { node: r.node, dead: !rests && (r.state === "silent" || r.state === "gone"),
				value: judged ? (of ? of.above : 0) : 0, text: of ? "+" + duration(of.above) : judged ? "as usual" : r.state };
		}), judged ? "seconds above the usual time, in the phase in which each lost most" : "by state", "s");
	}

	async function answers(metrics) {
		const list = await Promise.all(metrics.map(({ metric, group }) => chart(context, { metric, "metric-group": group })));
		return metrics.map((m, i) => [m, list[i]]).filter(([, answer]) => answer);
	}

	/* Of a pool without those, the first metrics that it has. */
	async function curves() {
		const found = said && await context.maybe(["samples"]);
		let list = await answers(said ? said.metrics : METRICS);
		if (list.length === 0) {
			const others = await context.maybe(["samples"], { columns: "metric" });
			list = await answers([...new Set((others ? others.rows : []).map((r) => r.metric))].slice(0, OTHERS).map((metric) => ({ metric })));
		}
		const at = ({ metric, group }) => {
			const label = metric + (/\//.test(group) ? " of " + group : "");
			return drawn.get(label) || drawn.set(label, lines(label, (from, to) => context.set(windowOf(from, to)))).get(label);
		};
		const range = ({ metric, group }) => {
			const row = found && found.rows.find((r) => r.metric === metric && r.group === group);
			return row && h("p", { class: "note" }, ["min", "mean", "max"].map((key) => key + " " + value(row[key], row.unit)).join(", "));
		};
		fill(charts, list.map(([m]) => h("div", {}, at(m).root, range(m))));
		list.forEach(([m, answer]) => at(m).set(answer));
	}

	/* The start that is chosen, or that began in the window, and those before it. */
	async function started() {
		const { start } = params, one = start && start !== "all";
		const { rows } = await context.maybe(["starts"], one ? {} : { newest: STARTS }) || { rows: [] };
		const first = one ? rows.findIndex((r) => millis(r.start) <= millis(start)) : 0;
		return first < 0 ? [] : rows.slice(first, first + STARTS);
	}

	/* has: what there is of the pool. */
	return { root, charts, async load(has) {
		const phases = has.phases.length > 0;
		const [starts, lost, all, keys] = await Promise.all([has.starts && !said ? started() : [],
			phases ? context.maybe(["slow"], { columns: "node,phase,key,time,usual,above,open" }) : null,
			context.maybe(["nodes"], { columns: "node,state" }),
			has.models.has(JOB) ? context.maybe(["phases"], NOW) : null, has.samples ? curves() : null]);
		if (!said)
			fill(words, starts.length ? whole(startWords(starts)) : null);
		words.hidden = !words.textContent;
		slow.hidden = !lost || lost.rows.length === 0;
		if (!slow.hidden)
			slowest(lost.rows);
		running(keys ? keys.rows : []);
		draw(all ? all.rows : [], lost, has.known);
	} };
}
