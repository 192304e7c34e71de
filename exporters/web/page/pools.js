/*
 * pools - a card a pool; those with trouble first.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, keyed, say } from "./dom.js";
import { poolLink } from "./places.js";
import { title, search, since, state, nothing, pages } from "./parts.js";
import { count, millis, plural } from "./format.js";

const PAGE = 200;

/* What the route answers, with times in milliseconds. */
export function poolsOf(data) {
	return (data ? data.rows : []).map((p) => ({ ...p, name: p.partition, first: millis(p.oldest), last: millis(p.newest),
		rests: p.live + p.late + p.silent + p.gone === 0 }));
}

const quiet = (p) => p.silent + p.gone;

function word(p) {
	const bad = [["gone", "bad"], ["silent", "bad"], ["late", "warn"]].filter(([name]) => p[name] > 0);
	if (p.rests)
		return [state("at rest", "plain")];
	return bad.length === 0 ? [state("live")] : bad.map(([name, kind]) => [state(count(p[name]) + " " + name, kind), " "]);
}

function kind(name) {
	return /^[^$]*\$/.test(name) ? [name.slice(0, name.indexOf("$") + 1), name.slice(name.indexOf("$") + 1)] : ["", name];
}

function card(p) {
	const [account, pool] = kind(p.name);
	return h("li", { class: "card" }, h("h2", h("a", { href: poolLink(p.name) }, h("span", { class: "of" }, account), pool)),
		h("p", { class: "word" }), h("p", { class: "facts" }), h("p", { class: "when" }));
}

function update(element, p) {
	const [, word1, facts, when] = element.children;
	const text = [plural(p.nodes, "node"), p.stopped ? count(p.stopped) + " stopped" : "", p.live && p.late + p.silent + p.gone ? count(p.live) + " live" : "", plural(p.records, "record")]
		.filter(Boolean).join(" · ");
	fill(word1, word(p));
	say(facts, text);
	fill(when, Number.isNaN(p.last) ? "no events or samples" : since(p.last, "newest record "));
}

export function pools(context) {
	const list = h("ul", { class: "cards" }), note = h("p", { class: "note" });
	let all = [], first = true;
	const field = search("Filter pools", context.params.q, (q) => {
		context.set({ q }, true);
		draw();
	});
	const more = h("div", { hidden: true });
	const root = h("section", title("Pools", field), list, more, note);

	function draw() {
		const q = (context.params.q || "").toLowerCase(), page = Number(context.params.page) || 0;
		const found = all.filter((p) => p.name.toLowerCase().includes(q));
		const shown = found.slice(page * PAGE, (page + 1) * PAGE);
		keyed(list, shown, (p) => p.name, card, update);
		say(note, all.length === 0 ? "" : q ? count(found.length) + " of " + count(all.length) + " pools" :
			plural(all.length, "pool"));
		more.hidden = found.length <= PAGE;
		const turn = (to) => () => context.set({ page: String(to) });
		fill(more, pages(["Previous", page > 0 && turn(page - 1)], "", ["Next", (page + 1) * PAGE < found.length && turn(page + 1)]));
	}

	return { root, tables: [{ root, step, open }], async load() {
		all = poolsOf(await context.maybe(["pools"]));
		all.sort((a, b) => quiet(b) - quiet(a) || b.late - a.late || b.live - a.live || (b.last || 0) - (a.last || 0));
		if (first && all.length === 0)
			list.replaceWith(nothing("No pools yet.", "poolscope up --agent samples this machine; poolscope demo shows all."));
		first = false;
		draw();
	} };

	function step(by) {
		const links = [...list.querySelectorAll("h2 a")], now = links.indexOf(document.activeElement);
		const next = links[Math.min(links.length - 1, Math.max(0, now + by))];
		if (next)
			next.focus();
		return next && next.textContent;
	}
	function open() {}
}
