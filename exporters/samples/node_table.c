/*
 * samples_node_table - metrics of many nodes in equal time steps.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/node_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/unit.h"
#include "proto/base/memory.h"

/* ---- finding the cell of a point ---- */

static int
find_metric(struct samples *samples, const struct series_point *point,
    uint32_t *metric, struct err *err)
{
	char shown[UNIT_SHOWN_BYTES];

	for (*metric = 0; *metric < samples->count; ++*metric) {
		const struct samples_metric *m = &samples->metrics[*metric];

		if (text_equal(m->name, point->metric) &&
		    text_equal(m->group, point->group))
			return 0;
	}
	if (samples->count == SAMPLES_PICTURES_MAX)
		return err_set(err,
		    "more than %d pictures: choose fewer metrics, or a metric "
		    "group with --metric-group",
		    SAMPLES_PICTURES_MAX);
	(void)unit_of_point(point, samples->cpus, shown);
	samples->metrics = memory_resize(
	    samples->metrics, (samples->count + 1) * sizeof(*samples->metrics));
	samples->metrics[samples->count++] = (struct samples_metric){
		.group = string_table_text(&samples->texts, point->group),
		.name = string_table_text(&samples->texts, point->metric),
		.counter = point->counter
	};
	if (shown[0] != '\0')
		samples->metrics[*metric].unit =
		    string_table_text(&samples->texts, text_of(shown));
	if (point->labels.bytes > 0)
		samples->metrics[*metric].labels =
		    string_table_text(&samples->texts, point->labels);
	return 0;
}

/* Add a row; NULL when there are too many. */
static struct samples_cell *
add_row(
    struct samples *samples, struct samples_metric *metric, struct text node)
{
	struct samples_cell *cells;

	samples->cells += samples->steps;
	if (samples->cells > SAMPLES_CELLS_MAX)
		return NULL;
	MEMORY_GROW(metric->rows, metric->room, metric->count);
	cells = memory_alloc(samples->steps * sizeof(*cells));
	for (uint32_t i = 0; i < samples->steps; i++)
		cells[i] = (struct samples_cell){ NAN, NAN, NAN };
	metric->rows[metric->count++] =
	    (struct samples_row){ string_table_text(&samples->texts, node),
		    cells };
	return cells;
}

/* The slot of the point's series; it is NULL until the series is first seen. */
static struct samples_slot *
slot_of(struct samples *samples, uint32_t number)
{
	MEMORY_GROW_ZERO(samples->slots, samples->slot_room, number);
	return &samples->slots[number];
}

static void
count_gap(struct samples *samples, struct samples_slot *slot, uint32_t step)
{
	struct samples_metric *metric = &samples->metrics[slot->metric];

	if (metric->gaps == NULL)
		metric->gaps =
		    memory_zero(samples->steps + 1, sizeof(*metric->gaps));
	if (slot->sampled > 0 && step + 1 > slot->sampled) {
		metric->gaps[step + 1 - slot->sampled]++;
		metric->gap_count++;
	}
	slot->sampled = step + 1;
}

static void
fill(const struct samples *samples, const struct samples_slot *slot,
    struct samples_cell *cell, const struct series_point *point)
{
	double factor = slot->scale_changes
			    ? unit_of_point(point, samples->cpus, NULL)
			    : slot->scale;

	*cell = (struct samples_cell){ point->low * factor,
		point->mean * factor, point->high * factor };
}

static int
take(struct samples *samples, const struct series_point *point, struct err *err)
{
	struct samples_slot *slot;
	struct samples_metric *metric;
	int64_t step = point->begin_ns - samples->from_ns;

	if (step < 0 || isnan(point->mean))
		return 0;
	step /= samples->step_ns;
	if (step >= samples->steps)
		return 0;
	slot = slot_of(samples, point->number);
	if (slot->cells == NULL) {
		if (find_metric(samples, point, &slot->metric, err) != 0)
			return -1;
		metric = &samples->metrics[slot->metric];
		slot->cells = add_row(samples, metric, point->node);
		if (slot->cells == NULL)
			return err_set(err,
			    "too many nodes for this many steps: choose a "
			    "longer --step, fewer nodes or metrics");
		slot->scale_changes = cpus_change(samples->cpus, point->node);
		slot->scale = unit_of_point(point, samples->cpus, NULL);
	}
	metric = &samples->metrics[slot->metric];
	if (!text_equal(point->rollup, metric->rollup) &&
	    series_rollup_rank(point->rollup) >
		series_rollup_rank(metric->rollup))
		metric->rollup =
		    string_table_text(&samples->texts, point->rollup);
	if (point->counter && point->count > 0)
		count_gap(samples, slot, (uint32_t)step);
	fill(samples, slot, &slot->cells[step], point);
	return 0;
}

int
samples_read(struct samples *samples, struct series *series,
    const struct series_query *query, const struct job_intervals *job_intervals,
    struct err *err)
{
	struct series_point point;
	int rc;

