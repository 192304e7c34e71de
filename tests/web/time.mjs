/*
 * time - of which time the screens of 073-time.sh are, and what a pool has no view for.
 *
 *	node time.mjs DIR ADDRESS CHROMIUM BASE [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { execFileSync } from "node:child_process";
import { address, drawn, enter, finish, judge, newPage, origin, ready, same, shot, visit, words } from "./judge.mjs";

const [given, shots] = words, base = Number(given);
const POOL = "#/pool/acct%24pool", FARM = "#/pool/acct%24farm";
const page = await newPage();
const at = (seconds) => new Date(1000 * (base + seconds)).toISOString().replace(".000", "");
let refused = [];
page.on("response", (r) => r.status() >= 400 && refused.push(r.status() + " " + r.url()));

const when = page.getByLabel("Time", { exact: true });
const chosen = () => when.evaluate((select) => select.selectedOptions[0].text);
const said = () => page.evaluate(() => {
	const note = document.querySelector("#when .note");
	return note && !note.hidden ? note.textContent : "";
});
/* What answers that come later may still say. */
const comes = async (wanted) => {
	await page.waitForFunction(([source]) => new RegExp(source).test(document.querySelector("#when .note")?.textContent), [wanted.source]).catch(() => {});
	return said();
};
const text = () => page.textContent("main");
/* The cells of the table with this name. */
const cells = (name) => page.evaluate((caption) => {
	const of = [...document.querySelectorAll("main table")].find((each) => each.offsetParent && each.caption.textContent.startsWith(caption));
	return of ? [...of.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent)) : [];
}, name);

async function open(fragment, view) {
	refused = [];
	await visit(page, fragment, view);
	await shot(page, shots, "time");
}

/* What the terminal says. */
function terminal(what, pool, options) {
	try {
		return JSON.parse(execFileSync("poolscope-stats", [...what, "-p", pool, ...options, "--format", "json"], { stdio: ["ignore", "pipe", "ignore"] })).rows;
	} catch {
		return []; // it says that there is nothing
	}
}

const counted = (rows, phase) => {
	const row = rows.find((each) => each.phase === phase);
	return row && row.count ? [row.count, row.sum] : [0, 0];
};
/* The columns Count and Sum of a row of phases. */
const shownCount = (rows, phase) => {
	const row = rows.find((each) => each[0] === phase);
	return row ? [Number(row[1]), Number(row[6])] : [0, 0];
};

/* The parameters of the page, those of the terminal, what the field says; preparations, their
 * seconds, those of n2, pulls, the mean depth of n1 as it is written, values of it, runs. */
const TIMES = [
	["", ["--start", "newest"], /^newest start, .*, 3rd of 3$/, 2, 10, 6, 1, "7", 4, 4],
	["start=all", ["--start", "all"], /^all 3 starts$/, 6, 120, 66, 1, "4.50", 8, 4],
	["from=-15m", ["--from", "-15m"], /^last 15 min$/, 0, 0, 0, 1, "9", 2, 1],
	["from=-1h", ["--from", "-1h"], /^last hour$/, 2, 10, 6, 1, "7", 4, 2],
	["from=-1d", ["--from", "-1d"], /^last day$/, 4, 40, 26, 1, "5.67", 6, 3],
	[`from=${at(-7250)}&to=${at(-7000)}`, ["--from", at(-7250), "--to", at(-7000)], /^from … to$/, 2, 30, 20, 0, "3", 2, 1],
	[`start=${at(-7200)}`, ["--start", at(-7200)], /, 2nd of 3$/, 2, 30, 20, 0, "3", 2, null],
];

async function tables() {
	await page.keyboard.press("T");
	await page.waitForFunction(() => [...document.querySelectorAll("main figure .instead")].some((each) => !each.hidden));
	await drawn(page);
}

