/*
 * perfetto - a trace, in the window of Perfetto or as a file.
 *
 * The window is opened by the click itself, since browsers refuse it later.  When it
 * answers PING with PONG it gets the trace, which stays in the browser: this page asks no
 * other host, and sends none anything.
 * SPDX-License-Identifier: MIT
 */
import { h, say } from "./dom.js";
import * as api from "./api.js";
import { bytes as size } from "./format.js";
import { choose } from "./parts.js";

const PING_MS = 50, WAIT_MS = 30000;
const PARTS = [["worst:8", "8 slowest nodes"], ["worst:32", "32 slowest nodes"], ["all", "all nodes that fit"]];

function fileName(name) {
	return name.replace(/[^\w.-]+/g, "-") + ".pftrace";
}

export function save(blob, name) {
	const url = URL.createObjectURL(blob), a = h("a", { download: fileName(name) });
	a.href = url;
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* When the window can take a trace. */
function ready(other, origin) {
	return new Promise((done, fail) => {
		const begin = Date.now();
		const end = (call, value) => {
			clearInterval(timer);
			removeEventListener("message", hear);
			call(value);
		};
		const hear = (event) => {
			if (event.source === other && event.origin === origin && event.data === "PONG")
				end(done);
		};
		const timer = setInterval(() => {
			if (other.closed)
				end(fail, new Error("The window of Perfetto was closed."));
			else if (Date.now() - begin > WAIT_MS)
				end(fail, new Error(origin + " did not answer in 30 s. Save the trace, and open it there."));
			else
				other.postMessage("PING", "*");
		}, PING_MS);
		addEventListener("message", hear);
	});
}

/* Buttons for the trace of a pool, or of one node of it; params() are those of the
 * route.  Null in a report. */
export function traceTools(context, name, params, isNode) {
	if (!api.hasTraces())
		return null;
	let nodes = isNode ? "all" : PARTS[0][0];
	const said = h("span", { class: "note", role: "status" });
	const part = isNode ? null : choose("Trace of", PARTS, nodes, (value) => {
		nodes = value;
	});
	const buttons = [["Open in Perfetto", show], ["Save trace", keep]].map(([text, call]) =>
		h("button", { on: { click: () => run(call) } }, text));

	async function run(call) {
		buttons.forEach((each) => each.setAttribute("disabled", ""));
		say(said, "Reading the trace");
		try {
			const { data, shows } = await call();
			say(said, shows + ", " + size(data));
		} catch (error) {
			if (error.name !== "AbortError")
				say(said, error.message);
		}
		buttons.forEach((each) => each.removeAttribute("disabled"));
	}

	function get() {
		return api.trace(context.pool, context.ofTime("trace", { nodes, ...params() }), context.signal);
	}

	async function show() {
		const url = document.querySelector("meta[name=viewer]").content, origin = new URL(url).origin;
		const other = open(url);
		if (!other)
			throw new Error("The browser refused to open a window. Allow it for this page, or save the trace.");
		try {
			const [trace] = await Promise.all([get(), ready(other, origin)]);
			const data = trace.buffer.byteLength;
			other.postMessage({ perfetto: { buffer: trace.buffer, title: name, fileName: fileName(name) } }, origin, [trace.buffer]);
			return { data, shows: trace.shows };
		} catch (error) {
			other.close();
			throw error;
		}
	}

	async function keep() {
		const { buffer, shows } = await get();
		save(new Blob([buffer], { type: "application/octet-stream" }), name);
		return { data: buffer.byteLength, shows };
	}

	return h("div", { class: "beside trace" }, part && part.root, buttons, said);
}
