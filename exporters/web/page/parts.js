/*
 * parts - what views are made of: headings, figures, fields.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, say, keyed } from "./dom.js";
import { ago } from "./format.js";

/* A heading with what belongs beside it. */
export function title(text, ...beside) {
	return h("div", { class: "title" }, h("h1", text), h("div", { class: "beside" }, beside));
}

/* Some numbers in a row: set([[label, value, state], ...]). */
export function figures() {
	const root = h("dl", { class: "figures" });
	return { root, set(list) {
		keyed(root, list.filter(Boolean), ([name]) => name, ([name]) => h("div", h("dt", name), h("dd")),
			(element, [, value, state]) => {
				if (value instanceof Node)
					fill(element.lastChild, value);
				else
					say(element.lastChild, value);
				element.lastChild.className = state || "";
			});
	} };
}

export function search(label, value, call) {
	let timer = 0;
	return h("input", { type: "search", "aria-label": label, placeholder: label, autocomplete: "off",
		spellcheck: "false", value: value || undefined, on: { input: (event) => {
			clearTimeout(timer);
			timer = setTimeout(() => call(event.target.value.trim()), 200);
		} } });
}

/* choose(label, [[value, text], ...], chosen, call) */
export function choose(label, list, chosen, call) {
	const select = h("select", { on: { change: () => call(select.value) } });
	const root = h("label", { class: "choose" }, h("span", label), select);
	const set = (options, value) => fill(select, options.map(([v, text]) => h("option", { value: v, selected: v === value }, text)));
	if (list)
		set(list, chosen);
	return { root, set };
}

/* How long ago a time was; countOn() keeps these texts true. */
export function since(ms, before = "") {
	return h("span", { "data-at": String(ms), "data-before": before }, before + ago(ms));
}

export function countOn() {
	for (const each of document.querySelectorAll("[data-at]"))
		say(each, each.dataset.before + ago(Number(each.dataset.at)));
}

export const PHASES_FROM = "Two events X:start and X:end of a node make one; a model defines others.";

export function noPhases({ params, why }) {
	return nothing("No phases to draw.", why(params.node ? "No node of this name has any." : PHASES_FROM));
}

/* Of the phases that no model defines, the model has this word for programs. */
export function modelName(name) {
	return name === "none" ? "no model" : name;
}

export function nothing(text, hint) {
	return h("p", { class: "nothing" }, text, hint ? h("span", " ", hint) : null);
}

const WORDS = { live: "good", ok: "good", late: "warn", silent: "bad", gone: "bad", critical: "bad", warning: "warn", wrong: "warn" };
const SIGNS = { good: "●", warn: "▲", bad: "✕" };

/* A state as sign and word, so that it is not by colour alone. */
export function state(word, kind) {
	const k = kind || WORDS[word] || "plain";
	return h("span", { class: "state " + k }, h("span", { "aria-hidden": "true" }, SIGNS[k] || "○"), " ", word);
}

/* pages([label, call], text, [label, call]): buttons for what is before and after; without a call there is
 * nothing more. */
export function pages(back, text, next) {
	const button = ([label, call]) => h("button", { disabled: !call, on: call && { click: call } }, label);
	return h("nav", { class: "pager", "aria-label": "Pages" }, button(back), h("span", text), button(next));
}
