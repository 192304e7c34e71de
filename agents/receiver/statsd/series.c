/*
 * series - what the lines of statsd add up to.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/series.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "agents/receiver/statsd/values.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/hash/string_table.h"

enum {
	TIMER_COLUMNS = 5,
	ENDING_BYTES_MAX = 6, /* ".count" */
	/* A length of two bytes and a name; two lengths of a byte, and both
	 * texts of each label. */
	KEY_BYTES_MAX = 2 + STATSD_LONG_LINE_BYTES_MAX +
			DYNAMIC_LABELS_MAX * 2 * (1 + DYNAMIC_LABEL_BYTES_MAX),
	/* Columns of a group, so that its definition and its sample fit a
	 * submission to an agent together. */
	COLUMNS_MAX = 256,
	COLUMN_BYTES_MAX = 16 << 10,
	ROOM_BYTES = 2 * (DYNAMIC_LABELS_BYTES_MAX + COLUMN_BYTES_MAX) +
		     COLUMNS_MAX * 64,
};

/* Whole numbers up to here are exact as double. */
#define WHOLE_MAX 9007199254740992.0

static const char *const endings[TIMER_COLUMNS] = { ".count", ".sum", ".min",
	".max", ".p99" };

struct one {
	enum statsd_type type;
	bool has_group;
	bool is_timed; /* has had values with a time: a group of its own */
	int64_t heard_ns;
	struct text name[TIMER_COLUMNS]; /* of its columns */
	uint32_t tag_set;
	double value; /* of a counter or gauge */
	struct statsd_timer timer;
	struct statsd_distinct distinct;
};

struct tag_set {
	struct dynamic_label label[DYNAMIC_LABELS_MAX];
	uint32_t labels;
	bool has_group;
	uint32_t group; /* the last one */
};

struct group {
	uint32_t tag_set;
	uint32_t *member; /* series */
	uint32_t members, room;
	uint32_t columns, bytes; /* of their names */
	bool is_published;
	int64_t refused_ns; /* 0: it is not */
};

/* A definition that is no longer used. */
struct retired {
	int64_t at_ns;
	uint32_t columns;
};

struct timed {
	uint32_t series;
	int64_t time_ns;
	double value;
};

struct statsd_series {
	struct string_table keys; /* of series, in their order */
	struct one *one;
	uint32_t one_room;
	struct string_table tag_keys; /* the keys without the names */
	struct tag_set *tag_set;
	uint32_t tag_set_room;
	struct group *group;
	uint32_t groups, group_room;
	/* What the agent counts; the retired ones are in order of time. */
	uint32_t defined_groups, defined_columns;
	struct retired retired[STATSD_GROUPS_MAX];
	uint32_t retired_count;
	struct timed *timed;
	uint32_t timed_count, timed_room;
	uint32_t all_distinct;
	uint64_t random;
	struct hash_key hash;
	char key[KEY_BYTES_MAX];
	struct dynamic_number number[COLUMNS_MAX];
	unsigned char bytes[ROOM_BYTES];
};

void
statsd_series_new(struct statsd_series **made)
{
	struct statsd_series *series = memory_zero(1, sizeof(*series));

	string_table_init(&series->keys);
	string_table_init(&series->tag_keys);
	hash_random_bytes(&series->random, sizeof(series->random));
	series->hash = hash_key_random();
	*made = series;
}

static void
clear_one(struct one *one)
{
	statsd_timer_clear(&one->timer);
	statsd_distinct_clear(&one->distinct);
}

void
statsd_series_free(struct statsd_series **gone)
{
	struct statsd_series *series = *gone;

	if (series == NULL)
		return;
	for (uint32_t i = 0; i < series->keys.count; i++)
		clear_one(&series->one[i]);
	for (uint32_t i = 0; i < series->groups; i++)
		free(series->group[i].member);
	string_table_clear(&series->keys);
	string_table_clear(&series->tag_keys);
	free(series->one);
	free(series->tag_set);
	free(series->group);
	free(series->timed);
	free(series);
	*gone = NULL;
}

uint32_t
statsd_series_count(const struct statsd_series *series)
{
	return series->keys.count;
}

/* ---- what a series is known by ---- */

struct key {
	struct text all, tags;
};

/* The key of the name and an ending, with the tags of the line. */
static struct key
key_of(struct statsd_series *series, const struct statsd_line *line,
    struct text name, struct text ending)
{
	uint32_t bytes = name.bytes + ending.bytes;
	unsigned char *begin = (unsigned char *)series->key, *end = begin;
	struct key key;

