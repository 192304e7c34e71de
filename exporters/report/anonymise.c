/*
 * report_anonymise - other names for those that a pool recorded.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/report/anonymise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"

/* Those before NAMES are looked for inside texts, too. */
enum kind {
	NODE,
	RUN,
	GROUP,
	IMAGE,
	USER,
	WORKER,
	PHASE, /* without a model: "none:NAME" */
	NAMES,
	DEVICE = NAMES,
	TEXT,
	KINDS
};
static const char *const words[KINDS] = { "node", "run", "group", "image",
	"user", "worker", "phase", "device", "text" };

/* Attributes whose value is such a name. */
static const struct {
	const char *key;
	enum kind kind;
} keys[] = { { "run", RUN }, { "request_id", RUN }, { "group", GROUP },
	{ "device_group", GROUP }, { "image", IMAGE }, { "img", IMAGE },
	{ "requestor", USER }, { "user", USER },
	{ "host_worker_instances", WORKER }, { "node", NODE },
	{ "queue", TEXT }, { "configuration", TEXT }, { "error", TEXT } };

/* Shorter names are renamed where they stand alone, not inside a text. */
enum { INSIDE_BYTES_MIN = 3, ROOMS = 4, PARTS = 3 };

struct report_names {
	struct string_table raw[KINDS];
	char **shown[KINDS];
	uint32_t room[KINDS];
	struct text part[PARTS], other[PARTS]; /* partition, account, pool */
	char *partition;
	struct string_table texts; /* that were changed */
	struct buffer rooms[ROOMS];
	uint32_t next_room;
	struct source_rename rename;
	/* While the statistics of a phase without a model are renamed: its
	 * other name, and how long its name is in those of its events. */
	struct text own;
	uint32_t own_bytes;
};

static struct text
number_name(struct report_names *names, int kind, struct text name)
{
	struct string_table *raw = &names->raw[kind];
	uint32_t before = raw->count, number;

	if (name.bytes == 0)
		return name;
	number = string_table_add(raw, name);
	if (number == before) {
		MEMORY_GROW(names->shown[kind], names->room[kind], number);
		names->shown[kind][number] =
		    memory_format("%s-%u", words[kind], number + 1);
	}
	return text_of(names->shown[kind][number]);
}

/* ---- names inside a text ---- */

static bool
is_of_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static bool
find_name(const struct report_names *names, struct text t, struct text *other)
{
	uint32_t number;

	for (int i = 0; i < PARTS; i++)
		if (text_equal(names->part[i], t)) {
			*other = names->other[i];
			return true;
		}
	for (int kind = 0; kind < NAMES; kind++)
		if (string_table_find(&names->raw[kind], t, &number)) {
			*other = text_of(names->shown[kind][number]);
			return true;
		}
	return false;
}

/* The longest name that begins the text and ends with a word; its length. */
static uint32_t
name_at(const struct report_names *names, struct text t, struct text *other)
{
	uint32_t most = t.bytes < NAME_BYTES_MAX ? t.bytes : NAME_BYTES_MAX;
	bool digits = t.bytes > 0;

	for (uint32_t i = 0; digits && i < INSIDE_BYTES_MIN && i < most; i++)
		digits = t.at[i] >= '0' && t.at[i] <= '9';
	for (uint32_t end = most; end >= INSIDE_BYTES_MIN; end--) {
		if (end < t.bytes && is_of_word(t.at[end - 1]) &&
		    is_of_word(t.at[end]))
			continue;
		if (digits && end < 2 * INSIDE_BYTES_MIN)
			continue;
		if (find_name(names, (struct text){ t.at, end }, other))
			return end;
	}
	return 0;
}

static struct text
put_names(struct report_names *names, struct text t)
{
	struct buffer made = { NULL, 0, 0 };
	struct text other, result = t;
	bool changed = false;

	if (find_name(names, t, &other) && t.bytes >= INSIDE_BYTES_MIN)
		return other;
	for (uint32_t i = 0; i < t.bytes;) {
		struct text rest = { t.at + i, t.bytes - i };
		uint32_t bytes =
		    i > 0 && is_of_word(t.at[i - 1]) && is_of_word(t.at[i])
			? 0
			: name_at(names, rest, &other);

		if (bytes > 0) {
			buffer_put_text(&made, other);
			changed = true;
			i += bytes;
		} else {
			buffer_put(&made, t.at + i++, 1);
		}
	}
	if (changed)
		result = string_table_text(&names->texts, buffer_text(&made));
	buffer_clear(&made);
	return result;
}

