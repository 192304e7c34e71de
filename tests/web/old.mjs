/*
 * old - a page that is left open.
 *
 *	node old.mjs DIR ADDRESS CHROMIUM AGGREGATOR WEB SHOWN [SHOTS]
 *
 * AGGREGATOR and WEB are the processes, which this kills.  It makes the file
 * SHOWN when the page shows the pool; then a record of another node comes.
 * SPDX-License-Identifier: MIT
 */
import { createRequire } from "node:module";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

const [dir, address, chromium, aggregator, web, shown, shots] = process.argv.slice(2);
const { chromium: driver } = createRequire(dir + "/")("playwright-core");
const origin = new URL(address).origin, WAIT_MS = 180000;
let failed = 0;

const browser = await driver.launch({ executablePath: chromium,
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 700 } });
page.setDefaultTimeout(180000);

const seen = () => page.evaluate(() => ({
	facts: Object.fromEntries([...document.querySelectorAll(".figures > div")].map((d) => [d.children[0].textContent, d.children[1].textContent])),
	banner: [...document.querySelectorAll(".banner")].filter((b) => !b.hidden).map((b) => b.textContent).join(),
	dot: document.querySelector(".dot").dataset.state,
}));

/* Does the page show this soon, without being loaded again? */
async function shows(name, test) {
	const until = Date.now() + WAIT_MS;
	let now = await seen();
	while (!test(now) && Date.now() < until) {
		await page.waitForTimeout(200);
		now = await seen();
	}
	console.log((test(now) ? "ok - " : "FAILED - ") + name + (test(now) ? "" : ": " + JSON.stringify(now)));
	failed += test(now) ? 0 : 1;
	if (shots)
		await page.screenshot({ path: `${shots}/old-${name.replace(/\W+/g, "-")}.png` });
}

async function open(fragment) {
	await page.goto(origin + "/" + fragment);
	await page.waitForFunction(() => document.getElementById("main").dataset.ready);
}

await page.goto(address);
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
	/^The connection to poolscope web is gone\. What is shown is of \d\d:\d\d:\d\d UTC, /.test(banner) && facts.Nodes === "2");
await browser.close();
process.exit(failed > 0 ? 1 : 0);
