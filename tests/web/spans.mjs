/*
 * spans - what the page says of the spans of 082-spans.sh.
 *
 *	node spans.mjs DIR ADDRESS CHROMIUM ANSWERS [SHOTS]
 *
 * ANSWERS is a directory with what the terminal says by name, by node and by span.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync } from "node:fs";
import { drawn, enter, finish, judge, listen, newPage, ready, same, shot, visit, words } from "./judge.mjs";

const [answers, shots] = words;
const page = await newPage();
await listen(page);
const known = (by) => JSON.parse(readFileSync(answers + "/" + by)).rows;
const POOL = "#/pool/acct%24pool";
const rows = (number) => page.evaluate((n) => [...[...document.querySelectorAll("main table")][n].querySelectorAll("tbody tr")]
	.map((row) => [...row.cells].map((cell) => cell.textContent)), number);
const s = (v) => v < 0.05 ? String(v) : v.toFixed(1);

async function open(fragment) {
	await visit(page, POOL + fragment);
	await shot(page, shots, "spans");
}

await enter(page);
await open("");
await page.getByRole("link", { name: "Spans" }).click();
await page.waitForFunction(() => document.querySelectorAll("main table tbody tr").length > 3);
const sums = (by) => known(by).map((r) => [r[by], String(r.count), s(r.p50), s(r.p90), s(r.p99), s(r.max), s(r.sum)]);
same("by name, as in the terminal", sums("name"), (await rows(0)).map((row) => row.slice(0, 7)));
same("... the compilations by hand", ["cc", "10", "5.0", "9.0", "10.0", "10.0", "55.0", "91.7"], (await rows(0))[0]);
same("the slowest, as in the terminal", known("span").map((r) => [r.name, r.node, r.track]), (await rows(1)).map((row) => row.slice(0, 3)));
same("... the last compilation", ["cc", "cn1", "build", "2023-11-14 22:14:05", "10.0 s"], (await rows(1))[0]);

/* In time: three lanes, of 60 s.  In the picture's window the pixel of a moment, and a lane's middle. */
const picture = page.getByRole("img", { name: /^Spans in time/ });
const box = async () => (await picture.boundingBox());
const LEFT = 150, TOP = 26, LANE = 22;
async function hover(seconds, lane, of = 60, from = 0) {
	const at = await box();
	await page.mouse.move(at.x + LEFT + (seconds - from) / of * (at.width - LEFT), at.y + TOP + (lane + 0.5) * LANE);
	return page.textContent(".readout:not(:empty)");
}
same("the picture in words", "Spans in time. 2 nodes, 3 lanes, 2023-11-14 22:13:20 to 22:14:20 UTC.", await picture.getAttribute("aria-label"));
const drawnTexts = await page.evaluate(() => window.written);
judge("lanes have the names of node and track", ["cn1 build", "cn2 link", "cn2 test"].every((text) => drawnTexts.includes(text)), drawnTexts.join("|"));
same("hovering says what ran", "cn1 build: cc, began 22:14:05 UTC, 10.0 s", await hover(50, 0));
same("... on another track", "cn2 link: ld, began 22:14:15 UTC, 5.00 s", await hover(57, 1));
same("... or that nothing did", "cn2 test, 22:14:10 UTC: no span", await hover(50.02, 2));
judge("... a name that would be markup is text", /^cn2 test: <b>x+<\/b>, began 22:14:18 UTC, 500\.0 ms$|^cn2 test: <b>x+<\/b>, began 22:14:18 UTC, 500 ms$/.test(await hover(58.25, 2)),
	await hover(58.25, 2));
await page.keyboard.press("+");
await page.waitForFunction(() => /from=/.test(location.hash));
await ready(page, "spans");
judge("the key for less time is a window of all of the page", (await page.locator("#when form").isVisible()), page.url());
await page.keyboard.press("0");
await page.waitForFunction(() => !/from=/.test(location.hash));
await ready(page, "spans");
await drawn(page);
const lane = await box();
await page.mouse.click(lane.x + LEFT + 20, lane.y + TOP + LANE * 1.5);
await page.waitForFunction(() => /node\/cn2/.test(location.hash)).catch(() => {});
judge("a lane is a link to its node", /node\/cn2/.test(page.url()), page.url());
await open("/spans?node=cn1");
same("of a node alone tracks have names", true, await page.evaluate(() => window.written.includes("build")));
await open("/spans");
await page.keyboard.press("T");
await page.waitForFunction(() => !document.querySelector(".instead").hidden);
same("as a table", ["cn1 build", "cc", "build", "2023-11-14 22:13:20", "1.0"], (await rows(0))[0]);
await page.keyboard.press("T");
await open("/spans?by=node");
same("by node", sums("node"), (await rows(0)).map((row) => row.slice(0, 7)));
const links = await page.evaluate(() => [...document.querySelectorAll("main tbody a")].map((a) => decodeURIComponent(a.hash)));
judge("nodes are links", links.length === 14 && links.every((each) => /^#\/pool\/acct\$pool\/node\/cn[12]$/.test(each)), links.join(" "));
await open("/spans?name=l*");
same("those of a name", ["ld"], (await rows(0)).map((row) => row[0]));
for (const width of [360, 800, 1600]) {
	await page.setViewportSize({ width, height: 800 });
	await open("/spans");
	judge("nothing is wider than the window: " + width, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
		await page.evaluate(() => document.documentElement.scrollWidth));
}
await finish();
