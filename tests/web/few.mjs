/*
 * few - the curves of 088-few-nodes.sh: what is drawn, as steps, and what the pointer reads.
 *
 *	node few.mjs DIR ADDRESS CHROMIUM [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { address, drawn, enter, finish, judge, newPage, ready, same, shot, visit, words } from "./judge.mjs";

const [shots] = words, isReport = address.startsWith("file:");
const page = await newPage();
const LEFT = 66, STEPS = 15;

/* What each canvas has been given since it was cleared: [kind, colour, points of each part]. */
await page.addInitScript(() => {
	const C = CanvasRenderingContext2D.prototype;
	const wrap = (name, before) => {
		const call = C[name];
		C[name] = function (...given) {
			before.call(this, ...given);
			return call.apply(this, given);
		};
	};
	wrap("clearRect", function () {
		this.canvas.drawn = [];
	});
	wrap("beginPath", function () {
		this.parts = [];
	});
	wrap("moveTo", function (x, y) {
		this.parts = [...(this.parts || []), [[x, y]]];
	});
	wrap("lineTo", function (x, y) {
		if (!this.parts || !this.parts.length)
			this.parts = [[]];
		this.parts[this.parts.length - 1].push([x, y]);
	});
	wrap("arc", function (x, y) {
		this.parts = [[[x, y]]];
		this.isPoint = true;
	});
	wrap("stroke", function () {
		(this.canvas.drawn ||= []).push(["line", this.strokeStyle, this.parts]);
	});
	wrap("fill", function () {
		(this.canvas.drawn ||= []).push([this.isPoint ? "point" : "area", this.fillStyle, this.parts]);
		this.isPoint = false;
	});
});

/* The steps of the parts of this kind, of the picture with this name. */
async function stepsOf(name, kind, steps) {
	const [width, list] = await page.evaluate((wanted) => {
		const figure = [...document.querySelectorAll("figure")].find((each) => each.textContent.includes(wanted));
		const canvas = figure.querySelector("canvas");
		return [canvas.clientWidth, canvas.drawn];
	}, name);
	const step = (x) => Math.round((x - LEFT) / (Math.floor(width) - LEFT) * steps - 0.5);
	return list.filter(([is]) => is === kind).map(([, colour, parts]) => [colour, parts.filter((p) => p.length > 1 || kind === "point").map((p) => p.map(([x]) => step(x)))]);
}

/* The parts of each of the two bands. */
async function bandsOf(steps) {
	const areas = await stepsOf("app.depth", "area", steps);
	return [...new Set(areas.map(([colour]) => colour))].map((each) => areas.filter(([colour]) => colour === each).flatMap(([, parts]) => parts));
}

const RUNS = [[2, 3, 4], [8, 9, 10]], POINTS = [0, 1, 5, 6, 7, 11, 12, 13, 14];

await enter(page);
if (!isReport)
	await visit(page, "#/pool/acct%24pool", "overview");
await ready(page, "overview");
await page.locator("figure", { hasText: "app.depth" }).waitFor();
await drawn(page);
await shot(page, shots, "few");
const median = (await stepsOf("app.depth", "line", STEPS)).filter(([, parts]) => parts.length);
same("the median is a line where most nodes are known", [RUNS], median.map(([, parts]) => parts));
same("... and points where few are", POINTS, (await stepsOf("app.depth", "point", STEPS)).map(([, [[x]]]) => x));
const there = (runs) => runs.map((r) => [...r, ...r.slice().reverse()]);
same("the bands are where most are known", [there(RUNS), there(RUNS)], await bandsOf(STEPS));
const caption = await page.locator("figure", { hasText: "app.depth" }).locator("figcaption").textContent();
judge("a sentence says what points are", caption.endsWith("; points are of fewer than half of the nodes"), caption);

const canvas = page.locator("figure", { hasText: "app.depth" }).locator("canvas").first();
await canvas.scrollIntoViewIfNeeded();
const box = await canvas.boundingBox();
async function read(step) {
	await page.mouse.move(box.x + LEFT + (step + 0.5) / STEPS * (box.width - LEFT), box.y + box.height / 2);
	return (await page.locator("figure", { hasText: "app.depth" }).locator(".readout").textContent()).replace(/^\S+ /, "");
}
same("the pointer reads of how many", "22:14:25   min 90 thing   p10 90 thing   p50 110 thing   p90 140 thing   max 140 thing   6 of 14 nodes", await read(6));
same("... also of more than half", "22:15:05   min 10 thing   p10 10 thing   p50 40 thing   p90 70 thing   max 70 thing   7 of 14 nodes", await read(10));
same("... not of all", "22:13:55   min 10 thing   p10 20 thing   p50 70 thing   p90 130 thing   max 140 thing", await read(3));
await page.keyboard.press("T");
await page.locator("figure table", { hasText: "app.depth" }).locator("tbody tr").last().waitFor();
same("a table has the number of nodes", ["1", "1", "14", "14", "14", "6", "6", "6", "14", "14", "7", "1", "1", "1", "1"],
	await page.locator("figure table", { hasText: "app.depth" }).locator("tbody tr").evaluateAll((rows) => rows.map((each) => each.lastChild.textContent)));
await page.keyboard.press("T");

if (!isReport) {
	await visit(page, "#/pool/acct%24pool/node/n01", "node");
	await page.waitForFunction(() => document.querySelectorAll(".stack .legend li").length === 2);
	await drawn(page);
	const lines = (await stepsOf("app.depth", "line", STEPS)).map(([, parts]) => parts);
	same("the median of the pool is a line where most nodes are known", RUNS, lines[1]);
	same("... and points where few are", POINTS, (await stepsOf("app.depth", "point", STEPS)).map(([, [[x]]]) => x));

	await visit(page, "#/pool/acct%24gap", "overview");
	await page.locator("figure", { hasText: "app.depth" }).waitFor();
	await drawn(page);
	const silent = there([[0, 1, 2], [7, 8, 9]]);
	same("where nobody reported is nothing", [silent, silent], await bandsOf(10));
	judge("... and nothing is said of few", !(await page.textContent("main")).includes("fewer than half"), "it is");
}
await finish();
