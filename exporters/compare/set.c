/*
 * compare_set - the runs that are compared: the old and the new ones, like with
 * like.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/compare/set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* ---- choices ---- */

int
compare_choice_make(struct compare_choice *choice, const struct opt_list *given,
    uint64_t otherwise, const char *option, struct err *err)
{
	const char *word = given->count > 0 ? given->at[0] : "";
	unsigned long long newest;
	char *end;

	*choice = (struct compare_choice){ .newest = otherwise };
	if (given->count == 0)
		return 0;
	*choice = (struct compare_choice){ .names = given };
	for (uint32_t i = 0; i < given->count; i++)
		if (given->at[i][0] == '\0')
			return err_set_option(err, option, "a name is empty");
		else if (given->count > 1 &&
			 strncmp(given->at[i], "last:", 5) == 0)
			return err_set_option(err, option,
			    "'%.64s': last: stands alone", given->at[i]);
	if (strncmp(word, "last:", 5) != 0)
		return 0;
	newest = strtoull(word + 5, &end, 10);
	if (word[5] < '0' || word[5] > '9' || *end != '\0' || newest == 0 ||
	    newest > COMPARE_RUNS_MAX)
		return err_set_option(err, option,
		    "'%.64s': last: takes a number from 1 to %d", word,
		    COMPARE_RUNS_MAX);
	*choice = (struct compare_choice){ .newest = newest };
	return 0;
}

static bool
is_named(const char *word, struct text name, int64_t time_ns)
{
	struct err err;
	int64_t ns;

	if (text_equal(text_of(word), name))
		return true;
	return clock_parse_time(text_of(word), clock_wall_ns(), &ns, &err) ==
		   0 &&
	       ns <= time_ns && time_ns - ns < NS_PER_SECOND;
}

static bool
names(struct compare_set *set, enum compare_side side, struct text name,
    int64_t time_ns)
{
	const struct opt_list *list = set->choice[side].names;
	bool is_met = false;

	for (uint32_t i = 0; list != NULL && i < list->count; i++)
		if (is_named(list->at[i], name, time_ns))
			set->met[side][i] = is_met = true;
	return is_met;
}

static bool
is_complete(const struct compare_set *set, enum compare_side side)
{
	const struct compare_choice *choice = &set->choice[side];
	const struct opt_list *list = choice->names;

	if (list == NULL)
		return set->count[side] >= choice->newest;
	for (uint32_t i = 0; i < list->count; i++)
		if (!set->met[side][i])
			return false;
	return true;
}

/* ---- runs ---- */

void
compare_set_init(struct compare_set *set,
    const struct compare_choice choice[static COMPARE_SIDES], bool is_mixed)
{
	*set = (struct compare_set){ .is_mixed = is_mixed };
	for (int side = 0; side < COMPARE_SIDES; side++) {
		const struct opt_list *list = choice[side].names;

		set->choice[side] = choice[side];
		set->met[side] = memory_zero(
		    list != NULL ? list->count + 1 : 1, sizeof(bool));
	}
	string_table_init(&set->texts);
	string_table_init(&set->metrics);
	string_table_init(&set->likes);
}

void
compare_set_clear(struct compare_set *set)
{
	string_table_clear(&set->texts);
	string_table_clear(&set->metrics);
	string_table_clear(&set->likes);
	free(set->gates);
	free(set->runs);
	free(set->values);
	free(set->taken);
	free(set->met[COMPARE_OLD]);
	free(set->met[COMPARE_NEW]);
	*set = (struct compare_set){ .gates = NULL };
}

static bool
old_are_complete(const struct compare_set *set)
{
	uint64_t newest = set->choice[COMPARE_OLD].newest;

	if (newest == 0)
		return is_complete(set, COMPARE_OLD);
	if (set->count[COMPARE_NEW] == 0)
		return set->count[COMPARE_OLD] >= newest;
	for (uint32_t i = 0; i < set->likes.count; i++)
		if (set->taken[i][COMPARE_NEW] > 0 &&
		    set->taken[i][COMPARE_OLD] < newest)
			return false;
	return true;
}

bool
compare_set_wants(const struct compare_set *set)
{
	if (set->run_count == COMPARE_RUNS_MAX)
		return false;
	if (!set->is_one_sided)
		return !is_complete(set, COMPARE_NEW) || !old_are_complete(set);
	return set->side == COMPARE_NEW ? !is_complete(set, COMPARE_NEW)
					: !old_are_complete(set);
}

/* Of another store only new ones are taken, first: their numbers are those of
 * their names. */
static bool
is_new_elsewhere(
    const struct compare_set *set, struct text name, int64_t time_ns)
{
	const struct compare_run *run;
	uint32_t number;

	if (!set->is_one_sided || set->side == COMPARE_NEW ||
	    !string_table_find(&set->texts, name, &number) ||
	    number >= set->count[COMPARE_NEW])
		return false;
	run = &set->runs[number];
	return text_equal(run->name, name) && run->time_ns == time_ns;
}

/* The newest are the new ones; those of a name are old only if they are named
 * so, or lie behind all new ones.  None is compared with itself. */
static bool
find_side(struct compare_set *set, struct text name, int64_t time_ns,
    uint32_t like, enum compare_side *side)
{
	const struct compare_choice *old = &set->choice[COMPARE_OLD],
				    *new = &set->choice[COMPARE_NEW];
	bool may_be_old = !set->is_one_sided || set->side == COMPARE_OLD,
	     may_be_new = !set->is_one_sided || set->side == COMPARE_NEW,
	     was_complete = is_complete(set, COMPARE_NEW),
	     is_old = may_be_old && names(set, COMPARE_OLD, name, time_ns),
	     is_new = may_be_new && (new->newest > 0 ? !was_complete && !is_old
						     : names(set, COMPARE_NEW,
							   name, time_ns));

	*side = is_new ? COMPARE_NEW : COMPARE_OLD;
	if (is_new_elsewhere(set, name, time_ns)) {
		set->twice++;
		return false;
	}
	set->twice += is_old && is_new;
	if (is_old || is_new)
		return true;
	if (old->newest == 0 || !may_be_old || (may_be_new && !was_complete))
		return false;
	if (set->count[COMPARE_NEW] > 0 && set->taken[like][COMPARE_NEW] == 0) {
		set->unlike++;
		return false;
	}
	return set->taken[like][COMPARE_OLD] < old->newest;
}

