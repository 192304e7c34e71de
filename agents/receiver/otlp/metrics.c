/*
 * otlp_metrics - the numbers of metrics, as metric groups of origin
 * otlp/SERVICE.
 *
 *     gauge, sum   a number of the metric's name
 *     histogram    NAME.count, NAME.sum, NAME.min, NAME.max
 *     summary      NAME.count, NAME.sum, and NAME with label quantile
 *
 * Labels are the attributes of the point, service.name and what is kept of the
 * resource.  Sums that are differences are added up (otlp_deltas.h).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "agents/receiver/otlp/map.h"
#include "agents/receiver/otlp/map_private.h"
#include "proto/base/number.h"

/* Where the points of a kind of metric have what. */
struct shape {
	uint32_t metric; /* field */
	uint32_t attributes, flags;
	uint32_t min, max; /* 0: none */
	bool is_distribution;
};

static const struct shape shapes[] = {
	{ OTLP_METRIC_GAUGE, OTLP_NUMBER_ATTRIBUTES, OTLP_NUMBER_FLAGS, 0, 0,
	    false },
	{ OTLP_METRIC_SUM, OTLP_NUMBER_ATTRIBUTES, OTLP_NUMBER_FLAGS, 0, 0,
	    false },
	{ OTLP_METRIC_HISTOGRAM, OTLP_HISTOGRAM_ATTRIBUTES,
	    OTLP_HISTOGRAM_FLAGS, OTLP_HISTOGRAM_MIN, OTLP_HISTOGRAM_MAX,
	    true },
	{ OTLP_METRIC_EXPONENTIAL, OTLP_EXPONENTIAL_ATTRIBUTES,
	    OTLP_EXPONENTIAL_FLAGS, OTLP_EXPONENTIAL_MIN, OTLP_EXPONENTIAL_MAX,
	    true },
	{ OTLP_METRIC_SUMMARY, OTLP_SUMMARY_ATTRIBUTES, OTLP_SUMMARY_FLAGS, 0,
	    0, true },
};

struct metric {
	const struct shape *shape;
	struct text name, unit, data;
	bool is_delta, is_counter;
};

struct point {
	const struct metric *metric;
	struct text bytes;
	uint64_t begin_ns, flags;
	int64_t time_ns;
	/* VALUE_NIL: not there. */
	struct value value, count, sum, min, max;
	struct dynamic_label label[DYNAMIC_LABELS_MAX + 1];
	uint32_t labels;
};

static struct value
float_of(const struct protobuf_field *field)
{
	return (struct value){ .type = VALUE_FLOAT,
		.is.f = protobuf_as_double(field) };
}

static struct value
int_of(uint64_t value)
{
	if (value > INT64_MAX)
		return (
		    struct value){ .type = VALUE_FLOAT, .is.f = (double)value };
	return (struct value){ .type = VALUE_INT, .is.i = (int64_t)value };
}

/* ---- labels ---- */

static bool
has_label(const struct point *point, struct text key)
{
	for (uint32_t i = 0; i < point->labels; i++)
		if (text_equal(point->label[i].key, key))
			return true;
	return false;
}

/* False: there are too many. */
static bool
put_label(struct otlp_map *map, struct point *point, struct text key,
    struct value value)
{
	char *room;

	if (value.type == VALUE_NIL || has_label(point, key))
		return true;
	if (point->labels == DYNAMIC_LABELS_MAX)
		return false;
	if (value.type != VALUE_TEXT) {
		room = arena_copy(
		    &map->texts, (char[NUMBER_BYTES]){ "" }, NUMBER_BYTES);
		value.is.text = value_as_text(&value, room);
	}
	point->label[point->labels++] =
	    (struct dynamic_label){ key, value.is.text };
	return true;
}

