/*
 * runs - what the page says of the runs of 080-runs.sh.
 *
 *	node runs.mjs DIR ADDRESS CHROMIUM ANSWER [SHOTS]
 *
 * ANSWER is a file with what the terminal says of acct$farm, as JSON.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync } from "node:fs";
import { enter, finish, judge, newPage, same, shot, visit, words } from "./judge.mjs";

const [answer, shots] = words;
const page = await newPage({ viewport: { width: 1600, height: 900 } });
const FARM = "#/pool/acct%24farm/runs", MANY = "#/pool/acct%24many/runs";

/* The rows of the table of this caption, as { heading: text }. */
const rows = (caption) => page.evaluate((text) => {
	const of = [...document.querySelectorAll("main table")].find((each) => each.caption.textContent.startsWith(text));
	const heads = of ? [...of.querySelectorAll("thead th")].map((each) => each.textContent) : [];
	return of ? [...of.querySelectorAll("tbody tr")].map((row) => Object.fromEntries([...row.cells].map((cell, i) => [heads[i], cell.textContent]))) : [];
}, caption);
const ids = async () => (await rows("The newest runs")).map((row) => row.Run);
const until = (count) => page.waitForFunction((n) => [...document.querySelectorAll("main table")].some((each) =>
	each.caption.textContent.startsWith("The newest runs") && each.querySelectorAll("tbody tr").length === n), count).catch(() => {});

async function open(fragment) {
	await visit(page, fragment, "runs");
	await shot(page, shots, "runs");
}

await enter(page);
await open(FARM);
const known = JSON.parse(readFileSync(answer)).rows, or = (v) => v ?? "–";
same("each run says what the terminal says",
	known.map((r) => [r.run, or(r.queue), or(r.configuration), or(r.requestor), or(r.error_text), r.error]),
	(await rows("The newest runs")).map((r) => [r.Run, r.Queue, r.Configuration, r.Requestor, r.Error, r.State.endsWith("failed")]));
same("the top errors, the most frequent first", [["flash:timeout", "2", "4"], ["failed, no text", "1", "5"], ["<b>boot</b>", "1", "3"]],
	(await rows("The most frequent errors")).map((r) => [r.Error, r.Runs, r.Newest]));
await page.getByRole("link", { name: "flash:timeout" }).click();
await until(2);
same("an error leads to its runs", ["4", "1"], await ids());
await open(FARM);
await page.getByRole("searchbox", { name: "Queue" }).fill("night*");
await until(3);
same("runs of a queue", ["4", "2", "1"], await ids());
await page.getByRole("link", { name: "4", exact: true }).last().click();
await page.waitForFunction(() => document.querySelector("h1").textContent === "Run 4");
await shot(page, shots, "runs");
const said = await page.textContent("main");
judge("a row leads to its run, which has the text of the error", /flash:timeout/.test(said) && /nightly/.test(said) && /ada/.test(said), said);
const [step] = (await rows("Steps of this run")).filter((r) => r.Step === "queue");
judge("... and its steps against the median of the group", step.Seconds === "40.0" && Math.abs(Number(step.Usual) - 20) < 0.5, JSON.stringify(step));
await page.getByRole("link", { name: "ada" }).click();
await until(2);
same("who requested it leads to the others", ["4", "1"], await ids());
await visit(page, FARM + "/none", "problem");
judge("a run that does not exist", /no run 'none'/.test(await page.textContent("main")), await page.textContent("main"));

await open(MANY + "?state=failed");
same("twenty of those that failed", Array.from({ length: 20 }, (_, i) => "r" + (60 - 2 * i)), await ids());
await page.getByRole("button", { name: "Older" }).click();
await until(10);
same("... and the other ten", Array.from({ length: 10 }, (_, i) => "r" + (20 - 2 * i)), await ids());
for (const width of [360, 800, 1600]) {
	await page.setViewportSize({ width, height: 800 });
	for (const fragment of [MANY, MANY + "/r60", FARM]) {
		await open(fragment);
		judge("nothing is wider than the window: " + width + " " + fragment, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
			await page.evaluate(() => document.documentElement.scrollWidth));
	}
}
await finish();