async function pool([params, options, field, count, sum, n2, pulls, mean, values]) {
	const of = (view, more = "") => POOL + view + "?" + [params, more].filter(Boolean).join("&"), name = (view) => `${view}, ${params || "nothing chosen"}`;
	const phases = terminal(["phases"], "acct$pool", options), byNode = terminal(["phases", "--by", "node"], "acct$pool", options);
	same(name("the terminal"), [[count, sum], pulls], [counted(phases, "work:prepare"), counted(phases, "work:pull")[0]]);
	await open(of(""), "overview");
	const found = await cells("Phases");
	same(name("the overview"), [[count, sum], pulls], [shownCount(found, "work:prepare"), shownCount(found, "work:pull")[0]]);
	judge(name("the field"), field.test(await chosen()), await chosen());
	const links = await page.evaluate(() => [...document.querySelectorAll("#tabs a")].map((each) => each.hash));
	judge(name("tabs keep it"), links.length === 4 && links.every((each) => (each.split("?")[1] || "") === new URLSearchParams(params).toString()), links.join(" "));
	await open(of("/timeline"), "timeline");
	judge(name("the timeline"), (await text()).includes(count || pulls ? (count ? "2 nodes, " : "1 node, ") : "None is of this time"), await text());
	await open(of("/breakdown"), "breakdown");
	if (count) {
		await tables();
		const rows = await cells("");
		const of2 = byNode.find((each) => each.node === "n2" && each.phase === "work:prepare").sum;
		judge(name("the breakdown"), of2 === n2 && rows.some((row) => row[0] === "n2" && row.includes(n2.toFixed(1))), JSON.stringify([of2, rows]));
		await page.keyboard.press("T");
	}
	await open(of("/map", "value=phase:work:prepare"), "map");
	judge(name("the map of a phase"), (await text()).includes(count ? `Greatest: n2 with ${n2 < 10 ? n2.toFixed(2) : n2.toFixed(1)} s` : "None is of this time"), await text());
	await open(of("/map", "value=metric:app.depth"), "map");
	const [depth] = terminal(["samples", "--by", "node"], "acct$pool", options);
	judge(name("the map of a metric"), Math.abs(depth.mean - Number(mean)) < 0.01 && (await text()).includes(`Greatest: n1 with ${mean} thing`), depth.mean + " " + await text());
	await open(of("/node/n1"), "node");
	/* A depth that did not change is no row. */
	const [metric] = await cells("Metrics"), is = depth.changed ? [values, mean] : mean;
	same(name("a node"), is, depth.changed && metric ? [Number(metric[1]), metric[3].split(" ")[0]] :
		(/Unchanged: app\.depth (\S+) thing/.exec(await text()) || [])[1]);
	same(name("... its phases"), count / 2, shownCount(await cells("Phases"), "work:prepare")[0]);
}

async function farm([params, options, , , , , , , , runs]) {
	if (runs === null)
		return;
	const name = (view) => `${view}, ${params || "nothing chosen"}`;
	same(name("runs in the terminal"), runs, terminal(["runs"], "acct$farm", options).length);
	await open(FARM + "/runs?" + params, "runs");
	same(name("runs"), runs, (await cells("The newest runs")).length);
	await open(FARM + "/groups?" + params, "groups");
	same(name("runs of a group"), String(runs), ((await cells("Groups"))[0] || [])[1]);
	await open(FARM + "?" + params, "overview");
	same(name("the overview of a farm"), runs, (await cells("The newest runs")).length);
}

await enter(page);
for (const each of TIMES) {
	await pool(each);
	await farm(each);
}

await open(`${POOL}?from=${base - 7250}.000000&to=${base - 7000}.000000`, "overview");
same("an older bookmark", [2, 30], shownCount(await cells("Phases"), "work:prepare"));
same("... and its times", [at(-7250), at(-7000)].map((each) => each.replace("T", " ").replace("Z", "")),
	[await page.getByLabel("From (UTC)").inputValue(), await page.getByLabel("To (UTC)").inputValue()]);

/* ---- what is chosen ---- */

const count = (n) => page.waitForFunction((wanted) => [...document.querySelectorAll("main table tbody tr")].some((row) =>
	row.cells[0].textContent === "work:prepare" && row.cells[1].textContent === wanted), n).catch(() => {});
await open(POOL, "overview");
await when.focus();
await page.keyboard.type("last d");
await count("4");
judge("a time by the keyboard", page.url().endsWith("?from=-1d"), page.url());
await page.goBack();
await count("2");
judge("back", !page.url().includes("from") && (await chosen()).startsWith("newest"), page.url());
await page.goForward();
await count("4");
judge("forward", page.url().endsWith("?from=-1d") && await chosen() === "last day", page.url());
await page.reload();
await count("4");
judge("again", page.url().endsWith("?from=-1d") && await chosen() === "last day", page.url());
await when.selectOption("window");
const from = page.getByLabel("From (UTC)"), to = page.getByLabel("To (UTC)");
await from.fill(at(-7250).replace("T", " ").replace("Z", ""));
await to.fill(at(-7000).replace("T", " ").replace("Z", ""));
await page.keyboard.press("Enter");
await count("2");
same("two times", `from=${at(-7250)}&to=${at(-7000)}`, decodeURIComponent(page.url().split("?")[1]));
await page.keyboard.press("Escape");
await page.keyboard.press("g");
await page.keyboard.press("n");
await ready(page, "map");
judge("keys keep it", decodeURIComponent(page.url()).endsWith(`/map?from=${at(-7250)}&to=${at(-7000)}`), page.url());
same("states are those of now", "States of nodes are of now.", await said());
await page.getByRole("button", { name: "✕" }).click();
await page.waitForFunction(() => !location.hash.includes("?"));
same("... which is no news then", "", await said());

