/*
 * metrics - the bounds: the newest are shown, the others counted.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/metrics.h"

#include "exporters/source/source.h"
#include "proto/metric/metric_groups.h"
#include "tests/unit/aggregator/rig.h"

static struct rig rig;
static struct source *source;
static char *text;

enum { PHASES = 40 };

/* A model with phases p0, p1 ... */
static int
set_up(void **state)
{
	char model[PHASES * 80] = "";
	size_t used = 0;

	for (int i = 0; i < PHASES; i++)
		used += (size_t)snprintf(model + used, sizeof(model) - used,
		    "phase \"p%d\" { start = \"s:b%d\" end = \"s:e%d\" }\n", i,
		    i, i);
	rig_open(&rig, model);
	return 0;
}

static int
tear_down(void **state)
{
	free(text);
	text = NULL;
	source_close(&source);
	assert_int_equal(
	    nftw(rig.folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
	return 0;
}

/* Append the batch to the journal as one of this partition. */
static void
send_to(const char *partition)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of(partition),
		.node = text_of("head"),
		.session = rig_session(0),
		.seq = 1,
		.records = rig.batch.records,
		.body_bytes = (uint32_t)rig.batch.bytes };
	struct journal_note note = { .seq = 1, .receive_ns = RIG_T0 };
	struct err err = { 0 };
	size_t bytes = wire_frame(rig.frame, sizeof(rig.frame), &header,
	    (struct text){
		(const char *)rig.bytes, (uint32_t)rig.batch.bytes });

	assert_true(bytes > 0 && !rig.batch.full);
	if (!rig.begun)
		rig_good(journal_begin(rig.journal, &err), &err);
	rig.begun = true;
	journal_append(rig.journal,
	    (struct text){ (const char *)rig.frame, (uint32_t)bytes }, &note);
	wire_writer_init(&rig.batch, rig.bytes, sizeof(rig.bytes));
	rig.node[0] = '\0';
}

static void
read_it(bool by_node)
{
	struct source_options options = { .store = rig.folder };
	struct metrics *metrics;
	struct err err = { 0 };
	size_t bytes;
	FILE *file;

	rig_indexer(&rig);
	writer_close(&rig.writer);
	journal_close(&rig.journal);
	rig_good(source_open(&source, &options, &err), &err);
	metrics = metrics_new(source, (struct text){ NULL, 0 }, by_node);
	rig_good(
	    metrics_read(metrics, RIG_T0 + 3600 * NS_PER_SECOND, &err), &err);
	file = open_memstream(&text, &bytes);
	metrics_write(metrics, EXPOSITION_OPENMETRICS, file);
	fclose(file);
	metrics_free(&metrics);
}

static unsigned
count(const char *begin)
{
	struct text rest = text_of(text), line;
	unsigned found = 0;

	while (text_next_line(&rest, &line))
		found += line.bytes >= strlen(begin) &&
			 memcmp(line.at, begin, strlen(begin)) == 0;
	return found;
}

static void
of_many_partitions_the_newest_are_shown(void **state)
{
	char name[32];

	for (int i = 0; i < METRICS_PARTITIONS + 3; i++) {
		snprintf(name, sizeof(name), "a$p%d", i);
		rig_event(
		    &rig, "n", RIG_T0 + i * NS_PER_SECOND, "s", "x", NULL);
		send_to(name);
	}
	read_it(false);
	assert_int_equal(
	    count("poolscope_pool_nodes_known{"), METRICS_PARTITIONS);
	assert_int_equal(count("poolscope_partitions_left_out 3"), 1);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "partition=\"a$p%d\"", i);
		assert_int_equal(strstr(text, name) != NULL, i == 3);
	}
}

static void
of_many_nodes_those_that_were_heard_last(void **state)
{
	char name[16];

	for (int i = 0; i < METRICS_NODES + 100; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		rig_event(
		    &rig, name, RIG_T0 + i * NS_PER_SECOND, "s", "x", NULL);
		if (i % 500 == 499)
			rig_send(&rig, 0);
	}
	rig_send(&rig, 0);
	read_it(true);
	assert_int_equal(count("poolscope_node_state{"), METRICS_NODES);
	assert_null(strstr(text, "node=\"n99\""));
	assert_non_null(strstr(text, "node=\"n100\""));
	assert_int_equal(count("poolscope_nodes_left_out 100"), 1);
	/* Of each: heard, received, state, and that it is gone or silent. */
	assert_int_equal(count("poolscope_node_attention{"), METRICS_NODES);
	assert_int_equal(count("poolscope_series_left_out 400"), 1);
	/* The pool counts all of them, as of 3,600: n0 was heard an hour ago,
	 * the last one 1,501 s ago. */
	assert_int_equal(count("poolscope_pool_nodes_known{partition="
			       "\"acct$pool\"} 2100"),
	    1);
	assert_int_equal(count("poolscope_pool_nodes{partition=\"acct$pool\","
			       "state=\"gone\"} 1"),
	    1);
	assert_int_equal(count("poolscope_pool_nodes{partition=\"acct$pool\","
			       "state=\"silent\"} 2099"),
	    1);
}