/* ---- records ---- */

static void
put_text(struct buffer *to, struct text t)
{
	unsigned char head[3];
	size_t bytes = 0;

	if (t.bytes < 32) {
		head[bytes++] = (unsigned char)(0xa0 | t.bytes);
	} else if (t.bytes < 256) {
		head[bytes++] = 0xd9;
		head[bytes++] = (unsigned char)t.bytes;
	} else {
		t.bytes = t.bytes < UINT16_MAX ? t.bytes : UINT16_MAX;
		head[bytes++] = 0xda;
		head[bytes++] = (unsigned char)(t.bytes >> 8);
		head[bytes++] = (unsigned char)t.bytes;
	}
	buffer_put(to, head, bytes);
	buffer_put_text(to, t);
}

/* Digits and what numbers and times are written with. */
static bool
is_number(struct text t)
{
	for (uint32_t i = 0; i < t.bytes; i++)
		if (strchr("0123456789+-.:eETZ", t.at[i]) == NULL)
			return false;
	return true;
}

/* `kind`: of the record.  What somebody wrote about an event may say anything;
 * the other records have words of models and of poolscope. */
static struct text
rename_value(struct report_names *names, enum record_kind kind, struct text key,
    struct text value)
{
	struct text other;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (text_equal(key, text_of(keys[i].key)))
			return number_name(names, (int)keys[i].kind, value);
	if (find_name(names, value, &other) && value.bytes >= INSIDE_BYTES_MIN)
		return other;
	if (is_number(value))
		return value;
	if (kind == RECORD_EVENT || kind == RECORD_SPAN || kind == RECORD_PHASE)
		return number_name(names, TEXT, value);
	return put_names(names, value);
}

/* "disk/NAME": what is behind the slash, which is the name of a device, a job,
 * or a path. */
static struct text
rename_group(struct report_names *names, struct text group)
{
	const char *slash =
	    group.bytes == 0 ? NULL : memchr(group.at, '/', group.bytes);
	struct text first, rest, other;
	char *made;

	if (slash == NULL)
		return group;
	first = (struct text){ group.at, (uint32_t)(slash - group.at) };
	rest = (struct text){ slash + 1, group.bytes - first.bytes - 1 };
	if (rest.bytes == 0 || text_equal(rest, text_of("*")))
		return group;
	other = number_name(names, DEVICE, rest);
	made = memory_format("%.*s/%.*s", (int)first.bytes, first.at,
	    (int)other.bytes, other.at);
	other = string_table_text(&names->texts, text_of(made));
	free(made);
	return other;
}

/* ---- phases without a model ---- */

#define NO_MODEL RECORD_NO_MODEL ":"

/* The name behind "none:"; empty: it is the id of another phase. */
static struct text
own_name(struct text id)
{
	uint32_t bytes = sizeof(NO_MODEL) - 1;

	if (id.bytes <= bytes || memcmp(id.at, NO_MODEL, bytes) != 0)
		return (struct text){ NULL, 0 };
	return (struct text){ id.at + bytes, id.bytes - bytes };
}

/* Two texts as one, which lives as long as the names. */
static struct text
put_together(struct report_names *names, struct text first, struct text rest)
{
	struct buffer made = { NULL, 0, 0 };
	struct text result;

	buffer_put_text(&made, first);
	buffer_put_text(&made, rest);
	result = string_table_text(&names->texts, buffer_text(&made));
	buffer_clear(&made);
	return result;
}

/* What the pairs of statistics have of names: a group, and of a phase without a
 * model its events. */
static struct text
rename_word(struct report_names *names, enum record_kind kind, struct text key,
    struct text value)
{
	bool is_event = text_equal(key, text_of("start")) ||
			text_equal(key, text_of("end"));
	uint32_t own = names->own_bytes;

