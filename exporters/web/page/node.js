/*
 * node - one node: its phases in time, on the same axis metrics against the median of its pool.
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h, fill, note } from "./dom.js";
import { title, figures, choose, nothing, search, since } from "./parts.js";
import { table } from "./table.js";
import { chart, lines } from "./lines.js";
import { timeline } from "./timeline.js";
import { windowOf } from "./time.js";
import { traceTools } from "./perfetto.js";
import { phaseColumns, SPREAD } from "./pool.js";
import { bytes, count, duration, millis, number, plural, value } from "./format.js";

const FIRST = ["system.cpu.time.user", "system.memory.usage.used", "system.network.io.receive", "system.disk.io.write"], CHARTS = 4;
const STATES = { live: "good", late: "warn", silent: "bad", gone: "bad" };
const MEDIAN = "median of the pool";

export function pattern(name) {
	/* A name is a list and a pattern: its own commas and brackets are written as any character. */
	return name.replace(/[*?,[\]\\]/g, "?");
}

/* What changed as rows, the other metrics as words. */
const GROUPS = 100, OPEN = 40, WORDS = 30; // at most; OPEN: rows at first

const columns = [{ key: "metric", label: "Metric", wide: true }, { key: "count", label: "Values", as: count },
	...["last", "mean", "min", "p99", "max"].map((key) => ({ key, label: key === "p99" ? key : key[0].toUpperCase() + key.slice(1), number: true,
		show: (r) => value(r[key], r.unit) }))];

function groupsOf(href) {
	const root = h("div", { class: "metrics" }), more = note(), shown = new Map();
	let all = [], q = "";

	function group(name) {
		const t = table({ caption: "Metrics of " + name, columns, href: (r) => href(r.metric) });
		const head = h("summary"), words = note(), body = h("div", t.root, words);
		const each = { t, head, words, rows: [], root: h("details", { on: { toggle: () => each.fill() } }, head, body), fill() {
			if (each.root.open)
				t.set(each.rows);
		} };
		return each;
	}

	function draw() {
		const by = new Map();
		for (const r of all)
			if (!q || r.metric.toLowerCase().includes(q) || r.group.toLowerCase().includes(q))
				by.set(r.group, [...(by.get(r.group) || []), r]);
		const list = [...by].map(([name, of]) => [name, of.filter((r) => r.changed), of.filter((r) => !r.changed)]);
		list.sort((a, b) => (b[1].length > 0) - (a[1].length > 0));
		let rows = 0;
		more.textContent = list.length > GROUPS ? plural(list.length - GROUPS, "more group") + ": the filter finds them." : "";
		for (const [name, changed, others] of list.slice(0, GROUPS)) {
			const is = shown.get(name) || group(name), fresh = !shown.has(name);
			shown.set(name, is);
			is.rows = changed;
			is.head.textContent = name + ": " + (changed.length ? changed.length + " of " : "none of ") + plural(changed.length + others.length, "metric") + " changed";
			is.t.root.hidden = changed.length === 0;
			is.words.textContent = others.length ? "Unchanged: " + others.slice(0, WORDS).map((r) => r.metric + " " + value(r.last ?? r.mean, r.unit)).join(", ") +
				(others.length > WORDS ? " and " + (others.length - WORDS) + " more" : "") + "." : "";
			if (fresh)
				is.root.open = changed.length > 0 && rows < OPEN;
			rows += is.root.open ? changed.length : 0;
			is.fill();
		}
		const wanted = [...list.slice(0, GROUPS).map(([name]) => shown.get(name).root), more];
		if (wanted.length !== root.children.length || wanted.some((each, i) => root.children[i] !== each))
			fill(root, wanted);
	}

	return { root, get tables() {
		return [...shown.values()].filter((each) => each.root.open).map((each) => each.t);
	}, set(list) {
		all = list;
		draw();
	}, filter(text) {
		q = text.toLowerCase();
		draw();
	} };
}

