/*
 * report - opens a report in a browser, as a file and without a network, and judges what a
 * program can.
 *
 *	node report.mjs DIR FILE CHROMIUM SCREENS [SHOTS]
 *
 * FILE is the report; SCREENS as in page.mjs.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync, mkdirSync } from "node:fs";
import { address, drawn, enter, finish, judge, newPage, opened, ready, require, watch, words } from "./judge.mjs";

const [screens, shots] = words;
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
let wrong = [];
const page = await newPage({ reducedMotion: "reduce", acceptDownloads: true, offline: true });
page.on("pageerror", (error) => wrong.push("error: " + error.message));
page.on("dialog", (dialog) => {
	wrong.push("a script ran: " + dialog.message());
	dialog.dismiss();
});
page.on("console", (message) => {
	if (message.type() === "error")
		wrong.push("console: " + message.text());
});
page.on("request", (request) => {
	if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url()))
		wrong.push("asked for " + request.url());
});

async function settled() {
	await ready(page);
	await drawn(page);
}

/* axe-core is not part of the file: an isolated world is not bound by its policy. */
const client = await page.context().newCDPSession(page);

async function accessible() {
	const { frameTree } = await client.send("Page.getFrameTree");
	const { executionContextId: contextId } = await client.send("Page.createIsolatedWorld",
		{ frameId: frameTree.frame.id, worldName: "axe" });
	await client.send("Runtime.evaluate", { contextId, expression: axe });
	const { result, exceptionDetails } = await client.send("Runtime.evaluate", { contextId, awaitPromise: true, returnByValue: true,
		expression: "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + " +
			"v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160)).join(' | ')))" });
	return exceptionDetails ? ["axe-core did not run: " + JSON.stringify(exceptionDetails).slice(0, 300)] : result.value;
}

/* A part of a chart is chosen: it shows that part, of the data that are there, and all again. */
async function closer() {
	const canvas = page.locator(".lines figure canvas").first(), all = page.getByRole("button", { name: "Show all times" }).first();
	const sentence = () => canvas.evaluate((c) => c.getAttribute("aria-label") || c.closest("figure").textContent);
	await canvas.scrollIntoViewIfNeeded();
	const box = await canvas.boundingBox(), before = await sentence(), place = page.url();
	await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 });
	await page.mouse.up();
	await all.waitFor().catch(() => {});
	if (!await all.isVisible() || page.url() !== place)
		return "a chosen part of a chart is not shown: " + page.url();
	if (await sentence() === before)
		return "the sentence of a chosen part is that of the whole: " + before;
	await all.click();
	await all.waitFor({ state: "hidden" }).catch(() => {});
	return await all.isVisible() || await sentence() !== before ? "not all of the chart is shown again" : "";
}

if (shots)
	mkdirSync(shots, { recursive: true });
await watch(page);
await enter(page);
console.log(await opened(page));
judge("it begins with the pool", /#\/pool\//.test(page.url()), page.url());
for (const line of readFileSync(screens, "utf8").split("\n").filter(Boolean)) {
	const [name, fragment, nothing] = line.split(" ");
	await page.emulateMedia({ media: "screen", colorScheme: "light" });
	await page.evaluate((to) => {
		document.getElementById("main").dataset.ready = "";
		location.hash = to;
		dispatchEvent(new HashChangeEvent("hashchange"));
	}, fragment);
	await settled();
	await page.waitForTimeout(30);
	const seen = await page.evaluate(() => ({
		state: document.getElementById("main").dataset.ready,
		nothing: Boolean(document.querySelector(".nothing")),
		elements: document.getElementsByTagName("*").length,
		text: document.getElementById("main").textContent.slice(0, 300),
	}));
	const problems = [...wrong, ...await accessible()];
	wrong = [];
	if (seen.state === "problem")
		problems.push("an error is shown: " + seen.text);
	if (seen.nothing !== Boolean(nothing))
		problems.push((nothing ? "it shows something: " : "it shows nothing: ") + seen.text);
	if (seen.elements >= 3000)
		problems.push(seen.elements + " elements");
	if (name === "node" && await page.locator(".lines figure canvas").count()) {
		const why = await closer();
		if (why)
			problems.push(why);
	}
	if (shots)
		await page.screenshot({ path: `${shots}/report-${name}.png`, fullPage: true });
	await page.emulateMedia({ media: "print", colorScheme: "light" });
	const printed = await page.evaluate(() => ({
		tools: document.getElementById("tools").offsetParent !== null,
		wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
	}));
	if (printed.tools || printed.wide > 0)
		problems.push("on paper: buttons " + printed.tools + ", too wide by " + printed.wide);
	if (shots)
		await page.pdf({ path: `${shots}/report-${name}.pdf`, format: "A4" });
	judge("report: " + name, problems.length === 0, problems.join("; "));
}
await page.emulateMedia({ media: "screen" });
/* Who reads it by night prints it as by day. */
const ground = () => page.evaluate(() => {
	const bright = (text) => text.match(/\d+/g).slice(0, 3).every((part) => part > 200);
	const dark = (text) => text.match(/\d+/g).slice(0, 3).every((part) => part < 130);
	const texts = [...document.querySelectorAll("main p, main h1, main td, main li")].filter((each) => each.offsetParent);
	const inks = [...document.querySelectorAll("main figure canvas")].filter((each) => each.width > 100).map((each) => each.toDataURL());
	return { words: texts.every((each) => dark(getComputedStyle(each).color)), cards: [...document.querySelectorAll("figure canvas")].every((each) => {
		let at = each;
		while (at && getComputedStyle(at).backgroundColor === "rgba(0, 0, 0, 0)")
			at = at.parentElement;
		return bright(getComputedStyle(at).backgroundColor);
	}), inks, theme: document.documentElement.dataset.theme };
});
await page.emulateMedia({ media: "screen", colorScheme: "dark" });
await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
const night = await ground();
await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
await page.emulateMedia({ media: "print", colorScheme: "dark" });
const paper = await ground();
judge("by night it is dark", night.theme === "dark" && !night.words, JSON.stringify(night).slice(0, 300));
judge("... on paper it is not", paper.theme === "light" && paper.words && paper.cards && paper.inks.every((each, i) => each !== night.inks[i]), JSON.stringify(paper).slice(0, 300));
await page.evaluate(() => dispatchEvent(new Event("afterprint")));
judge("... and then it is again", (await ground()).theme === "dark", "light");
await page.emulateMedia({ media: "screen", colorScheme: "light" });
const trace = page.locator("footer.report button");
if (await trace.count()) {
	const [download] = await Promise.all([page.waitForEvent("download"), trace.click()]);
	judge("the trace can be saved", readFileSync(await download.path()).length > 100 &&
		download.suggestedFilename().endsWith(".pftrace"), download.suggestedFilename());
}
judge("nothing was refused", wrong.length === 0, wrong.join("; "));
await finish();
