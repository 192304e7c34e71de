/*
 * page - opens every screen of the page in a browser, and judges what a program can.
 *
 *	node page.mjs DIR ADDRESS CHROMIUM SCREENS [SHOTS]
 *
 * SCREENS is a file of lines `NAME FRAGMENT`, and after another space `nothing` when the
 * screen is to say that there is nothing.  With SHOTS each screen is saved there as a
 * picture.  WIDTHS of the environment are those of the window.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync, mkdirSync } from "node:fs";
import { drawn, enter, finish, judge, newPage, origin, ready, require, words } from "./judge.mjs";

const [screens, shots] = words;
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = (process.env.WIDTHS || "1600 800 360").split(" ").map(Number), ELEMENTS_MAX = 3000;
const page = await newPage({ viewport: { width: WIDTHS[0], height: 900 }, reducedMotion: "reduce" });
let wrong = [];

page.on("pageerror", (error) => wrong.push("error: " + error.message));
page.on("dialog", (dialog) => {
	wrong.push("a script ran: " + dialog.message());
	dialog.dismiss();
});
page.on("console", (message) => {
	/* Chromium logs every answer of 400 and above: those are judged below. */
	if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
		wrong.push("console: " + message.text());
});
page.on("request", (request) => {
	if (!request.url().startsWith(origin + "/") && !request.url().startsWith("data:"))
		wrong.push("asked another host: " + request.url());
});
page.on("response", (response) => {
	const empty = response.status() === 404 && /\/v1\/(pools\?|pools\/[^/]+\/\w+|live\?)/.test(response.url()) &&
		(response.headers()["content-type"] || "").startsWith("application/problem+json");
	if (response.status() >= 400 && !empty)
		wrong.push(response.status() + " " + response.url());
});

async function settled() {
	await ready(page);
	await drawn(page);
}

/* A page follows the system's colours a moment later. */
async function wears(colours) {
	await page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, colours).catch(() => {});
}

async function accessible() {
	await page.evaluate(axe);
	const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
	return result.violations.map((v) => v.id + ": " + v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160) + " " +
		(n.any[0] || n.all[0] || n.none[0] || { message: "" }).message).join(" | "));
}

async function look(name, colours, width) {
	const seen = await page.evaluate(() => ({
		elements: document.getElementsByTagName("*").length,
		state: document.getElementById("main").dataset.ready,
		wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
		theme: document.documentElement.dataset.theme,
		nothing: Boolean(document.querySelector(".nothing")),
		blank: [...document.querySelectorAll("main canvas")].filter((c) => c.offsetParent && c.width * c.height > 400 &&
			!c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v !== 0)).length,
	}));
	const what = name + ", " + colours + ", " + width + " px";
	const problems = [...wrong, ...await accessible()];
	wrong = [];
	if (seen.elements >= ELEMENTS_MAX)
		problems.push(seen.elements + " elements");
	if (seen.state === "problem")
		problems.push("an error is shown: " + await page.textContent("main"));
	if (seen.theme !== colours)
		problems.push("the colours are " + seen.theme);
	if (seen.wide > 0)
		problems.push("wider than the window by " + seen.wide + " px");
	if (seen.blank > 0)
		problems.push(seen.blank + " blank pictures");
	judge(what, problems.length === 0, problems.join("; "));
	return seen;
}

await enter(page);
judge("the token leaves the address", !page.url().includes("k="), page.url());
if (shots)
	mkdirSync(shots, { recursive: true });
for (const line of readFileSync(screens, "utf8").split("\n").filter(Boolean)) {
	const [name, fragment, nothing] = line.split(" ");
	await page.setViewportSize({ width: WIDTHS[0], height: 900 });
	await page.emulateMedia({ colorScheme: "light" });
	await page.evaluate((to) => {
		document.getElementById("main").dataset.ready = "";
		location.hash = to;
		dispatchEvent(new HashChangeEvent("hashchange"));
	}, fragment);
	await settled();
	for (const colours of ["light", "dark"]) {
		await page.emulateMedia({ colorScheme: colours });
		for (const width of WIDTHS) {
			await page.setViewportSize({ width, height: 900 });
			await settled();
			await wears(colours);
			await page.waitForTimeout(30);
			const seen = await look(name, colours, width);
			if (width === WIDTHS[0] && colours === "light")
				judge(name + (nothing ? " says that there is nothing" : " shows something"),
					seen.nothing === Boolean(nothing), await page.textContent("main"));
			if (shots)
				await page.screenshot({ path: `${shots}/${name}-${colours}-${width}.png`, fullPage: width !== 360 });
		}
	}
	/* The same numbers as tables. */
	await page.setViewportSize({ width: 800, height: 900 });
	await page.emulateMedia({ colorScheme: "light" });
	await wears("light");
	await page.keyboard.press("T");
	await page.waitForTimeout(60);
	await look(name + " as tables", "light", 800);
	await page.keyboard.press("T");
}
await finish();
