/*
 * app - which view is shown, and what is around it.
 *
 * A view is the fragment: #/pools, #/status, #/pool/POOL/VIEW?name=value.  A view is a
 * function of a context that returns { root, load(again), tables, keys }: `load` asks
 * for the data and shows them; it is called again when they have changed.  Its questions get
 * the time of the address here (time.js).
 * SPDX-License-Identifier: MIT
 */
import { h, fill, say, note } from "./dom.js";
import * as api from "./api.js";
import { age as old, ago, clock, now, time } from "./format.js";
import { countOn, nothing } from "./parts.js";
import { isDark, toggleTheme, toggleTables } from "./look.js";
import { sweep } from "./picture.js";
import { parse, poolLink } from "./places.js";
import { isChosen, ofTime, startWords, timeField, timeOf } from "./time.js";
import { has } from "./has.js";
import { start as listen, help } from "./keys.js";
import { pools } from "./pools.js";
import { overview } from "./pool.js";
import { timelineView } from "./timeline_view.js";
import { breakdownView } from "./breakdown_view.js";
import { mapView } from "./nodes.js";
import { nodeView } from "./node.js";
import { runs } from "./runs.js";
import { groups } from "./groups.js";
import { spans } from "./spans.js";
import { results } from "./results.js";
import { status } from "./status.js";

/* of: the routes whose answers a view shows; fits: what a pool must have for it, else it has
 * no tab; now, ofItem: what the time does not change, also of one of its items. */
const POOL_VIEWS = {
	overview: { title: "Overview", make: overview, of: ["phases", "nodes", "samples", "series"],
		now: "The numbers of nodes and records, what needs attention and what runs are of now." },
	timeline: { title: "Timeline", make: timelineView, of: ["timeline"], fits: (of) => of.phases.length },
	breakdown: { title: "Breakdown", make: breakdownView, of: ["breakdown"], fits: (of) => of.phases.length },
	map: { title: "Nodes", make: mapView, of: ["nodes", "phases", "samples", "series"], now: "States of nodes are of now.",
		fits: (of) => !of.known || of.known.nodes || of.samples || of.ofNodes.length },
	node: { title: "Node", make: nodeView, of: ["nodes", "phases", "timeline", "samples", "series"], hidden: true,
		now: "The state of the node is of now." },
	runs: { title: "Runs", make: runs, of: ["runs"], fits: (of) => of.runs, ofItem: "The run is shown whole; what is usual is of the chosen time." },
	groups: { title: "Groups", make: groups, of: ["groups"], fits: (of) => of.runs },
	spans: { title: "Spans", make: spans, of: ["spans"], fits: (of) => of.spans && api.isLive() },
	results: { title: "Results", make: results, of: ["results"], fits: (of) => of.results,
		now: "The lists of tests and of their entries are of all times." },
};
/* A view is asked for again also when nothing comes: silence changes what it shows.  In so many
 * periods; in each while something is wrong, so that the end of it is seen soon. */
const POLL_MS = 3000, POLLS = 2, POLLS_POOL = 3;
const QUIET_S = 120; // a pool is quiet
const GAP_MS = 500; // between questions of a view that changes
const id = (name) => document.getElementById(name);
let view = null, place = null, stop = null, following = null, heard = NaN, waits = false, fresh = false;

function here(at, params) {
	if (at.pool)
		return poolLink(at.pool, at.name, at.item, params);
	const query = new URLSearchParams(Object.entries(params).filter(([, v]) => v)).toString();
	return "#/" + at.name + (query ? "?" + query : "");
}

function crumbs() {
	const title = place.pool ? POOL_VIEWS[place.name].title : place.name === "status" ? "Pipeline status" : "Pools";
	const list = [];
	if (place.pool) {
		list.push(h("a", { href: "#/pools" }, "Pools"), h("a", { href: linkTo() }, place.pool));
		if (place.item)
			list.push(h("span", { "aria-current": "page" }, place.item));
	} else {
		list.push(h("a", { href: "#/pools", "aria-current": place.name === "pools" ? "page" : undefined }, "Pools"),
			h("a", { href: "#/status", "aria-current": place.name === "status" ? "page" : undefined }, "Status"));
	}
	fill(id("crumbs"), list);
	document.title = (place.item || title) + (place.pool ? " · " + place.pool : "") + " · poolscope";
	id("tabs").hidden = !place.pool;
	id("when").hidden = !place.pool || !api.isLive();
	if (!place.pool)
		return;
	const at = place;
	tabs(null);
	has(at.pool).then((of) => at === place && tabs(of)).catch(() => {}); // the view says why
}