	if (text_equal(key, text_of("group")))
		return rename_value(names, kind, key, value);
	if (!is_event || own == 0 || value.bytes < own)
		return value;
	return put_together(names, names->own,
	    (struct text){ value.at + own, value.bytes - own });
}

/* The pairs with other texts; a view of one of the rooms, which a record that
 * is held back needs for a while. */
static void
rename_pairs(struct report_names *names, struct record *record, bool statistics)
{
	struct buffer *to = &names->rooms[names->next_room++ % ROOMS];
	struct text rest = record->pairs;
	struct record_attribute a;

	to->bytes = 0;
	for (const char *from = rest.at; record_next_attribute(&rest, &a);
	     from = rest.at) {
		const char *value = a.key.at + a.key.bytes;

		if (a.value.type != VALUE_TEXT) {
			buffer_put(to, from, (size_t)(rest.at - from));
			continue;
		}
		buffer_put(to, from, (size_t)(value - from));
		put_text(to, (statistics ? rename_word : rename_value)(
				 names, record->kind, a.key, a.value.is.text));
	}
	record->pairs = buffer_text(to);
}

/* Its events, "NAME:start", are two attributes of its statistics. */
static void
rename_own_statistics(struct report_names *names, struct record *record)
{
	struct text name = own_name(record->name);

	if (name.bytes == 0)
		return;
	names->own = number_name(names, PHASE, name);
	names->own_bytes = name.bytes;
	record->name = put_together(names, text_of(NO_MODEL), names->own);
	rename_pairs(names, record, true);
	names->own_bytes = 0;
}

/* An event of such a phase: "NAME:start", of which a part may be the name of
 * the source, is "phase-1:start". */
static void
rename_own_event(struct report_names *names, struct record *record)
{
	static const char *const endings[] = { "start", "begin", "end" };
	char whole[2 * NAME_BYTES_MAX + 1];
	struct text name = record_whole_name(whole, record);
	uint32_t number;

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		struct text word = text_of(endings[i]), own = name;

		if (name.bytes <= word.bytes + 1)
			continue;
		own.bytes -= word.bytes + 1;
		if (memcmp(own.at + own.bytes + 1, word.at, word.bytes) != 0 ||
		    !string_table_find(&names->raw[PHASE], own, &number))
			continue;
		record->source = text_of(names->shown[PHASE][number]);
		record->name = word;
		return;
	}
	record->source = put_names(names, record->source);
	record->name = put_names(names, record->name);
}

/* Statistics have words of a model, and of runs the names of groups, runs and
 * who requested them. */
static void
rename_statistics(struct report_names *names, struct record *record)
{
	static const struct {
		const char *source;
		enum kind kind;
	} sources[] = { { "node", NODE }, { "run-requestor", USER },
		{ "run-listed", RUN } };
	struct text group;

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (text_equal(record->source, text_of(sources[i].source)))
			record->name = number_name(
			    names, (int)sources[i].kind, record->name);
	if (record_find_text(record, "group", &group))
		rename_pairs(names, record, true);
	if (text_equal(record->source, text_of("phase")))
		rename_own_statistics(names, record);
}

static void
rename_record(void *arg, struct record *record, bool statistics)
{
	struct report_names *names = arg;

	record->node = number_name(names, NODE, record->node);
	if (statistics) {
		rename_statistics(names, record);
		return;
	}
	record->run = number_name(names, RUN, record->run);
	switch (record->kind) {
	case RECORD_PHASE:
		record->key = number_name(names, IMAGE, record->key);
		if (text_equal(record->source, text_of(RECORD_NO_MODEL)))
			record->name = number_name(names, PHASE, record->name);
		break;
	case RECORD_RUN:
		record->name = number_name(names, RUN, record->name);
		record->key = number_name(names, GROUP, record->key);
		break;
	case RECORD_ENTITY:
		if (text_equal(record->source, text_of("run")))
			record->name = number_name(names, RUN, record->name);
		else if (text_equal(record->source, text_of("set")))
			record->name = rename_group(names, record->name);
		else
			record->name = put_names(names, record->name);
		break;
	case RECORD_SAMPLE:
		record->source = rename_group(names, record->source);
		break;
	case RECORD_EVENT:
	case RECORD_SPAN:
		rename_own_event(names, record);
		record->key = put_names(names, record->key);
		break;
	default: break;
	}
	if (record->attributes > 0)
		rename_pairs(names, record, false);
}

