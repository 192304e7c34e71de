/*
 * client_counters - counters: numbers that the sender reads regularly.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agents/client/client_private.h"
#include "proto/wire/wire.h"

static struct poolscope_counter *
find(const char *name)
{
	uint32_t counters = atomic_load(&client.counters);

	for (uint32_t i = 0; i < counters; i++)
		if (strcmp(client.counter[i].name, name) == 0)
			return &client.counter[i];
	return NULL;
}

/* One word, since lists of metrics separate names by blanks. */
static bool
is_word(const char *word)
{
	struct text text = { word,
		(uint32_t)strnlen(word, CLIENT_PART_BYTES_MAX + 1) };

	return text.bytes <= CLIENT_PART_BYTES_MAX &&
	       text_check_name(text) == TEXT_OK && strchr(word, ' ') == NULL;
}

struct poolscope_counter *
poolscope_get_counter(const char *name, const char *unit)
{
	struct poolscope_counter *counter;
	uint32_t counters;

	if (name == NULL || !is_word(name))
		return NULL;
	pthread_mutex_lock(&client.lock);
	counter = find(name);
	counters = atomic_load(&client.counters);
	if (counter == NULL && counters < POOLSCOPE_COUNTERS) {
		counter = &client.counter[counters];
		strcpy(counter->name, name);
		strcpy(
		    counter->unit, unit != NULL && is_word(unit) ? unit : "");
		atomic_store_explicit(
		    &client.counters, counters + 1, memory_order_release);
	}
	pthread_mutex_unlock(&client.lock);
	return counter;
}

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double
value_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Called after the value is stored: the thread that clears the mark reads
 * it. */
static void
mark_changed(struct poolscope_counter *counter)
{
	if (!atomic_load_explicit(&counter->changed, memory_order_relaxed))
		atomic_store_explicit(
		    &counter->changed, true, memory_order_release);
}

void
poolscope_add(struct poolscope_counter *counter, double value)
{
	uint64_t before;

	if (counter == NULL)
		return;
	before = atomic_load_explicit(&counter->bits, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&counter->bits, &before,
	    bits_of(value_of(before) + value), memory_order_relaxed,
	    memory_order_relaxed))
		;
	mark_changed(counter);
}

void
poolscope_put(struct poolscope_counter *counter, double value)
{
	if (counter == NULL)
		return;
	atomic_store_explicit(
	    &counter->bits, bits_of(value), memory_order_relaxed);
	mark_changed(counter);
}

/* ---- as records ---- */

/* "app/PROGRAM/COUNTER" */
static struct text
group_name(
    char to[static NAME_BYTES_MAX], const struct poolscope_counter *counter)
{
	char *p = stpcpy(stpcpy(to, "app/"), client.program);

	*p++ = '/';
	p = stpcpy(p, counter->name);
	return (struct text){ to, (uint32_t)(p - to) };
}

_Static_assert(4 + 2 * CLIENT_PART_BYTES_MAX + 2 <= NAME_BYTES_MAX,
    "a metric group's name has room for program and counter");

bool
client_encode_metric_group(
    struct wire_writer *w, const struct poolscope_counter *counter)
{
	char id[NAME_BYTES_MAX];
	unsigned char pairs[3 * NAME_BYTES_MAX];
	struct wire_writer properties;
	struct record record = {
		.kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = group_name(id, counter),
		.attributes = 3,
	};

	wire_writer_init(&properties, pairs, sizeof(pairs));
	wire_put_text_attribute(
	    &properties, text_of("names"), text_of(counter->name));
	wire_put_text_attribute(
	    &properties, text_of("units"), text_of(counter->unit));
	wire_put_text_attribute(
	    &properties, text_of("types"), text_of("gauge"));
	record.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)properties.bytes };
	return wire_put_record(w, &record);
}

bool
client_encode_sample(struct wire_writer *w,
    const struct poolscope_counter *counter, int64_t now_ns)
{
	char id[NAME_BYTES_MAX];
	unsigned char bytes[16];
	struct wire_writer values;
	struct value value = {
		.type = VALUE_FLOAT,
		.is.f = value_of(
		    atomic_load_explicit(&counter->bits, memory_order_relaxed)),
	};
	struct record record = {
		.kind = RECORD_SAMPLE,
		.time_ns = now_ns,
		.has_time = true,
		.source = group_name(id, counter),
		.values = 1,
	};

	wire_writer_init(&values, bytes, sizeof(bytes));
	wire_put_value(&values, &value);
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)values.bytes };
	return wire_put_record(w, &record);
}