static bool
put_labels(struct otlp_map *map, struct point *point)
{
	struct varint_reader reader = varint_reader_of(point->bytes);
	struct protobuf_field field;
	bool fits = true;

	while (protobuf_next(&reader, &field))
		if (field.number == point->metric->shape->attributes)
			fits &= put_label(map, point,
			    otlp_map_find(field.bytes, OTLP_KEY),
			    otlp_map_value(&map->texts,
				otlp_map_find(field.bytes, OTLP_VALUE)));
	fits &= put_label(map, point, text_of("service.name"),
	    (struct value){
		.type = VALUE_TEXT, .is.text = text_of(map->service) });
	for (uint32_t i = 0; i < map->kepts; i++)
		fits &=
		    put_label(map, point, map->kept[i].key, map->kept[i].value);
	return fits;
}

/* ---- numbers ---- */

static bool
is_first(struct otlp_map *map)
{
	if (!map->has_deltas)
		map->is_first = otlp_deltas_begin(map->deltas, map->request);
	map->has_deltas = true;
	return map->is_first;
}

/* Replace the value by the sum of those so far. */
static bool
add_up(struct otlp_map *map, const struct point *point, struct text name,
    struct value *value, struct err *err)
{
	size_t room = sizeof(map->service) + NAME_BYTES_MAX + 2 +
		      DYNAMIC_LABELS_BYTES_MAX;
	char *key = arena_room(&map->texts, room), *end = key;
	struct dynamic_label label[DYNAMIC_LABELS_MAX + 1];

	memcpy(label, point->label, sizeof(label));
	end += snprintf(
	    key, room, "%s\n%.*s\n", map->service, (int)name.bytes, name.at);
	if (dynamic_group_put_labels(
		&end, DYNAMIC_LABELS_BYTES_MAX, label, point->labels, err) != 0)
		return false;
	if (otlp_deltas_add(map->deltas,
		(struct text){ key, (uint32_t)(end - key) }, is_first(map),
		value))
		return true;
	err_set(err, "more than %d series that are sent as differences",
	    OTLP_DELTAS_MAX);
	return false;
}

/* NAME or NAME.suffix, as long as the page lives. */
static struct text
name_of(struct otlp_map *map, struct text name, const char *suffix)
{
	size_t bytes = strlen(suffix);
	char *to;

	if (bytes == 0 || name.bytes > NAME_BYTES_MAX)
		return name;
	to = arena_room(&map->names, name.bytes + bytes);
	memcpy(to, name.at, name.bytes);
	memcpy(to + name.bytes, suffix, bytes);
	arena_keep(&map->names, name.bytes + bytes);
	return (struct text){ to, name.bytes + (uint32_t)bytes };
}

/* A unit that is no word is none. */
static struct text
clean_unit(struct text unit)
{
	for (uint32_t i = 0; i < unit.bytes; i++)
		if (unit.at[i] == ' ' || unit.at[i] == '\t')
			return (struct text){ NULL, 0 };
	return text_check_name(unit) == TEXT_OK ? unit
						: (struct text){ NULL, 0 };
}

/* -1: it is refused, and counted. */
static int
add(struct otlp_map *map, struct point *point, const char *suffix,
    struct text unit, bool sums, struct value value)
{
	const struct metric *metric = point->metric;
	struct dynamic_number number = {
		.name = name_of(map, metric->name, suffix),
		.unit = clean_unit(unit),
		.counter = sums && metric->is_counter,
		.value = value,
	};
	struct err err = { 0 };

	if (value.type == VALUE_NIL)
		return 0;
	if (map->taken == OTLP_NUMBERS_MAX)
		err_set(&err, "more than %d numbers in a request",
		    OTLP_NUMBERS_MAX);
	else if (dynamic_group_check_number(&number, &err) == 0 &&
		 (!sums || !metric->is_delta ||
		     add_up(map, point, number.name, &number.value, &err)) &&
		 sample_page_add(map->page, &number, point->label,
		     point->labels, point->time_ns, map->points, &err) == 0) {
		map->taken++;
		return 0;
	}
	otlp_map_refuse(map, "%s", err.text);
	return -1;
}

/* ---- points ---- */

