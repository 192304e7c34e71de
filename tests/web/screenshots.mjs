/*
 * screenshots - the pictures of README.md.
 *
 *	node screenshots.mjs DIR ADDRESS CHROMIUM TOP TO
 *
 * TOP has the screen of poolscope top, with its colours, as tmux capture-pane -e prints it.
 * SPDX-License-Identifier: MIT
 */
import { readFileSync, statSync } from "node:fs";
import { enter, finish, judge, newPage, origin, ready, words } from "./judge.mjs";

const [top, to] = words;
const BYTES_MAX = 120000;
const page = await newPage({ viewport: { width: 1200, height: 640 }, reducedMotion: "reduce" });

function saved(name) {
	const { size } = statSync(to + "/" + name);
	judge(name + " has at most " + BYTES_MAX + " bytes", size <= BYTES_MAX, size);
}

async function shown(name, fragment, view, height) {
	await page.setViewportSize({ width: 1200, height });
	await page.goto(origin + "/" + fragment);
	await ready(page, view);
	await page.waitForTimeout(500);
	await page.screenshot({ path: to + "/" + name });
	saved(name);
}

/* SGR sequences as elements; the other colours are those of a dark terminal. */
const COLOURS = ["#1c2128", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3"];

function terminal(text) {
	const style = { bold: false, inverse: false, fore: "", back: "" };
	const escape = (s) => s.replace(/[&<]/g, (c) => c === "&" ? "&amp;" : "&lt;");
	const apply = (code) => {
		if (code === 0)
			Object.assign(style, { bold: false, inverse: false, fore: "", back: "" });
		else if (code === 1)
			style.bold = true;
		else if (code === 7)
			style.inverse = true;
		else if (code >= 30 && code <= 37)
			style.fore = COLOURS[code - 30];
		else if (code === 39)
			style.fore = "";
		else if (code >= 40 && code <= 47)
			style.back = COLOURS[code - 40];
		else if (code === 49)
			style.back = "";
	};
	const css = () => {
		const fore = style.fore || "#e6edf3", back = style.back || "transparent";
		return (style.bold ? "font-weight:700;" : "") + (style.inverse ? "color:#0d1117;background:" + fore : "color:" + fore + ";background:" + back);
	};
	return text.split(/\x1b\[([\d;]*)m/).map((part, i) => {
		if (i % 2)
			part.split(";").forEach((code) => apply(Number(code)));
		return i % 2 ? "" : "<span style='" + css() + "'>" + escape(part) + "</span>";
	}).join("");
}

await enter(page);
await shown("overview.png", "#/pool/demo%24pool", "overview", 780);
await shown("runs.png", "#/pool/demo%24farm/runs", "runs", 520);
const screen = await newPage({ viewport: { width: 1200, height: 640 } });
await screen.setContent("<body style='margin:0'><pre style='display:inline-block;margin:0;padding:16px 20px;background:#0d1117;" +
	"font:15px/1.35 \"DejaVu Sans Mono\",monospace'>" + terminal(readFileSync(top, "utf8").trimEnd()) + "</pre>");
await screen.locator("pre").screenshot({ path: to + "/top.png" });
saved("top.png");
await finish();