/* A view of this pool, of the same time. */
function linkTo(name, item, params) {
	return poolLink(place.pool, name, item, { ...timeOf(place.params), ...params });
}

/* of: what the pool has; null: not known yet. */
function tabs(of) {
	const shown = Object.entries(POOL_VIEWS).filter(([name, { hidden, fits }]) => !hidden && (!fits || name === place.name || (of && fits(of))));
	fill(id("tabs"), shown.map(([name, each]) =>
		h("a", { href: linkTo(name), "aria-current": name === place.name ? "page" : undefined }, each.title)));
	const current = id("tabs").querySelector("[aria-current]");
	if (current)
		current.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/* The time of the views of a pool, and what is to be said of it. */
const said = h("p", { class: "note", role: "status" });
let field = null, empty = new Map();

function when() {
	if (!place.pool || !api.isLive())
		return;
	field.show(place.params);
	empty = new Map();
	const view = POOL_VIEWS[place.name];
	say(said, isChosen(place.params) ? (place.item && view.ofItem) || view.now || "" : "");
	said.hidden = !said.textContent;
}

function newField() {
	const pool = place.pool;
	field = timeField({ set: (change) => view.set(change), async list() {
		const of = await has(pool), found = of.starts ? await api.maybe(["pools", pool, "starts"], { columns: "start" }) : null;
		const left = found && found.notes.find((n) => n.key === "left_out"), starts = found ? found.rows.map((r) => r.start) : [];
		return { starts, known: starts.length + (left ? left.count : 0) };
	} });
	fill(id("when"), field.root, said);
	field.refresh().catch(() => {});
}

function isEmpty(answer) {
	const rows = answer ? answer.rows : [];
	return Array.isArray(rows) ? !rows.some((r) => r.count === undefined || r.count > 0 || r.open_starts > 0) :
		Boolean(rows) && !Object.values(rows).some((list) => list && list.length);
}

/* Nobody waits for records of nodes that stopped, or that somebody imported.  In a chosen time
 * there may be nothing. */
async function judge() {
	const at = place;
	if (!at.pool)
		return;
	const { known } = await has(at.pool);
	if (at !== place)
		return;
	waits = Boolean(known) && known.nodes > known.stopped + known.imported;
	tick();
	if (!known || !Number.isFinite(known.first) || !isChosen(at.params) || empty.size === 0 || [...empty.values()].includes(false))
		return;
	said.hidden = false;
	say(said, "There is nothing of this time. The records of this pool are of " + time(known.first) + " to " + time(known.last) + " UTC.");
}

const dot = h("span", { class: "dot", "aria-hidden": "true" });
const age = h("span", { class: "age" }, "");
const theme = h("button", { on: { click: () => {
	toggleTheme();
	label();
} } });

function label() {
	say(theme, isDark() ? "Light" : "Dark");
}

/* Why what is shown may be older than it looks: above all views. */
const banner = h("p", { class: "banner", role: "alert", hidden: true });
const GONE = "The connection to poolscope web is gone", MUTE = "The aggregator does not answer";
let answered = now(), lack = "";
const isPast = () => lack === GONE || lack === MUTE;

api.onAnswer((status, shows) => {
	if (status === 0) {
		lack = GONE;
	} else if (status === 503) {
		lack = MUTE;
	} else {
		answered = now();
		/* An answer that there is nothing does not say from what. */
		if (!shows)
			lack = isPast() ? "" : lack;
		else
			lack = shows.startsWith("the store") ? "The aggregator does not run: nothing is received" :
			shows.startsWith("until") ? "The aggregator is behind: not indexed yet is what came after " + shows.slice(17, 25) + " UTC" : "";
	}
	warn();
});

/* What was lost in the time of the answers of this view.  The time of a question moves with the
 * pool: a later answer takes the place of the one before. */
const losses = new Map(), lost = h("p", { class: "note lost", role: "status", hidden: true });

function noted(path, params, answer) {
	const { from, to, ...of } = params || {};
	losses.set(JSON.stringify([path, of]), ((answer && answer.notes) || []).filter((n) => n.key === "lost").map((n) => n.text).join(" "));
	const texts = [...new Set(losses.values())].filter(Boolean);
	lost.hidden = texts.length === 0;
	say(lost, texts.join(" "));
	return answer;
}

/* What somebody must act on, whatever is looked at: the view of the status has it itself. */
let problem = "";

async function health(signal) {
	if (place.name === "status")
		return;
	const answer = await api.maybe(["status"], {}, signal).catch(() => null), words = answer && answer.rows.filter((r) => r.state === "critical").map((r) => r.text).join("; ");
	if (!answer)
		return;
	problem = words && words[0].toUpperCase() + words.slice(1) + ".";
	warn();
}

function warn() {
	const s = (now() - heard) / 1000;
	const text = lack ? lack + (isPast() ? ". What is shown is of " + clock(answered) + " UTC, " + ago(answered) : "") + "." :
		place.name !== "status" && problem ? problem : s > QUIET_S && waits ? "Nothing was heard of this pool for " + old(s) + "." : "";
	banner.hidden = !text;
	say(banner, text);
}

function tools() {
	label();
	id("when").before(banner, lost);
	fill(id("tools"), h("span", { class: "live", title: "Age of the newest record" }, dot, age), theme,
		h("button", { on: { click: swap } }, "Tables"),
		h("button", { "aria-label": "Keys", on: { click: help } }, "?"));
}

function swap() {
	announce(toggleTables() ? "Tables instead of pictures" : "Pictures");
}

function announce(text) {
	say(id("heard"), text);
}

function failed(error) {
	if (error.name === "AbortError")
		return null;
	if (error.status === 400 && place.pool)
		return nothing("This cannot be asked: " + error.message + ".");
	const field = h("input", { type: "password", "aria-label": "Token", placeholder: "Token", autocomplete: "off" });
	return h("section", { class: "problem", role: "alert" },
		h("h1", error.title || "This page failed"), h("p", error.status === 401 && !api.hasToken() ?
			"A token is needed: type it, or open the address that poolscope web printed." : error.message),
		error.status === 401 ? h("form", { on: { submit: (event) => {
			event.preventDefault();
			api.setToken(field.value.trim().replace(/^.*#k=/, ""));
			place = null; // its stream and its starts were refused, too
			show();
		} } }, h("p", field, " ", h("button", { type: "submit" }, "Use this token"))) : null,
		h("p", h("a", { href: "#/pools" }, "All pools")));
}

async function load(again) {
	const mine = view, main = id("main");
	try {
		await mine.load(again);
		if (view !== mine)
			return;
		judge().catch(() => {});
		if (mine.root.parentNode !== main) {
			fill(main, mine.root);
			sweep();
		}
		main.dataset.ready = place.name;
	} catch (error) {
		if (view !== mine)
			return;
		const what = failed(error);
		if (what && (!again || error.status === 401)) {
			fill(main, what);
			main.dataset.ready = "problem";
		} else if (what) {
			announce(error.message);
		}
	}
}

function show() {
	api.takeToken();
	const before = place;
	place = parse(location.hash, POOL_VIEWS);
	if (stop)
		stop.abort();
	stop = new AbortController();
	const at = place, signal = stop.signal;
	waits = false;
	losses.clear();
	noted([], {}, null);
	const ask = async (call, path, given) => {
		const params = at.pool ? ofTime(path[0], given, at.params) : given;
		const answer = await call(at.pool ? ["pools", at.pool, ...path] : path, params, signal), timed = params !== given;
		if (at === place && timed)
			empty.set(JSON.stringify([path, given]), isEmpty(answer));
		if (!api.isLive() && answer && answer.starts > 1) {
			/* A report has one time. */
			fill(id("when"), note("Start of " + startWords(answer.start, answer.start_number, answer.starts) + "."));
			id("when").hidden = false;
		}
		return timed || !isChosen(at.params) ? noted(path, params, answer) : answer;
	};
	const context = {
		...at, signal,
		get: (path, params) => ask(api.get, path, params),
		maybe: (path, params) => ask(api.maybe, path, params),
		ofTime: (route, params) => ofTime(route, params, at.params),
		has: () => has(at.pool),
		/* What a view says of nothing: why, where no time was chosen. */
		why: (text) => isChosen(at.params) ? "None is of this time." : api.opening()?.left_out ? "This report left out: " + api.opening().left_out + "." : text,
		link: linkTo,
		/* Change a parameter of this view: a new address, or in place of this one.  A start is a
		 * window of its own. */
		set(given, instead) {
			const change = given.from || given.to ? { ...given, start: "" } : given.start !== undefined ? { ...given, from: "", to: "" } : given;
			const to = here(at, { ...at.params, ...change });
			if (instead) {
				Object.assign(at.params, change);
				history.replaceState(null, "", to);
			} else {
				location.hash = to;
			}
		},
		announce,
	};
	id("main").dataset.ready = "";
	if (at.pool && (!before || before.pool !== at.pool))
		newField();
	when();
	view = (at.pool ? POOL_VIEWS[at.name].make : at.name === "status" ? status : pools)(context);
	view.set = context.set;
	crumbs();
	load(false);
	if (!before || before.pool !== at.pool || !following)
		follow();
	if (before && (before.name !== at.name || before.pool !== at.pool)) {
		scrollTo(0, 0);
		id("main").focus({ preventScroll: true });
	}
}

/* Ask again at once, but one question after the other, and for at most a fifth of the
 * time. */
let timer = 0, next = 0, running = null;

function refresh() {
	timer ||= setTimeout(again);
}

async function again() {
	await running;
	const begin = performance.now();
	timer = 0;
	if (document.hidden)
		return;
	if (begin < next) {
		timer = setTimeout(again, next - begin);
		return;
	}
	running = load(true);
	await running;
	next = begin + Math.max(GAP_MS, 5 * (performance.now() - begin));
}

/* While the page is seen, what has changed is asked for again. */
function follow() {
	if (following)
		following.abort();
	following = null;
	heard = NaN;
	dot.dataset.state = "";
	tick();
	if (document.hidden || !api.isLive())
		return;
	following = new AbortController();
	fresh = true;
	if (place.pool)
		api.live(place.pool, happened, following.signal);
	poll(following.signal, place.pool ? POLLS_POOL : POLLS);
}

function poll(signal, periods) {
	let n = 0;
	const again = setInterval(() => {
		if (++n % periods && !lack && !problem)
			return;
		refresh();
		health(signal);
	}, POLL_MS);
	health(signal);
	signal.addEventListener("abort", () => clearInterval(again), { once: true });
}

function happened(event, data) {
	const lost = event === "lost" || event === "silent";
	dot.dataset.state = lost ? "lost" : "live";
	if (lost) {
		fresh = false;
		if (event === "silent")
			lack = MUTE;
		else if (!data.status)
			lack = GONE;
		say(age, event === "silent" ? "no answer" : data.status === 401 ? "token not valid" : "no connection");
		warn();
		return;
	}
	if (typeof data.age === "number")
		heard = now() - 1000 * data.age;
	tick();
	/* The first one comes when the view has just been asked for. */
	if (event === "reset" ? !fresh : POOL_VIEWS[place.name].of.some((name) => data.changed.includes(name)))
		refresh();
	fresh = false;
}

function tick() {
	const s = (now() - heard) / 1000, unknown = Number.isNaN(s);
	countOn();
	warn();
	if (dot.dataset.state !== "lost") {
		if (!unknown)
			dot.dataset.state = s <= QUIET_S ? "live" : waits ? "quiet" : "rest";
		say(age, unknown ? "" : s > 259200 ? time(heard).slice(0, 10) : old(s));
	}
	id("tools").title = unknown ? "" : "Newest record " + ago(heard);
}

function go(to) {
	location.hash = to;
}

listen({
	context: () => place,
	view: () => view,
	go, linkTo, swap,
	theme: () => {
		toggleTheme();
		label();
	},
	announce,
});
id("skip").addEventListener("click", (event) => {
	event.preventDefault();
	id("main").focus();
});
addEventListener("hashchange", show);
document.addEventListener("visibilitychange", () => {
	follow();
	if (!document.hidden && view)
		load(true);
});
addEventListener("look", label);
setInterval(tick, 1000);
tools();
show();