static void
read_number(struct point *point, const struct protobuf_field *field)
{
	if (field->number == OTLP_NUMBER_DOUBLE)
		point->value = float_of(field);
	else if (field->number == OTLP_NUMBER_INT)
		point->value = (struct value){ .type = VALUE_INT,
			.is.i = (int64_t)field->value };
}

static void
read_distribution(struct point *point, const struct protobuf_field *field)
{
	const struct shape *shape = point->metric->shape;

	if (field->number == OTLP_DISTRIBUTION_COUNT)
		point->count = int_of(field->value);
	else if (field->number == OTLP_DISTRIBUTION_SUM)
		point->sum = float_of(field);
	else if (field->number == shape->min)
		point->min = float_of(field);
	else if (field->number == shape->max)
		point->max = float_of(field);
}

/* False: it has no time. */
static bool
read_point(struct point *point)
{
	const struct shape *shape = point->metric->shape;
	struct varint_reader reader = varint_reader_of(point->bytes);
	struct protobuf_field field;
	uint64_t time_ns = 0;

	/* 0 is what protocol buffers leave out. */
	point->count = shape->is_distribution ? int_of(0) : point->value;
	while (protobuf_next(&reader, &field))
		if (field.number == OTLP_POINT_BEGIN)
			point->begin_ns = field.value;
		else if (field.number == OTLP_POINT_TIME)
			time_ns = field.value;
		else if (field.number == shape->flags)
			point->flags = field.value;
		else if (field.number == shape->attributes)
			continue;
		else if (shape->is_distribution)
			read_distribution(point, &field);
		else
			read_number(point, &field);
	return otlp_map_take_time(&point->time_ns, time_ns);
}

static void
add_quantiles(struct otlp_map *map, struct point *point)
{
	struct varint_reader reader = varint_reader_of(point->bytes), inner;
	uint32_t labels = point->labels;
	struct protobuf_field field, part;

	while (protobuf_next(&reader, &field)) {
		struct value quantile = { .type = VALUE_FLOAT };
		struct value value = { .type = VALUE_FLOAT };
		struct point with = *point;

		if (field.number != OTLP_SUMMARY_QUANTILES)
			continue;
		inner = varint_reader_of(field.bytes);
		while (protobuf_next(&inner, &part))
			if (part.number == OTLP_QUANTILE)
				quantile = float_of(&part);
			else if (part.number == OTLP_QUANTILE_VALUE)
				value = float_of(&part);
		with.labels = labels;
		put_label(map, &with, text_of("quantile"), quantile);
		if (add(map, &with, "", point->metric->unit, false, value) != 0)
			return;
	}
}

static void
add_distribution(struct otlp_map *map, struct point *point)
{
	struct text unit = point->metric->unit;

	/* One refusal is enough: they differ in the name's end only, or in the
	 * quantile. */
	if (add(map, point, ".count", text_of("1"), true, point->count) != 0 ||
	    add(map, point, ".sum", unit, true, point->sum) != 0 ||
	    add(map, point, ".min", unit, false, point->min) != 0 ||
	    add(map, point, ".max", unit, false, point->max) != 0)
		return;
	if (point->metric->shape->metric == OTLP_METRIC_SUMMARY)
		add_quantiles(map, point);
}

/* Counters of the page count from the oldest begin: another process has a
 * later one. */
static void
note_boot(struct otlp_map *map, const struct point *point)
{
	if (point->metric->is_delta)
		map->adds_up = true;
	else if (point->metric->is_counter && point->begin_ns > 0 &&
		 (map->begin_ns == 0 || point->begin_ns < map->begin_ns))
		map->begin_ns = point->begin_ns;
}

