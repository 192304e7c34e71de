/*
 * keys - the page by keyboard alone, and what is live.
 *
 *	node keys.mjs DIR ADDRESS CHROMIUM SECOND THIRD CRASH REVOKE TOKEN
 *
 * Shell commands: SECOND and THIRD send an event of a new node to the pool acct$live, CRASH kills
 * the aggregator and starts it again, REVOKE revokes TOKEN.
 * SPDX-License-Identifier: MIT
 */
import { execSync } from "node:child_process";
import { enter, finish, judge, newPage, origin, ready, words } from "./judge.mjs";

const [second, third, crash, revoke, token] = words;
const page = await newPage({ viewport: { width: 1200, height: 800 } });
const fragment = () => decodeURIComponent(new URL(page.url()).hash);

/* Wait until this holds in the page; who judges it says what does not. */
const soon = (test, arg) => page.waitForFunction(test, arg).catch(() => {});

async function press(...keys) {
	for (const key of keys)
		await page.keyboard.press(key);
}

async function goes(keys, name, to) {
	await press(...keys);
	await ready(page, name).catch(() => {});
	await soon((wanted) => decodeURIComponent(location.hash) === wanted, to);
	judge(keys.join(" ") + " goes to " + to, fragment() === to, fragment());
}

await enter(page);
await goes(["g", "s"], "status", "#/status");
await goes(["g", "p"], "pools", "#/pools");
await press("/", ..."render-60", "Escape");
await soon(() => document.querySelectorAll(".card").length === 1 && location.hash.includes("q="));
judge("/ filters", await page.locator(".card").count() === 1, await page.locator(".card").count());
judge("... and the address has the filter", fragment() === "#/pools?q=render-60", fragment());
await goes(["j", "Enter"], "overview", "#/pool/prodacct$render-60");
await soon(() => document.querySelector(".age").textContent);
judge("nobody waits for records that were imported", await page.locator(".banner").isHidden() && await page.textContent(".age") !== "",
	await page.textContent(".age") + " " + await page.textContent(".banner"));
await goes(["g", "t"], "timeline", "#/pool/prodacct$render-60/timeline");
await goes(["g", "d"], "breakdown", "#/pool/prodacct$render-60/breakdown");

const pixels = () => page.evaluate(() => document.querySelector("figure canvas").toDataURL());
let before = await pixels();
for (const [key, what] of [["+", "zooms"], ["l", "goes on"], ["h", "goes back"], ["-", "shows more"], ["l", "goes on"], ["0", "shows all"]]) {
	await press(key);
	await soon((old) => document.querySelector("figure canvas").toDataURL() !== old, before);
	const after = await pixels();
	judge(key + " " + what, after !== before, "the picture is the same");
	before = after;
}
await press("T");
await page.locator("figure table").waitFor().catch(() => {});
judge("T is a table", await page.locator("figure table").isVisible(), "no table");
await press("T");
const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
const was = await theme();
await press("d");
await soon((old) => document.documentElement.dataset.theme !== old, was);
judge("d changes the colours", await theme() !== was, was);
await press("?");
await soon(() => document.querySelector("dialog[open]"));
judge("? is the list of keys", await page.locator("dialog[open]").isVisible(), "no list");
await press("Escape");
await soon(() => !document.querySelector("dialog[open]"));
judge("Escape closes it", await page.locator("dialog[open]").count() === 0, "it stays");
await goes(["g", "o"], "overview", "#/pool/prodacct$render-60");
await goes(["j", "j", "Enter"], "map", "#/pool/prodacct$render-60/map?value=phase:cascade:shipyard-pull");
await page.goBack();
await ready(page, "overview");
await soon(() => decodeURIComponent(location.hash) === "#/pool/prodacct$render-60");
judge("back is the view before", fragment() === "#/pool/prodacct$render-60", fragment());
/* Sorted by Max, downward: docker's and shipyard's pulls took the longest.  What was clicked does
 * not take Enter from the row. */
await page.getByRole("button", { name: "Max", exact: true }).click();
const first = await page.evaluate(() => document.querySelector("main tbody th").textContent);
await press("j", "Enter");
await ready(page, "map").catch(() => {});
judge("j and Enter after a click on a heading open the row", fragment() === "#/pool/prodacct$render-60/map?value=phase:" + first, first + " " + fragment());
await page.goBack();
await ready(page, "overview");

/* ---- live ---- */
const nodes = () => page.evaluate(() => [...document.querySelectorAll(".figures div")]
	.filter((each) => each.firstChild.textContent === "Nodes").map((each) => each.lastChild.textContent)[0]);
await page.goto(origin + "/#/pool/acct%24live");
await page.waitForFunction(() => document.title.includes("live"));
await ready(page, "overview");
const had = Number(await nodes());
await page.waitForFunction(() => document.querySelector(".dot").dataset.state === "live")
	.catch(() => {});
judge("the page is live", await page.evaluate(() => document.querySelector(".dot").dataset.state) === "live", "no");

async function shows(wanted, name) {
	const begin = Date.now();
	while (Number(await nodes()) !== wanted && Date.now() - begin < 60000)
		await page.waitForTimeout(50);
	judge(name, Number(await nodes()) === wanted, await nodes());
	console.log("after " + (Date.now() - begin) + " ms");
}
const run = (command) => execSync(command, { stdio: "ignore" });
run(second);
await shows(had + 1, "a new node is on the screen");
run(crash);
run(third);
await shows(had + 2, "after a crash of the aggregator the page goes on");
await page.waitForTimeout(1500);
judge("... and shows nothing twice", Number(await nodes()) === had + 2, await nodes());

/* ---- tokens ---- */
const other = await newPage();
await other.goto(origin + "/");
await other.waitForFunction(() => document.getElementById("main").dataset.ready);
judge("without a token it says what to do", /open the address|poolscope web prints/.test(await other.textContent("main")),
	await other.textContent("main"));
await other.goto(origin + "/#k=wrong");
await other.waitForFunction(() => document.getElementById("main").dataset.ready === "problem");
judge("so it does with a wrong one", /open the address|poolscope web prints/.test(await other.textContent("main")),
	await other.textContent("main"));
await other.getByLabel("Token").fill(origin + "/#k=" + token);
await other.getByRole("button", { name: "Use this token" }).click();
await other.waitForFunction(() => document.getElementById("main").dataset.ready === "pools");
judge("a token can be given there", /acct\$live/.test(await other.textContent("main")), await other.textContent("main"));
await other.goto(origin + "/#/status");
await other.waitForFunction(() => document.getElementById("main").dataset.ready === "status");
const status = await other.textContent("main");
judge("a token of some pools is told that it sees nothing of the health", /sees some of the partitions/.test(status) &&
	!/not running|Journal|Loss account|unexplained|-1/.test(status), status);
await other.goto(origin + "/#k=" + token + "&to=" + encodeURIComponent("/pool/acct%24live"));
await other.waitForFunction(() => document.getElementById("main").dataset.ready === "overview");
judge("a token for some pools shows them", /acct\$live/.test(await other.textContent("main")), await other.textContent("main"));
run(revoke);
await other.waitForFunction(() => document.querySelector(".age").textContent === "token not valid")
	.catch(() => {});
judge("a revoked one ends the stream", await other.textContent(".age") === "token not valid", await other.textContent(".age"));
await finish();
