/*
 * starts - which start of a pool the page of 071-starts.sh shows.
 *
 *	node starts.mjs DIR ADDRESS CHROMIUM [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { enter, finish, judge, newPage, ready, same, shot, visit, words } from "./judge.mjs";

const [shots] = words;
const TWICE = "#/pool/acct%24twice", FIRST = "2023-11-14T22:13:20Z";
const page = await newPage();
const field = page.getByLabel("Time", { exact: true });
const options = () => field.evaluate((select) => [...select.options].map((each) => each.text));
const chosen = () => field.evaluate((select) => select.selectedOptions[0].text);
const here = () => page.evaluate(() => decodeURIComponent(location.hash));

async function open(fragment, view) {
	await visit(page, fragment, view);
	await shot(page, shots, "starts");
}

/* What of an answer is shown, after something is done. */
async function answered(route, act) {
	const coming = page.waitForResponse((r) => new URL(r.url()).pathname.endsWith("/" + route));
	await act();
	const answer = await coming;
	return { status: answer.status(), of: await answer.json(), url: decodeURIComponent(answer.url()) };
}

/* How many preparations the overview has, once it has the ones of this start. */
async function counts(name, count, sum) {
	const found = await page.waitForFunction(([n, s]) => [...document.querySelectorAll("main table tr")].some((row) => {
		const cells = [...row.cells].map((cell) => cell.textContent);
		return /nodeprep/.test(cells[0]) && cells[1] === n && cells.includes(s);
	}), [count, sum], { timeout: 60000 }).catch(() => null);
	judge(name, found, await page.textContent("main"));
}

await enter(page);
await open(TWICE, "overview");
await counts("the overview is of the newest start", "2", "10.0");
same("a start can be chosen", ["newest start, 2023-11-14 22:28:20, 2nd of 2", "all 2 starts",
	"last 15 min", "last hour", "last day", "from … to", "2023-11-14 22:13:20, 1st of 2"], await options());
judge("the newest one is chosen", await chosen() === "newest start, 2023-11-14 22:28:20, 2nd of 2", await chosen());
await field.selectOption(FIRST);
await counts("the first one", "3", "60.0");
judge("... has an address", (await here()).endsWith("?start=" + FIRST), await here());
judge("... and is named", await chosen() === "2023-11-14 22:13:20, 1st of 2", await chosen());
await page.click("#tabs a:text('Breakdown')");
await ready(page, "breakdown");
judge("another view is of the same start", (await here()).endsWith("/breakdown?start=" + FIRST), await here());
judge("... and names it", await chosen() === "2023-11-14 22:13:20, 1st of 2", await chosen());
const lines = await answered("timeline", () => page.click("#tabs a:text('Timeline')"));
judge("the timeline, too", lines.status === 200 && lines.of.nodes === 3 && lines.of.start_number === 1, JSON.stringify(lines.of.start_number));
await ready(page, "timeline");
const all = await answered("timeline", () => field.selectOption("all"));
judge("all starts are a choice", all.of.start === null && all.of.t1 === "2023-11-14T22:28:31Z", all.of.t1);
judge("... with an address", (await here()).endsWith("?start=all"), await here());
await ready(page, "timeline");
judge("... that is chosen", await chosen() === "all 2 starts", await chosen());
const newest = await answered("timeline", () => field.selectOption(""));
judge("back to the newest", newest.of.start_number === 2 && newest.of.nodes === 2, newest.of.start_number);
judge("... whose address has no start", !(await here()).includes("start"), await here());
await open(TWICE + "/timeline?from=1700000000&to=1700000040", "timeline");
judge("in a window of time there is no start", await chosen() === "from … to" && await page.isVisible("#when button:has-text('✕')"), await chosen());
await open(TWICE + "/node/n1?start=" + FIRST, "node");
judge("a node in its first start", await chosen() === "2023-11-14 22:13:20, 1st of 2", await chosen());
const map = await answered("phases", () => open(TWICE + "/map?value=phase%3Acascade%3Anodeprep&start=" + FIRST, "map"));
judge("the map, too", map.status === 200 && await chosen() === "2023-11-14 22:13:20, 1st of 2", await chosen());
await open("#/pool/acct%24once", "overview");
await counts("a pool with one start is whole", "2", "30.0");
same("... and has no other to choose", ["newest start, 2023-11-14 22:13:20", "last 15 min", "last hour", "last day", "from … to"], await options());
await finish();
