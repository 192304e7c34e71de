/*
 * breakdown_view - the view of how the nodes divided their time between phases.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, note } from "./dom.js";
import { title, choose, search, noPhases } from "./parts.js";
import { breakdown, rowsOf, legend } from "./breakdown.js";
import { setModels } from "./timeline_view.js";
import { traceTools } from "./perfetto.js";

export function breakdownView(context) {
	const { params } = context;
	const picture = breakdown((node) => {
		location.hash = context.link("node", node);
	});
	const model = choose("Model", null, "", (value) => context.set({ model: value, order: undefined }));
	const order = choose("Order", null, "", (value) => context.set({ order: value }));
	const field = search("Nodes, such as cn1*", params.node, (node) => context.set({ node }));
	const names = h("div"), when = note();
	const trace = traceTools(context, context.pool, () => ({ node: params.node }));
	const body = h("div", trace, names, picture.root, when);
	const root = h("section", title("Breakdown", field, model.root, order.root), body);
	let data = null;
	addEventListener("look", () => {
		if (data)
			fill(names, legend(data.names, data.places));
	}, { signal: context.signal });

	return { root, moves: picture.moves, async load(again) {
		const answer = await context.maybe(["breakdown"], { rows: 800, shape: "columns", model: params.model, node: params.node });
		if (!answer || !answer.rows.node || answer.rows.node.length === 0) {
			model.root.hidden = !answer;
			fill(body, noPhases(context));
			return;
		}
		data = rowsOf(answer);
		fill(names, legend(data.names, data.places));
		picture.set(data, params.order, again);
		await setModels(model, answer, context);
		order.set([["total", "longest"], ["name", "name"], ...data.keys.map((key, k) => [key, "longest in " + data.names[k]])],
			params.order || "total");
		when.textContent = "How long each node was in each phase, no matter when" + (answer.clock ? ", " + answer.clock : "") + ". " +
			"Drag to move, Ctrl and wheel to zoom, click for the node.";
	} };
}
