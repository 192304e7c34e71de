/*
 * timeline - what the pictures of 062-timeline.sh show.
 *
 *	node timeline.mjs DIR ADDRESS CHROMIUM BASE [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { drawn, enter, finish, judge, newPage, origin, shot, words } from "./judge.mjs";

const [base, shots] = words;
const TOP = 26, LEFT = 150;
const page = await newPage();

/* Until what is drawn is of as many pixels as there are. */
async function open(fragment, pixels) {
	const answered = page.waitForResponse((r) => r.url().includes("/timeline?") && r.url().includes("pixels=" + pixels + "&"));
	await page.goto("about:blank");
	await page.goto(origin + "/" + fragment);
	const answer = await answered.catch(() => null);
	judge(fragment + " has " + pixels + " pixels", answer && answer.status() === 200, answer && answer.status());
	await answer.finished();
	await page.waitForFunction(() => document.getElementById("main").dataset.ready && document.querySelector("main .legend li"));
	await drawn(page);
	await shot(page, shots, "timeline");
}

/* Names of phases by the colours of their swatches, which are more than one where there is a
 * pattern; of the pixels [[x, y], ...] the name, "" where it is none of them. */
const phasesAt = (places) => page.evaluate((list) => {
	const colours = {}, c = document.querySelector("figure canvas");
	for (const item of document.querySelectorAll("main .legend li")) {
		const swatch = item.querySelector("canvas"), of = swatch.getContext("2d").getImageData(0, 0, swatch.width, swatch.height).data;
		for (let i = 0; i < of.length; i += 4)
			colours[of.slice(i, i + 3).join()] ||= item.textContent;
	}
	return list.map(([x, y]) => colours[c.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3).join()] || "");
}, places);
const colourAt = (x, y) => page.evaluate(([a, b]) => [...document.querySelector("figure canvas").getContext("2d").getImageData(a, b, 1, 1).data.slice(0, 3)], [x, y]);

async function shows(name, y, ...wanted) {
	const found = await phasesAt(wanted.map(([second]) => [LEFT + second, y]));
	wanted.forEach(([second, phase], i) => judge(`${name} at ${second} s: ${phase || "nothing"}`, found[i] === phase, found[i]));
}

async function says(name, second, y, pattern) {
	const box = await page.locator("figure canvas").first().boundingBox();
	await page.mouse.move(box.x + LEFT + second + 0.5, box.y + y);
	const text = await page.textContent(".readout");
	judge(name, pattern.test(text), text);
}

await enter(page);
await open("#/pool/acct%24bars/timeline", 984);
/* Four rows of 40 pixels; n4, which hangs, is the first. */
const row = (n) => TOP + 40 * (n - 1) + 20;
await shows("n1", row(2), [0, "load"], [99, "load"], [100, "pull"], [399, "pull"], [400, "load"], [983, "load"]);
await shows("n2", row(3), [99, ""], [100, "pull"], [101, ""]);
await shows("n3", row(4), [199, ""], [200, "pull"], [201, ""], [300, "pull"], [301, ""]);
await shows("n4", row(1), [499, ""], [500, "pull"], [570, "pull"], [600, ""], [983, ""]);
const end = await phasesAt(Array.from({ length: 20 }, (_, i) => [LEFT + 580 + i, row(1)]));
judge("the open end of n4 is hatched", end.includes("pull") && end.includes(""), end.join());
const closed = await phasesAt(Array.from({ length: 20 }, (_, i) => [LEFT + 380 + i, row(2)]));
judge("... that of a phase with an end is not", closed.every((each) => each === "pull"), closed.join());
await says("phase, key, begin and duration at the pointer", 250, row(2), /^n1: pull b, began 22:15:00 UTC, 300\.0 s$/);
await says("... of the one that follows at once", 100, row(2), /^n1: pull b, began 22:15:00 UTC, 300\.0 s$/);
await says("... of an open one", 550, row(1), /^n4: pull z, began 22:21:40 UTC, 100\.0 s and has no end$/);
await says("... of none", 700, row(1), /^n4, 22:25:00 UTC: no phase$/);
judge("the sentence has the date", (await page.textContent("figcaption")) === "4 nodes, 2023-11-14 22:13:20 to 22:29:44 UTC; 1 phase has no end.", await page.textContent("figcaption"));

/* From 150 s on a pixel is shorter; n1 was pulling already, and n2 has nothing there any more. */
await open(`#/pool/acct%24bars/timeline?from=${Number(base) + 150}&to=${Number(base) + 642}&order=longest`, 984);
await shows("what began before the window goes on in it: n1", TOP + 80, [0, "pull"], [499, "pull"], [500, "load"], [983, "load"]);
judge("n2 is not in it", /^3 nodes/.test(await page.textContent("figcaption")), await page.textContent("figcaption"));
const area = await page.locator("figure canvas").first().boundingBox();
await page.mouse.move(area.x + LEFT, area.y + 40);
await page.mouse.down();
await page.mouse.move(area.x + LEFT + 492, area.y + 50, { steps: 5 });
await page.mouse.up();
await page.waitForFunction((to) => !location.hash.includes("to=" + to), Number(base) + 642).catch(() => {});
const asked = new URLSearchParams(page.url().split("?")[1]);
judge("half of the picture is half of the time", Math.abs(asked.get("from") - base - 150) < 1 && Math.abs(asked.get("to") - base - 396) < 1, page.url());

