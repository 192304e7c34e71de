/*
 * sentences - where the sentences of the overview lead, on the page and in a report.
 *
 *	node sentences.mjs DIR ADDRESS CHROMIUM POOL|"" [SHOTS]
 *
 * POOL: that of the page; "": ADDRESS is a report.
 * SPDX-License-Identifier: MIT
 */
import { drawn, enter, finish, judge, newPage, ready, shot, visit, words } from "./judge.mjs";

const [pool, shots] = words;
const page = await newPage({ viewport: { width: 1280, height: 800 } });
await enter(page);
if (pool)
	await visit(page, `#/pool/${encodeURIComponent(pool)}`);
await page.waitForSelector(".lead p");
await drawn(page);
const links = await page.evaluate(() => [...document.querySelectorAll(".lead p a, .plain li a")].map((a) =>
	[a.parentElement.textContent.slice(0, 70), a.getAttribute("href")]));
const first = await page.evaluate(() => document.querySelectorAll(".lead p a").length);
judge("several sentences have a link", first > 2 && links.length > first, JSON.stringify(links));
for (const [text, href] of links) {
	await page.goto("about:blank");
	await enter(page);
	await page.evaluate((to) => {
		document.getElementById("main").removeAttribute("data-ready");
		location.hash = to;
	}, href);
	await ready(page);
	await drawn(page);
	await page.waitForFunction(() => [...document.querySelectorAll("main canvas")].some((c) => c.height > 20) ||
		document.querySelectorAll("main tbody tr").length, null, { timeout: 20000 }).catch(() => {});
	await shot(page, shots, "sentence");
	const seen = await page.evaluate(() => {
		const inked = (canvas) => {
			const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
			const colours = new Set();
			for (let i = 0; i < data.length; i += 4)
				colours.add(data[i] << 24 | data[i + 1] << 16 | data[i + 2] << 8 | data[i + 3]);
			return colours.size > 2;
		};
		return { charts: [...document.querySelectorAll("main canvas")].filter((c) => c.width && c.height && inked(c)).length,
			rows: document.querySelectorAll("main tbody tr").length,
			bad: [...document.querySelectorAll("main .bad")].map((e) => e.textContent).filter(Boolean) };
	});
	judge(`${text}: ${href}: leads to what proves it`, seen.charts + seen.rows > 0 && !seen.bad.length, JSON.stringify(seen));
	console.log(`${href} charts ${seen.charts} rows ${seen.rows}`);
}
await finish();
