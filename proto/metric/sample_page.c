/*
 * sample_page - samples that come one by one, as dynamic groups.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/sample_page.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/sort.h"
#include "proto/hash/string_table.h"

enum {
	/* Columns of a group, so that its definition and its sample fit a
	 * submission to an agent together. */
	COLUMNS_MAX = 256,
	COLUMN_BYTES_MAX = 16 << 10,
	ROOM_BYTES = 2 * (DYNAMIC_LABELS_BYTES_MAX + COLUMN_BYTES_MAX) +
		     COLUMNS_MAX * 64,
};

struct column {
	struct dynamic_number number;
	uint64_t line;
	uint32_t group;
};

struct group {
	struct dynamic_label *label;
	uint32_t labels;
	uint32_t columns;
	uint32_t bytes; /* of their names and units */
	int64_t time_ns;
};

struct sample_page {
	struct string_table keys; /* labels and time, a group each */
	uint32_t *open;           /* by key: the group that takes more */
	uint32_t opens, open_room;
	uint32_t last; /* key that was added */
	struct group *group;
	uint32_t groups, group_room;
	/* Of all groups: most may have one, and a list of each would cost a
	 * kilobyte. */
	struct column *column;
	uint32_t columns, column_room;
	/* The last number whose name and unit were checked: on pages the lines
	 * of a name follow each other. */
	struct text checked_name, checked_unit;
	char key[sizeof(int64_t) + DYNAMIC_LABELS_BYTES_MAX];
	struct column of_group[COLUMNS_MAX];
	struct dynamic_number sorted[COLUMNS_MAX];
	unsigned char bytes[ROOM_BYTES];
};

void
sample_page_new(struct sample_page **page)
{
	*page = memory_zero(1, sizeof(**page));
	string_table_init(&(*page)->keys);
}

void
sample_page_free(struct sample_page **page)
{
	if (*page == NULL)
		return;
	for (uint32_t i = 0; i < (*page)->groups; i++)
		free((*page)->group[i].label);
	free((*page)->group);
	free((*page)->column);
	free((*page)->open);
	string_table_clear(&(*page)->keys);
	free(*page);
	*page = NULL;
}

/* ---- adding ---- */

static struct group *
begin_group(struct sample_page *page, const struct dynamic_label *label,
    uint32_t labels, int64_t time_ns)
{
	struct string_table *keep = &page->keys;
	struct group *group;

	group = MEMORY_ADD(page->group, page->group_room, page->groups);
	*group = (struct group){ .labels = labels, .time_ns = time_ns };
	group->label = memory_zero(labels + 1, sizeof(*label));
	for (uint32_t i = 0; i < labels; i++)
		group->label[i] = (struct dynamic_label){
			string_table_keep(keep, label[i].key),
			string_table_keep(keep, label[i].value),
		};
	return group;
}

/* The number of the key.  The lines of each name often have the same labels in
 * the same order: then it is the next one. */
static uint32_t
key_number(struct sample_page *page, struct text key)
{
	uint32_t next = page->last + 1;

	if (next >= page->keys.count ||
	    !text_equal(page->keys.names[next], key))
		next = string_table_add(&page->keys, key);
	page->last = next;
	return next;
}

/* The group of these labels and this time that has room for the number. */
static struct group *
group_of(struct sample_page *page, struct text key, uint32_t more,
    const struct dynamic_label *label, uint32_t labels, int64_t time_ns)
{
	uint32_t number = key_number(page, key);

	if (number == page->opens) {
		MEMORY_GROW(page->open, page->open_room, number);
		page->opens++;
	} else {
		struct group *open = &page->group[page->open[number]];

		if (open->columns < COLUMNS_MAX &&
		    open->bytes + more <= COLUMN_BYTES_MAX)
			return open;
	}
	page->open[number] = page->groups;
	return begin_group(page, label, labels, time_ns);
}

