/*
 * attention - which nodes the overview of 070-attention.sh lists.
 *
 *	node attention.mjs DIR ADDRESS CHROMIUM [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { createRequire } from "node:module";

const [dir, address, chromium, shots] = process.argv.slice(2);
const { chromium: driver } = createRequire(dir + "/")("playwright-core");
const origin = new URL(address).origin;
let failed = 0;

function judge(name, good, why) {
	console.log((good ? "ok - " : "FAILED - ") + name + (good ? "" : ": " + why));
	failed += good ? 0 : 1;
}

const browser = await driver.launch({ executablePath: chromium,
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
page.setDefaultTimeout(180000);

/* The list below "Needs attention"; null: there is no such heading. */
async function listed(pool) {
	await page.goto("about:blank");
	await page.goto(origin + "/#/pool/" + encodeURIComponent(pool));
	await page.waitForFunction(() => document.getElementById("main").dataset.ready);
	if (shots)
		await page.screenshot({ path: `${shots}/attention-${pool.slice(5)}.png` });
	return page.evaluate(() => {
		const of = [...document.querySelectorAll("h2")].find((each) => each.textContent === "Needs attention");
		return of ? [...of.parentElement.querySelectorAll("li")].map((each) => each.textContent) : null;
	});
}

await page.goto(address);
await page.waitForFunction(() => document.getElementById("main").dataset.ready);
const pool = await listed("acct$pool");
judge("the silent node is first", pool !== null && /^\S+ silent n12 last record .*min/.test(pool[0]), JSON.stringify(pool));
judge("the one that hangs is next, with both numbers", pool !== null && /^\S+ wrong n9 step open 1[0-9]\.[0-9] min, usual 20\.0 s$/.test(pool[1]), JSON.stringify(pool));
judge("there are no others", pool !== null && pool.length === 2, JSON.stringify(pool));
judge("a node that is late is not listed", await listed("acct$late") === null, "it is");
await browser.close();
process.exit(failed ? 1 : 0);