await open("#/pool/acct%24many/timeline", 984);
/* The area is 110 pixels tall, and 8 below it begin 320 rows of 2 pixels. */
const load = await colourAt(LEFT + 100, TOP + 118 + 300), pull = await colourAt(LEFT + 700, TOP + 50 + 30);
await shows("the area", TOP + 5, [0, "load"], [491, "load"]);
await shows("... its lower half", TOP + 108, [0, "load"], [491, "load"], [492, "pull"], [983, "pull"]);
await shows("... and just below and above the middle", TOP + 57, [500, "pull"]);
const above = (await phasesAt([[LEFT + 500, TOP + 53]]))[0];
judge("above it is what is in no phase", above === "no phase", above);
await shows("rows of two", TOP + 118 + 301, [0, "load"], [491, "load"]);
/* Half of the time: 0.15 + 0.85 / 2 of the way from the paper, which is white, to the colour. */
const half = await colourAt(LEFT + 700, TOP + 118 + 301), pale = pull.map((v) => 255 + (v - 255) * 0.575);
judge("half of the time is paler", half.every((v, i) => Math.abs(v - pale[i]) <= 1), JSON.stringify([half, pale, load]));
await says("the share at the pointer", 700, TOP + 118 + 301, /^n301 to n302 \(2 nodes\): pull, 50 % of their time at 22:25:00 UTC$/);
await says("the numbers at the pointer", 700, TOP + 50, /^22:25:00 UTC: pull 320, no phase 320; 640 of 640 nodes have begun$/);

await page.keyboard.press("T");
await page.locator("figure table tbody tr").first().waitFor();
for (const wanted of ["100", "50"]) {
	await page.getByRole("button", { name: "% of their time" }).click();
	const [share] = await page.evaluate(() => [...document.querySelectorAll("figure table tbody tr:not(.spacer) td:last-child")].map((cell) => cell.textContent));
	judge("the table has shares of " + wanted + " %", share === wanted, share);
}
await page.keyboard.press("T");

await open("#/pool/acct%24hang/timeline", 984);
judge("one that hangs has a row", /^641 nodes, .*\. A row stands for up to 3 nodes: /.test(await page.textContent("figcaption")), await page.textContent("figcaption"));
await shows("... the first", TOP + 118 + 1, [0, "load"], [491, "load"], [492, "load"], [970, "load"]);
await says("... of its own", 700, TOP + 118 + 1, /^z: load, began 22:13:20 UTC, 16.4 min and has no end$/);
await shows("... above the others", TOP + 118 + 3, [0, "load"], [491, "load"], [492, ""], [970, ""]);

await open("#/pool/acct%24path/timeline", 984);
/* Of the dashes there is more than one colour in a second of 15 pixels. */
async function path(name, second, wanted, rows = [TOP + 22, TOP + 66, TOP + 110]) {
	const found = [];
	for (const y of rows) {
		const of = [];
		for (let x = 2; x < 14; x++)
			of.push((await colourAt(LEFT + Math.round(second * 984 / 62) + x, y)).join() === "27,33,39");
		found.push(of.every(Boolean) ? "whole" : of.some(Boolean) ? "dashed" : "no");
	}
	judge(`the path ${name}: ${wanted}`, found.join() === wanted, found.join());
}
await path("until x began", 0, "dashed,no,no");
await path("in x", 1, "whole,no,no");
await path("waits on x", 3, "dashed,no,no");
await path("has the place of x", 15, "whole,no,no");
await path("waits on y", 25, "no,dashed,no");
await path("has the place of y", 40, "no,whole,no");
await path("waits on z", 47, "no,no,dashed");
await path("in z", 60, "no,no,whole");
judge("the path has a sentence", / Line: path to ready: node z, 62\.0 s; dashed: it waits\.$/.test(await page.textContent("figcaption")), await page.textContent("figcaption"));

/* Of nodes that are not shown there is none. */
await open("#/pool/acct%24more/timeline?node=y", 984);
await path("waits on x, which is not shown", 3, "no", [TOP + 20]);
await path("has the place of x, which is not shown", 15, "no", [TOP + 20]);
judge("it is that of the pool", / node z, 62\.0 s; dashed/.test(await page.textContent("figcaption")), await page.textContent("figcaption"));
await open("#/pool/acct%24more/timeline?node=zz", 984);
judge("a node that is not on the path", (await page.textContent("figcaption")) === "1 node, 2023-11-14 22:13:20 to 22:13:25 UTC.", await page.textContent("figcaption"));

await open("#/pool/acct%24lanes/node/n1", 1068);
const lanes = await phasesAt([[66 + 200, TOP + 14], [66 + 200, TOP + 36], [66 + 533, TOP + 36], [66 + 534, TOP + 36], [66 + 1067, TOP + 14]]);
judge("phases at once are in lanes", lanes.join() === "pull,pull,pull,,pull", lanes.join());
await finish();
