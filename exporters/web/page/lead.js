/*
 * lead - what the overview says first: sentences, the slowest nodes, what runs.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, note } from "./dom.js";
import { opening } from "./api.js";
import { map } from "./map.js";
import { chart, lines, used } from "./lines.js";
import { short } from "./breakdown.js";
import { windowOf } from "./time.js";
import { byName, count, duration, plural, shorten, unbroken, value } from "./format.js";

const SLOW = 5, MANY = 1000, REST = 20, JOBS = 8, TALL = 260, OTHERS = 4;
const MUCH_S = 1, MUCH = 0.25; // slower than usual by both of these is worth a line
const JOB = "job", NOW = { by: "key", name: JOB + ":*", columns: "key,open_starts", start: "all" };

/* "pull gcr.io/ml/train 88 s, usual 22 s, +66 s" */
function slowWords(r) {
	return shorten(short(r.phase), 60) + (r.key ? " " + shorten(r.key, 60) : "") + " " + duration(r.time) +
		(r.open ? " at its last record" : "") + ", usual " + duration(r.usual) + ", +" + duration(r.above);
}

const whole = (text) => unbroken(text, (part) => h("span", { class: "state" }, part));

/* trouble: what stands after the slowest nodes. */
export function lead(context, trouble) {
	const { params } = context, link = (node) => context.link("node", node);
	const said = opening(), words = h("div", { class: "lead" }), slow = h("div"), jobs = h("div"), charts = h("div", { class: "charts" });
	const picture = map((node) => {
		location.hash = link(node);
	}, link, TALL);
	const nodes = h("div", picture.root);
	const root = h("div", words, h("div", { class: "halves" }, nodes, h("div", slow, trouble, jobs)));
	const drawn = new Map(), causes = new Map();
	let above = [], sentences = [], next = 0;

	const item = (node, text) => h("li", h("a", { href: link(node), title: node }, shorten(node, 48)), ": ", whole(text));

	function tell(rows) {
		fill(words, rows.map((r) => h("p", r.address ? h("a", { href: r.address }, whole(r.text)) : whole(r.text))));
	}

	/* Of a large pool when the rest is shown; the slowest nodes have their list. */
	async function why() {
		const answer = said ? null : await context.maybe(["why"], { columns: "about,text,address,node,phase,key,cause" });
		if (!answer)
			return;
		sentences = answer.rows;
		causes.clear();
		answer.rows.filter((r) => r.cause).forEach((r) => causes.set(r.node, r));
		slowest();
	}

	/* What cost most may be another phase of the node than what it lost most in. */
	function cause(r) {
		const of = causes.get(r.node);
		if (!of)
			return "";
		return of.phase === short(r.phase) && of.key === r.key ? ": " + of.cause : "; its " + shorten(of.phase, 60) + ": " + of.cause;
	}

	function slowest() {
		const list = above.filter((r) => r.above >= MUCH_S && r.above >= MUCH * r.usual).slice(0, SLOW);
		fill(slow, h("h2", "Slowest nodes"), list.length ? h("ul", { class: "plain" }, list.map((r) => item(r.node, slowWords(r) + cause(r)))) :
			note("No node was much slower than usual."));
		if (!said)
			tell(sentences.filter((r) => r.about !== "slow" || !list.some((each) => each.node === r.node)));
	}

	function running(rows) {
		const list = rows.filter((r) => r.open_starts > 0 && r.key);
		fill(jobs, list.length ? [h("h2", "Running"), h("ul", { class: "plain" }, list.slice(0, JOBS).map((r) =>
			h("li", "job " + shorten(r.key, 60) + " on " + plural(r.open_starts, "node")))),
		list.length > JOBS ? note(count(list.length - JOBS) + " more") : null] : null);
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
		let list = said ? await answers(said.metrics) : (await used(context)).map(([group, data]) => [{ metric: group + " used" }, data]);
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
			return row && note(["min", "mean", "max"].map((key) => key + " " + value(row[key], row.unit)).join(", "));
		};
		fill(charts, list.map(([m]) => h("div", at(m).root, range(m))));
		list.forEach(([m, answer]) => at(m).set(answer));
	}

	if (said)
		tell(said.sentences.map((text, i) => ({ text, address: said.addresses[i] })));
	/* has: what there is of the pool. */
	return { root, charts, async load(has) {
		const phases = has.phases.length > 0, late = has.known.nodes > MANY;
		const [lost, all, keys] = await Promise.all([
			phases ? context.maybe(["slow"], { columns: "node,phase,key,time,usual,above,open" }) : null,
			context.maybe(["nodes"], { columns: "node,state" }),
			has.models.has(JOB) ? context.maybe(["phases"], NOW) : null, has.samples ? curves() : null, late ? null : why()]);
		above = lost ? lost.rows : [];
		slow.hidden = above.length === 0;
		slowest();
		running(keys ? keys.rows : []);
		draw(all ? all.rows : [], lost, has.known);
		const begin = performance.now();
		if (late && begin >= next) {
			next = Infinity;
			why().catch(() => {}).finally(() => {
				next = begin + REST * (performance.now() - begin);
			});
		}
	} };
}
