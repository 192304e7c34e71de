/*
 * numbers - what the screens of 061-numbers.sh show.
 *
 *	node numbers.mjs DIR ADDRESS CHROMIUM BASE [SHOTS]
 * SPDX-License-Identifier: MIT
 */
import { drawn, enter, finish, judge, listen, newPage, shot, visit, words } from "./judge.mjs";

const [base, shots] = words;
const page = await newPage();

await listen(page);

async function open(fragment) {
	await visit(page, fragment);
	await shot(page, shots, "numbers");
}
const text = () => page.textContent("main");
/* The cells of the first table, a list a row. */
const cells = () => page.evaluate(() => [...[...document.querySelectorAll("main table")].find((each) => each.offsetParent).querySelectorAll("tbody tr")]
	.map((row) => [...row.children].map((cell) => cell.textContent)));

async function says(name, fragment, ...patterns) {
	await open(fragment);
	const shown = await text();
	for (const pattern of patterns)
		judge(name, pattern.test(shown), pattern + " not in: " + shown.slice(0, 600));
}

await enter(page);
const map = "#/pool/acct%24map/map";
await says("the state of nodes comes first", map, /5 nodes, time since the last record/, /1 node is not heard/);
await says("the greatest of those that are heard", map + "?value=metric:app.depth&from=-15m",
	/5 nodes, mean of app\.depth; 1 node is not heard; 1 without a value\. Greatest: n3 with 1,000 thing\./);
await page.keyboard.press("T");
await page.waitForFunction(() => document.querySelector("main table tbody tr"));
await page.getByRole("button", { name: /^mean of/ }).click();
const down = (await cells()).map((row) => row[0]);
judge("what is unknown is last, the greatest first", down.length === 5 && down[0] === "n3" && ["n4", "n5"].includes(down[4]) && ["n4", "n5"].includes(down[3]), down.join());
await page.getByRole("button", { name: /^mean of/ }).click();
const up = (await cells()).map((row) => row[0]);
judge("... also the other way round", up[0] === "n1" && ["n4", "n5"].includes(up[4]), up.join());
const links = await page.evaluate(() => [...document.querySelectorAll("main table tbody a")].map((each) => decodeURIComponent(each.hash)));
judge("a row leads to its node, at the same time", links[0] === "#/pool/acct$map/node/n1?from=-15m", links.join());
await page.keyboard.press("T");
/* The values are 1, 2 and 1000: who drags from the middle beyond the end gets the greatest alone. */
const scale = page.getByRole("img", { name: /^Distribution of the values/ });
await scale.scrollIntoViewIfNeeded();
const over = await scale.boundingBox();
await page.mouse.move(over.x + over.width / 2, over.y + 30);
await page.mouse.down();
await page.mouse.move(over.x + over.width + 20, over.y + 30, { steps: 5 });
await page.mouse.up();
const inRange = async () => [await scale.getAttribute("aria-label"),
	...await page.evaluate(() => [...document.querySelectorAll(".picked tbody tr")].map((each) => each.cells[0].textContent))].join();
await page.waitForFunction(() => document.querySelector(".picked h2"));
await drawn(page);
judge("a range ends at the greatest value, which is in it", /\. Nodes from 50\d thing to 1,000 thing\.,n3$/.test(await inRange()), await inRange());
await page.waitForResponse((r) => r.url().includes("/samples?"));
await page.waitForResponse((r) => r.url().includes("/series?"));
await drawn(page);
judge("... and stays when the values are asked for again", /,n3$/.test(await inRange()), await inRange());
await says("drives add up", map + "?value=metric:app.held", /mean of app\.held, sum of 2 devices.* Greatest: n1 with 3\.0 KiB\./);
await says("of one drive", map + "?value=metric:app.held&device=drive%2Fa", /Greatest: n2 with 2\.5 KiB\./);
await says("a phase, of all times", map + "?value=phase:work:step", /seconds in work:step.*Greatest: n1 with 80\.0 s\./);
await says("... and of the time that is chosen", `${map}?value=phase:work:step&from=${Number(base) - 3700}&to=${Number(base) - 3000}`,
	/seconds in work:step.*Greatest: n2 with 20\.0 s\./);