	*end++ = (unsigned char)(bytes >> 8);
	*end++ = (unsigned char)bytes;
	end = text_copy_short(end, name.at, name.bytes);
	end = text_copy_short(end, ending.at, ending.bytes);
	key.tags.at = (const char *)end;
	for (uint32_t i = 0; i < line->labels; i++) {
		const struct dynamic_label *label = &line->label[i];

		*end++ = (unsigned char)label->key.bytes;
		end = text_copy_short(end, label->key.at, label->key.bytes);
		*end++ = (unsigned char)label->value.bytes;
		end = text_copy_short(end, label->value.at, label->value.bytes);
	}
	key.all = (struct text){ series->key, (uint32_t)(end - begin) };
	key.tags.bytes = key.all.bytes - (uint32_t)(key.tags.at - key.all.at);
	return key;
}

/* The series of a key, in its parts. */
static struct text
name_of(const struct statsd_series *series, uint32_t number)
{
	const unsigned char *at =
	    (const unsigned char *)series->keys.names[number].at;

	return (
	    struct text){ (const char *)at + 2, (uint32_t)at[0] << 8 | at[1] };
}

static bool
is_timer(enum statsd_type type)
{
	return type == STATSD_TIMER || type == STATSD_HISTOGRAM;
}

/* ---- a new series ---- */

/* Has another series of these tags a column of its name? */
static bool
has_column(struct statsd_series *series, const struct statsd_line *line)
{
	struct text name = line->name;
	uint32_t number;

	for (int i = 0; i < TIMER_COLUMNS; i++) {
		struct text end = text_of(endings[i]), other = name;

		if (!is_timer(line->type)) {
			if (name.bytes <= end.bytes ||
			    memcmp(name.at + name.bytes - end.bytes, end.at,
				end.bytes) != 0)
				continue;
			other.bytes -= end.bytes;
			end.bytes = 0;
		}
		if (string_table_find(&series->keys,
			key_of(series, line, other, end).all, &number) &&
		    is_timer(series->one[number].type) != is_timer(line->type))
			return true;
	}
	return false;
}

/* Could dynamic groups have its columns and labels? */
static enum statsd_fault
check_new(struct statsd_series *series, const struct statsd_line *line)
{
	char longest[NAME_BYTES_MAX + 1];
	struct dynamic_number number = { .name = line->name,
		.unit = text_of("") };

	if (line->name.bytes > NAME_BYTES_MAX - ENDING_BYTES_MAX)
		return STATSD_NAME;
	if (is_timer(line->type)) {
		memcpy(longest, line->name.at, line->name.bytes);
		memcpy(
		    longest + line->name.bytes, endings[0], ENDING_BYTES_MAX);
		number.name = (struct text){ longest,
			line->name.bytes + ENDING_BYTES_MAX };
	}
	if (dynamic_group_check_number(&number, NULL) != 0)
		return STATSD_NAME;
	for (uint32_t i = 0; i < line->labels; i++)
		if (dynamic_group_check_label(&line->label[i], NULL) != 0)
			return STATSD_TAGS;
	return has_column(series, line) ? STATSD_OTHER_TYPE : STATSD_OK;
}

static void
name_columns(struct statsd_series *series, struct one *one, struct text name)
{
	char column[NAME_BYTES_MAX + 1];

	one->name[0] = name;
	if (!is_timer(one->type))
		return;
	memcpy(column, name.at, name.bytes);
	for (int i = 0; i < TIMER_COLUMNS; i++) {
		uint32_t more = (uint32_t)strlen(endings[i]);

		memcpy(column + name.bytes, endings[i], more);
		one->name[i] = string_table_keep(
		    &series->keys, (struct text){ column, name.bytes + more });
	}
}

static uint32_t
tag_set_of(struct statsd_series *series, struct text key,
    const struct dynamic_label *label, uint32_t labels)
{
	uint32_t number = series->tag_keys.count;
	struct tag_set *tag_set;

	if (string_table_find(&series->tag_keys, key, &number))
		return number;
	number = string_table_add(&series->tag_keys, key);
	series->tag_set = memory_grow(series->tag_set, &series->tag_set_room,
	    number, sizeof(*series->tag_set));
	tag_set = &series->tag_set[number];
	*tag_set = (struct tag_set){ .labels = labels };
	for (uint32_t i = 0; i < labels; i++)
		tag_set->label[i] = (struct dynamic_label){
			string_table_keep(&series->tag_keys, label[i].key),
			string_table_keep(&series->tag_keys, label[i].value),
		};
	return number;
}