/* a$p0, a$p1 ... are later and later. */
static void
send_partitions(int count, int64_t begin_ns)
{
	char name[32], event[16];

	for (int i = 0; i < count; i++) {
		for (int k = 0; k < PHASES; k++) {
			snprintf(event, sizeof(event), "b%d", k);
			rig_event(&rig, "n", begin_ns + i * NS_PER_SECOND, "s",
			    event, NULL);
			event[0] = 'e';
			rig_event(&rig, "n", begin_ns + i * NS_PER_SECOND + 9,
			    "s", event, NULL);
		}
		snprintf(name, sizeof(name), "a$p%d", i);
		send_to(name);
	}
}

/* Of each partition 6 + 7 + 1 + 1 + 6 series, and 40 x (13 + 2 + 2) of its
 * phases: 701.  28 of them have 19,628, and 29 would have more than 20,000. */
static void
a_partition_is_shown_as_a_whole(void **state)
{
	char name[32];

	send_partitions(METRICS_PARTITIONS, RIG_T0);
	read_it(false);
	assert_int_equal(count("poolscope_pool_nodes_known{"), 28);
	/* 9 ns are less than all bounds. */
	assert_int_equal(count("poolscope_phase_duration_seconds_bucket{"),
	    28 * PHASES * 13);
	assert_non_null(strstr(text, ",le=\"0.1\"} 1\n"));
	assert_int_equal(count("poolscope_partitions_left_out 72"), 1);
	snprintf(name, sizeof(name), "_left_out %d\n", 72 * 701);
	assert_non_null(strstr(text, name));
	assert_null(strstr(text, "partition=\"a$p71\""));
	assert_non_null(strstr(text, "partition=\"a$p72\""));
}

/* Of each of 27 partitions 701 series and 4 of its node, which is silent:
 * 19,035.  An older one has 21, and 1,000 nodes, which are gone: of the 944
 * series that are left, 236 nodes have all, and the other 764 have 3,056. */
static void
its_nodes_are_shown_as_far_as_they_fit(void **state)
{
	char name[16];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		rig_event(&rig, name, RIG_T0 + (i - 1000) * NS_PER_SECOND, "s",
		    "x", NULL);
		if (i % 500 == 499)
			send_to("a$old");
	}
	send_partitions(27, RIG_T0);
	read_it(true);
	assert_int_equal(count("poolscope_pool_nodes_known{"), 28);
	assert_int_equal(count("poolscope_node_state{"), 27 + 236);
	assert_int_equal(count("poolscope_partitions_left_out 0"), 1);
	assert_int_equal(count("poolscope_nodes_left_out 764"), 1);
	assert_int_equal(count("poolscope_series_left_out 3056"), 1);
	assert_null(strstr(text, "partition=\"a$old\",node=\"n763\""));
	assert_non_null(strstr(text, "partition=\"a$old\",node=\"n764\""));
}

/* 27 x (701 + 3) = 19,008 series, 21 of the next partition and 945 of its 315
 * nodes, 21 of the last one: 5 are left.  Its node that was heard last has 7,
 * with the limit, used and available memory and used swap; the one before it
 * has 3. */
static void
no_node_is_shown_before_one_that_was_heard_later(void **state)
{
	static const int64_t now = RIG_T0 + 3600 * NS_PER_SECOND;
	unsigned char values[64];
	struct record sample = { .kind = RECORD_SAMPLE,
		.time_ns = now - 100 * NS_PER_SECOND,
		.has_time = true,
		.source = text_of("memory"),
		.values = metric_group_memory.count };
	struct value value = { VALUE_UINT, { .u = 1000 } };
	struct wire_writer writer;
	char name[16];

	rig_event(&rig, "small", now - 110 * NS_PER_SECOND, "s", "x", NULL);
	rig_event(&rig, "large", now - 100 * NS_PER_SECOND, "s", "x", NULL);
	assert_true(metric_group_define(
	    &rig.batch, &metric_group_memory, sample.source));
	wire_writer_init(&writer, values, sizeof(values));
	for (uint32_t i = 0; i < metric_group_memory.count; i++)
		wire_put_value(&writer, &value);
	sample.value_bytes =
	    (struct text){ (const char *)values, (uint32_t)writer.bytes };
	rig_record(&rig, "large", &sample);
	send_to("a$last");
	for (int i = 0; i < 315; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		rig_event(&rig, name, now - 90 * NS_PER_SECOND, "s", "x", NULL);
	}
	send_to("a$next");
	send_partitions(27, now - 80 * NS_PER_SECOND);
	read_it(true);
	assert_int_equal(count("poolscope_pool_nodes_known{"), 29);
	assert_int_equal(count("poolscope_node_state{"), 27 + 315);
	assert_int_equal(count("poolscope_nodes_left_out 2"), 1);
	assert_int_equal(count("poolscope_series_left_out 10"), 1);
	assert_null(strstr(text, "node=\"large\""));
	assert_null(strstr(text, "node=\"small\""));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(of_many_partitions_the_newest_are_shown),
		CASE(of_many_nodes_those_that_were_heard_last),
		CASE(a_partition_is_shown_as_a_whole),
		CASE(its_nodes_are_shown_as_far_as_they_fit),
		CASE(no_node_is_shown_before_one_that_was_heard_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
