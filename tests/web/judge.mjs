/*
 * judge - what each script that judges the page begins with:
 *
 *	node SCRIPT DIR ADDRESS CHROMIUM ARGUMENT...
 *
 * DIR has node_modules with playwright-core and axe-core; ADDRESS is what poolscope web
 * printed, with the token, or the file of a report.  Each judgement is a line `ok - ` or
 * `FAILED - ` on standard output; the script exits with 1 if one failed.
 * SPDX-License-Identifier: MIT
 */
import { createRequire } from "node:module";

const [dir, given, chromium, ...more] = process.argv.slice(2);
export const require = createRequire(dir + "/");
export const address = given.startsWith("/") ? "file://" + given : given;
export const origin = new URL(address).origin;
export const words = more;
export const browser = await require("playwright-core").chromium.launch({ executablePath: chromium,
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
let failed = 0, shots = 0;

export function judge(name, good, why) {
	console.log((good ? "ok - " : "FAILED - ") + name + (good ? "" : ": " + why));
	failed += good ? 0 : 1;
}

export function same(name, wanted, found) {
	judge(name, JSON.stringify(found) === JSON.stringify(wanted), JSON.stringify(found));
}

export async function newPage(options) {
	const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, colorScheme: "light", ...options });
	context.setDefaultTimeout(180000);
	return context.newPage();
}

/* Until a view is there: this one, or any. */
export function ready(page, name) {
	return page.waitForFunction((wanted) => {
		const now = document.getElementById("main").dataset.ready;
		return wanted ? now === wanted : now;
	}, name);
}

/* Until what was changed is on the screen. */
export function drawn(page) {
	return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/* A view as somebody sees it who comes from somewhere else. */
export async function visit(page, fragment, name) {
	await page.goto("about:blank");
	await page.goto(origin + "/" + fragment);
	await ready(page, name);
	await drawn(page);
}

/* The first view, which takes the token. */
export async function enter(page) {
	await page.goto(address);
	await ready(page);
}

/* A picture of the window, where a directory for them is named. */
export async function shot(page, directory, name) {
	if (directory)
		await page.screenshot({ path: `${directory}/${name}-${shots++}.png` });
}

/* What is written into pictures since the page was opened is in window.written, its colours in window.inks. */
export function listen(page) {
	return page.addInitScript(() => {
		const write = CanvasRenderingContext2D.prototype.fillText;
		window.written = [];
		window.inks = [];
		CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
			window.written.push(text);
			window.inks.push(this.fillStyle);
			return write.call(this, text, ...rest);
		};
	});
}

/* Of a page that is opened after this: opened() waits for it, and says when it was painted
 * first and when the frame with its first view was drawn. */
export function watch(page) {
	return page.addInitScript(() => new MutationObserver((changes, observer) => {
		const main = document.getElementById("main");
		if (!main || !main.dataset.ready)
			return;
		observer.disconnect();
		requestAnimationFrame(() => setTimeout(() => {
			window.shown = performance.now();
		}));
	}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"] }));
}

export async function opened(page) {
	await page.waitForFunction(() => window.shown && performance.getEntriesByName("first-paint").length);
	const times = await page.evaluate(() => [performance.getEntriesByName("first-paint")[0].startTime, window.shown]);
	return "painted after " + times[0].toFixed(0) + " ms, data after " + times[1].toFixed(0) + " ms";
}

export async function finish() {
	await browser.close();
	process.exit(failed ? 1 : 0);
}
