/*
 * start - the view of the timeline.
 * SPDX-License-Identifier: MIT
 */
import { h, fill } from "./dom.js";
import { title, range, choose, search, nothing } from "./parts.js";
import { timeline, rowsOf, legend, bandTiles } from "./timeline.js";
import { millis, time } from "./format.js";
import { traceTools } from "./perfetto.js";

const ORDERS = [["start", "begin"], ["end", "latest end"], ["time", "longest"], ["name", "name"]];

export function timelineView(context) {
	const { params } = context;
	const picture = timeline((node) => {
		location.hash = context.link("node", node);
	});
	const model = choose("Model", null, "", (value) => context.set({ model: value }));
	const order = choose("Order", ORDERS, params.order || "start", (value) => context.set({ order: value }));
	const field = search("Nodes, such as cn1*", params.node, (node) => context.set({ node }));
	const names = h("div"), when = h("p", { class: "note" });
	const trace = traceTools(context, context.pool, () => ({ node: params.node, from: params.from, to: params.to }));
	const body = h("div", {}, trace, names, picture.root, when);
	const root = h("section", {}, title("Timeline", range(context), field, model.root, order.root), body);
	let data = null;
	addEventListener("look", () => {
		if (data)
			fill(names, legend(data.names, bandTiles(data.names)));
	}, { signal: context.signal });

	return { root, moves: picture.moves, async load(again) {
		const answer = await context.maybe(["timeline"], { rows: 800, model: params.model, from: params.from, to: params.to, node: params.node });
		if (!answer || !answer.node || answer.node.length === 0) {
			model.root.hidden = !answer;
			fill(body, nothing("No phases to draw.", params.node ? "No node of this name has any." :
				"Phases come from events with a begin and an end, by a model."));
			return;
		}
		data = rowsOf(answer);
		fill(names, legend(data.names, bandTiles(data.names)));
		picture.set(data, params.order || "start", again);
		model.root.hidden = answer.models.length < 2;
		model.set(answer.models.map((name) => [name, name]), answer.model);
		when.textContent = "0 s is " + time(millis(answer.t0)) + " UTC" + (answer.clock ? ", " + answer.clock : "") + ". " +
			"Drag to move, Ctrl and wheel to zoom, click for the node.";
	} };
}
