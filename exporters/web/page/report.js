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

/* Rows of one node, out of an answer for all. */
function only(answer, node) {
	const pattern = new RegExp("^" + node.replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".") + "$");
	const keep = (list) => list.filter((row) => row.node === undefined || pattern.test(row.node));
	if (Array.isArray(answer))
		return keep(answer);
	return Object.fromEntries(Object.entries(answer).map(([k, v]) =>
		[k, Array.isArray(v) && v.some((row) => row && row.node !== undefined) ? keep(v) : v]));
}

/* The parameters that only say how much is wanted do not matter here. */
function find(answers, path, params) {
	const { node, rows, top, limit, newest, ...rest } = params || {};
	for (const each of [params, { ...rest, node }, rest, { ...rest, by: "node" }]) {
		const found = answers[key(path, each)];
		if (found !== undefined)
			return node && !(each && each.node) ? only(found, node) : found;
	}
	return undefined;
}

const answers = await unpack(document.getElementById("data").textContent);
use({
	async get(path, params) {
		const found = find(answers, path, params);
		if (found === undefined)
			throw new Problem(404, "Not in this report", "This report does not have it.");
		return found;
	},
});
await import("./app.js");