static enum statsd_fault
begin_series(struct statsd_series *series, const struct statsd_line *line,
    uint32_t *number)
{
	enum statsd_fault fault = check_new(series, line);
	struct one *one;
	struct key key;

	if (fault != STATSD_OK)
		return fault;
	key = key_of(series, line, line->name, text_of(""));
	if (series->keys.count >= STATSD_COLUMNS_MAX ||
	    series->defined_columns >= STATSD_COLUMNS_MAX ||
	    (series->defined_groups >= STATSD_GROUPS_MAX &&
		!string_table_find(&series->tag_keys, key.tags, number)))
		return STATSD_SERIES;
	*number = string_table_add(&series->keys, key.all);
	series->one = memory_grow(
	    series->one, &series->one_room, *number, sizeof(*series->one));
	one = &series->one[*number];
	*one = (struct one){ .type = line->type,
		.tag_set =
		    tag_set_of(series, key.tags, line->label, line->labels) };
	name_columns(series, one, name_of(series, *number));
	return STATSD_OK;
}

/* ---- groups ---- */

static uint32_t
columns_of(const struct one *one)
{
	return is_timer(one->type) ? TIMER_COLUMNS : 1;
}

/* With blanks, and the units of timers. */
static uint32_t
bytes_of(const struct one *one)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < columns_of(one); i++)
		bytes += one->name[i].bytes + 4;
	return bytes;
}

static bool
has_room(const struct group *group, const struct one *one)
{
	uint32_t columns = group->columns + columns_of(one);

	return columns <=
		   (group->is_published ? STATSD_SMALL_GROUP : COLUMNS_MAX) &&
	       group->bytes + bytes_of(one) <= COLUMN_BYTES_MAX;
}

/* Does the agent take a definition more, and these columns? */
static bool
define(struct statsd_series *series, uint32_t groups, uint32_t columns)
{
	if (series->defined_groups + groups > STATSD_GROUPS_MAX ||
	    series->defined_columns + columns > STATSD_COLUMNS_MAX)
		return false;
	series->defined_groups += groups;
	series->defined_columns += columns;
	return true;
}

static void
retire(struct statsd_series *series, uint32_t columns, int64_t now_ns)
{
	series->retired[series->retired_count++] =
	    (struct retired){ now_ns, columns };
}

/* Those that the agent has forgotten. */
static void
expire_retired(struct statsd_series *series, int64_t now_ns)
{
	uint32_t gone = 0;

	while (gone < series->retired_count &&
	       now_ns - series->retired[gone].at_ns > STATSD_DEFINED_NS)
		series->defined_columns -= series->retired[gone++].columns;
	series->defined_groups -= gone;
	series->retired_count -= gone;
	memmove(series->retired, series->retired + gone,
	    series->retired_count * sizeof(*series->retired));
}

static bool
begin_group(struct statsd_series *series, const struct one *one)
{
	struct tag_set *tag_set = &series->tag_set[one->tag_set];

	if (!define(series, 1, columns_of(one)))
		return false;
	series->group = memory_grow(series->group, &series->group_room,
	    series->groups, sizeof(*series->group));
	tag_set->has_group = true;
	tag_set->group = series->groups++;
	series->group[tag_set->group] =
	    (struct group){ .tag_set = one->tag_set };
	return true;
}

/* A group that is published gets another definition. */
static bool
grow_group(struct statsd_series *series, struct group *group,
    const struct one *one, int64_t now_ns)
{
	uint32_t more = columns_of(one);

	if (!group->is_published)
		return define(series, 0, more);
	if (!define(series, 1, group->columns + more))
		return false;
	retire(series, group->columns, now_ns);
	group->is_published = false;
	group->refused_ns = 0;
	return true;
}

/* Give the series a place; false: the agent would not take it. */
static bool
join_group(struct statsd_series *series, uint32_t number, int64_t now_ns)
{
	struct one *one = &series->one[number];
	struct tag_set *tag_set = &series->tag_set[one->tag_set];
	struct group *group;

	if (tag_set->has_group &&
	    has_room(&series->group[tag_set->group], one)) {
		if (!grow_group(
			series, &series->group[tag_set->group], one, now_ns))
			return false;
	} else if (!begin_group(series, one)) {
		return false;
	}
	group = &series->group[tag_set->group];
	group->member = memory_grow(group->member, &group->room, group->members,
	    sizeof(*group->member));
	group->member[group->members++] = number;
	group->columns += columns_of(one);
	group->bytes += bytes_of(one);
	one->has_group = true;
	return true;
}

