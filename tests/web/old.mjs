/*
 * old - a page that is left open.
 *
 *	node old.mjs DIR ADDRESS CHROMIUM AGGREGATOR BROKER WEB SHOWN ASLEEP [SHOTS]
 *
 * AGGREGATOR, BROKER and WEB are the processes, which this kills.  It makes the file
 * SHOWN when the page shows the pool; then a record of another node comes; and ASLEEP when the
 * page is not seen: then there is a file ASLEEP.sent when a record of a third one was sent.
 * Each judgement has a line with how long it took.
 * SPDX-License-Identifier: MIT
 */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { browser, enter, finish, judge, newPage, shot, visit, words } from "./judge.mjs";

const [aggregator, broker, web, shown, asleep, shots] = words;
const WAIT_MS = 180000;
const page = await newPage({ viewport: { width: 1200, height: 700 } });

const seen = (of = page) => of.evaluate(() => ({
	facts: Object.fromEntries([...document.querySelectorAll(".figures > div")].map((d) => [d.children[0].textContent, d.children[1].textContent])),
	banner: [...document.querySelectorAll(".banner")].filter((b) => !b.hidden).map((b) => b.textContent).join(),
	dot: document.querySelector(".dot").dataset.state,
}));

const pause = (ms) => new Promise((done) => setTimeout(() => done("asleep"), ms));

/* Does the page show this soon, without being loaded again? */
async function shows(name, test, of = page) {
	const begin = Date.now(), until = begin + WAIT_MS;
	let now = await seen(of);
	while (!test(now) && Date.now() < until) {
		await pause(200);
		now = await seen(of);
	}
	judge(name, test(now), JSON.stringify(now));
	console.log(`${name}: after ${((Date.now() - begin) / 1000).toFixed(1)} s`);
	await shot(page, shots, "old");
}

const open = (fragment) => visit(page, fragment);

/* Ages are of the server's clock: one page has a clock that is an hour fast, one an hour slow. */
for (const hours of [1, -1]) {
	const wrong = await newPage({});
	await wrong.clock.install({ time: Date.now() + 3600000 * hours });
	await enter(wrong);
	await visit(wrong, "#/pool/acct%24quiet");
	await shows(`a clock that is ${hours} h ahead`, ({ facts }) => /^[2-9] min ago$/.test(facts["Newest record"]), wrong);
	await wrong.context().close();
}
await enter(page);
await open("#/pool/acct%24pool");
await shows("at first one node is late", ({ facts }) => facts.Nodes === "1" && facts.Late === "1");
writeFileSync(shown, "");
await shows("another one is live", ({ facts }) => facts.Live === "1" && facts.Late === "1");
let before = (await seen()).facts["Newest record"];
await shows("the age of the newest record counts on", ({ facts }) => facts["Newest record"] !== before && /^\d+ (s|min) ago$/.test(facts["Newest record"]));
await shows("without a record it becomes late", ({ facts }) => !facts.Live && facts.Late === "2");
await open("#/pool/acct%24quiet");
await shows("a pool that was not heard for two minutes is said to be so", ({ banner, dot }) =>
	/^Nothing was heard of this pool for [2-9] min\.$/.test(banner) && dot === "quiet");
await open("#/pools");
await shows("not of all pools", ({ banner }) => banner === "");
process.kill(Number(broker), "SIGKILL");
await shows("a broker that was killed", ({ banner }) => banner === "The broker has died; poolscope up.");
await open("#/pool/acct%24pool");
await shows("... in a pool", ({ banner }) => banner === "The broker has died; poolscope up.");
const pipe = spawn("poolscope-broker", [], { stdio: "ignore" });
await shows("a broker that is back", ({ banner }) => banner === "");
/* A lid that was closed: nothing runs, and what came meanwhile is asked for when it is opened.  The
 * second page wakes an hour later by its clock, and asks no more than one that was awake.
 * (Chromium freezes no page that is seen, so its processes are stopped.) */
const lid = await newPage({}), asked = [];
await lid.clock.install();
await enter(lid);
await visit(lid, "#/pool/acct%24pool");
const { processInfo } = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
const signal = (name) => processInfo.filter(({ type }) => type === "renderer").forEach(({ id }) => process.kill(id, name));
signal("SIGSTOP");
writeFileSync(asleep, "");
while (!existsSync(asleep + ".sent"))
	await pause(100);
const during = seen(lid), state = await Promise.race([during, pause(2000)]);
judge("no page runs", state === "asleep", JSON.stringify(state));
lid.on("request", (request) => asked.push(request.url()));
signal("SIGCONT");
await lid.clock.fastForward(3600000);
await shows("a page that was asleep", ({ facts }) => facts.Nodes === "3");
await shows("... for an hour", ({ facts }) => facts.Nodes === "3", lid);
await pause(1000);
judge("... asks twice at most", asked.every((url) => asked.filter((each) => each === url).length <= 2), JSON.stringify(asked));
await lid.context().close();
await open("#/pools");
process.kill(Number(aggregator), "SIGKILL");
await shows("an aggregator that was killed", ({ banner }) => /^The aggregator does not (run|answer)/.test(banner));
await open("#/pool/acct%24pool");
await shows("an aggregator that was killed, in a pool", ({ banner }) => /^The aggregator does not (run|answer)/.test(banner));
const again = spawn("poolscope-aggregator", [], { stdio: "ignore" });
await shows("an aggregator that is back", ({ banner }) => /^(|Nothing was heard.*)$/.test(banner));
again.kill("SIGTERM");
await new Promise((done) => again.on("exit", done));
await shows("an aggregator that was stopped", ({ banner }) => /^The aggregator does not (run|answer)/.test(banner));
process.kill(Number(web), "SIGKILL");
await shows("poolscope-web that was killed", ({ banner, facts }) =>
	/^The connection to poolscope web is gone\. What is shown is of \d\d:\d\d:\d\d UTC, /.test(banner) && facts.Nodes === "3");
pipe.kill("SIGTERM");
await new Promise((done) => pipe.on("exit", done));
await finish();