	if (samples->cpus == NULL) {
		samples->cpus = memory_zero(1, sizeof(*samples->cpus));
		cpus_init(samples->cpus);
	}
	if (unit_read_cpus(samples->cpus, series, query, err) != 0 ||
	    series_select(series, query, err) != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0) {
		if (job_intervals != NULL &&
		    !job_intervals_cover(job_intervals, point.node,
			point.begin_ns, point.end_ns))
			continue;
		if (take(samples, &point, err) != 0)
			return -1;
	}
	return rc;
}

/* ---- finishing ---- */

static int
by_name(const void *left, const void *right)
{
	const struct samples_row *a = left, *b = right;

	return text_compare_natural(a->node, b->node);
}

/* Count the distances, in steps, between each filled cell and the next. */
static uint64_t
count_gaps(const struct samples *samples, const struct samples_row *row,
    uint64_t *gaps)
{
	uint32_t last = UINT32_MAX;
	uint64_t count = 0;

	for (uint32_t i = 0; i < samples->steps; i++) {
		if (isnan(row->cells[i].mean))
			continue;
		if (last != UINT32_MAX) {
			gaps[i - last]++;
			count++;
		}
		last = i;
	}
	return count;
}

/* The median: one long absence of a node has the weight of one. */
static uint32_t
median_gap(const uint64_t *gaps, uint64_t count)
{
	uint32_t gap = 0;
	uint64_t passed = 0;

	while (count > 0 && 2 * passed < count)
		passed += gaps[++gap];
	return count > 0 ? gap : 1;
}

static void
hold_until(struct samples_row *row, uint32_t last, uint32_t end)
{
	for (uint32_t k = last + 1; k < end; k++)
		row->cells[k] = row->cells[last];
}

/* The usual gap where the gap behind the `k`-th filled cell is: the median of
 * the two gaps before and the two behind, because an agent's period changes
 * (--dense), while one long absence of a node says nothing of it.  At an end of
 * the row there are two, and the shorter one counts: the other one may be an
 * absence.  Without two of them `gap`, that of the whole row. */
static uint32_t
usual_gap(const uint32_t *filled, uint32_t count, int64_t k, uint32_t gap)
{
	uint32_t near[4], n = 0;

	for (int64_t i = k - 2; i <= k + 2; i++) {
		uint32_t at = n;

		if (i == k || i < 0 || i + 1 >= count)
			continue;
		for (; at > 0 && near[at - 1] > filled[i + 1] - filled[i]; at--)
			near[at] = near[at - 1];
		near[at] = filled[i + 1] - filled[i];
		n++;
	}
	if (n < 2)
		return gap;
	return near[n == 2 ? 0 : n / 2];
}

/* Not every node has its first sample in the first step: one that comes within
 * a usual gap is no gap at the left edge. */
static void
hold_before(struct samples_row *row, uint32_t first, uint32_t gap)
{
	if (first > gap)
		return;
	for (uint32_t k = 0; k < first; k++)
		row->cells[k] = row->cells[first];
}

/* A value holds until the next one.  If that is more than two usual gaps of
 * the node away, and a step, for samples come at irregular times, the node was
 * away: then the value holds for one usual gap. */
static void
hold_row(const struct samples *samples, struct samples_row *row, uint32_t gap)
{
	uint32_t *filled = memory_zero(samples->steps, sizeof(*filled));
	uint32_t count = 0;

	for (uint32_t i = 0; i < samples->steps; i++)
		if (!isnan(row->cells[i].mean))
			filled[count++] = i;
	if (count > 0)
		hold_before(row, filled[0], usual_gap(filled, count, -1, gap));
	for (uint32_t k = 0; k < count; k++) {
		uint32_t usual = usual_gap(filled, count, k, gap);
		uint32_t most = usual > 1 ? 2 * usual + 1 : 2;
		uint32_t end = filled[k] + usual;

		if (k + 1 < count && filled[k + 1] - filled[k] <= most)
			end = filled[k + 1];
		else if (samples->steps - filled[k] < usual)
			end = samples->steps;
		hold_until(row, filled[k], end);
	}
	free(filled);
}

static bool
has_one(const struct samples *samples, const struct samples_row *row)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < samples->steps && count < 2; i++)
		count += !isnan(row->cells[i].mean);
	return count == 1;
}

/* More nodes than lines of a picture, which show each sample by itself. */
static bool
is_crowd(const struct samples *samples)
{
	return samples->count == 1 && samples->metrics[0].count > SAMPLES_LINES;
}

static void
add_gaps(const struct samples *samples, uint64_t *all, const uint64_t *gaps)
{
	for (uint32_t i = 0; i <= samples->steps; i++)
		all[i] += gaps[i];
}

/* Hold the values of each row; returns the usual gap of all nodes: of many
 * that have a sample each, all steps. */