await says("a very small number", map + "?value=metric:app.tiny", /Greatest: n1 with 2\.00e-5 thing\./);
await says("the pool's card", "#/pools", /acct\$map▲?✕? 1 silent.*[56] nodes · 4 live/);

await page.keyboard.press("j");
await page.keyboard.press("j");
const marked = () => page.evaluate(() => [...document.querySelectorAll(".card h2 a")].indexOf(document.activeElement));
const second = await marked();
await page.keyboard.press("k");
judge("j and k go from pool to pool", second === 1 && await marked() === 0, [second, await marked()].join());

await open("#/pool/acct%24line/node/n1");
const plot = page.locator(".lines canvas").first();
const area = await plot.boundingBox();
/* The axis is between 66 pixels from the left and 6 from the right. */
const half = 66 + (area.width - 72) / 2;
await page.mouse.move(area.x + 66, area.y + 50);
await page.mouse.down();
await page.mouse.move(area.x + half, area.y + 60, { steps: 5 });
await page.mouse.up();
await page.waitForFunction(() => location.hash.includes("to=")).catch(() => {});
const asked = new URLSearchParams(page.url().split("?")[1]), ago = (name) => Number(base) - Number(asked.get(name));
judge("half of the picture is half of the time", Math.abs(ago("from") - 97) < 8 && Math.abs(ago("to") - 48) < 8,
	page.url() + " at " + base);

/* A quarter of the way along the axis, whose ends the sentence says: the readout is of then. */
await open("#/pool/acct%24line/node/n1");
const box = await plot.boundingBox(), [, day, t0, t1] = /, (\S+) (\S+) to (\S+) UTC/.exec(await plot.getAttribute("aria-label"));
await page.mouse.move(box.x + 66 + (box.width - 66) / 4, box.y + 60);
const readout = await page.locator(".lines .readout").first().textContent(), ms = (time) => Date.parse(day + "T" + time + "Z");
const wanted = ms(t0) + ((ms(t1) - ms(t0) + 86400e3) % 86400e3) / 4;
judge("the readout is of the time at the pointer", Math.abs(Date.parse(readout.slice(0, 19).replace(" ", "T") + "Z") - wanted) <= 6000, readout + " at " + new Date(wanted).toISOString());

await open("#/pool/acct%24bars/breakdown");
/* Where the bar of each row is. */
const bars = await page.evaluate(() => {
	const c = [...document.querySelectorAll("main canvas")].reduce((a, b) => a && a.width * a.height >= b.width * b.height ? a : b, null);
	const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	const ends = [], dark = (x, y) => Math.max(...data.subarray(4 * (y * c.width + x), 4 * (y * c.width + x) + 3)) < 200 && data[4 * (y * c.width + x) + 3] > 0;
	for (let y = 0; y < c.height; y++) {
		let first = -1, last = -1, run = 0;
		for (let x = 0; x < c.width; x++) {
			run = dark(x, y) ? run + 1 : 0;
			if (run === 30)
				first = first < 0 ? x - 29 : first;
			if (run >= 30)
				last = x;
		}
		if (first >= 0)
			ends.push([first, last]);
	}
	return ends;
});
const begin = Math.min(...bars.map(([a]) => a)), end = Math.max(...bars.map(([, b]) => b));
const last = bars.length ? bars[bars.length - 1] : [NaN, NaN], lower = (last[1] - last[0]) / (end - begin);
judge("the bar of n1 is the first and longest", bars.length > 0 && bars[0][1] === end, JSON.stringify(bars.slice(0, 3)));
judge("that of n2 begins with it", last[0] === begin, last);
judge("... and is 40 % as long", Math.abs(lower - 0.4) < 0.03, lower);

