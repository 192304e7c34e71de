/*
 * dom - elements and text, never markup.
 *
 * Every string becomes a text node or the value of an attribute of the list
 * below; no attribute that runs or loads anything can be set.
 * SPDX-License-Identifier: MIT
 */

const ATTRIBUTES = new Set(["class", "id", "type", "role", "title", "tabindex",
	"for", "name", "placeholder", "scope", "colspan", "value", "hidden",
	"autocomplete", "spellcheck", "list", "min", "max", "step", "open",
	"selected", "checked", "disabled", "inputmode", "download"]);

/* A new element: h("td", { class: "number", on: { click } }, "text", node), or h("td", "text"). */
export function h(tag, attributes, ...children) {
	if (Object.getPrototypeOf(attributes ?? {}) !== Object.prototype)
		return h(tag, null, attributes, ...children);
	const element = document.createElement(tag);
	if (tag === "button")
		element.type = tag; // it sends no form
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (name === "on") {
			for (const [event, call] of Object.entries(value))
				element.addEventListener(event, call);
		} else if (name === "href") {
			link(element, value);
		} else if (ATTRIBUTES.has(name) || name.startsWith("aria-") ||
		    name.startsWith("data-")) {
			element.setAttribute(name, value === true ? "" : value);
		} else {
			throw new Error("attribute " + name);
		}
	}
	put(element, children);
	return element;
}

/* Links lead to places of this page only. */
function link(element, value) {
	if (!value.startsWith("#"))
		throw new Error("a link that leaves this page");
	element.setAttribute("href", value);
}

function put(element, children) {
	for (const child of children.flat(Infinity)) {
		if (child === undefined || child === null || child === false)
			continue;
		element.append(child instanceof Node ? child : String(child));
	}
}

export const note = (...children) => h("p", { class: "note" }, children);

/* Replace what is in an element. */
export function fill(element, ...children) {
	element.replaceChildren();
	put(element, children);
	return element;
}

/* Set a text only when it differs, so that readers are not disturbed. */
export function say(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

/* Children of `parent` become one element an item, in order.  An element stays
 * with its key: make(item) creates it, update(element, item) changes it. */
export function keyed(parent, items, key, make, update) {
	const old = parent.keyed || new Map(), now = new Map();
	let at = parent.firstChild;
	for (const item of items) {
		const k = key(item);
		const element = old.get(k) || make(item);
		if (now.has(k))
			continue;
		now.set(k, element);
		if (update)
			update(element, item);
		if (element === at)
			at = at.nextSibling;
		else
			parent.insertBefore(element, at);
	}
	for (const [k, element] of old)
		if (!now.has(k))
			element.remove();
	parent.keyed = now;
}
