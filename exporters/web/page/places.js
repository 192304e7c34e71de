/*
 * places - the addresses of views: #/pools, #/status, #/pool/POOL/VIEW/ITEM?name=value.
 * SPDX-License-Identifier: MIT
 */

/* views: the names of the views of a pool. */
export function parse(fragment, views) {
	const [path, query] = fragment.replace(/^#\/?/, "").split(/\?(.*)/s);
	let parts;
	try {
		parts = path.split("/").filter(Boolean).map(decodeURIComponent);
	} catch {
		parts = [];
	}
	const params = Object.fromEntries(new URLSearchParams(query || ""));
	if (parts[0] === "pool" && parts[1])
		return { name: views[parts[2]] ? parts[2] : "overview", pool: parts[1], item: parts[3], params };
	return { name: parts[0] === "status" ? "status" : "pools", params };
}

export function poolLink(pool, name, item, params) {
	const query = new URLSearchParams(Object.entries(params || {}).filter(([, v]) => v)).toString();
	return "#/pool/" + encodeURIComponent(pool) + (name && name !== "overview" ? "/" + name : "") +
		(item === undefined ? "" : "/" + encodeURIComponent(item)) + (query ? "?" + query : "");
}
