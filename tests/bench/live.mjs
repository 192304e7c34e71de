/*
 * live - from `poolscope emit` at an agent until the run stands in the list of the newest.
 *
 *	node live.mjs DIR ADDRESS CHROMIUM EVENTS
 *
 * SPDX-License-Identifier: MIT
 */
import { createRequire } from "node:module";
import { execFile } from "node:child_process";

const [dir, address, chromium, events] = process.argv.slice(2);
const { chromium: driver } = createRequire(dir + "/")("playwright-core");

const browser = await driver.launch({ executablePath: chromium,
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(address);
await page.waitForFunction(() => document.getElementById("main").dataset.ready);
await page.goto(new URL(address).origin + "/#/pool/acct%24farm/runs");
await page.waitForFunction(() => document.getElementById("main").dataset.ready === "runs");
/* When each run was painted first: in the frame after the one that has it. */
await page.evaluate(() => {
	window.painted = {};
	const look = () => {
		for (const [run] of document.getElementById("main").textContent.matchAll(/live-\d+-/g))
			window.painted[run] ??= Date.now();
		requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
});

const took = [];
for (let i = 0; i < Number(events); i++) {
	const run = `live-${i}-`, begin = Date.now();
	execFile("poolscope-emit", ["run", "request", "--run", run, "--attr", "device_group=live"]);
	await page.waitForFunction((name) => window.painted[name], run, { timeout: 20000, polling: 20 });
	took.push(await page.evaluate((name) => window.painted[name], run) - begin);
	/* Moments that have nothing to do with those of any timer. */
	await new Promise((done) => setTimeout(done, 200 + 2000 * Math.random()));
}
took.sort((a, b) => a - b);
console.log("event at the agent to pixels, %d events: p50 %d ms, p99 %d ms, max %d ms", took.length,
	took[Math.ceil(took.length * 0.5) - 1], took[Math.ceil(took.length * 0.99) - 1], took.at(-1));
await browser.close();