static int
check_number(struct sample_page *page, const struct dynamic_number *number,
    struct err *err)
{
	if (text_equal(page->checked_name, number->name) &&
	    text_equal(page->checked_unit, number->unit))
		return 0;
	if (dynamic_group_check_number(number, err) != 0)
		return -1;
	page->checked_name = number->name;
	page->checked_unit = number->unit;
	return 0;
}

int
sample_page_add(struct sample_page *page, const struct dynamic_number *number,
    struct dynamic_label *label, uint32_t labels, int64_t time_ns,
    uint64_t line, struct err *err)
{
	char *key = page->key, *end = key;
	uint32_t more = number->name.bytes + number->unit.bytes + 2;
	struct group *group;

	if (check_number(page, number, err) != 0)
		return -1;
	memcpy(end, &time_ns, sizeof(time_ns));
	end += sizeof(time_ns);
	if (dynamic_group_put_labels(
		&end, DYNAMIC_LABELS_BYTES_MAX, label, labels, err) != 0)
		return -1;
	group = group_of(page, (struct text){ key, (uint32_t)(end - key) },
	    more, label, labels, time_ns);
	*MEMORY_ADD(page->column, page->column_room, page->columns) =
	    (struct column){ *number, line, (uint32_t)(group - page->group) };
	group->columns++;
	group->bytes += more;
	return 0;
}

/* ---- the groups ---- */

static int
by_name(const void *a, const void *b)
{
	const struct column *x = a, *y = b;
	int order = text_compare(x->number.name, y->number.name);

	return order != 0 ? order : x->line < y->line ? -1 : 1;
}

/* The positions of the columns, group by group; the caller frees them. */
static uint32_t *
order_of(const struct sample_page *page)
{
	uint32_t *order = memory_zero(page->columns + 1, sizeof(*order));
	uint32_t *next = memory_zero(page->groups + 1, sizeof(*next));

	for (uint32_t i = 0; i < page->groups; i++)
		next[i + 1] = next[i] + page->group[i].columns;
	for (uint32_t i = 0; i < page->columns; i++)
		order[next[page->column[i].group]++] = i;
	free(next);
	return order;
}

static void
leave_out(const struct column *column, const struct sample_page_calls *calls)
{
	char shown[64];
	struct err err;

	err_set(&err, "metric '%s' is there twice, with the same labels",
	    text_quote(shown, sizeof(shown), column->number.name));
	calls->on_bad(calls->arg, column->line, &err);
}

/* Copy the numbers of a group without those that repeat a name; returns how
 * many are left. */
static uint32_t
take_numbers(struct sample_page *page, const uint32_t *order, uint32_t columns,
    const struct sample_page_calls *calls)
{
	struct column *column = page->of_group;
	uint32_t count = 0;

	for (uint32_t i = 0; i < columns; i++)
		column[i] = page->column[order[i]];
	sort_if_needed(column, columns, sizeof(*column), by_name);
	for (uint32_t i = 0; i < columns; i++)
		if (count > 0 && text_equal(page->sorted[count - 1].name,
				     column[i].number.name))
			leave_out(&column[i], calls);
		else
			page->sorted[count++] = column[i].number;
	return count;
}

int
sample_page_groups(struct sample_page *page, struct text origin, uint64_t boot,
    const struct sample_page_calls *calls)
{
	uint32_t *order = order_of(page), *next = order;
	int rc = 0;

	for (uint32_t i = 0; i < page->groups && rc == 0; i++) {
		struct group *group = &page->group[i];
		struct dynamic_group made = {
			.origin = origin,
			.label = group->label,
			.labels = group->labels,
			.number = page->sorted,
			.numbers =
			    take_numbers(page, next, group->columns, calls),
			.time_ns = group->time_ns,
			.boot = boot,
		};
		struct err err;

		next += group->columns;
		rc = dynamic_group_make(
		    &made, page->bytes, sizeof(page->bytes), &err);
		assert(rc == 0); /* sample_page_add has looked at everything */
		rc = calls->on_group(calls->arg, &made);
	}
	free(order);
	return rc;
}
