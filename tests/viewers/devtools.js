// devtools - loads a trace into the Performance panel of Chromium's developer
// tools, through its own button, and draws what it shows.
//
//	NODE_PATH=DIR/node_modules node devtools.js TRACE PICTURE.png
//
// Needs Debian's chromium and the package playwright-core in NODE_PATH.  Prints
// what the panel's trace engine counts; the status is 1 when it refuses.
//
// SPDX-License-Identifier: MIT
const fs = require('node:fs');
const { chromium } = require('playwright-core');

const [trace, picture] = process.argv.slice(2);
const PORT = 19333;

// Walks through shadow roots, until `see` returns something.
const WALK = `window.walk = (node, see) => {
	const found = see(node);
	if (found) return found;
	if (node.shadowRoot) { const f = walk(node.shadowRoot, see); if (f) return f; }
	for (const child of node.children || []) { const f = walk(child, see); if (f) return f; }
	return null;
};
window.words = () => {
	const all = [];
	walk(document.body, (n) => { for (const c of n.childNodes)
		if (c.nodeType === 3 && n.tagName !== 'STYLE' && n.tagName !== 'SCRIPT') all.push(c.textContent.trim()); });
	return all.filter((w) => w && w.length < 80).join('|');
};`;

// With the engine that the panel itself uses.
async function count(page, file) {
	const text = (file.endsWith('.gz') ? require('node:zlib').gunzipSync(fs.readFileSync(file))
		: fs.readFileSync(file)).toString();
	return page.evaluate(async (json) => {
		const engine = await import('/devtools/models/trace/trace.js');
		const parsed = JSON.parse(json);
		const events = Array.isArray(parsed) ? parsed : parsed.traceEvents;
		const model = engine.TraceModel.Model.createWithAllHandlers();
		await model.parse(events);
		const trace = model.parsedTrace(0);
		const data = trace.data || trace;
		let slices = 0, threads = 0;
		for (const process of data.Renderer.processes.values())
			for (const thread of process.threads.values()) {
				threads++;
				slices += thread.entries.length;
			}
		return { events: events.length, slices, threads,
			processes: [...data.Meta.processNames.values()].map((e) => e.args.name).length };
	}, text);
}

async function main() {
	const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true,
		args: ['--no-sandbox', '--disable-gpu', `--remote-debugging-port=${PORT}`,
			'--remote-allow-origins=*'] });
	const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
	const errors = [];
	page.on('pageerror', (error) => errors.push(String(error).slice(0, 200)));
	page.on('console', (line) => {
		if (line.type() === 'error' && !/Failed to load|No host/.test(line.text()))
			errors.push(line.text().slice(0, 200));
	});
	await page.goto(`http://127.0.0.1:${PORT}/devtools/devtools_app.html?panel=timeline`);
	await page.evaluate(WALK);
	await page.waitForFunction(() => walk(document.body, (n) =>
		/load (trace|profile)/i.test(n.getAttribute?.('aria-label') || n.getAttribute?.('title') || '')));
	const chooser = page.waitForEvent('filechooser');
	await page.evaluate(() => {
		const button = walk(document.body, (n) =>
			/load (trace|profile)/i.test(n.getAttribute?.('aria-label') || n.getAttribute?.('title') || '') && n);
		(button.shadowRoot?.querySelector('button') || button).click();
	});
	await (await chooser).setFiles(trace);
	for (let tries = 0; tries < 240 && errors.length === 0; tries++) {
		const words = await page.evaluate(() => words());
		if (/Bottom-up/.test(words) && !/Loading|Processing trace/.test(words))
			break;
		await page.waitForTimeout(250);
	}
	const counted = await count(page, trace);
	// The side bar and a hint hide what is to be seen.
	await page.evaluate(() => walk(document.body, (n) => {
		if ((n.getAttribute?.('aria-label') || '') === 'Close' || n.classList?.contains('close')) n.click();
	}));
	await page.waitForTimeout(700);
	await page.mouse.click(251, 129);
	await page.waitForTimeout(700);
	await page.screenshot({ path: picture });
	console.log(JSON.stringify({ counted, errors }));
	await browser.close();
	process.exit(errors.length > 0 ? 1 : 0);
}

main().catch((error) => {
	console.log('failed: ' + String(error).slice(0, 400));
	process.exit(1);
});
