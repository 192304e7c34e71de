/*
 * stats_partition_rows - what a source says of each partition.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/partition_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/nearest.h"

static const char id_prefix[] = "partition:";
static const char records_prefix[] = "records_";

static bool
without_prefix(struct text text, const char *prefix, struct text *rest)
{
	uint32_t bytes = (uint32_t)strlen(prefix);

	if (text.bytes < bytes || memcmp(text.at, prefix, bytes) != 0)
		return false;
	*rest = (struct text){ text.at + bytes, text.bytes - bytes };
	return true;
}

bool
partition_rows_name(const struct record *record, struct text *name)
{
	*name = record->name;
	if (record->kind != RECORD_ENTITY ||
	    !without_prefix(record->name, id_prefix, name))
		return false;
	/* An id has no room for the longest names. */
	(void)record_find_text(record, "partition", name);
	return true;
}

static void
add_records(struct partition_row *row, struct text kind, int64_t count)
{
	row->records += (uint64_t)count;
	for (int i = 0; i < RECORD_KINDS; i++)
		if (text_equal(
			kind, text_of(record_kind_name((enum record_kind)i))))
			row->records_of[i] += (uint64_t)count;
}

static struct partition_row
make_row(const struct record *record)
{
	struct partition_row row = { .first_ns = INT64_MIN,
		.last_ns = INT64_MIN };
	struct text pairs = record->pairs, kind;
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a)) {
		if (a.value.type != VALUE_INT)
			continue;
		if (text_equal(a.key, text_of("first_ns")))
			row.first_ns = a.value.is.i;
		else if (text_equal(a.key, text_of("last_ns")))
			row.last_ns = a.value.is.i;
		else if (a.value.is.i < 0)
			continue;
		else if (text_equal(a.key, text_of("nodes")))
			row.nodes = (uint64_t)a.value.is.i;
		else if (text_equal(a.key, text_of("rejected_bytes")))
			row.rejected_bytes = (uint64_t)a.value.is.i;
		else if (text_equal(a.key, text_of("rejected_cut")))
			row.rejected_cut = (uint64_t)a.value.is.i;
		else if (text_equal(a.key, text_of("last_entry")))
			row.last_entry = (uint64_t)a.value.is.i;
		else if (without_prefix(a.key, records_prefix, &kind))
			add_records(&row, kind, a.value.is.i);
	}
	return row;
}

/* As exporters/source/places.h chooses: the newest, of equal ones the first. */
static void
choose(struct partition_rows *rows, struct partition_row *added)
{
	struct partition_row *read = NULL;

	added->is_read = true;
	for (uint32_t i = 0; i < rows->count; i++)
		if (text_equal(rows->at[i].name, added->name)) {
			rows->at[i].is_kept_twice = true;
			added->is_kept_twice = true;
			if (rows->at[i].is_read)
				read = &rows->at[i];
		}
	if (read == NULL)
		return;
	added->is_read = added->last_ns > read->last_ns;
	read->is_read = !added->is_read;
}

static void
add(struct partition_rows *rows, struct partition_row row, struct text name)
{
	uint32_t before = rows->names.count;
	bool is_new = string_table_add(&rows->names, name) == before;

	row.name = string_table_text(&rows->names, name);
	row.is_read = true;
	if (!is_new)
		choose(rows, &row);
	*MEMORY_ADD(rows->at, rows->room, rows->count) = row;
}

/* Of one partition nothing else need be looked at; an account/pool is a pattern
 * of partitions only, which the store does not know. */
static void
select_ids(
    char to[static 2 * NAME_BYTES_MAX], struct text pattern, struct text *id)
{
	if (pattern.bytes == 0 || pattern.bytes > NAME_BYTES_MAX ||
	    memchr(pattern.at, '$', pattern.bytes) == NULL)
		return;
	snprintf(to, 2 * NAME_BYTES_MAX, "%s%.*s", id_prefix,
	    (int)pattern.bytes, pattern.at);
	*id = text_of(to);
}

int
partition_rows_read(struct partition_rows *rows, struct source *source,
    struct text pattern, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char id[2 * NAME_BYTES_MAX];
	struct partition_row row;
	struct record record;
	struct text name;
	int rc;

	select_ids(id, pattern, &query.name);
	*rows = (struct partition_rows){ .count = 0 };
	string_table_init(&rows->names);
	if (source_select(source, SOURCE_STATUS, (struct text){ NULL, 0 },
		&query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (!partition_rows_name(&record, &name) ||
		    (pattern.bytes > 0 && !text_match_partition(pattern, name)))
			continue;
		row = make_row(&record);
		row.place = source_place(source);
		row.generation = source_generation(source);
		add(rows, row, name);
	}
	return rc;
}

void
partition_rows_clear(struct partition_rows *rows)
{
	free(rows->at);
	string_table_clear(&rows->names);
	*rows = (struct partition_rows){ .count = 0 };
}

int
partition_rows_refuse(
    struct source *source, struct text pattern, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], shown[300];
	char typed[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	struct partition_rows all;
	struct nearest nearest;
	int rc =
	    partition_rows_read(&all, source, (struct text){ NULL, 0 }, err);

	snprintf(typed, sizeof(typed), "%.*s", (int)pattern.bytes, pattern.at);
	nearest_begin(&nearest, typed);
	for (uint32_t i = 0; i < all.count; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)all.at[i].name.bytes,
		    all.at[i].name.at);
		nearest_offer(&nearest, name);
	}
	partition_rows_clear(&all);
	return rc != 0 ? rc
		       : err_set(err, "%s: no partition matches %s%s",
			     source_name(source),
			     text_quote(shown, sizeof(shown), pattern),
			     nearest_question(
				 &nearest, "", question, sizeof(question)));
}

int
partition_rows_read_one(struct partition_row *row, struct source *source,
    struct text name, struct err *err)
{
	struct partition_rows rows;
	int rc = partition_rows_read(&rows, source, name, err);

	*row = (struct partition_row){ .first_ns = INT64_MIN,
		.last_ns = INT64_MIN };
	for (uint32_t i = 0; rc == 0 && i < rows.count; i++)
		if (rows.at[i].is_read && text_equal(rows.at[i].name, name)) {
			*row = rows.at[i];
			row->name = name;
		}
	partition_rows_clear(&rows);
	return rc;
}
