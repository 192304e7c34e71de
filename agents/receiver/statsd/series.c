/*
 * series - what the lines of statsd add up to.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/series.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/hash/hash.h"
#include "proto/hash/prng.h"
#include "proto/hash/string_table.h"

enum {
	TIMER_COLUMNS = 5,
	/* A length of two bytes and a name; two lengths of a byte, and both
	 * texts of each label. */
	KEY_BYTES_MAX = 2 + STATSD_LONG_LINE_BYTES_MAX +
			DYNAMIC_LABELS_MAX * 2 * (1 + DYNAMIC_LABEL_BYTES_MAX),
	VALUES_FIRST = 16,
};

/* Whole numbers up to here are exact as double. */
#define WHOLE_MAX 9007199254740992.0

struct timer {
	double count, sum; /* since the start */
	bool fell;         /* a value was below 0: the sum is no counter */
	/* Of this period. */
	double min, max;
	uint64_t seen;
	double *value; /* min(seen, STATSD_RESERVOIR) of them */
	uint32_t room;
};

/* The hashes of different values; none of them is 0. */
struct distinct {
	uint64_t *slot;
	uint32_t slots, count;
};

struct one {
	enum statsd_type type;
	int64_t heard_ns;
	struct text name[TIMER_COLUMNS]; /* of its columns */
	struct dynamic_label label[DYNAMIC_LABELS_MAX];
	uint32_t labels;
	bool has_value;
	double value; /* of a counter or gauge */
	struct timer timer;
	struct distinct distinct;
};

struct timed {
	uint32_t series;
	int64_t time_ns;
	double value;
};

struct statsd_series {
	struct string_table keys;     /* of series, in their order */
	struct string_table tag_sets; /* the keys without the names */
	struct one *one;
	uint32_t room;
	struct timed *timed;
	uint32_t timed_count, timed_room;
	uint32_t all_distinct;
	uint64_t random;
	struct hash_key hash;
	double *scratch; /* of STATSD_RESERVOIR */
	char key[KEY_BYTES_MAX];
};

void
statsd_series_new(struct statsd_series **made)
{
	struct statsd_series *series = memory_zero(1, sizeof(*series));

	string_table_init(&series->keys);
	string_table_init(&series->tag_sets);
	hash_random_bytes(&series->random, sizeof(series->random));
	series->hash = hash_key_random();
	series->scratch =
	    memory_zero(STATSD_RESERVOIR, sizeof(*series->scratch));
	*made = series;
}

static void
clear_one(struct one *one)
{
	free(one->timer.value);
	free(one->distinct.slot);
}

void
statsd_series_free(struct statsd_series **gone)
{
	struct statsd_series *series = *gone;

	if (series == NULL)
		return;
	for (uint32_t i = 0; i < series->keys.count; i++)
		clear_one(&series->one[i]);
	string_table_clear(&series->keys);
	string_table_clear(&series->tag_sets);
	free(series->one);
	free(series->timed);
	free(series->scratch);
	free(series);
	*gone = NULL;
}

uint32_t
statsd_series_count(const struct statsd_series *series)
{
	return series->keys.count;
}

/* ---- a series ---- */

/* What the series is known by: `*name_bytes` of it are its name. */
static struct text
key_of(struct statsd_series *series, const struct statsd_line *line,
    uint32_t *name_bytes)
{
	unsigned char *end = (unsigned char *)series->key;

	*end++ = (unsigned char)(line->name.bytes >> 8);
	*end++ = (unsigned char)line->name.bytes;
	end = text_copy_short(end, line->name.at, line->name.bytes);
	*name_bytes = line->name.bytes + 2;
	for (uint32_t i = 0; i < line->labels; i++) {
		const struct dynamic_label *label = &line->label[i];

		*end++ = (unsigned char)label->key.bytes;
		end = text_copy_short(end, label->key.at, label->key.bytes);
		*end++ = (unsigned char)label->value.bytes;
		end = text_copy_short(end, label->value.at, label->value.bytes);
	}
	return (struct text){ series->key,
		(uint32_t)(end - (unsigned char *)series->key) };
}