await open("#/pool/acct%24gaps/breakdown");
/* Rows of pixels with a bar, one below the other: the rightmost pixels are the paper. */
const count = await page.evaluate(() => {
	const c = [...document.querySelectorAll("main canvas")].reduce((a, b) => a && a.width * a.height >= b.width * b.height ? a : b, null);
	const data = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
	let bars = 0, before = false;
	for (let y = 0; y < c.height; y++) {
		const line = data.subarray(y * c.width, (y + 1) * c.width), paper = line[c.width - 3];
		const is = line.filter((v) => v !== paper && v !== 0).length > c.width / 2;
		bars += is && !before ? 1 : 0;
		before = is;
	}
	return bars;
});
judge("a node that lacks a phase has a bar", count === 3, count);
const byRest = await page.getByLabel("Order").evaluate((select) => [...select.options].find((each) => /^longest in .*rest$/.test(each.text)).value);
await open("#/pool/acct%24gaps/breakdown?order=" + encodeURIComponent(byRest));
await page.keyboard.press("T");
await page.waitForFunction(() => document.querySelectorAll("main figure tbody tr").length === 3);
const longest = (await cells()).map((row) => row[0]);
judge("the longest in a phase comes first", longest.join() === "n3,n1,n2", longest.join());
await page.keyboard.press("T");
await open("#/pool/acct%24gaps");
await page.getByRole("button", { name: "Phase", exact: true }).click();
await page.evaluate(() => document.activeElement.blur());
const phases = (await cells()).map((row) => row[0]);
await page.keyboard.press("j");
await page.keyboard.press("Enter");
await page.waitForFunction(() => location.hash.includes("map")).catch(() => {});
judge("Enter opens the row that is marked, in the order that is shown", phases.join() === "work:rest,work:step" && decodeURIComponent(page.url()).endsWith("?value=phase:work:rest"), page.url());

await open("#/pool/acct%24cards/groups");
await page.setViewportSize({ width: 360, height: 800 });
await page.getByRole("button", { name: "Next" }).click();
const cards = async () => (await cells()).map((row) => row[0]);
judge("the second page of cards", (await cards()).length === 5, await cards());
await page.getByRole("searchbox").fill("g1");
await page.waitForFunction(() => location.hash.includes("q="));
judge("a filter begins at its first page", (await cards()).sort().join() === ["g1", ...Array.from({ length: 10 }, (_, i) => "g1" + i)].sort().join(), await cards());
await page.setViewportSize({ width: 1200, height: 900 });

await open("#/pool/acct%24bench/results?test=t&entry=e");
const inks = await page.evaluate(() => {
	const c = document.createElement("canvas").getContext("2d");
	c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--bad").trim();
	return [c.fillStyle, ...window.written.map((text, i) => [text, window.inks[i]]).filter(([text]) => text.endsWith(" %")).flat()];
});
judge("slower is worse: in the picture", inks.includes("+100.0 %") && inks.every((each) => [inks[0], "+100.0 %"].includes(each)), inks);
const [change] = await page.evaluate(() => [...document.querySelectorAll("main td .bad, main td .good")].map((each) => each.textContent + " " + each.className));
judge("... and in the table", change === "+100.0 % bad", change);

await open("#/pool/acct%24share/node/n1");
const marks = await page.evaluate(() => window.written);
judge("marks of a share have a digit after the point", marks.some((each) => /^0\.\d/.test(each)) && marks.some((each) => /^1\.0/.test(each)), marks.join(" "));

