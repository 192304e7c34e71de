/*
 * node - what the page says of a node of 081-node.sh.
 *
 *	node node.mjs DIR ADDRESS CHROMIUM SAMPLES BANDS [SHOTS]
 *
 * SAMPLES and BANDS are files with what the terminal says, as JSON.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync } from "node:fs";
import { enter, finish, judge, newPage, same, shot, visit, words } from "./judge.mjs";

const [samples, bands, shots] = words;
const page = await newPage({ viewport: { width: 1280, height: 900 } });
const known = (file) => JSON.parse(readFileSync(file)).rows;
const NODE = "#/pool/acct%24pool/node/n1";

/* Where each text is written, by the height of the picture that it is in. */
await page.addInitScript(() => {
	const write = CanvasRenderingContext2D.prototype.fillText;
	window.places = [];
	CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
		window.places.push([this.canvas.closest("figure").textContent.slice(0, 30), text, Math.round(x)]);
		return write.call(this, text, x, ...rest);
	};
});

const compared = () => page.waitForFunction(() => document.querySelector(".stack .legend li")).catch(() => {});

await enter(page);
await visit(page, NODE, "node");
await compared();
await shot(page, shots, "node");
same("groups with changes come first", ["queue: 1 of 3 metrics changed", "fixed: none of 1 metric changed"],
	await page.evaluate(() => [...document.querySelectorAll(".metrics summary")].map((each) => each.textContent)));
const of = known(samples).find((r) => r.metric === "app.depth");
same("a metric says what the terminal says", ["app.depth", "11", ...[of.last, of.mean, of.min, of.p99, of.max].map((v) => (Number.isInteger(v) ? String(v) : v.toFixed(2)) + " thing")],
	await page.evaluate(() => [...document.querySelector(".metrics tbody tr").cells].map((cell) => cell.textContent)));
same("what did not change are words, a time is a time", "Unchanged: app.boot 2023-11-14 22:13:20 UTC, app.limit 7 thing.",
	await page.textContent(".metrics details > div > .note"));
const places = await page.evaluate(() => window.places);
const at = (begin) => Object.fromEntries(places.filter(([of, text]) => of.startsWith(begin) && /^\d\d:\d\d:\d\d$/.test(text)).map(([, text, x]) => [text, x]));
const lanes = at("1 lane"), curve = at("app.depth"), common = Object.keys(lanes).filter((text) => text in curve);
judge("phases and curves have one axis", common.length > 2 && common.every((text) => Math.abs(lanes[text] - curve[text]) < 3 || text === Object.keys(lanes)[0]),
	JSON.stringify([lanes, curve]));
await page.getByRole("searchbox").fill("fixed");
await page.waitForFunction(() => document.querySelectorAll(".metrics summary").length === 1);
same("a filter leaves one group", ["fixed: none of 1 metric changed"],
	await page.evaluate(() => [...document.querySelectorAll(".metrics summary")].map((each) => each.textContent)));

await page.keyboard.press("Escape");
await page.keyboard.press("T");
await page.waitForFunction(() => [...document.querySelectorAll(".stack table")].some((each) => each.querySelectorAll("tbody tr").length > 5));
const [heads, ...rows] = await page.evaluate(() => {
	const table = [...document.querySelectorAll(".stack table")].find((each) => each.caption.textContent === "app.depth");
	return [[...table.querySelectorAll("thead th")].map((each) => each.textContent),
		...[...table.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))];
});
same("a line of the node, one of the median", ["Time (UTC)", "n1", "median of the pool"], heads);
const wanted = known(bands).map((r) => r.p50 + " thing");
same("... which is that of the terminal", wanted, rows.map((row) => row[2]));
judge("... 3 and 4, by hand", rows.filter((row) => row[2] === "4 thing").length === 1 && rows.every((row) => /^[34] thing$/.test(row[2])), JSON.stringify(rows));
await page.keyboard.press("T");
for (const width of [360, 800, 1600]) {
	await page.setViewportSize({ width, height: 800 });
	await visit(page, NODE, "node");
	await compared();
	judge("nothing is wider than the window: " + width, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
		await page.evaluate(() => document.documentElement.scrollWidth));
}
await finish();