/* ---- nothing of that time ---- */

const NOTHING = /^There is nothing of this time\. The records of this pool are of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d to .* UTC\.$/;
await page.setViewportSize({ width: 360, height: 800 });
for (const view of ["", "/timeline", "/breakdown", "/map?value=metric:app.depth", "/node/n1"]) {
	const fragment = (params) => POOL + view + (view.includes("?") ? "&" : "?") + params;
	const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
	await open(fragment(`from=${base - 999999}&to=${base - 888888}`));
	judge("nothing of a window" + view, NOTHING.test(await comes(NOTHING)) && await fits(), await said());
	await open(fragment("start=2001-01-01T00:00:00Z"));
	judge("a start that is gone" + view, NOTHING.test(await comes(NOTHING)) && await fits(), await said());
	await open(fragment("from=-1h&to=-2h"), "problem");
	same("from after to" + view, "This cannot be asked: from: the time is not before that of to.", await text());
	await open(fragment("from=soon"), "problem");
	judge("what is no time" + view, /^This cannot be asked: from: /.test(await text()) && await fits(), await text());
}
await page.setViewportSize({ width: 1200, height: 900 });
await open("#/pool/acct%24past?from=-15m", "overview");
judge("a clock of 1970", /The records of this pool are of 1970-01-01 00:16:40 to 1970-01-01 00:16:49 UTC\./.test(await said()), await said());

/* ---- what a pool has nothing for ---- */

const TABS = { pool: "Overview Timeline Breakdown Nodes", farm: "Overview Timeline Breakdown Nodes Runs Groups",
	imported: "Overview Timeline Breakdown Runs Groups", machine: "Overview Nodes" };
for (const [name, wanted] of Object.entries(TABS)) {
	await open("#/pool/acct%24" + name, "overview");
	await page.waitForFunction((n) => document.querySelectorAll("#tabs a").length >= n, wanted.split(" ").length).catch(() => {});
	const tabs = await page.evaluate(() => [...document.querySelectorAll("#tabs a")].map((each) => [each.textContent, each.hash]));
	same("tabs of " + name, wanted, tabs.map(([title]) => title).join(" "));
	const others = refused.filter((each) => !each.includes("/series?metric=system.") && !each.includes("&metric=system.") && !each.includes("&as=used")); // which metrics there are it does not know
	judge("the overview of " + name + " asks for nothing else", others.length === 0, others.join(" "));
	for (const [title, hash] of tabs.slice(1)) {
		await open(hash);
		judge(`${title} of ${name} shows something`, refused.length === 0 && !await page.$("main .nothing"), refused.join(" ") + await text());
	}
}
await open("#/pool/acct%24machine", "overview");
judge("machines have curves", await page.locator("main .charts canvas").count() === 1 && !(await page.innerText("main")).includes("Phases"), await text());
await open(POOL + "/timeline", "timeline");
judge("models that the pool has nothing for", await page.getByLabel("Model").isHidden(), await text());
const box = await page.locator("figure canvas").first().boundingBox();
await page.mouse.move(box.x + 154, box.y + 60);
const tip = await page.locator("main .readout").first().boundingBox();
judge("what a bar is stands at the pointer", tip && Math.abs(tip.x - box.x - 154) < 40 && Math.abs(tip.y - box.y - 60) < 40, JSON.stringify([box, tip]));

/* ---- without a token ---- */

const other = await newPage();
await other.goto(origin + "/" + POOL);
await ready(other, "problem");
judge("no token: a field for it, and one sentence", /^.*A token is needed: type it, or open the address that poolscope web printed\./.test(await other.innerText("main .problem p")),
	await other.innerText("main"));
await other.getByLabel("Token").fill(address);
await other.keyboard.press("Enter");
await ready(other, "overview");
const field = other.getByLabel("Time", { exact: true });
await other.waitForFunction(() => document.querySelector("#when select").selectedOptions[0].text.startsWith("newest start")).catch(() => {});
judge("... which is enough", (await field.evaluate((select) => select.selectedOptions[0].text)).endsWith("3rd of 3") &&
	await other.waitForFunction(() => !document.body.textContent.includes("token not valid")).catch(() => null), await other.innerText("body"));
await finish();
