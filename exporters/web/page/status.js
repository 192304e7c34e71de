/*
 * status - the way of a record from agent to table, and what was lost on it.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { title, since, state } from "./parts.js";
import { table } from "./table.js";
import { poolLink } from "./places.js";
import { bytes, count, duration, millis, plural } from "./format.js";

/* Counters of records that did not become rows, and why. */
const NOT_STORED = [
	["aggregator", "rejected_batches", "batches whose content is invalid; kept as rejected"],
	["aggregator", "forbidden", "messages of a key that may not send to the partition"],
	["aggregator", "messages_malformed", "messages that are no frames"],
	["aggregator", "rate_limited", "messages above the rate limit; sent again"],
	["aggregator", "repeated", "batches received twice; stored once"],
	["aggregator", "streams_damaged", "streams whose running hash was wrong"],
	["aggregator", "index_overflow", "events above the limit of a run"],
	["aggregator", "index_no_run_id", "events without the id of their run"],
	["aggregator", "index_damaged", "entries that could not be read"],
	["aggregator", "index_quarantined", "batches set aside after a crash"],
	["aggregator", "groups_refused", "metric groups above the limit"],
	["aggregator", "names_over", "names above the limit"],
	["aggregator", "entities_over", "entities above the limit"],
	["store", "rejected_cut", "rejected batches not stored in full"],
];
const KINDS = ["event", "sample", "span", "entity", "gap", "rejected"];

