/*
 * client_samples - numbers of one moment: into the ring, and from there to a
 * metric group whose name is the hash of its definition.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "agents/client/client_private.h"
#include "proto/base/text.h"

_Static_assert((int)POOLSCOPE_LABELS == (int)DYNAMIC_LABELS_MAX,
    "a metric group has as many labels");

/* Two attributes: the value under the name, and under the unit whether it is a
 * counter. */
bool
client_put_number(struct wire_writer *w, const struct poolscope_number *number)
{
	struct poolscope_attribute value =
	    poolscope_float(number->name, number->value);
	struct poolscope_attribute unit = poolscope_bool(
	    number->unit != NULL ? number->unit : "", number->counter);
	struct wire_writer before = *w;

	if (client_put_attribute(w, &value) && client_put_attribute(w, &unit))
		return true;
	*w = before;
	return false;
}

/* A copy in the sample's own memory, which has room for all its texts. */
static struct text
keep(struct client_sample *sample, struct text text)
{
	char *to = sample->text + sample->text_bytes;

	if (text.bytes > sizeof(sample->text) - sample->text_bytes)
		return text_of("?");
	memcpy(to, text.at, text.bytes);
	sample->text_bytes += text.bytes;
	return (struct text){ to, text.bytes };
}

static struct text
name_of(struct client_sample *sample, struct text given)
{
	char repaired[NAME_BYTES_MAX];

	return keep(sample, client_name(repaired, given));
}

/* A name of one word, or "" for "". */
static struct text
word_of(struct client_sample *sample, struct text given)
{
	struct text word =
	    given.bytes > 0 ? name_of(sample, given) : text_of("");

	for (uint32_t i = 0; i < word.bytes; i++)
		if (word.at[i] == ' ')
			sample->text[word.at - sample->text + i] = '_';
	return word;
}

static struct text
label_value(struct client_sample *sample, const struct value *value)
{
	char text[POOLSCOPE_EVENT_BYTES];
	int n = 0;

	switch (value->type) {
	case VALUE_INT:
		n = snprintf(
		    text, sizeof(text), "%lld", (long long)value->is.i);
		break;
	case VALUE_FLOAT:
		n = snprintf(text, sizeof(text), "%.17g", value->is.f);
		break;
	case VALUE_BOOL: return text_of(value->is.boolean ? "true" : "false");
	case VALUE_TEXT:
		return keep(sample,
		    client_utf8(
			text, (struct text){ value->is.text.at,
				  value->is.text.bytes < DYNAMIC_LABEL_BYTES_MAX
				      ? value->is.text.bytes
				      : DYNAMIC_LABEL_BYTES_MAX }));
	default: return text_of("");
	}
	return keep(sample, (struct text){ text, (uint32_t)n });
}

/* The last value for a key counts. */
static void
add_label(
    struct client_sample *sample, const struct record_attribute *attribute)
{
	struct text key =
	    name_of(sample, (struct text){ attribute->key.at,
				attribute->key.bytes < DYNAMIC_LABEL_BYTES_MAX
				    ? attribute->key.bytes
				    : DYNAMIC_LABEL_BYTES_MAX });
	uint32_t i = 0;

	while (
	    i < sample->group.labels && !text_equal(sample->label[i].key, key))
		i++;
	sample->label[i] = (struct dynamic_label){ key,
		label_value(sample, &attribute->value) };
	sample->group.labels += i == sample->group.labels;
}

static void
add_number(struct client_sample *sample, const struct record_attribute *value,
    const struct record_attribute *unit)
{
	struct text name = word_of(sample, value->key);
	uint32_t i = 0;

	while (i < sample->group.numbers &&
	       !text_equal(sample->number[i].name, name))
		i++;
	sample->number[i] = (struct dynamic_number){ .name = name,
		.unit = word_of(sample, unit->key),
		.counter = unit->value.is.boolean,
		.value = value->value };
	sample->group.numbers += i == sample->group.numbers;
}

static void
begin(struct client_sample *sample, int64_t time_ns)
{
	int n = snprintf(
	    sample->origin, sizeof(sample->origin), "app/%s", client.program);

	sample->text_bytes = 0;
	sample->group = (struct dynamic_group){
		.origin = { sample->origin, (uint32_t)n },
		.label = sample->label,
		.number = sample->number,
		.time_ns = time_ns,
		.boot = client.boot,
	};
}

static bool
make(struct client_sample *sample)
{
	struct err err;

	return dynamic_group_make(&sample->group, sample->room,
		   sizeof(sample->room), &err) == 0;
}

bool
client_make_count(struct client_sample *sample,
    const struct poolscope_counter *counter, double value, int64_t time_ns)
{
	int64_t since_ns;
	unsigned process = client_process_number(&since_ns);

	begin(sample, time_ns);
	if (process > 0) {
		sample->text_bytes = (uint32_t)snprintf(
		    sample->text, sizeof(sample->text), "%u", process);
		sample->label[sample->group.labels++] =
		    (struct dynamic_label){ text_of("process"),
			    { sample->text, sample->text_bytes } };
	}
	sample->number[sample->group.numbers++] = (struct dynamic_number){
		.name = text_of(counter->name),
		.unit = text_of(counter->unit),
		.counter = !counter->gauge,
		.value = { .type = VALUE_FLOAT, .is.f = value },
	};
	return make(sample);
}

bool
client_make_sample(struct client_sample *sample, const struct fast_clock *ticks,
    const struct client_record *record)
{
	struct text rest = { (const char *)(record + 1), record->pair_bytes };
	struct record_attribute first, second;

	begin(sample, fast_clock_wall_ns(ticks, record->begin));
	for (uint32_t i = 0; i < record->count; i++)
		if (record_next_attribute(&rest, &first))
			add_label(sample, &first);
	for (uint64_t i = 0; i < record->id; i++)
		if (record_next_attribute(&rest, &first) &&
		    record_next_attribute(&rest, &second))
			add_number(sample, &first, &second);
	return make(sample);
}
