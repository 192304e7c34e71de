/*
 * palette - does the page show phases in the colours of the plots, and units as people read
 * them?
 *
 *	node palette.mjs DIR ADDRESS CHROMIUM PLOTS NODE
 *
 * PLOTS: JSON, by colour scheme and screen: the colour of each name in the plot of the same.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [dir, address, chromium, plots, node] = process.argv.slice(2);
const { chromium: driver } = createRequire(dir + "/")("playwright-core");
const origin = new URL(address).origin, expected = JSON.parse(readFileSync(plots, "utf8"));
let failed = 0;

function judge(name, good, why) {
	console.log((good ? "ok - " : "FAILED - ") + name + (good ? "" : ": " + why));
	failed += good ? 0 : 1;
}

const browser = await driver.launch({ executablePath: chromium,
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: "light" });
page.setDefaultTimeout(180000);
await page.addInitScript(() => {
	const write = CanvasRenderingContext2D.prototype.fillText;
	window.written = [];
	CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
		window.written.push(text);
		return write.call(this, text, ...rest);
	};
});

async function open(fragment) {
	await page.goto("about:blank");
	await page.goto(origin + "/" + fragment);
	await page.waitForFunction(() => document.getElementById("main").dataset.ready);
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/* Name and colours of each swatch of the legend. */
const legend = () => page.evaluate(() => [...document.querySelectorAll("main .legend li")].map((item) => {
	const canvas = item.querySelector("canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	const seen = new Set();
	for (let i = 0; i < data.length; i += 4)
		seen.add("#" + [...data.slice(i, i + 3)].map((v) => v.toString(16).padStart(2, "0")).join(""));
	return { name: item.textContent, colours: [...seen] };
}));

await page.goto(address);
await page.waitForFunction(() => document.getElementById("main").dataset.ready);
for (const scheme of ["light", "dark"]) {
	await page.emulateMedia({ colorScheme: scheme });
	for (const [screen, names] of Object.entries(expected[scheme])) {
		await open("#/pool/" + screen);
		const shown = await legend();
		judge(`${scheme}, ${screen}: a legend`, shown.length > 3, JSON.stringify(shown));
		for (const { name, colours } of shown)
			judge(`${scheme}, ${screen}: ${name}`, name in names && colours.includes(names[name]),
				`${names[name]} in the plot, ${colours} here; the plot has ${Object.keys(names)}`);
	}
}

const everything = () => page.evaluate(() => document.getElementById("main").textContent + " " + window.written.join(" "));
await open("#/pool/demo%24pool/node/" + encodeURIComponent(node));
const shown = await everything();
judge("processors of a node are in per cent", / \d+ %/.test(shown), shown.slice(0, 900));
judge("... memory in powers of 1024", /\d GiB/.test(shown), shown.slice(0, 900));
judge("... nothing in seconds a second", !/s\/s/.test(shown), shown.slice(0, 900));

await browser.close();
process.exit(failed ? 1 : 0);
