/*
 * sampled - a rig with samples and jobs, read as exporters read a store.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_EXPORTERS_SAMPLES_SAMPLED_H
#define TESTS_UNIT_EXPORTERS_SAMPLES_SAMPLED_H

#include "exporters/source/source.h"
#include "tests/unit/aggregator/rig.h"

static struct rig rig;
static struct source *source;

/* A store whose only model is "job". */
static inline int
set_up(void **state)
{
	char from[128], to[128];

	(void)state;
	rig_open(&rig, "phase \"run\" { start = \"job:start\" "
		       "end = \"job:stop\" key = \"job\" }\n"
		       "phase \"step\" { start = \"job:begin\" "
		       "end = \"job:done\" key = \"job\" }\n");
	snprintf(from, sizeof(from), "%s/m.conf", rig.models);
	snprintf(to, sizeof(to), "%s/job.conf", rig.models);
	writer_close(&rig.writer);
	assert_int_equal(rename(from, to), 0);
	rig_open_indexer(&rig);
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	source_close(&source);
	assert_int_equal(
	    nftw(rig.folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
	return 0;
}

static inline void
define_group(
    const char *set, const char *names, const char *units, const char *types)
{
	unsigned char pairs[1024];
	struct wire_writer w;
	struct record entity = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of(set),
		.attributes = 3 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("names"), text_of(names));
	wire_put_text_attribute(&w, text_of("units"), text_of(units));
	wire_put_text_attribute(&w, text_of("types"), text_of(types));
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	rig_record(&rig, "node-0", &entity);
}

/* Whole numbers at these seconds; UNKNOWN is nil. */
#define UNKNOWN INT64_MIN

static inline void
put_sample(const char *node, const char *set, double seconds, uint32_t count,
    const int64_t *numbers)
{
	unsigned char bytes[512];
	struct wire_writer w;
	struct record record = { .kind = RECORD_SAMPLE,
		.time_ns = RIG_T0 + (int64_t)(seconds * 1e9),
		.source = text_of(set),
		.values = count };

	wire_writer_init(&w, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < count; i++)
		wire_put_value(
		    &w, &(struct value){
			    numbers[i] == UNKNOWN ? VALUE_NIL : VALUE_INT,
			    { .i = numbers[i] } });
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	rig_record(&rig, node, &record);
	if (rig.batch.bytes > 40000)
		rig_send(&rig, 0);
}

static inline void
put_job(const char *node, double seconds, const char *event, const char *job)
{
	unsigned char pairs[128];
	struct wire_writer w;
	struct record record = { .kind = RECORD_EVENT,
		.time_ns = RIG_T0 + (int64_t)(seconds * 1e9),
		.source = text_of("job"),
		.name = text_of(event),
		.attributes = 1 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("job"), text_of(job));
	record.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	rig_record(&rig, node, &record);
}

/* What was put is read from now on, as from a store without an aggregator. */
static inline void
read_it(void)
{
	static char folder[sizeof(rig.folder)];
	struct source_options options = { .store = NULL };
	struct err err = { 0 };

	rig_send(&rig, 0);
	rig_indexer(&rig);
	writer_close(&rig.writer);
	journal_close(&rig.journal);
	snprintf(folder, sizeof(folder), "%s", rig.folder);
	options.store = folder;
	rig_good(source_open(&source, &options, &err), &err);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