bool
compare_set_offer(struct compare_set *set, struct text name, int64_t time_ns,
    struct text like)
{
	uint32_t before = set->likes.count, number;
	enum compare_side side;

	if (set->is_mixed)
		like = text_of("");
	number = string_table_add(&set->likes, like);
	set->taken = memory_grow(
	    set->taken, &set->taken_room, number, sizeof(*set->taken));
	if (number == before)
		memset(set->taken[number], 0, sizeof(*set->taken));
	if (!find_side(set, name, time_ns, number, &side))
		return false;
	set->taken[number][side]++;
	set->count[side]++;
	set->runs = memory_grow(
	    set->runs, &set->run_room, set->run_count, sizeof(*set->runs));
	set->runs[set->run_count++] =
	    (struct compare_run){ string_table_text(&set->texts, name), time_ns,
		    number, side };
	return true;
}

void
compare_set_value(
    struct compare_set *set, struct text metric, bool gates, double seconds)
{
	uint32_t number = string_table_add(&set->metrics, metric);

	set->gates = memory_grow(
	    set->gates, &set->gates_room, number, sizeof(*set->gates));
	set->gates[number] = gates;
	if (!(seconds > 0) || !isfinite(seconds)) {
		set->no_time++;
		return;
	}
	set->values = memory_grow(set->values, &set->value_room,
	    set->value_count, sizeof(*set->values));
	set->values[set->value_count++] =
	    (struct compare_value){ set->run_count - 1, number, seconds };
}

/* ---- rows ---- */

static int
by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The values of a number of the runs that are alike, and how many. */
struct cell {
	uint32_t count[COMPARE_SIDES], used[COMPARE_SIDES];
	double *at[COMPARE_SIDES];
};

static struct cell *
cell_of(const struct compare_set *set, struct cell *cells,
    const struct compare_value *value)
{
	uint32_t like = set->runs[value->run].like;

	return &cells[(size_t)value->metric * set->likes.count + like];
}

static struct cell *
fill_cells(const struct compare_set *set)
{
	struct cell *cells = memory_zero(
	    (size_t)set->metrics.count * set->likes.count + 1, sizeof(*cells));

	for (uint32_t i = 0; i < set->value_count; i++)
		cell_of(set, cells, &set->values[i])
		    ->count[set->runs[set->values[i].run].side]++;
	for (uint32_t i = 0; i < set->value_count; i++) {
		const struct compare_value *value = &set->values[i];
		enum compare_side side = set->runs[value->run].side;
		struct cell *cell = cell_of(set, cells, value);

		if (cell->at[side] == NULL)
			cell->at[side] = memory_zero(
			    cell->count[side], sizeof(*cell->at[side]));
		cell->at[side][cell->used[side]++] = value->seconds;
	}
	return cells;
}

/* Sort them; they become their logarithms. */
static double
take_median(double *at, uint32_t count)
{
	double median;

	if (count == 0)
		return (double)NAN;
	qsort(at, count, sizeof(*at), by_size);
	median = at[(count - 1) / 2] / 2 + at[count / 2] / 2;
	for (uint32_t i = 0; i < count; i++)
		at[i] = log(at[i]);
	return median;
}

/* The cell's values go with it. */
static struct compare_row
row_of(const struct compare_set *set, uint32_t metric, uint32_t like,
    const struct cell *cell)
{
	const uint32_t *count = cell->count;
	struct compare_row row = { .metric = metric,
		.like = like,
		.of = { .old = cell->at[COMPARE_OLD],
		    .new = cell->at[COMPARE_NEW],
		    .old_count = count[COMPARE_OLD],
		    .new_count = count[COMPARE_NEW],
		    .gates = set->gates[metric] } };

	for (int side = 0; side < COMPARE_SIDES; side++)
		row.median[side] = take_median(cell->at[side], count[side]);
	return row;
}

struct compare_row *
compare_set_judge(const struct compare_set *set, double margin, uint32_t *count)
{
	struct cell *cells = fill_cells(set);
	struct compare_row *rows = NULL;
	struct compare_judged *judged;
	uint32_t room = 0;

	*count = 0;
	for (int gates = 1; gates >= 0; gates--)
		for (uint32_t i = 0; i < set->metrics.count; i++)
			for (uint32_t k = 0; k < set->likes.count; k++) {
				const struct cell *cell =
				    &cells[(size_t)i * set->likes.count + k];

				if (set->gates[i] != gates ||
				    cell->count[0] + cell->count[1] == 0)
					continue;
				rows = memory_grow(
				    rows, &room, *count, sizeof(*rows));
				rows[(*count)++] = row_of(set, i, k, cell);
			}
	free(cells);
	judged = memory_zero((size_t)*count + 1, sizeof(*judged));
	for (uint32_t i = 0; i < *count; i++)
		judged[i] = rows[i].of;
	compare_judge(judged, *count, margin);
	for (uint32_t i = 0; i < *count; i++)
		rows[i].of = judged[i];
	free(judged);
	return rows;
}

void
compare_rows_free(struct compare_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(rows[i].of.old);
		free(rows[i].of.new);
	}
	free(rows);
}
