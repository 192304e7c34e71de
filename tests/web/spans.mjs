/*
 * spans - what the page says of the spans of 082-spans.sh.
 *
 *	node spans.mjs DIR ADDRESS CHROMIUM ANSWERS [SHOTS]
 *
 * ANSWERS is a directory with what the terminal says by name, by node and by span.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync } from "node:fs";
import { enter, finish, judge, newPage, same, shot, visit, words } from "./judge.mjs";

const [answers, shots] = words;
const page = await newPage();
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
await open("/spans?order=begin");
same("in time the first one", ["cc", "cn1", "build", "2023-11-14 22:13:20", "1.00 s"], (await rows(1))[0]);
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
