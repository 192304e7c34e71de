/*
 * pages - the pages of a list of runs.
 *
 *	node pages.mjs DIR ADDRESS CHROMIUM COMMAND
 *
 * The pool acct$farm has the runs 0 to 59; COMMAND adds 900, the newest.
 * SPDX-License-Identifier: MIT
 */
import { execSync } from "node:child_process";
import { enter, finish, judge, newPage, origin, ready, words } from "./judge.mjs";

const [command] = words;
const page = await newPage({ viewport: { width: 1200, height: 1400 } });
const fragment = () => decodeURIComponent(new URL(page.url()).hash);
const shown = () => page.evaluate(() => [...document.querySelectorAll("table tbody tr")]
	.map((row) => row.firstElementChild.textContent).filter((text) => /^\d+$/.test(text)).map(Number));

/* From `first` down, as many as a page has. */
async function shows(name, first) {
	const wanted = Array.from({ length: 20 }, (_, i) => first - i).join();
	const good = await page.waitForFunction((text) => [...document.querySelectorAll("table tbody tr")]
		.map((row) => row.firstElementChild.textContent).filter((each) => /^\d+$/.test(each)).join() === text,
	wanted).then(() => true, () => false);
	judge(name, good, (await shown()).join());
}

await enter(page);
await page.goto(origin + "/#/pool/acct%24farm/runs");
await shows("the newest runs", 59);
await page.getByRole("button", { name: "Older" }).click();
await shows("the next page goes on after the last run", 39);
judge("... and says so in the address", fragment().includes("after=40"), fragment());
execSync(command);
await page.reload();
await ready(page);
await shows("a run that comes does not move it", 39);
await page.getByRole("button", { name: "Older" }).click();
await shows("the last page", 19);
judge("... is the last", await page.getByRole("button", { name: "Older" }).isDisabled(), "Older can be pressed");
await page.goto(origin + "/#/pool/acct%24farm/runs?skip=20&after=gone");
await page.waitForFunction(() => !location.hash.includes("after")).catch(() => {});
judge("after a run that is gone the page begins again", fragment() === "#/pool/acct$farm/runs", fragment());
await page.waitForFunction(() => [...document.querySelectorAll("table tbody th")].some((each) => each.textContent === "900")).catch(() => {});
judge("... with the newest", (await shown())[0] === 900, (await shown()).join());
await finish();