static bool
is_timer(enum statsd_type type)
{
	return type == STATSD_TIMER || type == STATSD_HISTOGRAM;
}

static const char *const endings[TIMER_COLUMNS] = { ".count", ".sum", ".min",
	".max", ".p99" };

/* Could dynamic groups have its columns and labels? */
static enum statsd_fault
check_new(const struct statsd_line *line)
{
	char longest[NAME_BYTES_MAX + 1];
	struct dynamic_number number = { .name = line->name,
		.unit = text_of("") };

	if (line->name.bytes > NAME_BYTES_MAX - strlen(".count"))
		return STATSD_NAME;
	memcpy(longest, line->name.at, line->name.bytes);
	if (is_timer(line->type)) {
		memcpy(longest + line->name.bytes, ".count", strlen(".count"));
		number.name = (struct text){ longest,
			line->name.bytes + (uint32_t)strlen(".count") };
	}
	if (dynamic_group_check_number(&number, NULL) != 0)
		return STATSD_NAME;
	for (uint32_t i = 0; i < line->labels; i++)
		if (dynamic_group_check_label(&line->label[i], NULL) != 0)
			return STATSD_TAGS;
	return STATSD_OK;
}

static void
name_columns(struct statsd_series *series, struct one *one, struct text name)
{
	char column[NAME_BYTES_MAX + 1];

	one->name[0] = string_table_keep(&series->keys, name);
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

static void
copy_labels(struct statsd_series *series, struct one *one,
    const struct dynamic_label *label, uint32_t labels)
{
	one->labels = labels;
	for (uint32_t i = 0; i < labels; i++)
		one->label[i] = (struct dynamic_label){
			string_table_keep(&series->keys, label[i].key),
			string_table_keep(&series->keys, label[i].value),
		};
}

static enum statsd_fault
begin_series(struct statsd_series *series, const struct statsd_line *line,
    struct text key, uint32_t name_bytes, uint32_t *number)
{
	struct text tags = { key.at + name_bytes, key.bytes - name_bytes };
	enum statsd_fault fault = check_new(line);
	struct one *one;
	uint32_t set;

	if (fault != STATSD_OK)
		return fault;
	if (series->keys.count >= STATSD_SERIES_MAX ||
	    (series->tag_sets.count >= STATSD_TAG_SETS_MAX &&
		!string_table_find(&series->tag_sets, tags, &set)))
		return STATSD_SERIES;
	string_table_add(&series->tag_sets, tags);
	*number = string_table_add(&series->keys, key);
	series->one = memory_grow(
	    series->one, &series->room, *number, sizeof(*series->one));
	one = &series->one[*number];
	*one = (struct one){ .type = line->type };
	name_columns(series, one, line->name);
	copy_labels(series, one, line->label, line->labels);
	return STATSD_OK;
}

/* ---- adding ---- */

static void
add_to_timer(
    struct statsd_series *series, struct timer *timer, double value, double by)
{
	uint64_t at = timer->seen++;

	timer->count += by;
	timer->sum += value * by;
	timer->fell |= value < 0;
	timer->min = at == 0 || value < timer->min ? value : timer->min;
	timer->max = at == 0 || value > timer->max ? value : timer->max;
	/* J. S. Vitter, "Random sampling with a reservoir", 1985, algorithm R:
	 * each value of the period is among them with the same chance. */
	if (at >= STATSD_RESERVOIR) {
		at = prng_bits(&series->random) % timer->seen;
		if (at >= STATSD_RESERVOIR)
			return;
	} else if (at >= timer->room) {
		timer->room = at == 0 ? VALUES_FIRST : 2 * timer->room;
		timer->value = memory_resize_array(
		    timer->value, timer->room, sizeof(*timer->value));
	}
	timer->value[at] = value;
}

static void
insert(struct distinct *distinct, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (distinct->slots - 1);

	while (distinct->slot[at] != 0)
		at = (at + 1) & (distinct->slots - 1);
	distinct->slot[at] = hash;
}

static bool
has(const struct distinct *distinct, uint64_t hash)
{
	uint32_t mask = distinct->slots - 1, at = (uint32_t)hash & mask;

	if (distinct->slots == 0)
		return false;
	while (distinct->slot[at] != 0 && distinct->slot[at] != hash)
		at = (at + 1) & mask;
	return distinct->slot[at] == hash;
}

/* At most half of the slots are in use. */
static void
grow(struct distinct *distinct)
{
	struct distinct more = { .slots = distinct->slots == 0
					      ? VALUES_FIRST
					      : 2 * distinct->slots,
		.count = distinct->count };

	more.slot = memory_zero(more.slots, sizeof(*more.slot));
	for (uint32_t i = 0; i < distinct->slots; i++)
		if (distinct->slot[i] != 0)
			insert(&more, distinct->slot[i]);
	free(distinct->slot);
	*distinct = more;
}

static void
add_to_set(
    struct statsd_series *series, struct distinct *distinct, struct text value)
{
	uint64_t hash = hash_bytes(series->hash, value.at, value.bytes);

	hash += hash == 0;
	if (has(distinct, hash) || distinct->count == STATSD_DISTINCT_MAX ||
	    series->all_distinct == STATSD_ALL_DISTINCT_MAX)
		return;
	if (2 * distinct->count >= distinct->slots)
		grow(distinct);
	insert(distinct, hash);
	distinct->count++;
	series->all_distinct++;
}

/* Are all values of the line such as its type has? */
static enum statsd_fault
check_values(const struct statsd_line *line)
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
	return STATSD_OK;
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
		if (is_timer(one->type)) {
			add_to_timer(
			    series, &one->timer, value, 1 / line->rate);
			continue;
		}
		if (one->type == STATSD_COUNTER)
			one->value += value / line->rate;
		else
			one->value = is_signed ? one->value + value : value;
		one->has_value = true;
	} while (values.bytes > 0);
}

