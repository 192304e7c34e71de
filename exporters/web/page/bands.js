/*
 * bands - small bars inside of tables: steps that follow each other, and the spread of
 * durations.
 * SPDX-License-Identifier: MIT
 */
import { h } from "./dom.js";
import { css, pattern, placeTile } from "./look.js";
import { duration, seconds } from "./format.js";

function bar(width, height, label, draw) {
	const canvas = h("canvas", { class: "bar", role: "img", "aria-label": label, title: label });
	const scale = 2;
	canvas.width = width * scale;
	canvas.height = height * scale;
	const c = canvas.getContext("2d");
	c.scale(scale, scale);
	draw(c, width, height);
	return canvas;
}

/* Steps [{ name, seconds, place }] on a scale that ends at `most` seconds. */
export function steps(list, most, failed) {
	const label = list.map((s) => s.name + " " + duration(s.seconds)).join(", ") + (failed ? "; failed" : "");
	return bar(320, 16, label, (c, width, height) => {
		let x = 0;
		list.forEach((step) => {
			const w = step.seconds / most * width;
			c.fillStyle = pattern(c, placeTile(step.place, false));
			c.fillRect(x, 0, Math.max(w, step.seconds > 0 ? 1 : 0), height);
			x += w;
		});
		if (failed) {
			c.strokeStyle = css("bad");
			c.lineWidth = 2;
			c.beginPath();
			c.moveTo(x + 3, 2);
			c.lineTo(x + 13, height - 2);
			c.moveTo(x + 13, 2);
			c.lineTo(x + 3, height - 2);
			c.stroke();
		}
	});
}

/* Least to greatest as a line, p50 to p99 as a bar, the median as a mark. */
export function spread(row, most) {
	if (!row.count || !(most > 0))
		return "";
	const label = "from " + seconds(row.min) + " to " + seconds(row.max) + " s, median " + seconds(row.p50) +
		", p90 " + seconds(row.p90) + ", p99 " + seconds(row.p99);
	return bar(220, 16, label, (c, width, height) => {
		const X = (v) => v / most * (width - 3) + 1;
		if (row.count === 1) {
			c.fillStyle = css("accent");
			c.fillRect(0, 5, Math.max(2, X(row.max)), height - 10);
			return;
		}
		c.fillStyle = css("muted");
		c.fillRect(X(row.min), height / 2 - 0.5, Math.max(1, X(row.max) - X(row.min)), 1);
		c.fillStyle = css("band");
		c.fillRect(X(row.p50), 3, Math.max(1, X(row.p99) - X(row.p50)), height - 6);
		c.fillStyle = css("accent");
		c.fillRect(X(row.p50), 3, Math.max(2, X(row.p90) - X(row.p50)), height - 6);
		c.fillStyle = css("text");
		c.fillRect(X(row.p50) - 1, 1, 2, height - 2);
	});
}
