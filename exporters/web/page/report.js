/*
 * report - the page with its data inside: one file that needs no server.
 *
 * A source of data, which use() of api.js takes, is an object with
 *	get(path, params)	a promise of what the route answers
 *	live(pool, call, end)	calls call(event, data) until end aborts; may be absent
 *	trace(pool, params)	a promise of { buffer, shows }; may be absent
 *	opening	{ sentences, addresses, metrics }: what the overview begins with, { left_out }: words for what
 *		get() does not have; may be absent
 *
 * The element #data has base64 of gzip of JSON: { pool, made, left_out, sentences, addresses,
 * metrics, answers }.
 * The names of `answers` are the paths that the page asks for, with their parameters in the
 * order of their names, such as "pools/acct$pool/phases?by=node", the values the texts that
 * the routes answer.  #trace, if it is there, has base64 of gzip of a trace to save.
 * SPDX-License-Identifier: MIT
 */
import { use, parse, Problem } from "./api.js";
import { h } from "./dom.js";
import { bytes as size } from "./format.js";
import { save } from "./perfetto.js";

/* What an element has. */
function unpack(element) {
	const packed = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
	return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
}

function key(path, params) {
	const given = Object.entries(params || {}).filter(([, v]) => (v ?? "") !== "").sort();
	return path.join("/") + (given.length ? "?" + given.map(([k, v]) => k + "=" + v).join("&") : "");
}

/* Patterns of parameters, and what they are patterns of. */
const FIELDS = { node: "node", name: "phase", metric: "metric", group: "group", run: "run", queue: "queue", configuration: "configuration",
	requestor: "requestor", error: "error_text" };

function matcher(pattern) {
	const text = pattern.replace(/[.+^${}()|\\[\]]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
	return new RegExp("^" + text + "$", "s");
}

/* Rows by column: of each column the values of the rows that are kept. */
function ofColumns(answer, keep) {
	const { node } = answer.rows, kept = node.map((name, i) => keep(name) ? i : -1).filter((i) => i >= 0);
	const cut = (list) => list && kept.map((i) => list[i]);
	return { ...answer, nodes: kept.length,
		rows: Object.fromEntries(Object.entries(answer.rows).map(([key, list]) => [key, cut(list)])) };
}

/* The rows that match, out of an answer with more of them. */
function only(answer, params) {
	const wanted = Object.entries(FIELDS).filter(([name]) => params[name]).map(([name, field]) => [field, matcher(params[name])]);
	if (wanted.length === 0 && !params.state)
		return answer;
	const stands = (row) => !params.state || !row.state || params.state === (row.error ? "failed" : row.state);
	const fits = (row) => !row || typeof row !== "object" ||
		(stands(row) && wanted.every(([field, pattern]) => row[field] === undefined || pattern.test(row[field] ?? "")));
	if (answer.question === "timeline" && params.node)
		return undefined; // a row can stand for several nodes
	if (answer.question === "breakdown" && params.node)
		return ofColumns(answer, (node) => matcher(params.node).test(node));
	return Object.fromEntries(Object.entries(answer).filter(([, v]) => fits(v))
		.map(([k, v]) => [k, Array.isArray(v) ? v.filter(fits) : v]));
}

/* The parameters that only say how much is wanted do not matter here.  What a node has is
 * among the rows by node.  Of samples there are those of which more is known. */
function find(path, params) {
	const { rows, pixels, top, limit, newest, shape, columns, ...asked } = params || {};
	const { node, name, metric, group, run, queue, configuration, requestor, error, state, ...rest } = asked;
	const exact = answer(key(path, params)) || answer(key(path, asked));
	if (exact !== undefined)
		return exact.question !== "samples" ? exact :
			{ ...exact, rows: exact.rows.filter((r) => metrics.some((m) => m.metric === r.metric)) };
	for (const each of node || metric ? [{ ...rest, by: "node" }, rest] : [rest, { ...rest, by: "node" }]) {
		const found = answer(key(path, each));
		if (found !== undefined)
			return only(found, asked);
	}
	/* Of the breakdown that of the model which is chosen at first has no name. */
	const { model, ...without } = asked;
	const first = model ? find(path, without) : undefined;
	return first && first.model === model ? first : undefined;
}

const { pool, made, left_out, sentences, addresses, metrics, answers } = await unpack(document.getElementById("data")).json();

function answer(name) {
	return Object.hasOwn(answers, name) ? parse(answers[name]) : undefined;
}

use({
	opening: { sentences, addresses, metrics, left_out },
	async get(path, params) {
		const found = find(path, params);
		if (found === undefined)
			throw new Problem(404, "Not in this report", "This report does not have it.");
		return found;
	},
});

async function download() {
	save(await unpack(trace).blob(), pool);
}

/* What the file is, and what it lacks. */
const trace = document.getElementById("trace");
document.body.append(h("footer", { class: "note report" },
	h("p", "Report of " + pool + ", made " + made + "." + (left_out ? " Left out: " + left_out + "." : "")),
	trace ? h("p", h("button", { on: { click: download } },
		"Save the trace of the worst nodes"), " for ui.perfetto.dev, " + size(trace.textContent.length * 3 / 4) + " here") : null));
/* It begins with the pool. */
if (!location.hash)
	history.replaceState(null, "", "#/pool/" + encodeURIComponent(pool));
await import("./app.js");
