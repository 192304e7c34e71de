/*
 * write_runs - add events and entities to the rows of test runs.
 *
 * The runs come in the order of (partition, model, run), so each row is read
 * and written once.  The changes to the statistics are collected for one model
 * at a time (write_groups.c).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/indexer/write_records.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"
#include "proto/os/log.h"

/* The current model. */
struct at {
	struct indexer_write *indexer_write;
	struct db_txn *txn;
	struct collect *collect;
	struct run_sum_form form;
	uint32_t kind; /* number of the kind of its entities */
	uint32_t group[RUN_SUM_GROUPS_MAX]; /* known groups, in order */
	uint32_t groups;
	bool groups_read;
	char id[NAME_BYTES_MAX]; /* of the current run */
};

/* ---- limit of groups ---- */

/* Read the numbers of the existing groups, in order. */
static void
read_groups(struct at *at)
{
	struct db_cursor *cursor = db_cursor_open(at->txn, TABLES_GROUPS);
	struct run_sum_key group = { .partition = at->form.partition,
		.model = at->form.number };
	unsigned char bytes[RUN_SUM_KEY_BYTES];
	struct text key, value;

	at->groups = 0;
	at->groups_read = true;
	while (at->groups < RUN_SUM_GROUPS_MAX) {
		run_sum_put_key(bytes, &group);
		if (!db_seek(cursor,
			(struct text){ (const char *)bytes, sizeof(bytes) },
			&key, &value) ||
		    !run_sum_get_key(key, &group) ||
		    group.partition != at->form.partition ||
		    group.model != at->form.number ||
		    group.group == RUN_SUM_GROUP_UNKNOWN)
			break;
		at->group[at->groups++] = group.group++;
		group.part = group.which = 0;
		group.number = 0;
	}
	db_cursor_close(&cursor);
}

/* Returns the group if it exists or may be added, else the group of all
 * others. */
static uint32_t
bounded_group(struct at *at, uint32_t group)
{
	uint32_t low;

	if (!at->groups_read)
		read_groups(at);
	low = LOWER_BOUND(i, 0, at->groups, at->group[i] < group);
	if (low < at->groups && at->group[low] == group)
		return group;
	if (at->groups == RUN_SUM_GROUPS_MAX &&
	    !at->indexer_write->warned_groups)
		log_warn("indexer: model %.*s has runs in more than %d groups "
			 "of a partition; the runs of further groups are "
			 "counted together in %s",
		    (int)at->form.model->model.bytes, at->form.model->model.at,
		    RUN_SUM_GROUPS_MAX, DICTIONARY_OTHER);
	at->indexer_write->warned_groups |= at->groups == RUN_SUM_GROUPS_MAX;
	if (at->groups == RUN_SUM_GROUPS_MAX)
		return dictionary_number_always(at->collect->dictionary,
		    at->txn, at->form.partition, text_of(DICTIONARY_OTHER));
	memmove(at->group + low + 1, at->group + low,
	    (at->groups - low) * sizeof(at->group[0]));
	at->group[low] = group;
	at->groups++;
	return group;
}

/* ---- properties of the entity ---- */

static bool
is_something(const struct value *value)
{
	return value->type != VALUE_NIL &&
	       !(value->type == VALUE_TEXT && value->is.text.bytes == 0) &&
	       !(value->type == VALUE_BOOL && !value->is.boolean);
}

/* The number of a property's text; 0 when it has no text. */
static uint32_t
number_of(struct at *at, const struct value *value)
{
	if (value->type != VALUE_TEXT ||
	    text_check_name(value->is.text) != TEXT_OK)
		return 0;
	return dictionary_number_or_other(at->collect->dictionary, at->txn,
	    at->form.partition, value->is.text);
}

static void
take_property(struct at *at, struct run_row *row,
    const struct row_block_attribute *attribute)
{
	const struct model_run *model = at->form.model;
	struct text name = attribute->key.text, rest = attribute->value;
	struct value value;

	if (attribute->key.number != 0 &&
	    !dictionary_text(
		at->txn, at->form.partition, attribute->key.number, &name))
		return;
	if (!record_next_value(&rest, &value))
		return;
	if (model->error.bytes > 0 && text_equal(name, model->error))
		row->error = is_something(&value);
	if (model->group.bytes > 0 && text_equal(name, model->group))
		row->group = number_of(at, &value);
	if (model->requestor.bytes > 0 && text_equal(name, model->requestor))
		row->requestor = number_of(at, &value);
}

static void
take_entity(struct at *at, struct run_row *row)
{
	unsigned char key[8 + NAME_BYTES_MAX];
	struct row_block_attribute attribute;
	struct text value, rest;
	struct buffer copy = { NULL, 0, 0 };
	struct varint_reader u;

	if (at->kind == 0)
		return;
	varint_put_u32_be(key, at->form.partition);
	varint_put_u32_be(key + 4, at->kind);
	memcpy(key + 8, row->id.at, row->id.bytes);
	if (!packed_get(at->indexer_write->packed, at->txn, tables_entities,
		(struct text){ (const char *)key, 8 + row->id.bytes }, &value))
		return;
	/* A copy: adding a name may move the page that holds it. */
	buffer_put(&copy, value.at, value.bytes);
	u = varint_reader_of(buffer_text(&copy));
	for (int i = 0; i < 5; i++)
		varint_get(&u);
	rest = varint_get_bytes(&u, varint_left(&u));
	row->known = true;
	row->error = false;
	row->group = row->requestor = 0;
	row_block_attribute_count(&rest);
	while (row_block_next_attribute(&rest, &attribute))
		take_property(at, row, &attribute);
	row->group = bounded_group(at, row->group);
	buffer_clear(&copy);
}

