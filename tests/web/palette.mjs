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
import { enter, finish, judge, listen, newPage, visit, words } from "./judge.mjs";

const [plots, node] = words;
const expected = JSON.parse(readFileSync(plots, "utf8"));
const page = await newPage();
await listen(page);

/* Name and colours of each swatch of the legend. */
const legend = () => page.evaluate(() => [...document.querySelectorAll("main .legend li")].map((item) => {
	const canvas = item.querySelector("canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	const seen = new Set();
	for (let i = 0; i < data.length; i += 4)
		seen.add("#" + [...data.slice(i, i + 3)].map((v) => v.toString(16).padStart(2, "0")).join(""));
	return { name: item.textContent, colours: [...seen] };
}));

await enter(page);
for (const scheme of ["light", "dark"]) {
	await page.emulateMedia({ colorScheme: scheme });
	for (const [screen, names] of Object.entries(expected[scheme])) {
		await visit(page, "#/pool/" + screen);
		const shown = await legend();
		judge(`${scheme}, ${screen}: a legend`, shown.length > 3, JSON.stringify(shown));
		for (const { name, colours } of shown)
			judge(`${scheme}, ${screen}: ${name}`, name in names && colours.includes(names[name]),
				`${names[name]} in the plot, ${colours} here; the plot has ${Object.keys(names)}`);
	}
}

const everything = () => page.evaluate(() => document.getElementById("main").textContent + " " + window.written.join(" "));
await visit(page, "#/pool/demo%24pool/node/" + encodeURIComponent(node));
const shown = await everything();
judge("processors of a node are in per cent", / \d+ %/.test(shown), shown.slice(0, 900));
judge("... memory in powers of 1024", /\d GiB/.test(shown), shown.slice(0, 900));
judge("... nothing in seconds a second", !/s\/s/.test(shown), shown.slice(0, 900));

await finish();
