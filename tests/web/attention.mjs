/*
 * attention - which nodes the overview of 070-attention.sh lists.
 *
 *	node attention.mjs DIR ADDRESS CHROMIUM [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { enter, finish, judge, newPage, shot, visit, words } from "./judge.mjs";

const [shots] = words;
const page = await newPage({ viewport: { width: 1280, height: 800 } });

/* The list below "Needs attention"; null: there is no such heading. */
async function listed(pool) {
	await visit(page, "#/pool/" + encodeURIComponent(pool));
	await shot(page, shots, "attention");
	return page.evaluate(() => {
		const of = [...document.querySelectorAll("h2")].find((each) => each.textContent === "Needs attention");
		return of ? [...of.parentElement.querySelectorAll("li")].map((each) => each.textContent) : null;
	});
}

await enter(page);
const pool = await listed("acct$pool");
judge("the silent node is first", pool !== null && /^\S+ silent n12 last record .*min/.test(pool[0]), JSON.stringify(pool));
judge("the one that hangs is next, with both numbers", pool !== null && /^\S+ wrong n9 step open 1[0-9]\.[0-9] min, usual 20\.0 s$/.test(pool[1]), JSON.stringify(pool));
judge("there are no others", pool !== null && pool.length === 2, JSON.stringify(pool));
judge("a node that is late is not listed", await listed("acct$late") === null, "it is");
await finish();