static void
add_timed(struct statsd_series *series, uint32_t number,
    const struct statsd_line *line)
{
	struct text values = line->values;
	struct timed timed = { .series = number, .time_ns = line->time_ns };
	bool is_signed;

	while (values.bytes > 0)
		statsd_line_value(&values, &timed.value, &is_signed);
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
	enum statsd_fault fault = check_values(line);
	struct text values = line->values, key;
	uint32_t number, name_bytes;
	bool timed = line->type == STATSD_GAUGE && line->has_time;
	struct one *one;

	if (timed && series->timed_count == STATSD_TIMES_MAX)
		return STATSD_TIMES;
	if (fault != STATSD_OK)
		return fault;
	key = key_of(series, line, &name_bytes);
	if (!string_table_find(&series->keys, key, &number))
		fault = begin_series(series, line, key, name_bytes, &number);
	if (fault != STATSD_OK)
		return fault;
	one = &series->one[number];
	if (is_other_type(one->type, line->type))
		return STATSD_OTHER_TYPE;
	one->heard_ns = now_ns;
	if (timed)
		add_timed(series, number, line);
	else if (line->type == STATSD_SET)
		add_to_set(series, &one->distinct, values);
	else
		add_values(series, one, line);
	return STATSD_OK;
}

/* ---- the numbers ---- */

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

struct putting {
	struct sample_page *page;
	int64_t time_ns;
	uint32_t numbers;
};

static void
put(struct putting *putting, struct one *one, int column, const char *unit,
    bool counter, struct value value)
{
	const struct dynamic_number number = { one->name[column], text_of(unit),
		counter, value };

	putting->numbers +=
	    sample_page_add(putting->page, &number, one->label, one->labels,
		putting->time_ns, putting->numbers + 1, NULL) == 0;
}

