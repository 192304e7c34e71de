/*
 * timeline_view - the view of what each node did when.
 * SPDX-License-Identifier: MIT
 */
import { isLive } from "./api.js";
import { h, fill, note } from "./dom.js";
import { title, choose, search, noPhases, modelName } from "./parts.js";
import { windowOf } from "./time.js";
import { timeline } from "./timeline.js";

/* The models by which the pool has phases. */
export async function setModels(field, answer, context) {
	const { models } = await context.has(), list = answer.models.model.filter((name) => name === answer.model || models.has(name));
	field.root.hidden = list.length < 2;
	field.set(list.map((name) => [name, modelName(name)]), answer.model);
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
	const when = note(), body = h("div", picture.root, when);
	const root = h("section", title("Timeline", isLive() ? [field, model.root, order.root] : model.root), body);

	async function load() {
		const answer = await context.maybe(["timeline"], { ...picture.asked(), order: params.order || "name", model: params.model, node: params.node });
		model.root.hidden = !answer;
		if (!answer) {
			fill(body, noPhases(context));
			return;
		}
		if (!picture.root.isConnected || !body.contains(picture.root))
			fill(body, picture.root, when);
		await setModels(model, answer, context);
		picture.set(answer);
		when.textContent = "What each node did when" + (answer.clock ? ", " + answer.clock : "") + ". Of phases at once the one that began last is shown; " +
			"a hatched end is open. " + (isLive() ? "Drag over a part of the time to see it closer, click for the node." : "Click for the node.");
	}

	return { root, moves: picture.moves, load };
}
