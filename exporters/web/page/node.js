/*
 * node - one node: whether it is heard, its phases, its metrics.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { title, figures, choose, nothing, search, since } from "./parts.js";
import { table } from "./table.js";
import { chart, lines } from "./lines.js";
import { timeline } from "./timeline.js";
import { windowOf } from "./time.js";
import { traceTools } from "./perfetto.js";
import { phaseColumns, SPREAD } from "./pool.js";
import { bytes, count, duration, millis, number, value } from "./format.js";

const SHOWN = ["system.cpu.time.user", "system.memory.usage.used"];

function pattern(name) {
	/* A name is a list and a pattern: its own commas and brackets are written as any character. */
	return name.replace(/[*?,[\]\\]/g, "?");
}

export function nodeView(context) {
	const { params, item } = context, node = pattern(item || "");
	let most = 1, drawn = [];
	const facts = figures(), charts = h("div", { class: "charts" });
	const phases = table({ caption: "Phases of this node, in seconds", columns: phaseColumns(() => most) });
	const metrics = table({ caption: "Metrics of this node", columns: [
		{ key: "metric", label: "Metric", wide: true, show: (r) => r.metric + (r.group && r.group !== r.metric.split(".")[1] ? " (" + r.group + ")" : "") },
		{ key: "count", label: "Values", number: true, show: (r) => count(r.count) },
		...["min", "mean", "p99", "max", "last"].map((key) => ({ key, label: key === "p99" ? key : key[0].toUpperCase() + key.slice(1), number: true,
			show: (r) => value(r[key], r.unit) }))],
	href: (r) => context.link("node", item, { ...params, metric: r.metric }) });
	const field = search("Filter metrics", "", (q) => metrics.filter(q));
	const more = choose("Chart", null, "", (metric) => context.set({ metric }));
	const parts = h("div");
	const root = h("section", {}, title(item || "Node", h("a", { href: context.link("breakdown", undefined, { node }) }, "breakdown")),
		facts.root, parts);
	const when = timeline("What this node did when", { lanes: true, choose: (from, to) => context.set(windowOf(from, to)),
		resized: () => inTime().catch(() => {}) });
	const trace = traceTools(context, item + " of " + context.pool, () => ({ node }), true);

	async function inTime() {
		const answer = await context.maybe(["timeline"], { ...when.asked(), node });
		when.root.hidden = !answer || answer.nodes !== 1;
		if (!when.root.hidden)
			when.set(answer);
	}

	async function draw(list) {
		const names = [...new Set(list.map((m) => m.metric))];
		const wanted = [params.metric, ...SHOWN].filter((m, i, a) => m && names.includes(m) && a.indexOf(m) === i).slice(0, 2);
		if (wanted.length === 0 && names.length)
			wanted.push(names[0]);
		more.set(names.map((m) => [m, m]), params.metric || wanted[0]);
		const answers = await Promise.all(wanted.map((metric) => chart(context, { metric, node, as: "lines" })));
		if (drawn.length !== wanted.length) {
			drawn = wanted.map((metric) => lines(metric, (from, to) => context.set(windowOf(from, to))));
			fill(charts, drawn.map((each) => each.root));
		}
		answers.forEach((a, i) => {
			drawn[i].root.hidden = !a;
			if (a)
				drawn[i].set(a);
		});
	}

	return { root, tables: [phases, metrics], async load() {
		const own = (list) => (list || []).filter((r) => r.node === undefined || r.node === item);
		const [heard, of, samples, usage] = await Promise.all([context.maybe(["nodes"], { node }),
			context.maybe(["phases"], { by: "node", node }),
			context.maybe(["samples"], { node }),
			context.maybe(["usage"], { node })]);
		const n = own(heard && heard.rows)[0], u = own(usage && usage.rows).find((r) => r.job === null);
		const rows = own(of && of.rows).filter((r) => r.count > 0 || (r.open_starts > 0 && r.unmatched !== "ignore")).sort((a, b) => a.place - b.place);
		const list = samples ? samples.rows : [];
		most = rows.reduce((m, r) => Math.max(m, r.max || 0), 0);
		facts.set([n && ["State", n.state, n.state === "live" ? "good" : n.state === "late" ? "warn" : "bad"],
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
			fill(parts, rows.length || list.length ? trace : null, rows.length ? [h("h2", {}, "Phases"), when.root, phases.root, h("p", { class: "note" }, SPREAD)] : null,
				list.length ? [h("div", { class: "title" }, h("h2", {}, "Metrics"), h("div", { class: "beside" }, field, more.root)),
					charts, metrics.root] : null,
				!rows.length && !list.length ? nothing("No phases and no samples of this node.", context.why("")) : null);
		await Promise.all([draw(list), rows.length ? inTime() : null]);
	} };
}
