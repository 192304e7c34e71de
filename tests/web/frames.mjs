/*
 * frames - how long the breakdown takes to draw while it is moved and zoomed.
 *
 *	node frames.mjs DIR ADDRESS CHROMIUM FRAGMENT
 *
 * Prints milliseconds: until the first paint, until the data are on the screen, and of 300
 * frames the 95th percentile of the time between them and of that spent in scripts.
 * SPDX-License-Identifier: MIT
 */
import { enter, finish, newPage, origin, words } from "./judge.mjs";

const [fragment] = words;
const FRAMES = 300;
const page = await newPage({ viewport: { width: 1400, height: 900 } });
await page.addInitScript(() => {
	const ask = window.requestAnimationFrame.bind(window);
	window.spent = [];
	window.requestAnimationFrame = (call) => ask((now) => {
		const begin = performance.now();
		call(now);
		window.spent.push(performance.now() - begin);
	});
});
await enter(page);
await page.goto(origin + "/" + fragment);
await page.reload();
await page.waitForFunction(() => document.getElementById("main").dataset.ready, null, { polling: 5 });
const loaded = await page.evaluate(() => [performance.getEntriesByName("first-paint")[0].startTime, performance.now()]);
await page.waitForTimeout(500);
const frames = await page.evaluate(async (count) => {
	const canvas = document.querySelector("figure canvas"), box = canvas.getBoundingClientRect();
	const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y,
		pointerId: 1, button: 0, bubbles: true }));
	canvas.setPointerCapture = () => {};
	const zoom = [...document.querySelectorAll(".buttons button")];
	window.spent = [];
	const between = [];
	send("pointerdown", 600, 300);
	let last = 0;
	for (let i = 0; i < count; i++) {
		if (i % 25 === 24)
			zoom[2 + (i % 50 === 49)].click();
		send("pointermove", 600 + 40 * Math.sin(i / 9), 300 + 20 * Math.cos(i / 7));
		const now = await new Promise((done) => requestAnimationFrame(done));
		if (last)
			between.push(now - last);
		last = now;
	}
	send("pointerup", 600, 300);
	return { between, spent: window.spent };
}, FRAMES);
const p95 = (list) => list.slice().sort((a, b) => a - b)[Math.floor(list.length * 0.95)].toFixed(1);
console.log("first paint %s ms, data %s ms; %d frames: p95 between %s ms, in scripts %s ms", loaded[0].toFixed(0),
	loaded[1].toFixed(0), FRAMES, p95(frames.between), p95(frames.spent));
await finish();