/* Its values with a time have a group of its own. */
static bool
join_timed(struct statsd_series *series, struct one *one)
{
	if (!one->is_timed)
		one->is_timed = define(series, 1, 1);
	return one->is_timed;
}

/* ---- adding ---- */

/* Are all values of the line such as its type has? */
static enum statsd_fault
check_values(const struct statsd_series *series, const struct statsd_line *line)
{
	struct text values = line->values;
	bool is_signed;
	double value;

	if (line->type == STATSD_SET)
		return STATSD_OK;
	do {
		if (!statsd_line_value(&values, &value, &is_signed))
			return STATSD_VALUE;
		if (line->type == STATSD_COUNTER && value < 0)
			return STATSD_NEGATIVE;
	} while (values.bytes > 0);
	return line->type == STATSD_GAUGE && line->has_time &&
		       series->timed_count == STATSD_TIMES_MAX
		   ? STATSD_TIMES
		   : STATSD_OK;
}

static void
add_values(struct statsd_series *series, struct one *one,
    const struct statsd_line *line)
{
	struct text values = line->values;
	bool is_signed;
	double value;

	do {
		statsd_line_value(&values, &value, &is_signed);
		if (is_timer(one->type))
			statsd_timer_add(&one->timer, value, 1 / line->rate,
			    &series->random);
		else if (one->type == STATSD_COUNTER)
			one->value += value / line->rate;
		else
			one->value = is_signed ? one->value + value : value;
	} while (values.bytes > 0);
}

static void
add_to_set(struct statsd_series *series, struct one *one, struct text value)
{
	if (series->all_distinct < STATSD_ALL_DISTINCT_MAX)
		series->all_distinct += statsd_distinct_add(&one->distinct,
		    hash_bytes(series->hash, value.at, value.bytes));
}

static void
add_timed(struct statsd_series *series, uint32_t number,
    const struct statsd_line *line)
{
	struct text values = line->values;
	struct timed timed = { .series = number, .time_ns = line->time_ns };
	bool is_signed;

	do
		statsd_line_value(&values, &timed.value, &is_signed);
	while (values.bytes > 0);
	series->timed = memory_grow(series->timed, &series->timed_room,
	    series->timed_count, sizeof(*series->timed));
	series->timed[series->timed_count++] = timed;
}

/* The types of histograms differ in their unit only. */
static bool
is_other_type(enum statsd_type a, enum statsd_type b)
{
	return a != b && !(is_timer(a) && is_timer(b));
}

enum statsd_fault
statsd_series_add(struct statsd_series *series, const struct statsd_line *line,
    int64_t now_ns)
{
	enum statsd_fault fault = check_values(series, line);
	bool timed = line->type == STATSD_GAUGE && line->has_time;
	struct one *one;
	uint32_t number;

	if (fault != STATSD_OK)
		return fault;
	if (!string_table_find(&series->keys,
		key_of(series, line, line->name, text_of("")).all, &number))
		fault = begin_series(series, line, &number);
	if (fault != STATSD_OK)
		return fault;
	one = &series->one[number];
	if (is_other_type(one->type, line->type))
		return STATSD_OTHER_TYPE;
	if (timed ? !join_timed(series, one)
		  : !one->has_group && !join_group(series, number, now_ns))
		return STATSD_SERIES;
	one->heard_ns = now_ns;
	if (timed)
		add_timed(series, number, line);
	else if (one->type == STATSD_SET)
		add_to_set(series, one, line->values);
	else
		add_values(series, one, line);
	return STATSD_OK;
}

/* ---- the numbers ---- */

static const struct value none = { .type = VALUE_NIL };

/* Whole as long as that is exact, as they came. */
static struct value
value_of(double number)
{
	struct value value = { .type = VALUE_FLOAT, .is.f = number };

	if (number >= -WHOLE_MAX && number <= WHOLE_MAX &&
	    number == nearbyint(number)) {
		value.type = VALUE_INT;
		value.is.i = (int64_t)number;
	}
	return value;
}

static bool
is_silent(const struct one *one, int64_t now_ns)
{
	return now_ns - one->heard_ns > STATSD_SILENT_NS;
}