static void
on_point(struct otlp_map *map, const struct metric *metric, struct text bytes)
{
	struct point point = { .metric = metric, .bytes = bytes };
	char shown[64];

	map->points++;
	arena_reset(&map->texts);
	if (!read_point(&point)) {
		otlp_map_refuse(map, "metric '%s' has a point without time",
		    text_quote(shown, sizeof(shown), metric->name));
		return;
	}
	if (point.flags & OTLP_FLAG_NO_VALUE)
		return;
	if (!put_labels(map, &point)) {
		otlp_map_refuse(map, "metric '%s' has more than %d labels",
		    text_quote(shown, sizeof(shown), metric->name),
		    DYNAMIC_LABELS_MAX);
		return;
	}
	note_boot(map, &point);
	if (metric->shape->is_distribution)
		add_distribution(map, &point);
	else
		add(map, &point, "", metric->unit, true, point.value);
}

/* ---- metrics ---- */

static const struct shape *
shape_of(uint32_t field)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (shapes[i].metric == field)
			return &shapes[i];
	return NULL;
}

static struct metric
read_metric(struct text message)
{
	struct varint_reader reader = varint_reader_of(message);
	struct protobuf_field field;
	struct metric metric = { .shape = NULL };
	bool is_monotonic = false;

	while (protobuf_next(&reader, &field))
		if (field.number == OTLP_METRIC_NAME) {
			metric.name = field.bytes;
		} else if (field.number == OTLP_METRIC_UNIT) {
			metric.unit = field.bytes;
		} else if (shape_of(field.number) != NULL) {
			metric.shape = shape_of(field.number);
			metric.data = field.bytes;
		}
	if (metric.shape == NULL)
		return metric;
	reader = varint_reader_of(metric.data);
	while (protobuf_next(&reader, &field))
		if (field.number == OTLP_METRIC_TEMPORALITY)
			metric.is_delta = field.value == OTLP_TEMPORALITY_DELTA;
		else if (field.number == OTLP_METRIC_MONOTONIC)
			is_monotonic = field.value != 0;
	metric.is_counter =
	    metric.shape->is_distribution ||
	    (metric.shape->metric == OTLP_METRIC_SUM && is_monotonic);
	metric.is_delta &= metric.shape->metric != OTLP_METRIC_GAUGE;
	return metric;
}

static int
on_metric(struct otlp_map *map, struct text message)
{
	struct metric metric = read_metric(message);
	struct varint_reader reader = varint_reader_of(metric.data);
	struct protobuf_field field;

	if (map->page == NULL)
		sample_page_new(&map->page);
	while (metric.shape != NULL && protobuf_next(&reader, &field))
		if (field.number == OTLP_METRIC_POINTS)
			on_point(map, &metric, field.bytes);
	return 0;
}

/* ---- pages ---- */

static void
on_twice(void *arg, uint64_t line, const struct err *err)
{
	struct otlp_map *map = arg;

	(void)line;
	map->taken--;
	otlp_map_refuse(map, "%s", err->text);
}

static int
on_group(void *arg, const struct dynamic_group *group)
{
	struct otlp_map *map = arg;

	return map->calls.on_group(map->calls.arg, group);
}

static int
end_page(struct otlp_map *map)
{
	const struct sample_page_calls calls = { map, on_group, on_twice };
	char origin[sizeof(map->service) + sizeof("otlp/")];
	uint64_t boot = map->begin_ns / 1000000;

	if (map->page == NULL)
		return 0;
	snprintf(origin, sizeof(origin), "otlp/%s", map->service);
	/* Another number when either begins again. */
	if (map->adds_up || boot == 0)
		boot += map->boot / 1000000;
	if (map->failed == 0)
		map->failed = sample_page_groups(
		    map->page, text_of(origin), boot, &calls);
	sample_page_free(&map->page);
	arena_reset(&map->names);
	map->begin_ns = 0;
	map->adds_up = false;
	/* The differences of the other resources are added up nevertheless: the
	 * request comes again, and then it is not the first one. */
	return 0;
}

int
otlp_map_metrics(struct otlp_map *map, struct text request)
{
	static const struct otlp_map_items items = { on_metric, end_page };

	map->points = 0;
	map->has_deltas = map->is_first = false;
	map->failed = 0;
	otlp_map_each(map, request, &items);
	return map->failed;
}