static uint32_t
hold(const struct samples *samples)
{
	uint64_t *gaps = memory_zero(samples->steps + 1, sizeof(*gaps));
	uint64_t *all = memory_zero(samples->steps + 1, sizeof(*all));
	uint64_t count = 0;
	uint32_t spacing;

	for (uint32_t m = 0; m < samples->count; m++)
		for (uint32_t r = 0; r < samples->metrics[m].count; r++) {
			struct samples_row *row = &samples->metrics[m].rows[r];
			uint64_t own;

			memset(gaps, 0, (samples->steps + 1) * sizeof(*gaps));
			own = count_gaps(samples, row, gaps);
			if (samples->metrics[m].gaps == NULL) {
				count += own;
				add_gaps(samples, all, gaps);
			}
			if (own > 0)
				hold_row(samples, row, median_gap(gaps, own));
		}
	for (uint32_t m = 0; m < samples->count; m++)
		if (samples->metrics[m].gaps != NULL) {
			count += samples->metrics[m].gap_count;
			add_gaps(samples, all, samples->metrics[m].gaps);
		}
	spacing = count == 0 && is_crowd(samples) ? samples->steps
						  : median_gap(all, count);
	for (uint32_t m = 0; count > 0 && m < samples->count; m++)
		for (uint32_t r = 0; r < samples->metrics[m].count; r++)
			if (samples->metrics[m].gaps == NULL &&
			    has_one(samples, &samples->metrics[m].rows[r]))
				hold_row(samples, &samples->metrics[m].rows[r],
				    spacing);
	free(gaps);
	free(all);
	return spacing;
}

static void
join(struct samples_cell *to, const struct samples_cell *cells, uint32_t count)
{
	double sum = 0;
	uint32_t n = 0;

	*to = (struct samples_cell){ NAN, NAN, NAN };
	for (uint32_t i = 0; i < count; i++) {
		if (isnan(cells[i].mean))
			continue;
		to->low = fmin(to->low, cells[i].low);
		to->high = fmax(to->high, cells[i].high);
		sum += cells[i].mean;
		n++;
	}
	if (n > 0)
		to->mean = sum / n;
}

static void
widen(struct samples *samples, uint32_t by)
{
	uint32_t steps = (samples->steps + by - 1) / by;

	for (uint32_t m = 0; m < samples->count; m++)
		for (uint32_t r = 0; r < samples->metrics[m].count; r++) {
			struct samples_cell *cells =
			    samples->metrics[m].rows[r].cells;

			for (uint32_t i = 0; i < steps; i++) {
				uint32_t left = samples->steps - i * by;
				struct samples_cell cell;

				join(&cell, &cells[i * by],
				    left < by ? left : by);
				cells[i] = cell;
			}
		}
	samples->steps = steps;
	samples->step_ns *= by;
}

/* Cut off the empty steps at both ends. */
static void
trim(struct samples *samples)
{
	uint32_t first = samples->steps, last = 0;

	for (uint32_t m = 0; m < samples->count; m++)
		for (uint32_t r = 0; r < samples->metrics[m].count; r++)
			for (uint32_t i = 0; i < samples->steps; i++) {
				if (isnan(samples->metrics[m]
					      .rows[r]
					      .cells[i]
					      .mean))
					continue;
				first = i < first ? i : first;
				last = i > last ? i : last;
			}
	if (first > last)
		return;
	for (uint32_t m = 0; m < samples->count; m++)
		for (uint32_t r = 0; r < samples->metrics[m].count; r++) {
			struct samples_cell *cells =
			    samples->metrics[m].rows[r].cells;

			memmove(cells, cells + first,
			    (last + 1 - first) * sizeof(*cells));
		}
	samples->steps = last + 1 - first;
	samples->from_ns += first * samples->step_ns;
}

static void
count_known(const struct samples *samples, struct samples_metric *metric)
{
	metric->known = memory_zero(samples->steps + 1, sizeof(*metric->known));
	for (uint32_t r = 0; r < metric->count; r++)
		for (uint32_t i = 0; i < samples->steps; i++)
			metric->known[i] +=
			    !isnan(metric->rows[r].cells[i].mean);
	for (uint32_t i = 0; i < samples->steps; i++)
		if (metric->known[i] > metric->most)
			metric->most = metric->known[i];
}

bool
samples_step_is_few(const struct samples_metric *metric, uint32_t step)
{
	uint32_t known = metric->known[step];

	return known > 0 && known < metric->most - known;
}

void
samples_finish(struct samples *samples)
{
	uint32_t spacing;

	for (uint32_t m = 0; m < samples->count; m++) {
		struct samples_metric *metric = &samples->metrics[m];
		if (metric->count > 1)
			qsort(metric->rows, metric->count,
			    sizeof(*metric->rows), by_name);
	}
	trim(samples);
	spacing = hold(samples);
	if (spacing > 1)
		widen(samples, spacing);
	for (uint32_t m = 0; m < samples->count; m++)
		count_known(samples, &samples->metrics[m]);
}

void
samples_clear(struct samples *samples)
{
	for (uint32_t m = 0; m < samples->count; m++) {
		for (uint32_t r = 0; r < samples->metrics[m].count; r++)
			free(samples->metrics[m].rows[r].cells);
		free(samples->metrics[m].rows);
		free(samples->metrics[m].gaps);
		free(samples->metrics[m].known);
	}
	if (samples->cpus != NULL)
		cpus_clear(samples->cpus);
	free(samples->cpus);
	free(samples->metrics);
	free(samples->slots);
	string_table_clear(&samples->texts);
	memset(samples, 0, sizeof(*samples));
}
