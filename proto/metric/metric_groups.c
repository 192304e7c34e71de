/*
 * metric_groups - the metric groups of the host sampler: the columns of each.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/metric_groups.h"

#include <assert.h>
#include <string.h>

#include "proto/metric/dynamic_group.h"

#define GROUP(group, prefix)                                                   \
	static const struct metric_group_column group##_columns[] = {
#define BOOT                        { "poolscope.boot", "1", false },
#define COUNTER(column, name, unit) { name, unit, true },
#define GAUGE(column, name, unit)   { name, unit, false },
#define END(group, GROUP)                                                      \
	}                                                                      \
	;                                                                      \
	const struct metric_group metric_group_##group = { group##_columns,    \
		sizeof(group##_columns) / sizeof(*group##_columns),            \
		METRIC_##GROUP##_VALUES };
#include "proto/metric/metric_groups.def"

const struct metric_group *
metric_group_find(struct text name)
{
	static const struct {
		const char *name; /* before a slash: of all that begin so */
		const struct metric_group *group;
	} built_in[] = {
#define GROUP(group, prefix) { prefix, &metric_group_##group },
#define BOOT
#define COUNTER(...)
#define GAUGE(...)
#define END(...)
#include "proto/metric/metric_groups.def"
	};
	const char *slash = memchr(name.at, '/', name.bytes);
	struct text front = { name.at,
		slash != NULL ? (uint32_t)(slash + 1 - name.at) : name.bytes };

	for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++)
		if (text_equal(front, text_of(built_in[i].name)))
			return built_in[i].group;
	return NULL;
}

/* Each list of words is joined into one text. */
enum { LIST_BYTES = METRIC_GROUP_COLUMNS_MAX * 48 };

static void
add_word(char *list, uint32_t *used, const char *word)
{
	size_t bytes = strlen(word);

	assert(*used + bytes + 1 < LIST_BYTES);
	if (*used > 0)
		list[(*used)++] = ' ';
	memcpy(list + *used, word, bytes);
	*used += (uint32_t)bytes;
}

/* The label of a group of one device, by the front of its name: attributes of
 * OpenTelemetry's semantic conventions. */
static const struct {
	const char *front, *label;
} labels[] = {
	{ "cpu/", "cpu.logical_number" },
	{ "disk/", "system.device" },
	{ "filesystem/", "system.filesystem.mountpoint" },
	{ "network/", "network.interface.name" },
	{ "cgroup/", "process.linux.cgroup" },
	{ "process/", "process.executable.name" },
	{ "gpu/", "hw.id" },
};

/* As JSON; empty: it has none, or a name that is too long for one. */
static struct text
labels_of(char to[static DYNAMIC_LABELS_BYTES_MAX], struct text name)
{
	char *end = to;

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		uint32_t front = (uint32_t)strlen(labels[i].front);
		struct dynamic_label label = { text_of(labels[i].label),
			text_after(name, '/') };

		if (name.bytes > front &&
		    memcmp(name.at, labels[i].front, front) == 0)
			(void)dynamic_group_put_labels(
			    &end, DYNAMIC_LABELS_BYTES_MAX, &label, 1, NULL);
	}
	return (struct text){ to, (uint32_t)(end - to) };
}

bool
metric_group_define(struct wire_writer *w,
    const struct metric_group *metric_group, struct text name)
{
	char names[LIST_BYTES], units[LIST_BYTES], types[LIST_BYTES];
	uint32_t name_bytes = 0, unit_bytes = 0, type_bytes = 0;
	char room[DYNAMIC_LABELS_BYTES_MAX];
	struct text label = labels_of(room, name);
	unsigned char pairs[3 * LIST_BYTES + DYNAMIC_LABELS_BYTES_MAX + 64];
	struct wire_writer writer;
	struct record entity = {
		.kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = name,
		.attributes = 3,
	};

	for (uint32_t i = 0; i < metric_group->count; i++) {
		const struct metric_group_column *column =
		    &metric_group->columns[i];

		add_word(names, &name_bytes, column->name);
		add_word(units, &unit_bytes, column->unit);
		add_word(
		    types, &type_bytes, column->counter ? "counter" : "gauge");
	}
	wire_writer_init(&writer, pairs, sizeof(pairs));
	/* In the order of dynamic_group.c, which a store keeps. */
	if (label.bytes > 0) {
		wire_put_text_attribute(&writer, text_of("labels"), label);
		entity.attributes++;
	}
	wire_put_text_attribute(
	    &writer, text_of("names"), (struct text){ names, name_bytes });
	wire_put_text_attribute(
	    &writer, text_of("units"), (struct text){ units, unit_bytes });
	wire_put_text_attribute(
	    &writer, text_of("types"), (struct text){ types, type_bytes });
	entity.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)writer.bytes };
	return wire_put_record(w, &entity);
}