/* ---- questions ---- */

static void
put_back(void *arg, struct text *partition, struct wire_query *query)
{
	static const char of_status[] = "partition:";
	struct report_names *names = arg;
	size_t bytes = sizeof(of_status) - 1;

	if (text_equal(*partition, names->other[0]))
		*partition = names->part[0];
	if (text_equal(query->name, names->other[0]))
		query->name = names->part[0];
	if (query->name.bytes > bytes &&
	    memcmp(query->name.at, of_status, bytes) == 0)
		query->name = text_of(names->partition);
	for (uint32_t i = 0; i < names->raw[PHASE].count; i++)
		if (text_equal(
			own_name(query->name), text_of(names->shown[PHASE][i])))
			query->name = put_together(names, text_of(NO_MODEL),
			    names->raw[PHASE].names[i]);
	for (uint32_t i = 0; i < names->raw[NODE].count; i++)
		if (query->node.bytes > 0 &&
		    text_equal(query->node, text_of(names->shown[NODE][i])))
			query->node = names->raw[NODE].names[i];
}

/* ---- reading all names ---- */

static void
add_parts(struct report_names *names, struct text partition)
{
	struct text kept = string_table_text(&names->texts, partition);
	const char *dollar = memchr(kept.at, '$', kept.bytes);
	uint32_t bytes = dollar == NULL ? 0 : (uint32_t)(dollar - kept.at);

	names->part[0] = kept;
	names->other[0] =
	    text_of(dollar == NULL ? "pool-1" : "account-1$pool-1");
	names->partition =
	    memory_format("partition:%.*s", (int)kept.bytes, kept.at);
	if (dollar == NULL)
		return;
	names->part[1] = (struct text){ kept.at, bytes };
	names->other[1] = text_of("account-1");
	names->part[2] = (struct text){ dollar + 1, kept.bytes - bytes - 1 };
	names->other[2] = text_of("pool-1");
}

/* Each record that has names that others may have in a text. */
static int
read_names(struct report_names *names, struct source *source,
    enum source_what what, struct wire_query query, struct err *err)
{
	struct record record;
	int rc;

	if (source_select(source, what, names->part[0], &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		rename_record(names, &record, what == SOURCE_NODES);
	return rc;
}

int
report_names_open(struct report_names **names, struct source *source,
    struct text partition, struct err *err)
{
	struct report_names *n = memory_zero(1, sizeof(*n));
	int rc;

	*names = n;
	string_table_init(&n->texts);
	for (int kind = 0; kind < KINDS; kind++)
		string_table_init(&n->raw[kind]);
	add_parts(n, partition);
	rc = read_names(n, source, SOURCE_NODES, source_query(0), err);
	if (rc == 0)
		rc = read_names(n, source, SOURCE_NEWEST,
		    source_query(1u << RECORD_RUN), err);
	if (rc == 0)
		rc = read_names(n, source, SOURCE_RECORDS,
		    source_query(1u << RECORD_PHASE), err);
	if (rc == 0)
		rc = read_names(n, source, SOURCE_RECORDS,
		    source_query(1u << RECORD_ENTITY), err);
	n->rename = (struct source_rename){ n, rename_record, put_back };
	if (rc == 0)
		source_set_rename(source, &n->rename);
	return rc;
}

void
report_names_close(struct report_names **names)
{
	struct report_names *old = *names;

	*names = NULL;
	if (old == NULL)
		return;
	for (int kind = 0; kind < KINDS; kind++) {
		for (uint32_t i = 0; i < old->raw[kind].count; i++)
			free(old->shown[kind][i]);
		free(old->shown[kind]);
		string_table_clear(&old->raw[kind]);
	}
	for (int i = 0; i < ROOMS; i++)
		buffer_clear(&old->rooms[i]);
	string_table_clear(&old->texts);
	free(old->partition);
	free(old);
}

struct text
report_names_partition(const struct report_names *names)
{
	return names->other[0];
}
