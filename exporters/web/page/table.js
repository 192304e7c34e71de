/*
 * table - rows of any number; only those that are seen are elements.
 *
 *	const t = table({ caption, columns, href, empty });
 *	t.set(rows);
 *
 * A column is { key, label, number, value(row), show(row), as, wide, title }: `value` is
 * what it is sorted by, `show` a text or an element (default: the value), `as` how a number
 * is written.  On a narrow screen a row is a card.
 * SPDX-License-Identifier: MIT
 */
import { h, fill, say } from "./dom.js";
import { byName, count, NONE } from "./format.js";
import { pages } from "./parts.js";

const ROW = 30;     // pixels; style.css has the same
const WINDOW = 120; // more rows scroll in a window of their own
const PAGE = 40;    // cards
const narrow = matchMedia("(max-width: 699px)");

function valueOf(column, row) {
	return column.value ? column.value(row) : row[column.key];
}

function shown(column, row) {
	const v = column.show ? column.show(row) : valueOf(column, row);
	return isEmpty(v) ? NONE : v;
}

const isEmpty = (v) => v === null || v === undefined || v === "" || Number.isNaN(v);

/* What is unknown comes last, up or down. */
function compare(a, b, down) {
	if (isEmpty(a) || isEmpty(b))
		return isEmpty(a) - isEmpty(b);
	return (down ? -1 : 1) * (typeof a === "number" && typeof b === "number" ? a - b : byName(String(a), String(b)));
}

export function table(options) {
	const { caption } = options, columns = options.columns.map((c) => c.as ? { number: true, show: (row) => c.as(valueOf(c, row)), ...c } : c);
	let all = [], rows = [], sorted = null, down = false, filter = "", at = -1, page = 0;
	const body = h("tbody");
	const heads = columns.map(head);
	const grid = h("table", { class: "grid" },
		h("caption", { class: "quiet" }, caption),
		h("thead", h("tr", heads.map((each) => each.cell))), body);
	const box = h("div", { class: "rows", tabindex: "0", role: "region", "aria-label": caption }, grid);
	const note = h("p", { class: "note", hidden: true });
	const pager = h("div", { hidden: true });
	const root = h("div", { class: columns.length <= 4 ? "table few" : "table" }, box, note, pager);

	function head(column) {
		const button = h("button", { class: "sort", title: column.title,
			on: { click: () => sortBy(column) } }, column.label);
		const cell = h("th", { scope: "col", class: (column.number ? "number" : "") + (column.wide ? " wide" : "") },
			button);
		return { column, cell };
	}

	function sortBy(column) {
		down = sorted === column ? !down : Boolean(column.number);
		sorted = column;
		page = 0;
		arrange();
	}

	function arrange() {
		rows = filter ? all.filter(matches) : all.slice();
		if (sorted)
			rows.sort((a, b) => compare(valueOf(sorted, a), valueOf(sorted, b), down));
		for (const { column, cell } of heads) {
			if (column === sorted)
				cell.setAttribute("aria-sort", down ? "descending" : "ascending");
			else
				cell.removeAttribute("aria-sort");
		}
		at = Math.min(at, rows.length - 1);
		draw();
	}

	function matches(row) {
		return columns.some((column) => {
			const v = valueOf(column, row);
			return typeof v === "string" && v.toLowerCase().includes(filter);
		});
	}

	function element(row, index) {
		const to = options.href && options.href(row);
		return h("tr", { "aria-rowindex": String(index + 2), class: index === at ? "at" : "" },
			columns.map((column, i) => {
				let what = shown(column, row);
				if (i === 0 && to)
					what = h("a", { href: to }, what);
				const title = typeof what === "string" && column.wide ? what : undefined;
				return h(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : undefined, title,
					class: (column.number ? "number" : "") + (column.wide ? " wide" : ""),
					"data-label": column.label }, what);
			}));
	}

	function spacer(n) {
		const cell = h("td", { colspan: String(columns.length) });
		cell.style.height = n * ROW + "px";
		return h("tr", { class: "spacer", "aria-hidden": "true" }, cell);
	}

	function draw() {
		const cards = narrow.matches, windowed = !cards && rows.length > WINDOW;
		root.classList.toggle("windowed", windowed);
		grid.setAttribute("aria-rowcount", String(rows.length + 1));
		let from = 0, to = rows.length;
		if (windowed) {
			const height = box.clientHeight || 600;
			from = Math.max(0, Math.floor(box.scrollTop / ROW) - 6);
			to = Math.min(rows.length, from + Math.ceil(height / ROW) + 14);
		} else if (cards) {
			from = page * PAGE;
			to = Math.min(rows.length, from + PAGE);
		}
		const parts = rows.slice(from, to).map((row, i) => element(row, from + i));
		if (windowed && from > 0)
			parts.unshift(spacer(from));
		if (windowed && to < rows.length)
			parts.push(spacer(rows.length - to));
		fill(body, parts);
		note.hidden = rows.length > 0 && !filter && !options.note;
		say(note, rows.length === 0 ? filter ? "Nothing matches the filter." : options.empty || "Nothing here." :
			filter ? count(rows.length) + " of " + count(all.length) : options.note || "");
		drawPager(cards && rows.length > PAGE, from, to);
	}

	function drawPager(needed, from, to) {
		pager.hidden = !needed;
		if (!needed)
			return;
		const turn = (by) => () => {
			page += by;
			draw();
			root.scrollIntoView();
		};
		fill(pager, pages(["Previous", from > 0 && turn(-1)], count(from + 1) + " to " + count(to) + " of " + count(rows.length),
			["Next", to < rows.length && turn(1)]));
	}

	let waiting = false;
	box.addEventListener("scroll", () => {
		if (waiting || !root.classList.contains("windowed"))
			return;
		waiting = true;
		requestAnimationFrame(() => {
			waiting = false;
			draw();
		});
	}, { passive: true });
	narrow.addEventListener("change", draw);

	return {
		root,
		get rows() {
			return rows;
		},
		set(list) {
			all = list;
			arrange();
		},
		filter(text) {
			filter = text.toLowerCase();
			page = 0;
			box.scrollTop = 0;
			arrange();
		},
		/* Mark the next row, or the one before. */
		step(by) {
			if (rows.length === 0)
				return;
			at = Math.min(rows.length - 1, Math.max(0, at + by));
			box.focus({ preventScroll: true }); // Enter is for the row now
			if (root.classList.contains("windowed")) {
				const top = at * ROW;
				if (top < box.scrollTop)
					box.scrollTop = top;
				else if (top + 3 * ROW > box.scrollTop + box.clientHeight)
					box.scrollTop = top + 3 * ROW - box.clientHeight;
			}
			draw();
			const marked = body.querySelector(".at");
			if (marked)
				marked.scrollIntoView({ block: "nearest" });
			return shown(columns[0], rows[at]);
		},
		open() {
			if (at >= 0 && options.href && options.href(rows[at]))
				location.hash = options.href(rows[at]);
		},
	};
}
