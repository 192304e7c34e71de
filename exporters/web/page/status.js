/*
 * status - the way of a record from agent to table, and what was lost on it.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, note } from "./dom.js";
import { title, since, state } from "./parts.js";
import { table } from "./table.js";
import { poolLink } from "./places.js";
import { bytes, count, millis, plural } from "./format.js";

const KINDS = ["event", "sample", "span", "entity", "gap", "rejected"];
const COLUMNS = [["events", "Events"], ["samples", "Samples"], ["spans", "Spans"], ["entities", "Entities"], ["gaps", "Gaps"]];

/* The counters by who counts and by name; of several sources, those of the first, and of the broker. */
function byWho(answer) {
	const of = {}, first = answer.counters.length ? answer.counters[0].place : null;
	for (const c of answer.counters)
		if (c.place === first || c.of.startsWith("broker"))
			(of[c.of] = of[c.of] || {})[c.counter] = c;
	return of;
}

export function status(context) {
	const body = h("div"), root = h("section", title("Pipeline status"), body);
	const open = new Set();
	let answer = null, s = {};
	const n = (part, name) => (s[part] && s[part][name] && Number(s[part][name].value)) || 0;
	const stateOf = (part) => (answer.parts.find((p) => p.part === part && p.state) || {}).state;

	/* A token of some partitions sees nothing of the health. */
	function verdict() {
		if (limited())
			return h("p", "This token sees some of the partitions, and nothing of the health of the store.");
		const list = answer.rows.map((r) => h("li", state(r.state, r.state === "critical" ? "bad" : "warn"), " ", r.text));
		if (!list.length)
			list.push(h("li", state("ok", "good"), " ", answer.text));
		for (const part of answer.parts.filter((p) => p.part === "insecure"))
			list.push(h("li", state("insecure", "bad"), " ", part.text));
		return h("ul", { class: "plain" }, list);
	}

	/* Each place that a record passes, with what is counted there. */
	function walk() {
		const hop = (name, value, unit, more) => h("li", h("h2", name), h("p", { class: "big" }, value),
			h("p", unit), more ? note(more) : null);
		return h("ol", { class: "walk" },
			s.broker ? hop("Broker", count(n("broker", "received_messages")), "messages received", plural(n("broker", "peers"), "peer") +
				", " + bytes(n("broker", "received_bytes"))) : hop("Broker", "–", stateOf("broker") || "not of this instance", ""),
			s.aggregator ? hop("Aggregator", count(n("aggregator", "batches")), "batches accepted since it started",
				count(n("aggregator", "records")) + " records, " + plural(n("aggregator", "peers"), "peer")) :
				hop("Aggregator", "–", stateOf("aggregator") || "not of this instance", ""),
			hop("Journal", count(n("store", "received")), "entries ever", bytes(n("store", "journal_bytes"))),
			hop("Index", count(n("store", "indexed")), "entries indexed", n("store", "indexing_lag") ?
				count(n("store", "indexing_lag")) + " wait" : "none waits"),
			hop("Tables", count(stored()), "records", bytes(n("store", "tables_bytes"))));
	}

	const limited = () => Boolean(n("store", "limited")) || answer.partitions.length < n("store", "partitions");
	const stored = () => KINDS.reduce((a, k) => a + n("store", "records_" + k), 0);

	function row(label, value, sum) {
		return h("tr", { class: sum ? "sum" : "" }, h("th", { scope: "row" }, label), h("td", { class: "number" }, value));
	}

	function account() {
		const entries = n("store", "received"), indexed = n("store", "indexed"), wait = n("store", "indexing_lag");
		const rest = entries - indexed - wait, sum = answer.partitions.reduce((a, p) => a + p.records - p.runs, 0);
		const lost = Object.values(s).flatMap(Object.values).filter((c) => c.kind === "lost" && c.value && c.counter !== "records_gap");
		return [h("div", { class: "accounts" },
			h("table", { class: "ledger" }, h("caption", "Entries of the journal"), h("tbody", {},
				row("received and on disk", count(entries)), row("indexed", count(indexed)), row("not indexed yet", count(wait)),
				row("unexplained", count(rest), true))),
			h("table", { class: "ledger" }, h("caption", "Records in the tables"), h("tbody", {},
				KINDS.filter((k) => n("store", "records_" + k)).map((k) => row(k === "gap" ? "gaps: what senders report as lost" :
					k === "rejected" ? "rejected batches" : k === "entity" ? "entities" : k + "s", count(n("store", "records_" + k)))),
				row("all", count(stored()), true), row("all partitions together", count(sum)),
				row("difference", count(stored() - sum), true))),
			h("table", { class: "ledger" }, h("caption", "Not stored, or not as sent"), h("tbody", {},
				lost.length ? lost.map((c) => row(c.help, count(c.value))) : row("nothing", "0"),
				row("gap records", count(n("store", "records_gap")))))),
		note("An agent's record reaches the tables, or a gap counts it as lost. Counters of the aggregator begin when it starts.")];
	}

	const pools = table({ caption: "Partitions", href: (r) => poolLink(r.partition), columns: [
		{ key: "partition", label: "Partition", wide: true },
		{ key: "nodes", label: "Nodes", as: count },
		...COLUMNS.map(([key, label]) => ({ key, label, number: true, show: (r) => r[key] ? count(r[key]) : "" })),
		{ key: "newest", label: "Newest", number: true, show: (r) => r.newest ? since(millis(r.newest)) : "" }] });
	const tables = table({ caption: "What the store holds", columns: [
		{ key: "name", label: "Table", wide: true },
		{ key: "rows", label: "Rows", as: count },
		{ key: "bytes", label: "Size", as: bytes },
		{ key: "per", label: "Per row", value: (r) => r.rows ? r.bytes / r.rows : null, as: bytes }] });

	function counters() {
		return Object.entries(s).map(([name, part]) => {
			const box = h("details", { open: open.has(name), on: { toggle: () => open[box.open ? "add" : "delete"](name) } },
				h("summary", name), h("table", { class: "ledger" }, h("tbody", Object.values(part)
					.filter((c) => c.value !== 0 && c.value !== false && c.value !== null)
					.map((c) => h("tr", { title: c.help }, h("th", { scope: "row" }, c.counter), h("td", { class: "number" },
						c.shown || (c.kind === "count" && typeof c.value === "number" ? count(c.value) : String(c.value))))))));
			return box;
		});
	}

	let first = true;
	const top = h("div"), rest = h("div");
	return { root, tables: [pools, tables], async load() {
		answer = await context.get(["status"]);
		s = byWho(answer);
		/* What a limited token may not see is not there, rather than 0 or not running. */
		const all = !limited();
		const list = Object.keys(s.store || {}).filter((k) => k.startsWith("bytes_") && n("store", k)).map((k) => ({
			name: k.slice(6).replaceAll("_", " "), bytes: n("store", k), rows: n("store", "rows_" + k.slice(6)) }));
		list.sort((a, b) => b.bytes - a.bytes);
		fill(top, verdict(), all ? [walk(), h("h2", "Loss account"), account()] : null);
		fill(rest, all ? [h("h2", "All counters"), counters()] : null);
		if (first)
			fill(body, top, h("h2", "Partitions"), pools.root, all ? [h("h2", "Store"), tables.root] : null, rest);
		first = false;
		pools.set(answer.partitions);
		tables.set(list);
	} };
}
