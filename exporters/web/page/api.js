/*
 * api - asks for data: the server, or another source (report.js).
 *
 * Who calls onAnswer() is told of each answer: when it came, its status (0: none came), and
 * what it shows.
 * SPDX-License-Identifier: MIT
 */
import { setClock } from "./format.js";

export class Problem extends Error {
	constructor(status, title, detail) {
		super(detail || title);
		this.status = status;
		this.title = title;
	}
	/* There is nothing of this kind: not a failure. */
	get empty() {
		return this.status === 404;
	}
}

const TOKEN = "poolscope-token";

/* The token comes in the fragment, which is neither sent nor logged, and leaves the
 * address at once. */
export function takeToken() {
	const given = /^#k=([A-Za-z0-9_=-]+)(?:&to=(.*))?$/.exec(location.hash);
	if (!given)
		return;
	sessionStorage.setItem(TOKEN, given[1]);
	history.replaceState(null, "", "#" + (given[2] ? decodeURIComponent(given[2]) : "/pools"));
}

function headers() {
	const token = sessionStorage.getItem(TOKEN);
	return token ? { Authorization: "Bearer " + token } : {};
}

function address(path, params) {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(params || {}))
		if ((value ?? "") !== "")
			query.append(name, value);
	const text = query.toString();
	return "v1/" + path.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

async function problem(answer) {
	const more = await answer.json().catch(() => ({})); // not JSON: the status says it
	let detail = more.detail || "";
	if (more.nearest?.length)
		detail += " Nearest: " + more.nearest.join(", ");
	return new Problem(answer.status, more.title || "The server answered " + answer.status, detail);
}

export function hasToken() {
	return Boolean(sessionStorage.getItem(TOKEN));
}

export function setToken(token) {
	sessionStorage.setItem(TOKEN, token);
}

let told = () => {};

export function onAnswer(call) {
	told = call;
}

async function ask(url, more) {
	try {
		const answer = await fetch(url, { headers: headers(), credentials: "omit", ...more });
		setClock(answer.headers.get("Date"));
		told(answer.status, answer.headers.get("Poolscope-Shows") || "");
		return answer;
	} catch (error) {
		if (error.name === "AbortError")
			throw error;
		told(0, "");
		throw new Problem(0, "No connection", "The server of this page does not answer. Is poolscope web running?");
	}
}

const server = {
	async get(path, params, signal) {
		const answer = await ask(address(path, params), { signal });
		if (!answer.ok)
			throw await problem(answer);
		const text = await answer.text();
		return text.trim() === "" ? null : parse(text);
	},

	async trace(pool, params, signal) {
		const answer = await ask(address(["pools", pool, "trace"], params), { signal });
		if (!answer.ok)
			throw await problem(answer);
		return { buffer: await answer.arrayBuffer(), shows: answer.headers.get("Poolscope-Shows") };
	},

	async live(pool, call, signal) {
		let last = "", wait = 1000;
		while (!signal.aborted) {
			try {
				last = await stream(pool, call, signal, last);
				wait = 1000;
			} catch (error) {
				if (signal.aborted || error.status === 404)
					return;
				call("lost", { status: error.status || 0, text: error.message });
				if (error.status === 401 || error.status === 403)
					return;
			}
			await pause(wait, signal);
			wait = Math.min(wait * 2, 4000);
		}
	},
};

function pause(ms, signal) {
	return new Promise((done) => {
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", () => {
			clearTimeout(timer);
			done();
		}, { once: true });
	});
}

/* Read server-sent events by fetch, which can send the token. */
async function stream(pool, call, signal, last) {
	const answer = await fetch(address(["live"], { pool }), {
		headers: { ...headers(), ...(last ? { "Last-Event-ID": last } : {}) },
		credentials: "omit", signal });
	if (!answer.ok)
		throw await problem(answer);
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const { done, value } = await reader.read();
		if (done)
			return last;
		rest += value;
		if (rest.length > 1 << 20)
			throw new Problem(0, "An event is too large");
		for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
			const event = lines(rest.slice(0, end));
			last = event.id || last;
			if (event.data)
				call(event.event || "message", JSON.parse(event.data));
		}
	}
}

function lines(text) {
	const event = {};
	for (const line of text.split("\n")) {
		const at = line.indexOf(":");
		if (at > 0)
			event[line.slice(0, at)] = (event[line.slice(0, at)] || "") + line.slice(at + 1).trim();
	}
	return event;
}

/* JSON, or a line an object.  An object whose names are numbers loses their order
 * when it is parsed: `order` has it. */
export function parse(text) {
	let data;
	try {
		data = JSON.parse(text);
	} catch {
		return text.trim().split("\n").map((line) => JSON.parse(line));
	}
	if (data && !Array.isArray(data) && Object.keys(data).some((k) => /^\d+$/.test(k)))
		Object.defineProperty(data, "order", { value: names(text), enumerable: false });
	return data;
}

/* The names of the outermost object, in the order of the text. */
function names(text) {
	const found = [];
	let depth = 0;
	const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
	for (let m; (m = token.exec(text));) {
		if (m[0] === "{" || m[0] === "[")
			depth++;
		else if (m[0] === "}" || m[0] === "]")
			depth--;
		else if (depth === 1 && m[1])
			found.push(JSON.parse(m[0].slice(0, m[0].length - m[1].length)));
	}
	return found;
}

let source = server;

export function use(other) {
	source = other;
}

export function isLive() {
	return typeof source.live === "function";
}

/* What the overview says and shows, where that was decided already. */
export function opening() {
	return source.opening;
}

export function hasTraces() {
	return typeof source.trace === "function";
}

export function trace(pool, params, signal) {
	return source.trace(pool, params, signal);
}

export function get(path, params, signal) {
	return source.get(path, params, signal);
}

/* Empty (null) instead of a problem when there is nothing. */
export async function maybe(path, params, signal) {
	try {
		return await source.get(path, params, signal);
	} catch (error) {
		if (error instanceof Problem && error.empty)
			return null;
		throw error;
	}
}

export function live(pool, call, signal) {
	return source.live(pool, call, signal);
}