export function status(context) {
	const body = h("div"), root = h("section", {}, title("Pipeline status"), body);
	const open = new Set();
	let s = null;
	const n = (part, name) => (s[part] && Number(s[part][name])) || 0;

	function verdict() {
		const list = [];
		const add = (kind, text) => list.push(h("li", {}, state(kind === "bad" ? "critical" : "warning", kind), " ", text));
		if (!s.store)
			add("bad", "The store does not answer.");
		/* A token of some partitions sees nothing of the health. */
		if (limited())
			return h("p", {}, "This token sees some of the partitions, and nothing of the health of the store.");
		if (s.store && !s.aggregator)
			add("bad", "The aggregator is not running: nothing is stored. Run poolscope up.");
		/* There is none to speak of when the store of another instance is read. */
		if (s.broker && s.broker.state && s.broker.state !== "not running")
			add(s.broker.state === "stopped" ? "warn" : "bad", "The broker " + (s.broker.state === "stopped" ? "is not running" : s.broker.state) +
				": agents that send to it keep their records. Run poolscope up.");
		if (s.aggregator && s.aggregator.no_models)
			add("warn", "The aggregator has no models: there are no phases and no runs.");
		if (n("store", "records_rejected"))
			add("warn", "Batches were rejected: their records are in no answer.");
		if (s.aggregator && s.aggregator.full)
			add("bad", "Nothing is stored: " + s.aggregator.full_problem + ".");
		if (s.aggregator && s.aggregator.index_paused)
			add("bad", "The tables are damaged: new records are not shown. poolscope admin verify names the damage.");
		if (n("store", "damaged"))
			add("warn", plural(n("store", "damaged"), "damaged page") + ". poolscope admin verify names them.");
		if (s.aggregator && s.aggregator.retention_stopped)
			add("warn", "The clock of the host jumped: nothing is deleted by age.");
		if (s.aggregator && s.aggregator.indexing_behind)
			add("warn", "Indexing is behind: senders wait.");
		for (const part of ["aggregator", "broker"])
			if (s[part] && s[part].insecure)
				add("bad", "The " + part + " listens without keys (--insecure).");
		return list.length ? h("ul", { class: "plain" }, list) : h("p", {}, state("ok", "good"), " All is well.");
	}

	/* Each place that a record passes, with what is counted there. */
	function walk() {
		const hop = (name, value, unit, more) => h("li", {}, h("h2", {}, name), h("p", { class: "big" }, value),
			h("p", {}, unit), more ? h("p", { class: "note" }, more) : null);
		return h("ol", { class: "walk" },
			s.broker && !s.broker.state ? hop("Broker", count(n("broker", "received_messages")), "messages received", plural(n("broker", "peers"), "peer") +
				", " + bytes(n("broker", "received_bytes"))) : hop("Broker", "–", s.broker ? s.broker.state : "not of this instance", ""),
			hop("Aggregator", count(n("aggregator", "batches")), "batches accepted since it started",
				count(n("aggregator", "records")) + " records, " + plural(n("aggregator", "peers"), "peer")),
			hop("Journal", count(n("store", "journal_next") - 1), "entries ever", bytes(n("store", "journal_bytes"))),
			hop("Index", count(n("store", "indexed")), "entries indexed", n("store", "indexing_lag") ?
				count(n("store", "indexing_lag")) + " wait" : "none waits"),
			hop("Tables", count(stored()), "records", bytes(n("store", "tables_bytes"))));
	}

	const limited = () => Boolean(s.store && s.store.limited) ||
		Object.keys(s.partitions || {}).length < n("store", "partitions");
	const stored = () => KINDS.reduce((a, k) => a + n("store", "records_" + k), 0);

	function row(label, value, sum) {
		return h("tr", { class: sum ? "sum" : "" }, h("th", { scope: "row" }, label), h("td", { class: "number" }, value));
	}

	function account() {
		const entries = n("store", "journal_next") - 1, indexed = n("store", "indexed"), wait = n("store", "indexing_lag");
		const rest = entries - indexed - wait, parts = Object.values(s.partitions || {});
		const of = (p) => KINDS.reduce((a, k) => a + (Number(p["records_" + k]) || 0), 0);
		const sum = parts.reduce((a, p) => a + of(p), 0), lost = NOT_STORED.filter(([part, name]) => n(part, name));
		return [h("div", { class: "accounts" },
			h("table", { class: "ledger" }, h("caption", {}, "Entries of the journal"), h("tbody", {},
				row("received and on disk", count(entries)), row("indexed", count(indexed)), row("not indexed yet", count(wait)),
				row("unexplained", count(rest), true))),
			h("table", { class: "ledger" }, h("caption", {}, "Records in the tables"), h("tbody", {},
				KINDS.filter((k) => n("store", "records_" + k)).map((k) => row(k === "gap" ? "gaps: what senders report as lost" :
					k === "rejected" ? "rejected batches" : k === "entity" ? "entities" : k + "s", count(n("store", "records_" + k)))),
				row("all", count(stored()), true), row("all partitions together", count(sum)),
				row("difference", count(stored() - sum), true))),
			h("table", { class: "ledger" }, h("caption", {}, "Not stored, or not as sent"), h("tbody", {},
				lost.length ? lost.map(([part, name, text]) => row(text, count(n(part, name)))) : row("nothing", "0"),
				row("gap records", count(n("store", "records_gap")))))),
		h("p", { class: "note" }, "An agent's record reaches the tables, or a gap counts it as lost. Counters of the aggregator begin when it starts.")];
	}

	const pools = table({ caption: "Partitions", href: (r) => poolLink(r.partition), columns: [
		{ key: "partition", label: "Partition", wide: true },
		{ key: "nodes", label: "Nodes", number: true, show: (r) => count(r.nodes) },
		...KINDS.slice(0, 4).map((k) => ({ key: "records_" + k, label: { event: "Events", sample: "Samples", span: "Spans", entity: "Entities" }[k],
			number: true, show: (r) => r["records_" + k] ? count(r["records_" + k]) : "" })),
		{ key: "records_gap", label: "Gaps", number: true, show: (r) => r.records_gap ? count(r.records_gap) : "" },
		{ key: "last_ns", label: "Newest", number: true, show: (r) => r.last_ns ? since(millis(r.last_ns)) : "" }] });
	const tables = table({ caption: "What the store holds", columns: [
		{ key: "name", label: "Table", wide: true },
		{ key: "rows", label: "Rows", number: true, show: (r) => count(r.rows) },
		{ key: "bytes", label: "Size", number: true, show: (r) => bytes(r.bytes) },
		{ key: "per", label: "Per row", number: true, value: (r) => r.rows ? r.bytes / r.rows : null, show: (r) => r.rows ? bytes(r.bytes / r.rows) : "" }] });

	function counters() {
		return Object.entries(s).filter(([, v]) => v && typeof v === "object" && !Array.isArray(v)).filter(([name]) => name !== "partitions")
			.map(([name, part]) => {
				const box = h("details", { open: open.has(name), on: { toggle: () => open[box.open ? "add" : "delete"](name) } },
					h("summary", {}, name), h("table", { class: "ledger" }, h("tbody", {}, Object.entries(part)
						.filter(([, v]) => v !== 0 && v !== false && typeof v !== "object")
						.map(([k, v]) => row(k, nice(k, v))))));
				return box;
			});
	}

	function nice(name, v) {
		if (typeof v !== "number")
			return String(v);
		if (name.endsWith("_bytes") || name.startsWith("bytes_"))
			return bytes(v);
		return name.endsWith("_ns") && v < 1e17 ? duration(v / 1e9) : /generation|_ns$/.test(name) ? String(v) : count(v);
	}

	let first = true;
	const top = h("div"), rest = h("div");
	return { root, tables: [pools, tables], async load() {
		s = await context.get(["status"]);
		if (Array.isArray(s.sources))
			s = s.sources[0];
		/* What a limited token may not see is not there, rather than 0 or not running. */
		const all = !limited();
		const list = Object.keys(s.store || {}).filter((k) => k.startsWith("bytes_") && s.store[k]).map((k) => ({
			name: k.slice(6).replaceAll("_", " "), bytes: s.store[k], rows: s.store["rows_" + k.slice(6)] }));
		list.sort((a, b) => b.bytes - a.bytes);
		fill(top, verdict(), all ? [walk(), h("h2", {}, "Loss account"), account()] : null);
		fill(rest, all ? [h("h2", {}, "All counters"), counters()] : null);
		if (first)
			fill(body, top, h("h2", {}, "Partitions"), pools.root, all ? [h("h2", {}, "Store"), tables.root] : null, rest);
		first = false;
		pools.set(Object.values(s.partitions || {}));
		tables.set(list);
	} };
}