/* A period without values has no least, greatest and 99 %. */
static void
put_timer(struct dynamic_number *number, const struct one *one)
{
	const struct statsd_timer *timer = &one->timer;
	struct text unit = text_of(one->type == STATSD_TIMER ? "ms" : "");
	bool any = timer->seen > 0;

	number[0] = (struct dynamic_number){ one->name[0], text_of(""), true,
		value_of(timer->count) };
	number[1] = (struct dynamic_number){ one->name[1], unit, !timer->fell,
		value_of(timer->sum) };
	number[2] = (struct dynamic_number){ one->name[2], unit, false,
		any ? value_of(timer->min) : none };
	number[3] = (struct dynamic_number){ one->name[3], unit, false,
		any ? value_of(timer->max) : none };
	number[4] = (struct dynamic_number){ one->name[4], unit, false,
		any ? value_of(statsd_timer_p99(timer)) : none };
}

static void
put_one(struct dynamic_number *number, const struct one *one, int64_t now_ns)
{
	struct value value = value_of(
	    one->type == STATSD_SET ? one->distinct.count : one->value);

	if (is_timer(one->type)) {
		put_timer(number, one);
		return;
	}
	if (one->type != STATSD_COUNTER && is_silent(one, now_ns))
		value = none;
	*number = (struct dynamic_number){ one->name[0], text_of(""),
		one->type == STATSD_COUNTER, value };
}

/* A group of these numbers, of the series. */
static struct dynamic_group
make(struct statsd_series *series, uint32_t tag_set, uint32_t numbers,
    int64_t time_ns, uint64_t boot)
{
	return (struct dynamic_group){
		.origin = text_of("statsd"),
		.label = series->tag_set[tag_set].label,
		.labels = series->tag_set[tag_set].labels,
		.number = series->number,
		.numbers = numbers,
		.time_ns = time_ns,
		.boot = boot,
	};
}

struct putting {
	enum statsd_put (*on_group)(
	    void *arg, const struct dynamic_group *group);
	void *arg;
};

static enum statsd_put
hand_over(struct statsd_series *series, struct dynamic_group *group,
    const struct putting *putting)
{
	struct err err;
	int rc = dynamic_group_make(
	    group, series->bytes, sizeof(series->bytes), &err);

	assert(rc == 0); /* begin_series has looked at everything */
	return putting->on_group(putting->arg, group);
}

static bool
all_are_silent(const struct statsd_series *series, const struct group *group,
    int64_t now_ns)
{
	for (uint32_t i = 0; i < group->members; i++)
		if (!is_silent(&series->one[group->member[i]], now_ns))
			return false;
	return true;
}

static enum statsd_put
put_group(struct statsd_series *series, struct group *group, uint64_t boot,
    int64_t now_ns, int64_t wall_ns, const struct putting *putting)
{
	struct dynamic_group made;
	enum statsd_put put;
	uint32_t numbers = 0;

	if (all_are_silent(series, group, now_ns) ||
	    (group->refused_ns != 0 &&
		now_ns - group->refused_ns < STATSD_REFUSED_NS))
		return STATSD_PUT;
	for (uint32_t i = 0; i < group->members; i++) {
		const struct one *one = &series->one[group->member[i]];

		put_one(series->number + numbers, one, now_ns);
		numbers += columns_of(one);
	}
	made = make(series, group->tag_set, numbers, wall_ns, boot);
	put = hand_over(series, &made, putting);
	if (put == STATSD_PUT_REFUSED)
		group->refused_ns = now_ns;
	group->is_published |= put != STATSD_PUT_END;
	return put;
}

static enum statsd_put
put_timed(struct statsd_series *series, const struct timed *timed,
    const struct putting *putting)
{
	const struct one *one = &series->one[timed->series];
	struct dynamic_group made =
	    make(series, one->tag_set, 1, timed->time_ns, 0);

	series->number[0] = (struct dynamic_number){ one->name[0], text_of(""),
		false, value_of(timed->value) };
	return hand_over(series, &made, putting);
}

int
statsd_series_put(struct statsd_series *series, uint64_t boot, int64_t now_ns,
    int64_t wall_ns,
    enum statsd_put (*on_group)(void *arg, const struct dynamic_group *group),
    void *arg)
{
	const struct putting putting = { on_group, arg };
	enum statsd_put put = STATSD_PUT;

	for (uint32_t i = 0; i < series->groups && put != STATSD_PUT_END; i++)
		put = put_group(
		    series, &series->group[i], boot, now_ns, wall_ns, &putting);
	for (uint32_t i = 0; i < series->timed_count && put != STATSD_PUT_END;
	     i++)
		put = put_timed(series, &series->timed[i], &putting);
	return put == STATSD_PUT_END ? -1 : 0;
}