export function nodeView(context) {
	const { params, item } = context, node = pattern(item || "");
	let most = 1, drawn = new Map(), axis; // drawn: of a metric what is known, and its picture
	const facts = figures(), charts = h("div", { class: "stack" });
	const phases = table({ caption: "Phases of this node, in seconds", columns: phaseColumns(() => most) });
	const metrics = groupsOf((metric) => context.link("node", item, { ...params, metric }));
	const field = search("Filter metrics", "", (q) => metrics.filter(q));
	const more = choose("Chart", null, "", (metric) => context.set({ metric }));
	const parts = h("div");
	const root = h("section", title(item || "Node", h("a", { href: context.link("breakdown", undefined, { node }) }, "breakdown")),
		facts.root, parts);
	const zoom = (from, to) => context.set(windowOf(from, to));
	const when = timeline("What this node did when", { lanes: true, choose: zoom, resized: () => inTime().catch(() => {}) });
	const trace = traceTools(context, item + " of " + context.pool, () => ({ node }), true);
	const medians = new Map();
	let compared = 0;

	async function inTime() {
		const answer = await context.maybe(["timeline"], { ...when.asked(), node, ...(axis && isLive() ? windowOf(...axis) : {}) });
		when.root.hidden = !answer || answer.nodes !== 1;
		if (!when.root.hidden)
			when.set(answer, axis && axis[1]);
	}

	function withMedian(metric, own) {
		const all = medians.get(metric);
		if (!own.lines || own.lines.length > 1 || !all || !all.bands || all.total < 2)
			return own;
		const step = (all.axis[1] - all.axis[0]) / all.times.length, at = (list) => own.times.map((t) => list[Math.floor((t - all.axis[0]) / step)]);
		return { ...own, total: all.total, nodes: at(all.nodes), few: at(all.few), lines: [...own.lines, { name: MEDIAN, values: at(all.bands.p50), all: true }] };
	}

	/* Slow in a large pool: a sixth of the time at most. */
	async function compare() {
		const begin = performance.now();
		if (begin < compared)
			return;
		compared = Infinity;
		for (const [metric, { own, picture }] of drawn) {
			medians.set(metric, await chart(context, { metric, as: "bands" }));
			if (drawn.has(metric) && drawn.get(metric).own === own)
				picture.set(withMedian(metric, own));
		}
		compared = performance.now() + 5 * (performance.now() - begin);
	}

	/* That of the address, these, then others that changed, of each group one. */
	function choice(list) {
		const names = list.map((m) => m.metric), changed = list.filter((m) => m.changed).map((m) => m.metric);
		const first = [params.metric, ...FIRST.filter((m) => changed.includes(m))].filter((m) => names.includes(m));
		const used = new Set(list.filter((m) => first.includes(m.metric)).map((m) => m.group));
		for (const m of list)
			if (m.changed && !used.has(m.group) && used.add(m.group))
				first.push(m.metric);
		return [...new Set(first.length ? first : names)].slice(0, CHARTS);
	}

	async function draw(list) {
		const names = [...new Set(list.map((m) => m.metric))], wanted = choice(list);
		more.set(names.map((m) => [m, m]), params.metric || wanted[0]);
		const answers = await Promise.all(wanted.map((metric) => chart(context, { metric, node, as: "lines" })));
		const old = drawn, given = answers.filter((a) => a && a.times.length > 1);
		axis = given.length ? [Math.min(...given.map((a) => a.axis[0])), Math.max(...given.map((a) => a.axis[1]))] : undefined;
		drawn = new Map(wanted.map((metric, i) => [metric, { own: answers[i] && { ...answers[i], axis },
			picture: (old.get(metric) || { picture: lines(metric, zoom, 150) }).picture }]).filter(([, { own }]) => own));
		if ([...drawn.keys()].join() !== [...old.keys()].join())
			fill(charts, [...drawn.values()].map(({ picture }) => picture.root));
		drawn.forEach(({ own, picture }, metric) => picture.set(withMedian(metric, own)));
	}

	return { root, get tables() {
		return [phases, ...metrics.tables];
	}, async load() {
		const own = (list) => (list || []).filter((r) => r.node === undefined || r.node === item);
		const [heard, of, samples, usage] = await Promise.all([context.maybe(["nodes"], { node }), context.maybe(["phases"], { by: "node", node }),
			context.maybe(["samples"], { by: "node", node }), context.maybe(["usage"], { node })]);
		const n = own(heard && heard.rows)[0], u = own(usage && usage.rows).find((r) => r.job === null);
		const rows = own(of && of.rows).filter((r) => r.count > 0 || (r.open_starts > 0 && r.unmatched !== "ignore")).sort((a, b) => a.place - b.place);
		const list = own(samples && samples.rows);
		most = rows.reduce((m, r) => Math.max(m, r.max || 0), 0);
		facts.set([n && ["State", n.state, STATES[n.state]],
			n && ["Last record", since(millis(n.last_record))],
			n && n.clock_offset !== null && ["Clock", duration(n.clock_offset) + " off"],
			n && n.spool_bytes !== null && ["Not sent yet", bytes(n.spool_bytes)],
			n && n.wrong && ["Wrong", n.wrong, "bad"],
			u && u.cpus && ["Processors", count(u.cpus)],
			u && u.cpu_hours_used !== null && ["CPU hours used", number(u.cpu_hours_used)],
			u && u.memory_peak_bytes && ["Memory, peak", bytes(u.memory_peak_bytes)],
			rows.length > 0 && ["Phases", count(rows.reduce((a, r) => a + r.count, 0))]]);
		phases.set(rows);
		metrics.set(list);
		if (!parts.firstChild)
			fill(parts, rows.length || list.length ? trace : null, rows.length ? [h("h2", "In time"), when.root] : null,
				list.length ? [h("div", { class: "beside" }, more.root), charts] : null,
				rows.length ? [h("h2", "Phases"), phases.root, note(SPREAD)] : null,
				list.length ? [h("div", { class: "title" }, h("h2", "Metrics"), h("div", { class: "beside" }, field)), metrics.root] : null,
				!rows.length && !list.length ? nothing("No phases and no samples of this node here.", context.why("")) : null);
		await draw(list);
		if (rows.length)
			await inTime();
		if (isLive())
			compare().catch(() => {}); // left, or asked again
	} };
}
