/*
 * series - what the lines of statsd add up to.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/series_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"

enum { ENDING_BYTES_MAX = 6 }; /* ".count" */

static const char *const endings[STATSD_TIMER_COLUMNS] = { ".count", ".sum",
	".min", ".max", ".p99" };

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
clear_one(struct statsd_one *one)
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

/* ---- a new series ---- */

/* Has another series of these tags a column of its name? */
static bool
has_column(struct statsd_series *series, const struct statsd_line *line)
{
	struct text name = line->name;
	uint32_t number;

	for (int i = 0; i < STATSD_TIMER_COLUMNS; i++) {
		struct text end = text_of(endings[i]), other = name;

		if (!statsd_is_timer(line->type)) {
			if (name.bytes <= end.bytes ||
			    memcmp(name.at + name.bytes - end.bytes, end.at,
				end.bytes) != 0)
				continue;
			other.bytes -= end.bytes;
			end.bytes = 0;
		}
		if (string_table_find(&series->keys,
			key_of(series, line, other, end).all, &number) &&
		    statsd_is_timer(series->one[number].type) !=
			statsd_is_timer(line->type))
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
	if (statsd_is_timer(line->type)) {
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
name_columns(
    struct statsd_series *series, struct statsd_one *one, struct text name)
{
	char column[NAME_BYTES_MAX + 1];

	one->name[0] = name;
	if (!statsd_is_timer(one->type))
		return;
	memcpy(column, name.at, name.bytes);
	for (int i = 0; i < STATSD_TIMER_COLUMNS; i++) {
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
	struct statsd_tag_set *tag_set;

	if (string_table_find(&series->tag_keys, key, &number))
		return number;
	number = string_table_add(&series->tag_keys, key);
	MEMORY_GROW(series->tag_set, series->tag_set_room, number);
	tag_set = &series->tag_set[number];
	*tag_set = (struct statsd_tag_set){ .labels = labels };
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
	struct statsd_one *one;
	struct key key;

	if (fault != STATSD_OK)
		return fault;
	key = key_of(series, line, line->name, text_of(""));
	if (series->keys.count >= STATSD_COLUMNS_MAX ||
	    series->budget.columns >= STATSD_COLUMNS_MAX)
		return STATSD_SERIES;
	*number = string_table_add(&series->keys, key.all);
	MEMORY_GROW(series->one, series->one_room, *number);
	one = &series->one[*number];
	*one = (struct statsd_one){ .type = line->type,
		.tag_set =
		    tag_set_of(series, key.tags, line->label, line->labels) };
	name_columns(series, one, name_of(series, *number));
	return STATSD_OK;
}

/* ---- groups ---- */

/* With blanks, and the units of timers. */
static uint32_t
bytes_of(const struct statsd_one *one)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < statsd_columns_of(one); i++)
		bytes += one->name[i].bytes + 4;
	return bytes;
}

static bool
has_room(const struct statsd_group *group, const struct statsd_one *one)
{
	uint32_t columns = group->columns + statsd_columns_of(one);

	return columns <= (group->is_published ? STATSD_SMALL_GROUP
					       : STATSD_GROUP_COLUMNS_MAX) &&
	       group->bytes + bytes_of(one) <= STATSD_GROUP_BYTES_MAX;
}

static bool
begin_group(struct statsd_series *series, const struct statsd_one *one)
{
	struct statsd_tag_set *tag_set = &series->tag_set[one->tag_set];

	if (!statsd_budget_take(&series->budget, statsd_columns_of(one)))
		return false;
	MEMORY_GROW(series->group, series->group_room, series->groups);
	tag_set->has_group = true;
	tag_set->group = series->groups++;
	series->group[tag_set->group] =
	    (struct statsd_group){ .tag_set = one->tag_set };
	return true;
}

/* A group that is published gets another definition. */
static bool
grow_group(struct statsd_series *series, struct statsd_group *group,
    const struct statsd_one *one, int64_t now_ns)
{
	uint32_t more = statsd_columns_of(one);

	if (!group->is_published)
		return statsd_budget_take(&series->budget, more);
	if (!statsd_budget_take(&series->budget, group->columns + more))
		return false;
	statsd_budget_retire(&series->budget, group->columns, now_ns);
	group->is_published = false;
	group->refused_ns = 0;
	return true;
}

/* Give the series a place; false: the agent would not take it. */
static bool
join_group(struct statsd_series *series, uint32_t number, int64_t now_ns)
{
	struct statsd_one *one = &series->one[number];
	struct statsd_tag_set *tag_set = &series->tag_set[one->tag_set];
	struct statsd_group *group;

	if (tag_set->has_group &&
	    has_room(&series->group[tag_set->group], one)) {
		if (!grow_group(
			series, &series->group[tag_set->group], one, now_ns))
			return false;
	} else if (!begin_group(series, one)) {
		return false;
	}
	group = &series->group[tag_set->group];
	*MEMORY_ADD(group->member, group->room, group->members) = number;
	group->columns += statsd_columns_of(one);
	group->bytes += bytes_of(one);
	one->has_group = true;
	return true;
}

/* Its values with a time have a group of its own. */
static bool
join_timed(struct statsd_series *series, struct statsd_one *one)
{
	if (!one->is_timed)
		one->is_timed = statsd_budget_take(&series->budget, 1);
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
add_values(struct statsd_series *series, struct statsd_one *one,
    const struct statsd_line *line)
{
	struct text values = line->values;
	bool is_signed;
	double value;

	do {
		statsd_line_value(&values, &value, &is_signed);
		if (statsd_is_timer(one->type))
			statsd_timer_add(&one->timer, value, 1 / line->rate,
			    &series->random);
		else if (one->type == STATSD_COUNTER)
			one->value += value / line->rate;
		else
			one->value = is_signed ? one->value + value : value;
	} while (values.bytes > 0);
}

static void
add_to_set(
    struct statsd_series *series, struct statsd_one *one, struct text value)
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
	struct statsd_timed timed = { .series = number,
		.time_ns = line->time_ns };
	bool is_signed;

	do
		statsd_line_value(&values, &timed.value, &is_signed);
	while (values.bytes > 0);
	*MEMORY_ADD(series->timed, series->timed_room, series->timed_count) =
	    timed;
}

/* The types of histograms differ in their unit only. */
static bool
is_other_type(enum statsd_type a, enum statsd_type b)
{
	return a != b && !(statsd_is_timer(a) && statsd_is_timer(b));
}

enum statsd_fault
statsd_series_add(struct statsd_series *series, const struct statsd_line *line,
    int64_t now_ns)
{
	enum statsd_fault fault = check_values(series, line);
	bool timed = line->type == STATSD_GAUGE && line->has_time;
	struct statsd_one *one;
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

/* ---- periods ---- */

bool
statsd_group_has_ended(const struct statsd_series *series,
    const struct statsd_group *group, int64_t now_ns)
{
	for (uint32_t i = 0; i < group->members; i++)
		if (!statsd_is_silent(&series->one[group->member[i]], now_ns))
			return false;
	return true;
}

/* Keep a series of before, which was number `i`. */
static uint32_t
keep_one(struct statsd_series *series, const struct statsd_series *before,
    uint32_t i)
{
	struct text key = before->keys.names[i];
	uint32_t number = string_table_add(&series->keys, key);
	struct text name = name_of(series, number);
	const struct statsd_tag_set *tag_set =
	    &before->tag_set[before->one[i].tag_set];
	uint32_t front = 2 + name.bytes;
	struct statsd_one *one;

	MEMORY_GROW(series->one, series->one_room, number);
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
    struct statsd_group group)
{
	struct statsd_tag_set *tag_set;

	for (uint32_t i = 0; i < group.members; i++)
		group.member[i] = keep_one(series, before, group.member[i]);
	group.tag_set = series->one[group.member[0]].tag_set;
	tag_set = &series->tag_set[group.tag_set];
	tag_set->has_group = true;
	tag_set->group = series->groups;
	*MEMORY_ADD(series->group, series->group_room, series->groups) = group;
}

/* Is the series, which has no group, in use? */
static bool
is_timed_only(const struct statsd_one *one, int64_t now_ns)
{
	return one->is_timed && !statsd_is_silent(one, now_ns);
}

static void
end_one(struct statsd_series *series, struct statsd_one *one, int64_t now_ns)
{
	if (one->is_timed)
		statsd_budget_retire(&series->budget, 1, now_ns);
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
		const struct statsd_one *one = &before->one[i];

		if (one->has_group)
			continue;
		if (is_timed_only(one, now_ns))
			keep_one(series, before, i);
		else
			end_one(series, &before->one[i], now_ns);
	}
	for (uint32_t i = 0; i < before->groups; i++) {
		struct statsd_group *group = &before->group[i];

		if (!statsd_group_has_ended(before, group, now_ns)) {
			keep_group(series, before, *group);
			continue;
		}
		statsd_budget_retire(&series->budget, group->columns, now_ns);
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
has_ended(const struct statsd_series *series, int64_t now_ns)
{
	for (uint32_t i = 0; i < series->keys.count; i++)
		if (!series->one[i].has_group &&
		    !is_timed_only(&series->one[i], now_ns))
			return true;
	for (uint32_t i = 0; i < series->groups; i++)
		if (statsd_group_has_ended(series, &series->group[i], now_ns))
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
	statsd_budget_expire(&series->budget, now_ns);
	if ((statsd_budget_is_short(&series->budget) ||
		series->keys.count > STATSD_COLUMNS_MAX / 2) &&
	    has_ended(series, now_ns))
		forget_ended(series, now_ns);
}
