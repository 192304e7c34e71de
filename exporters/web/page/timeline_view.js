/*
 * timeline_view - the view of what each node did when.
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h, fill } from "./dom.js";
import { title, range, starts, choose, search, nothing } from "./parts.js";
import { timeline } from "./timeline.js";

/* The parameters of a window in milliseconds; of none they are empty. */
export function windowOf(from, to) {
	const text = (ms) => Number.isFinite(ms) ? (ms / 1000).toFixed(6) : "";
	return { from: text(from), to: text(to) };
}

export function timelineView(context) {
	const { params } = context;
	const picture = timeline("Timeline", { choose: (from, to) => context.set(windowOf(from, to)),
		open: (node) => {
			location.hash = context.link("node", node);
		}, resized: () => load().catch(() => {}) }); // asked again anyway, or left
	const model = choose("Model", null, "", (value) => context.set({ model: value }));
	const order = choose("Order", [["name", "name"], ["begin", "first begin"], ["longest", "longest"]], params.order || "name",
		(value) => context.set({ order: value }));
	const field = search("Nodes, such as cn1*", params.node, (node) => context.set({ node }));
	const when = h("p", { class: "note" }), body = h("div", {}, picture.root, when);
	const start = starts(context);
	const root = h("section", {}, title("Timeline", range(context), start.root, isLive() ? [field, model.root, order.root] : model.root), body);

	async function load() {
		const answer = await context.maybe(["timeline"], { ...picture.asked(), order: params.order || "name", model: params.model,
			start: params.start, from: params.from, to: params.to, node: params.node });
		model.root.hidden = !answer;
		await start.set(answer);
		if (!answer) {
			fill(body, nothing("No phases to draw.", params.node ? "No node of this name has any." : params.from || params.to ? "None are in this time." :
				"Phases come from events with a begin and an end, by a model."));
			return;
		}
		if (!picture.root.isConnected || !body.contains(picture.root))
			fill(body, picture.root, when);
		model.root.hidden = answer.models.model.length < 2;
		model.set(answer.models.model.map((name) => [name, name]), answer.model);
		picture.set(answer);
		when.textContent = "What each node did when" + (answer.clock ? ", " + answer.clock : "") + ". Of phases at once the one that began last is shown; " +
			"a hatched end is open. " + (isLive() ? "Drag over a part of the time to see it closer, click for the node." : "Click for the node.");
	}

	return { root, moves: picture.moves, load };
}