/* ---- periods ---- */

/* Keep a series of before, which was number `i`. */
static uint32_t
keep_one(struct statsd_series *series, const struct statsd_series *before,
    uint32_t i)
{
	struct text key = before->keys.names[i];
	uint32_t number = string_table_add(&series->keys, key);
	struct text name = name_of(series, number);
	const struct tag_set *tag_set =
	    &before->tag_set[before->one[i].tag_set];
	uint32_t front = 2 + name.bytes;
	struct one *one;

	series->one = memory_grow(
	    series->one, &series->one_room, number, sizeof(*series->one));
	one = &series->one[number];
	*one = before->one[i];
	one->tag_set = tag_set_of(series,
	    (struct text){ key.at + front, key.bytes - front }, tag_set->label,
	    tag_set->labels);
	name_columns(series, one, name);
	return number;
}

static void
keep_group(struct statsd_series *series, const struct statsd_series *before,
    struct group group)
{
	struct tag_set *tag_set;

	for (uint32_t i = 0; i < group.members; i++)
		group.member[i] = keep_one(series, before, group.member[i]);
	group.tag_set = series->one[group.member[0]].tag_set;
	tag_set = &series->tag_set[group.tag_set];
	tag_set->has_group = true;
	tag_set->group = series->groups;
	series->group = memory_grow(series->group, &series->group_room,
	    series->groups, sizeof(*series->group));
	series->group[series->groups++] = group;
}

/* Is the series, which has no group, in use? */
static bool
is_timed_only(const struct one *one, int64_t now_ns)
{
	return one->is_timed && !is_silent(one, now_ns);
}

static void
end_one(struct statsd_series *series, struct one *one, int64_t now_ns)
{
	if (one->is_timed)
		retire(series, 1, now_ns);
	clear_one(one);
}

/* Forget the groups that have ended, and series that are in none.  The others
 * are the same as before. */
static void
forget_ended(struct statsd_series *series, int64_t now_ns)
{
	struct statsd_series *before = memory_copy(series, sizeof(*series));

	string_table_init(&series->keys);
	string_table_init(&series->tag_keys);
	series->one = NULL;
	series->tag_set = NULL;
	series->group = NULL;
	series->one_room = series->tag_set_room = series->group_room = 0;
	series->groups = 0;
	for (uint32_t i = 0; i < before->keys.count; i++) {
		const struct one *one = &before->one[i];

		if (one->has_group)
			continue;
		if (is_timed_only(one, now_ns))
			keep_one(series, before, i);
		else
			end_one(series, &before->one[i], now_ns);
	}
	for (uint32_t i = 0; i < before->groups; i++) {
		struct group *group = &before->group[i];

		if (!all_are_silent(before, group, now_ns)) {
			keep_group(series, before, *group);
			continue;
		}
		retire(series, group->columns, now_ns);
		for (uint32_t k = 0; k < group->members; k++)
			end_one(series, &before->one[group->member[k]], now_ns);
		free(group->member);
	}
	string_table_clear(&before->keys);
	string_table_clear(&before->tag_keys);
	free(before->one);
	free(before->tag_set);
	free(before->group);
	free(before);
}

static bool
is_short_of_room(const struct statsd_series *series)
{
	return series->keys.count > STATSD_COLUMNS_MAX / 2 ||
	       series->defined_columns > STATSD_COLUMNS_MAX / 2 ||
	       series->defined_groups > STATSD_GROUPS_MAX / 2;
}

static bool
has_ended(const struct statsd_series *series, int64_t now_ns)
{
	for (uint32_t i = 0; i < series->keys.count; i++)
		if (!series->one[i].has_group &&
		    !is_timed_only(&series->one[i], now_ns))
			return true;
	for (uint32_t i = 0; i < series->groups; i++)
		if (all_are_silent(series, &series->group[i], now_ns))
			return true;
	return false;
}

void
statsd_series_next_period(struct statsd_series *series, int64_t now_ns)
{
	for (uint32_t i = 0; i < series->keys.count; i++) {
		statsd_timer_next_period(&series->one[i].timer);
		statsd_distinct_clear(&series->one[i].distinct);
	}
	series->all_distinct = 0;
	series->timed_count = 0;
	expire_retired(series, now_ns);
	if (is_short_of_room(series) && has_ended(series, now_ns))
		forget_ended(series, now_ns);
}