await open("#/pool/acct%24farm/groups");
const heads = await page.evaluate(() => [...document.querySelectorAll("main table thead th")].map((cell) => cell.textContent));
const row = (await cells()).find((each) => each[0] === "phones") || [];
const of = (name) => row[heads.findIndex((each) => each.startsWith(name))];
judge("errors of the ended and of all", of("% of ended") === "50.0" && of("% of all") === "25.0", JSON.stringify([heads, row]));
const tablets = (await cells()).find((each) => each[0] === "tablets") || [];
const p = (name, list) => Number(list[heads.indexOf(name)]);
judge("seconds of the emitted times", p("p50", tablets) === 5 && Math.abs(p("p90", tablets) - 9) < 0.2 && p("p99", tablets) === 10, JSON.stringify([heads, tablets]));
/* Of the bar of tablets, the colours at 7, 8.6 and 9.6 of 10 s. */
const colours = await page.evaluate(() => {
	const c = [...document.querySelectorAll("main table tbody tr")].find((each) => each.textContent.startsWith("tablets")).querySelector("canvas");
	return [7, 8.6, 9.6].map((v) => c.getContext("2d").getImageData(Math.round((v / 10 * 217 + 1) * 2), 10, 1, 1).data.join());
});
const spread = await page.evaluate(() => [...document.querySelectorAll("main table tbody tr")].find((each) => each.textContent.startsWith("tablets")).querySelector("canvas").getAttribute("aria-label"));
judge("... in words the same numbers", spread === `from 1.0 to 10.0 s, median 5.0, p90 ${tablets[heads.indexOf("p90")]}, p99 10.0`, spread);
judge("the bar goes to the 90th percentile", colours[0] === colours[1] && colours[1] !== colours[2], colours.join(" "));
await open("#/pool/acct%24farm/groups?time=receive");
const received = (await cells()).find((each) => each[0] === "tablets") || [];
judge("... the received ones are chosen", p("p99", received) < 5, JSON.stringify(received));

const long = await page.evaluate(async () => {
	const { duration } = await import("/format.js");
	return [0, 8, 80.7, 599.4, 599.96, 659.7, 7199.7, 35999, 172799].map(duration);
});
judge("a duration is as in the terminal", long.join(", ") === "0 s, 8.00 s, 80.7 s, 599.4 s, 10.0 min, 11.0 min, 2.00 h, 10.0 h, 2.00 d", long.join(", "));

await open("#/status");
await page.locator("details summary").first().click();
await page.evaluate(() => document.querySelector("details").id = "before");
await page.waitForFunction(() => document.querySelector("details") && !document.getElementById("before"));
judge("what is open stays open", await page.evaluate(() => document.querySelector("details").open), "it is closed");
const ledger = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".ledger tr")].map((each) =>
	[each.children[0].textContent, each.children[1].textContent])));
const [accepted, ever, inIndex] = await page.evaluate(() => ["Aggregator", "Journal", "Index"].map((name) =>
	[...document.querySelectorAll(".walk li")].find((each) => each.textContent.startsWith(name)).querySelector(".big").textContent));
judge("each batch is an entry, and indexed", ever === accepted && inIndex === accepted, [accepted, ever, inIndex].join());
judge("all that was accepted is in the journal, and indexed", Number(accepted) >= 3 && ledger["received and on disk"] === accepted && ledger.indexed === accepted &&
	ledger.unexplained === "0", JSON.stringify([accepted, ledger]));
const notStored = await page.evaluate(() => [...[...document.querySelectorAll(".ledger")].find((each) => each.caption.textContent.startsWith("Not stored")).rows]
	.map((each) => [...each.cells].map((cell) => cell.textContent)));
judge("gap records are lost once", notStored.join("; ") === "nothing,0; gap records,3", notStored.join("; "));
for (const [pool, wanted] of [["lossy", "7 records of this time were lost (1 gap): poolscope dump --kind gap shows which"], ["line", ""]]) {
	await open("#/pool/acct%24" + pool);
	const shown = await page.evaluate(() => document.querySelector(".lost").hidden ? "" : document.querySelector(".lost").textContent);
	judge("what was lost of " + pool, shown === wanted, shown);
}
await open("#/pool/acct%24lossy");
await page.evaluate(() => location.hash = "#/pool/acct%24line");
await page.waitForFunction(() => document.querySelector("h1")?.textContent === "acct$line");
judge("what another pool lost is not said any more", await page.locator(".lost").isHidden(), await page.textContent(".lost"));
const loss = () => page.textContent(".lost");
await open("#/pool/acct%24moving/map?value=metric:app.depth");
judge("what was lost of all times", /^12 records (?!.*7 records)/.test(await loss()), await loss());
await open("#/pool/acct%24moving/map?value=metric:app.depth&from=-15m");
judge("... and of the last 15 min", /^7 records (?!.*12 records)/.test(await loss()), await loss());
await finish();
