/*
 * odd - what the page makes of the pools of 083-odd-pools.sh.
 *
 *	node odd.mjs DIR ADDRESS CHROMIUM PHASE [SHOTS]
 *
 * PHASE is the one in which a node of the imported pool differs most.
 * SPDX-License-Identifier: MIT
 */
import { drawn, enter, finish, judge, newPage, same, shot, visit, words } from "./judge.mjs";

const [phase, shots] = words;
const page = await newPage();
await page.addInitScript(() => {
	const write = CanvasRenderingContext2D.prototype.fillText;
	window.axis = [];
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
		if (this.textAlign === "center" && /^\d{4}-\d\d-\d\d$/.test(text))
			window.axis.push([x, this.measureText(text).width]);
		return write.call(this, text, x, y, ...rest);
	};
});

async function open(fragment, width = 1200) {
	await page.setViewportSize({ width, height: 800 });
	await visit(page, fragment);
	await shot(page, shots, "odd");
}

await enter(page);
for (const width of [360, 800, 1280]) {
	await open("#/pool/acct%24pool", width);
	const parts = await page.evaluate(() => [...document.querySelectorAll(".plain span.state")].filter((each) => /\d/.test(each.textContent))
		.map((each) => [each.textContent, each.getClientRects().length]));
	judge(`a duration is on one line: ${width}`, parts.some(([text]) => text === "+14.7 min") && parts.every(([, lines]) => lines === 1), JSON.stringify(parts));
	/* The line begins on the left, and ends with what is above the usual. */
	const order = await page.evaluate(() => {
		const row = [...document.querySelectorAll(".plain li")].find((each) => each.textContent.includes("kcab"));
		const box = (node) => node.getBoundingClientRect();
		return [box(row.querySelector("a")).left - box(row).left, row.textContent.replace(/[^ -~]/g, "")];
	});
	same(`a name from right to left stays where it is: ${width}`, [0, "kcab: work 60.0 s, usual 20.0 s, +40.0 s"], order);
}
await open("#/pool/acct%24years/timeline");
await drawn(page);
const axis = (await page.evaluate(() => window.axis)).sort(([a], [b]) => a - b).filter(([x], i, all) => i === 0 || x !== all[i - 1][0]);
judge("dates of fifty years are next to each other", axis.length > 2 && axis.every(([x, width], i) => i === 0 || x - width / 2 >= axis[i - 1][0] + axis[i - 1][1] / 2),
	JSON.stringify(axis));
await open("#/pool/acct%24many/timeline");
const names = await page.evaluate(() => [...document.querySelectorAll("main .legend li")].map((each) => each.textContent));
judge("a legend is bounded, and says so", names.length === 41 && /^and 2\d\d more$/.test(names[40]), names.length + " " + names[names.length - 1]);
await open("#/pool/acct%24imported/map");
same("a pool that nobody waits for is shown by the phase that differs most", "phase:" + phase, await page.locator("main select").first().inputValue());
judge("... in words", (await page.textContent("figcaption")).startsWith(`60 nodes, seconds in ${phase}; `), await page.textContent("figcaption"));
await open("#/pool/acct%24imported/map?value=heard");
judge("... but where the state is chosen", (await page.textContent("figcaption")).startsWith("60 nodes, time since the last record"), await page.textContent("figcaption"));
await finish();