/* A period without values has no least, greatest and 99 %: nil. */
static void
put_timer(
    struct statsd_series *series, struct putting *putting, struct one *one)
{
	static const struct value none = { .type = VALUE_NIL };
	const struct timer *timer = &one->timer;
	const char *unit = one->type == STATSD_TIMER ? "ms" : "";
	uint64_t kept =
	    timer->seen < STATSD_RESERVOIR ? timer->seen : STATSD_RESERVOIR;
	struct value p99 = none;

	if (kept > 0) {
		memcpy(series->scratch, timer->value,
		    kept * sizeof(*timer->value));
		p99 = value_of(quantile_select(series->scratch, kept, 99));
	}
	put(putting, one, 0, "", true, value_of(timer->count));
	put(putting, one, 1, unit, !timer->fell, value_of(timer->sum));
	put(putting, one, 2, unit, false,
	    kept > 0 ? value_of(timer->min) : none);
	put(putting, one, 3, unit, false,
	    kept > 0 ? value_of(timer->max) : none);
	put(putting, one, 4, unit, false, p99);
}

static void
put_one(struct statsd_series *series, struct putting *putting, struct one *one)
{
	if (is_timer(one->type))
		put_timer(series, putting, one);
	else if (one->type == STATSD_SET)
		put(putting, one, 0, "", false, value_of(one->distinct.count));
	else if (one->has_value)
		put(putting, one, 0, "", one->type == STATSD_COUNTER,
		    value_of(one->value));
}

static bool
is_silent(const struct one *one, int64_t now_ns)
{
	return now_ns - one->heard_ns > STATSD_SILENT_NS;
}

uint32_t
statsd_series_put(struct statsd_series *series, struct sample_page *page,
    int64_t now_ns, int64_t wall_ns)
{
	struct putting putting = { page, wall_ns, 0 };

	for (uint32_t i = 0; i < series->keys.count; i++)
		if (!is_silent(&series->one[i], now_ns))
			put_one(series, &putting, &series->one[i]);
	for (uint32_t i = 0; i < series->timed_count; i++) {
		const struct timed *timed = &series->timed[i];

		putting.time_ns = timed->time_ns;
		put(&putting, &series->one[timed->series], 0, "", false,
		    value_of(timed->value));
	}
	return putting.numbers;
}

/* ---- periods ---- */

/* Forget the series that are silent: the names of the others move. */
static void
forget_silent(struct statsd_series *series, int64_t now_ns)
{
	struct string_table keys = series->keys, kept;
	uint32_t count = 0;

	string_table_clear(&series->tag_sets);
	string_table_init(&series->tag_sets);
	string_table_init(&kept);
	series->keys = kept;
	for (uint32_t i = 0; i < keys.count; i++) {
		struct one one = series->one[i];
		struct text key = keys.names[i], name;
		uint32_t name_bytes;

		if (is_silent(&one, now_ns)) {
			clear_one(&one);
			continue;
		}
		name_bytes = 2 + ((uint32_t)(unsigned char)key.at[0] << 8) +
			     (unsigned char)key.at[1];
		name = (struct text){ key.at + 2, name_bytes - 2 };
		string_table_add(&series->keys, key);
		string_table_add(
		    &series->tag_sets, (struct text){ key.at + name_bytes,
					   key.bytes - name_bytes });
		name_columns(series, &one, name);
		copy_labels(series, &one, one.label, one.labels);
		series->one[count++] = one;
	}
	string_table_clear(&keys);
}

void
statsd_series_next_period(struct statsd_series *series, int64_t now_ns)
{
	for (uint32_t i = 0; i < series->keys.count; i++) {
		struct one *one = &series->one[i];

		one->timer.seen = 0;
		free(one->distinct.slot);
		one->distinct = (struct distinct){ .slot = NULL };
	}
	series->all_distinct = 0;
	series->timed_count = 0;
	if (series->keys.count > STATSD_SERIES_MAX / 2 ||
	    series->tag_sets.count > STATSD_TAG_SETS_MAX / 2)
		forget_silent(series, now_ns);
}
