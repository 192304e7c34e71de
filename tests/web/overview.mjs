/*
 * overview - what the first screen of 063-overview.sh says.
 *
 *	node overview.mjs DIR ADDRESS CHROMIUM [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { enter, finish, judge, newPage, same, shot, visit, words } from "./judge.mjs";

const [shots] = words;
const page = await newPage({ viewport: { width: 1280, height: 800 } });

async function open(pool, params = "") {
	await visit(page, "#/pool/" + encodeURIComponent(pool) + params);
	await shot(page, shots, "overview");
}

/* The sentences, and where they lead. */
const lead = () => page.evaluate(() => [...document.querySelectorAll(".lead p")].filter((p) => p.offsetParent).map((p) => p.textContent));
const leads = () => page.evaluate(() => [...document.querySelectorAll(".lead p")].map((p) => p.querySelector("a") ? p.querySelector("a").hash : ""));
const ageless = (list) => list.map((text) => text.replace(/, [^,]* before this answer/, "").replace(/ open [^,]*,/, " open,"));
/* The lists below a heading. */
const below = (heading) => page.evaluate((text) => {
	const of = [...document.querySelectorAll("h2")].find((each) => each.textContent === text && each.offsetParent);
	return of ? [...of.parentElement.querySelectorAll("li, .note")].map((each) => each.textContent) : [];
}, heading);
/* What is on the screen without scrolling. */
const seen = () => page.evaluate(() => [...document.querySelectorAll("main li, main p")].filter((each) => {
	const box = each.getBoundingClientRect();
	return box.height > 0 && box.bottom <= innerHeight;
}).map((each) => each.textContent).join("\n"));

await enter(page);
await open("acct$pool");
same("the newest start, against those before, and how the nodes are", ["All 6 nodes are ready since 2023-11-15T03:48:15Z, " +
	"95.0 s after the first began. The 2 starts before took 100.0 s to 120.0 s.", "Nothing was heard since 2023-11-15T03:50:00Z.",
"No records were lost.", "What nodes waited for of each other is not known: the model does not say it (after, after_any, end_after, places)."],
ageless(await lead()));
same("... each leads to what shows it", ["#/pool/acct%24pool/timeline", "#/pool/acct%24pool/map", "", "#/pool/acct%24pool/timeline"], await leads());
await page.click(".lead a");
await page.waitForFunction(() => document.getElementById("main").dataset.ready === "timeline").catch(() => {});
judge("... which is drawn", (await page.textContent("main h1, main h2")).length > 0 && page.url().includes("/timeline"), page.url());
await open("acct$pool");
same("the slow node, with phase, image and seconds", ["n3: pull train 100.0 s, usual 20.0 s, +80.0 s"], await below("Slowest nodes"));
same("what runs", ["job 17 on 2 nodes"], await below("Running"));
const caption = await page.textContent("figcaption");
judge("the map says what it shows", caption.startsWith("6 nodes, seconds above the usual time") && caption.includes("Greatest: n3 with +80.0 s"), caption);
await open("acct$pool", "?from=1700010000&to=1700010200");
const row = await page.evaluate(() => [...[...document.querySelectorAll("main tbody tr")].find((each) => each.cells[0].textContent === "work:prepare").cells]
	.map((cell) => cell.textContent));
judge("in a window the phases are of it", row[1] === "6" && row.includes("720.0"), row);
same("... the slow nodes, too", ["No node was much slower than usual."], await below("Slowest nodes"));
await page.getByRole("button", { name: "✕" }).click();
await page.waitForFunction(() => !location.hash.includes("from=")).catch(() => {});
judge("... and there is a way out", !page.url().includes("from="), page.url());
await open("acct$stuck");
same("an incomplete start", "The start of 2023-11-14T22:13:20Z is incomplete: 12 of 13 nodes became ready, " +
	"the last of them after 30.0 s.", (await lead())[0]);
same("the node that hangs", ["n13: prepare 300.0 s at its last record, usual 30.0 s, +270.0 s"], await below("Slowest nodes"));
await open("acct$even");
same("nothing is slow", [], await below("Slowest nodes"));
const running = await below("Running");
judge("of many jobs eight are named, two are more", running.length === 9 && running.slice(0, 8).every((each) => /^job \d+ on 1 node$/.test(each)) && running[8] === "2 more", running.join());
await open("acct$late");
const late = (await lead()).find((each) => each.startsWith("n13: ")) || "";
judge("what cost the pool most, though the node was slow in no phase", late.startsWith("n13: it began 300.0 s after the start, others ") &&
	late.includes("That cost the pool 289.0 s."), await lead());
await open("acct$farm");
same("a farm has no start", "1 run in 1 group: 1 finished, 0 with an error, 0 ongoing, 0 queued.", (await lead())[0]);
judge("... and shows its newest runs", (await page.textContent("main .grid")).includes("62.0"), await page.textContent("main"));
await open("acct$used");
await page.locator("figure", { hasText: "cpu used" }).waitFor();
const figures = await page.locator(".charts figcaption").allTextContents();
judge("what all use, and have", figures.length === 2 && figures[0].startsWith("cpu used in processors, 2 lines") && figures[1].startsWith("memory used in bytes, 2 lines"), figures);
await page.keyboard.press("T");
const numbersOf = async (name) => {
	const rows = page.locator("figure table", { hasText: name }).locator("tbody tr");
	await rows.first().waitFor();
	return [...new Set(await rows.evaluateAll((all) => all.map((each) => [...each.cells].slice(1).map((cell) => cell.textContent).join(", "))))];
};
same("... in processors", ["7 processors, 12 processors, 2"], await numbersOf("cpu used"));
same("... and bytes", ["3.9 MiB, 11.7 MiB, 2"], await numbersOf("memory used"));
await page.keyboard.press("T");
await open("demo$recorded");
const recorded = await seen();
judge("the slow one of the demo's pool is on the first screen", /tvm-1392786949_39-20171014t165320z: torrent gcr\.io\/tensorflow\/tensorflow:1\.3\.0-gpu 105\.1 s, usual \d+\.\d s, \+\d+\.\d s/.test(recorded),
	recorded);
await open("big$ten");
const text = await seen();
judge("the slow one of 10,000 is on the first screen", /cn05001: pull gcr\.io\/ml\/train:2\.1 \d+\.\d s, usual \d+\.\d s, \+\d+\.\d s/.test(text), text);
await finish();
