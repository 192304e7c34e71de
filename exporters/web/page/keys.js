/*
 * keys - what keys do, and the list of them.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";

const LIST = [
	["g p", "pools"], ["g o", "overview of this pool"], ["g t", "timeline"], ["g d", "breakdown"], ["g n", "nodes"], ["g r", "runs"],
	["g b", "results of benchmarks"], ["g s", "pipeline status"], ["/", "filter"], ["j  k", "next row, row before"],
	["Enter", "open the marked row"], ["h  l", "earlier, later"], ["+  −", "less time, more time"],
	["0", "the whole picture"], ["T", "tables instead of pictures"], ["d", "dark or light"], ["Esc", "leave a field"],
	["?", "this list"],
];
const PLACES = { o: "overview", t: "timeline", d: "breakdown", n: "map", r: "runs", b: "results", g: "groups" };
let dialog = null;

export function help() {
	if (!dialog) {
		dialog = h("dialog", { class: "help", "aria-labelledby": "help-title" });
		fill(dialog, h("h2", { id: "help-title" }, "Keys"),
			h("dl", LIST.map(([key, what]) => h("div", h("dt", h("kbd", key)), h("dd", what)))),
			h("button", { on: { click: () => dialog.close() } }, "Close"));
		document.body.append(dialog);
	}
	if (dialog.open)
		dialog.close();
	else
		dialog.showModal();
}

export function start(app) {
	let prefix = 0;

	function goTo(key) {
		const { pool } = app.context();
		if (key === "p")
			app.go("#/pools");
		else if (key === "s")
			app.go("#/status");
		else if (PLACES[key] && pool)
			app.go(app.linkTo(PLACES[key]));
		else if (PLACES[key])
			app.announce("Open a pool first");
	}

	const moves = { h: "left", l: "right", "+": "closer", "=": "closer", "-": "wider", "−": "wider", "0": "all" };

	function act(key) {
		const view = app.view() || {}, tables = view.tables || [];
		const table = tables.find((each) => each.root.isConnected);
		if ((key === "j" || key === "k") && table)
			app.announce(text(table.step(key === "j" ? 1 : -1)));
		else if (key === "Enter" && table)
			table.open();
		else if (moves[key] && view.moves)
			view.moves[moves[key]]();
		else if (key === "/")
			return focus();
		else if (key === "d")
			app.theme();
		else if (key === "T")
			app.swap();
		else if (key === "?")
			help();
		else
			return false;
		return true;
	}

	function text(what) {
		return what instanceof Node ? what.textContent : what || "";
	}

	function focus() {
		const field = document.querySelector("main input[type=search]");
		if (field)
			field.focus();
		return Boolean(field);
	}

	addEventListener("keydown", (event) => {
		const field = event.target.closest && event.target.closest("input, select, textarea");
		if (event.key === "Escape" && field) {
			/* Leave it as it is: a field of type search would be emptied. */
			event.preventDefault();
			field.blur();
		}
		if (event.ctrlKey || event.metaKey || event.altKey || field || (dialog && dialog.open))
			return;
		if (event.key === "Enter" && event.target.closest("a, button, summary"))
			return;
		if (prefix && Date.now() - prefix < 1500) {
			prefix = 0;
			goTo(event.key);
			event.preventDefault();
			return;
		}
		prefix = event.key === "g" ? Date.now() : 0;
		if (act(event.key))
			event.preventDefault();
	});
}