/* ---- one run ---- */

static void
take_events(struct at *at, const struct group *group, bool *described)
{
	struct collect *collect = at->collect;
	struct run_row *row = at->indexer_write->run;
	uint32_t member;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&collect->of_runs, member)) {
		const struct collect_run *what = &collect->run[member];
		const struct run_row_event event = { what->id, what->event,
			what->node };

		if (what->event == 0) {
			*described = true;
			continue;
		}
		if (!what->other) {
			if (run_row_take(row, &event) != RUN_ROW_OVERFLOW)
				continue;
			at->indexer_write->overflow++;
		}
		run_row_count(row, what->event, what->id.time_ns);
	}
}

void
indexer_write_run_time(struct indexer_write *indexer_write, struct db_txn *txn,
    const struct run_row_key *run, const int64_t *from_ns, const int64_t *to_ns)
{
	struct run_row_time at = { run->partition, run->model, 0, run->run };
	unsigned char bytes[RUN_ROW_TIME_KEY_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) };

	if (from_ns != NULL && to_ns != NULL && *from_ns == *to_ns)
		return;
	if (from_ns != NULL) {
		at.time_ns = *from_ns;
		run_row_put_time_key(bytes, &at);
		packed_del(indexer_write->packed, txn, tables_run_times, key);
	}
	if (to_ns != NULL) {
		at.time_ns = *to_ns;
		run_row_put_time_key(bytes, &at);
		packed_put(indexer_write->packed, txn, tables_run_times, key,
		    (struct text){ "", 0 });
		indexer_write->bytes += sizeof(bytes);
	}
}

static struct text
group_id(const struct at *at, const struct group *group)
{
	return at->collect->run[group->first].run;
}

static void
put_run(struct at *at, const struct group *group)
{
	struct run_row_key run = { at->form.partition, at->form.number,
		group->key[2] };
	struct indexer_write *indexer_write = at->indexer_write;
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) }, value, id;
	int64_t from_ns, to_ns;
	bool there, described;

	run_row_put_key(bytes, &run);
	there = packed_get(
		    indexer_write->packed, at->txn, tables_runs, key, &value) &&
		run_row_decode(indexer_write->run, value);
	if (there)
		run_sum(&indexer_write->changes, &at->form, indexer_write->run,
		    run.run, true);
	else
		run_row_reset(indexer_write->run);
	from_ns = run_row_time(indexer_write->run);
	/* A copy: writing may move the page that holds it. */
	id = there ? indexer_write->run->id : group_id(at, group);
	memcpy(at->id, id.at, id.bytes);
	indexer_write->run->id = (struct text){ at->id, id.bytes };
	/* The entity of a new run may have arrived before its events. */
	described = !there;
	take_events(at, group, &described);
	if (described)
		take_entity(at, indexer_write->run);
	run_sum(&indexer_write->changes, &at->form, indexer_write->run, run.run,
	    false);
	indexer_write->value.bytes = 0;
	run_row_encode(indexer_write->run, &indexer_write->value);
	packed_put(indexer_write->packed, at->txn, tables_runs, key,
	    buffer_text(&indexer_write->value));
	indexer_write->bytes += sizeof(bytes) + indexer_write->value.bytes;
	to_ns = run_row_time(indexer_write->run);
	indexer_write_run_time(
	    indexer_write, at->txn, &run, there ? &from_ns : NULL, &to_ns);
}

/* ---- all runs ---- */

static void
enter(struct at *at, const struct group *group)
{
	const struct model_run *model =
	    &at->collect->models->run[group->key[1] - 1];

	run_sum_form_make(
	    &at->form, at->collect->dictionary, at->txn, group->key[0], model);
	at->kind = dictionary_find(at->txn, group->key[0], model->kind);
	at->groups_read = false;
	at->groups = 0;
}

void
indexer_write_runs(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect)
{
	struct at *at;
	uint32_t i;

	if (collect->of_runs.count == 0)
		return;
	at = memory_zero(1, sizeof(*at));
	at->indexer_write = indexer_write;
	at->txn = txn;
	at->collect = collect;
	groups_sort(&collect->of_runs);
	for (i = 0; i < collect->of_runs.count; i++) {
		const struct group *group = &collect->of_runs.at[i];

		if (i == 0 || group->key[0] != group[-1].key[0] ||
		    group->key[1] != group[-1].key[1]) {
			if (i > 0)
				indexer_write_run_changes(
				    indexer_write, txn, &at->form);
			enter(at, group);
		}
		put_run(at, group);
	}
	indexer_write_run_changes(indexer_write, txn, &at->form);
	free(at);
}
