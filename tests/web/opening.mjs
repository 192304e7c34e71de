/*
 * opening - what 087-report-opening.sh says that a report shows first.
 *
 *	node opening.mjs DIR FILE CHROMIUM SENTENCES METRICS CUT [SHOTS]
 *
 * SENTENCES and METRICS have a line each; CUT is what else is left out, "": nothing.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync } from "node:fs";
import { drawn, enter, finish, judge, newPage, same, shot, words } from "./judge.mjs";

const [sentences, metrics, cut, shots] = words;
const lines = (file) => readFileSync(file, "utf8").split("\n").filter(Boolean);
const page = await newPage({ viewport: { width: 1280, height: 800 } });

await enter(page);
await drawn(page);
await shot(page, shots, "opening");
const seen = await page.evaluate(() => {
	const isSeen = (element) => {
		const box = element.getBoundingClientRect();
		return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
	};
	const texts = (selector) => [...document.querySelectorAll(selector)].filter(isSeen).map((each) => each.textContent);
	return { sentences: texts(".lead p"), pictures: texts("main figure canvas").length };
});
same("the sentences are on the first screen", lines(sentences), seen.sentences.map((text) => 
	text.replace(/, [^,]* before this answer/, "").replace(/ open [^,]*,/g, " open,")));
judge("... and a picture", seen.pictures > 0, "none");
const charts = await page.evaluate(() => [...document.querySelectorAll(".charts > div")].map((each) =>
	[each.querySelector("figure").textContent, each.querySelector("canvas").height, each.querySelector(".note").textContent]));
const wanted = lines(metrics);
same("each metric has a curve", wanted, charts.map(([text], i) => text.includes(wanted[i]) ? wanted[i] : text));
judge("... drawn, with its numbers", charts.every(([, height, text]) => height > 100 && /^min .*, mean .*, max /.test(text)), charts);
const footer = await page.evaluate(() => [...document.querySelectorAll("footer p")].map((each) => each.textContent));
judge("one line says what is left out", footer.length === 1 && /Left out: .*other metrics \(poolscope stats samples -p 'acct\$\w+'\)\.$/.test(footer[0]), footer);
judge("... of a large pool rows, too", footer[0].includes(cut) && footer[0].includes("tables by node") === Boolean(cut), footer);
if (cut) {
	await page.evaluate(() => { location.hash = "#/pool/acct$large/node/cn05000"; });
	await page.waitForSelector("main .nothing");
	const none = await page.textContent("main .nothing");
	judge("a node that was left out is not said to have nothing", none.startsWith("No phases and no samples of this node here. This report left out: ") && none.includes(cut), none);
	await page.goBack();
}
await page.setViewportSize({ width: 360, height: 740 });
await drawn(page);
const wide = await page.evaluate(() => document.documentElement.scrollWidth);
judge("nothing is too wide for a telephone", wide <= 360, wide);
await finish();
