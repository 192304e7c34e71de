/*
 * known - the names that exist, for a name that matches nothing.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/known.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/nearest.h"
#include "proto/hash/string_table.h"
#include "proto/os/log.h"
#include "proto/record/node_list.h"

enum {
	SOME = 3,             /* names in a sentence */
	RECORDS_MAX = 200000, /* looked at for names that are near */
};

/* ---- nodes ---- */

static int
read_nodes(struct source *source, struct text partition, struct text list,
    struct string_table *nodes, struct err *err)
{
	struct wire_query query = source_query(0);
	struct record record;
	int rc;

	query.node = list;
	if (source_select(source, SOURCE_NODES, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		string_table_add(nodes, record.name);
	return rc;
}

static bool
is_known(const struct string_table *nodes, struct text item)
{
	for (uint32_t i = 0; i < nodes->count; i++)
		if (node_list_match(item, nodes->names[i]))
			return true;
	return false;
}

/* "; there are 12 nodes, such as a, b, c" */
static void
put_some(char *to, size_t room, const struct string_table *nodes)
{
	size_t used = (size_t)snprintf(to, room, "; it has %" PRIu32 " node%s",
	    nodes->count, nodes->count == 1 ? "" : "s");
	char shown[64];

	for (uint32_t i = 0; i < nodes->count && i < SOME && used < room; i++)
		used += (size_t)snprintf(to + used, room - used, "%s%s",
		    i > 0                  ? ", "
		    : nodes->count <= SOME ? ": "
					   : ", such as ",
		    text_quote(shown, sizeof(shown), nodes->names[i]));
}

/* Of all nodes, which ones may have been meant? */
static int
refuse_node(struct source *source, struct text partition, struct text item,
    struct err *err)
{
	char name[NAME_BYTES_MAX + 1], shown[80], where[300], more[300];
	struct text typed = item;
	struct string_table nodes;
	struct nearest nearest;

	string_table_init(&nodes);
	if (read_nodes(source, partition, text_of(""), &nodes, err) != 0) {
		string_table_clear(&nodes);
		return -1;
	}
	if (node_list_count(item) > 0)
		typed = (struct text){ name, node_list_name(item, 0, name) };
	snprintf(where, sizeof(where), "%.*s", (int)typed.bytes, typed.at);
	nearest_begin(&nearest, where);
	for (uint32_t i = 0; i < nodes.count; i++) {
		char offered[NAME_BYTES_MAX + 1];

		snprintf(offered, sizeof(offered), "%.*s",
		    (int)nodes.names[i].bytes, nodes.names[i].at);
		nearest_offer(&nearest, offered);
	}
	nearest_question(&nearest, "", more, sizeof(more));
	if (nearest.count == 0 && nodes.count > 0)
		put_some(more, sizeof(more), &nodes);
	err_set(err, "no node of partition %s is called '%s'%s",
	    text_quote(where, sizeof(where), partition),
	    text_quote(shown, sizeof(shown), item), more);
	string_table_clear(&nodes);
	return -1;
}

/* Some names of a range may be no nodes: machines that are not there yet. */
static void
warn_missing(
    const struct string_table *nodes, struct text partition, struct text item)
{
	uint32_t count = node_list_count(item), missing = 0;
	char name[NAME_BYTES_MAX], shown[80], where[300], list[300] = "";
	uint32_t number;
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct text each = { name, node_list_name(item, i, name) };

		if (string_table_find(nodes, each, &number))
			continue;
		if (missing++ < SOME)
			used += (size_t)snprintf(list + used,
			    sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
			    text_quote(shown, sizeof(shown), each));
	}
	if (missing > 0)
		log_warn("partition %s has no records of %" PRIu32
			 " of the %" PRIu32 " nodes of %s: %s%s",
		    text_quote(where, sizeof(where), partition), missing, count,
		    text_quote(shown, sizeof(shown), item), list,
		    missing > SOME ? " ..." : "");
}

int
known_check_nodes(struct source *source, struct text partition,
    struct text list, struct err *err)
{
	struct text rest = list, item;
	struct string_table nodes;
	int rc;

