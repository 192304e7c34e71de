/*
 * perfetto - a trace that the page hands to a window of Perfetto, and one that it saves.
 *
 *	node perfetto.mjs DIR ADDRESS CHROMIUM PORT TRACE NODE-TRACE NODE
 *
 * The page was told that Perfetto is at PORT of this machine, where this program serves a
 * stand-in for it, with the documented protocol: it answers PING with PONG once it is ready,
 * and takes { perfetto: { buffer, title } }.  TRACE and NODE-TRACE are files of poolscope
 * trace: of the pool prodacct$render-60, and of NODE.
 * SPDX-License-Identifier: MIT
 */
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { enter, finish, judge, newPage, origin, ready, words } from "./judge.mjs";

const [port, wholeFile, nodeFile, node] = words;
const whole = readFileSync(wholeFile), single = readFileSync(nodeFile);

/* Not ready at once, as the real one.  What else comes is kept, too. */
const STANDIN = `<!DOCTYPE html><title>stand-in</title><script>
const seen = { pings: 0, others: [], traces: [] };
setTimeout(() => addEventListener("message", (event) => {
	if (event.data === "PING") {
		seen.pings++;
		if (location.pathname !== "/silent")
			event.source.postMessage("PONG", event.origin);
	} else if (event.data && event.data.perfetto) {
		const { buffer, title } = event.data.perfetto;
		seen.traces.push({ title, bytes: Array.from(new Uint8Array(buffer)), origin: event.origin });
	} else {
		seen.others.push(String(event.data));
	}
}), 300);
let reachable = "no";
try {
	reachable = opener.document.title;
} catch {
	/* as it must be */
}
seen.reachable = reachable;
seen.referrer = document.referrer;
</script>`;
const requests = [];
const server = createServer((request, answer) => {
	requests.push(request.url);
	answer.writeHead(200, { "Content-Type": "text/html" });
	answer.end(STANDIN);
}).listen(Number(port), "127.0.0.1");
const page = await newPage({ viewport: { width: 1200, height: 800 }, acceptDownloads: true }), context = page.context();
const foreign = [], errors = [];
page.on("request", (request) => {
	if (!request.url().startsWith(origin + "/") && !request.url().startsWith("data:") && !request.url().startsWith("blob:"))
		foreign.push(request.url());
});
page.on("pageerror", (error) => errors.push(error.message));
page.on("console", (message) => {
	/* Chromium logs every answer of 400 and above: a node that is not heard is one. */
	if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
		errors.push(message.text());
});
const said = () => page.textContent(".trace [role=status]");

async function goes(fragment, name) {
	await page.goto(origin + "/" + fragment);
	await ready(page, name);
}

/* Press the button; the window that opens, when it has its trace. */
async function handed() {
	const [window] = await Promise.all([context.waitForEvent("page"), page.getByRole("button", { name: "Open in Perfetto" }).click()]);
	await window.waitForFunction(() => seen.traces.length > 0).catch(() => {});
	await page.waitForFunction(() => / nodes/.test(document.querySelector(".trace [role=status]").textContent))
		.catch(() => {});
	await page.waitForTimeout(300);
	const seen = await window.evaluate(() => seen);
	await window.close();
	return seen;
}

const same = (trace, file) => trace !== undefined && Buffer.compare(Buffer.from(trace.bytes), file) === 0;

await enter(page);
await goes("#/pool/prodacct%24render-60/breakdown", "breakdown");
let seen = await handed();
judge("the window gets the trace, once", seen.traces.length === 1, JSON.stringify(seen.traces.map((t) => t.bytes.length)));
judge("... the bytes that the command writes", same(seen.traces[0], whole), seen.traces[0] && seen.traces[0].bytes.length + " of " + whole.length);
judge("... with the name of the pool", seen.traces[0] && seen.traces[0].title === "prodacct$render-60", seen.traces[0] && seen.traces[0].title);
judge("... and nothing else", seen.others.length === 0, seen.others.join());
judge("the page says how many nodes are left out", /^8 of 60 nodes, /.test(await said()), await said());
judge("the window cannot read the page", seen.reachable === "no", seen.reachable);
judge("... and is not told its address", seen.referrer === "", seen.referrer);

await goes("#/pool/prodacct%24render-60/node/" + node, "node");
seen = await handed();
judge("a node's trace is of it alone", same(seen.traces[0], single), seen.traces[0] && seen.traces[0].bytes.length + " of " + single.length);
judge("... with its name", seen.traces[0] && seen.traces[0].title === node + " of prodacct$render-60", seen.traces[0] && seen.traces[0].title);

const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save trace" }).click()]);
judge("saved it is the same", Buffer.compare(readFileSync(await download.path()), single) === 0, "other bytes");
judge("... with a name of the pool and the node", download.suggestedFilename() === node + "-of-prodacct-render-60.pftrace", download.suggestedFilename());

/* All nodes that fit. */
await goes("#/pool/prodacct%24render-60/breakdown", "breakdown");
await page.getByLabel("Trace of").selectOption("all");
seen = await handed();
judge("all nodes can be had", seen.traces[0] && seen.traces[0].bytes.length > whole.length && /^all nodes, /.test(await said()), await said());

/* A window that is closed, and one that the browser refuses. */
const [closed] = await Promise.all([context.waitForEvent("page"), page.getByRole("button", { name: "Open in Perfetto" }).click()]);
await closed.close();
await page.waitForFunction(() => /closed|nodes/.test(document.querySelector(".trace [role=status]").textContent));
judge("a window that is closed is said", /was closed/.test(await said()), await said());
await page.evaluate(() => {
	window.open = () => null;
});
await page.getByRole("button", { name: "Open in Perfetto" }).click();
await page.waitForFunction(() => /refused/.test(document.querySelector(".trace [role=status]").textContent)).catch(() => {});
judge("a window that is refused is said", /refused to open a window/.test(await said()), await said());

judge("the page asks no other host", foreign.length === 0, foreign.join());
judge("the window was opened where the option says", requests.filter((url) => url === "/").length === 4, requests.join());
judge("without an error", errors.length === 0, errors.join("; "));
server.close();
await finish();
