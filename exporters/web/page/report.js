/*
 * report - the page with its data inside: one file that needs no server.
 *
 * The element #data has base64 of gzip of JSON: an object whose names are the paths that
 * the page asks for, with their parameters in the order of their names, such as
 * "pools/acct$pool/phases?by=node", and whose values are the answers.
 * SPDX-License-Identifier: MIT
 */
import { use, Problem } from "./api.js";

async function unpack(text) {
	const bytes = Uint8Array.from(atob(text.replace(/\s+/g, "")), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return JSON.parse(await new Response(stream).text());
}

function key(path, params) {
	const given = Object.entries(params || {}).filter(([, v]) => v !== undefined && v !== null && v !== "");
	given.sort(([a], [b]) => a < b ? -1 : 1);
	return path.join("/") + (given.length ? "?" + given.map(([k, v]) => k + "=" + v).join("&") : "");
}

/* Patterns of parameters, and what they are patterns of. */
const FIELDS = { node: "node", name: "phase", metric: "metric" };

function matcher(pattern) {
	const text = pattern.replace(/[.+^${}()|\\[\]]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
	return new RegExp("^" + text + "$", "s");
}

/* The rows that match, out of an answer with more of them. */
function only(answer, params) {
	const wanted = Object.entries(FIELDS).filter(([name]) => params[name]).map(([name, field]) => [field, matcher(params[name])]);
	const keep = (list) => list.filter((row) => !row || typeof row !== "object" ||
		wanted.every(([field, pattern]) => row[field] === undefined || pattern.test(row[field])));
	if (Array.isArray(answer))
		return keep(answer);
	return Object.fromEntries(Object.entries(answer).map(([k, v]) => [k, Array.isArray(v) ? keep(v) : v]));
}

/* The parameters that only say how much is wanted do not matter here. */
function find(path, params) {
	const { node, name, metric, rows, top, limit, newest, ...rest } = params || {};
	const exact = answers[key(path, params)];
	if (exact !== undefined)
		return exact;
	for (const each of [rest, { ...rest, by: "node" }])
		if (answers[key(path, each)] !== undefined)
			return only(answers[key(path, each)], params || {});
	return undefined;
}

const answers = await unpack(document.getElementById("data").textContent);
use({
	async get(path, params) {
		const found = find(path, params);
		if (found === undefined)
			throw new Problem(404, "Not in this report", "This report does not have it.");
		return found;
	},
});
/* Of one pool it begins with that. */
const pools = answers.pools || [];
if (!location.hash && pools.length === 1)
	history.replaceState(null, "", "#/pool/" + encodeURIComponent(pools[0].partition));
await import("./app.js");