	if (list.bytes == 0)
		return 0;
	string_table_init(&nodes);
	rc = read_nodes(source, partition, list, &nodes, err);
	while (rc == 0 && node_list_next(&rest, &item)) {
		if (!is_known(&nodes, item))
			rc = refuse_node(source, partition, item, err);
		else if (node_list_count(item) > 1)
			warn_missing(&nodes, partition, item);
	}
	string_table_clear(&nodes);
	return rc;
}

/* ---- partitions ---- */

/* -1: there is no such partition; `question` gets those that are near. */
static int
find_partition(struct source *source, struct text partition, char *question,
    size_t room, struct err *err)
{
	struct wire_query query = source_query(0);
	char typed[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	struct nearest nearest;
	struct record record;
	struct text text;
	bool found = false;
	int rc;

	snprintf(
	    typed, sizeof(typed), "%.*s", (int)partition.bytes, partition.at);
	nearest_begin(&nearest, typed);
	if (source_select(source, SOURCE_STATUS, text_of(""), &query, err) != 0)
		return 0; /* the key may not ask for it */
	while ((rc = source_next(source, &record, err)) > 0) {
		if (!record_find_text(&record, "partition", &text))
			continue;
		found = found || text_equal(text, partition);
		snprintf(name, sizeof(name), "%.*s", (int)text.bytes, text.at);
		nearest_offer(&nearest, name);
	}
	nearest_question(&nearest, "", question, room);
	return rc < 0 || found ? 0 : -1;
}

int
known_check_partition(
    struct source *source, struct text partition, int rc, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], shown[300];
	struct err ignored, sentence;
	char *advice;

	if (!source_is_empty(source) ||
	    find_partition(
		source, partition, question, sizeof(question), &ignored) == 0)
		return rc;
	if (rc == 0)
		return err_set(err, "%s: there is no partition %s%s",
		    source_name(source),
		    text_quote(shown, sizeof(shown), partition), question);
	/* What would help in a partition that is there does not help here. */
	sentence = *err;
	advice = strstr(sentence.text, "; ");
	if (advice != NULL)
		*advice = '\0';
	return err_set(
	    err, "%s; there is no such partition%s", sentence.text, question);
}

/* ---- names of records ---- */

static void
put_name(
    char *to, size_t room, enum source_what what, const struct record *record)
{
	bool pair = record->kind == RECORD_EVENT ||
		    record->kind == RECORD_ENTITY ||
		    record->kind == RECORD_PHASE;
	struct text first =
	    record->kind == RECORD_SAMPLE ? record->source : record->name;

	/* Of statistics the id alone is what people write. */
	if (pair && what != SOURCE_STATS)
		snprintf(to, room, "%.*s:%.*s", (int)record->source.bytes,
		    record->source.at, (int)record->name.bytes,
		    record->name.at);
	else
		snprintf(to, room, "%.*s", (int)first.bytes, first.at);
}

void
known_suggest(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query, const char *typed,
    struct err *err)
{
	char name[2 * NAME_BYTES_MAX + 2], last[sizeof(name)] = "";
	char question[3 * NEAREST_WORD_BYTES + 32];
	struct wire_query all = *query;
	struct nearest nearest;
	struct record record;
	struct err ignored, sentence;

	if (typed == NULL || *typed == '\0')
		return;
	nearest_begin(&nearest, typed);
	all.name = text_of("");
	if (source_select(source, what, partition, &all, &ignored) != 0)
		return;
	for (uint32_t i = 0;
	     i < RECORDS_MAX && source_next(source, &record, &ignored) > 0;
	     i++) {
		/* The statistics of runs name requestors and more, too. */
		if (what == SOURCE_STATS &&
		    !text_equal(record.source, text_of("phase")) &&
		    !text_equal(record.source, text_of("run-model")))
			continue;
		put_name(name, sizeof(name), what, &record);
		/* The same name mostly comes many times in a row. */
		if (strcmp(name, last) != 0)
			nearest_offer(&nearest, name);
		strcpy(last, name);
	}
	nearest_question(&nearest, "", question, sizeof(question));
	sentence = *err;
	err_set(err, "%s%s", sentence.text, question);
}
