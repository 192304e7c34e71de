/*
 * has - what there is of a pool at all, whatever the time: views, fields and curves that it
 * has nothing for are not shown, and not asked for.
 * SPDX-License-Identifier: MIT
 */
import * as api from "./api.js";
import { poolsOf } from "./pools.js";

const KEPT_MS = 10000;
const RUNS = "testrun"; // the model of runs
let kept = { pool: null };

/* A promise of { known, phases, ofNodes, models, starts, runs, samples, results }: its row of pools
 * (undefined: no such pool), the phases that occurred, in order, those not of runs, their
 * models, whether nodes start, and whether there are others. */
export function has(pool) {
	if (kept.pool !== pool || Date.now() - kept.at > KEPT_MS) {
		kept = { pool, at: Date.now(), of: read(pool) };
		kept.of.catch(() => {
			kept.pool = null;
		});
	}
	return kept.of;
}

async function read(pool) {
	const known = poolsOf(await api.maybe(["pools"], { name: pool })).find((each) => each.name === pool);
	const ask = (route, params) => api.maybe(["pools", pool, route], params);
	const [phases, results] = await Promise.all([known && known.events ? ask("phases", api.isLive() ? { start: "all" } : {}) : null,
		known && known.entities ? ask("results") : null]);
	const rows = (phases ? phases.rows : []).filter(occurs).sort((a, b) => a.place - b.place);
	const models = new Set(rows.map((r) => r.phase.replace(/:.*$/s, "")));
	return { known, phases: rows, ofNodes: rows.filter((r) => !r.phase.startsWith(RUNS + ":")), models, starts: rows.some((r) => r.required), runs: models.has(RUNS),
		samples: Boolean(known && known.samples), spans: Boolean(known && known.spans), results: Boolean(results && results.rows.length) };
}

export function occurs(phase) {
	return phase.count > 0 || (phase.open_starts > 0 && phase.unmatched !== "ignore");
}
