/*
 * write_latest - tests of what is kept of what was last heard of each node,
 * against a slow pass over what was sent; of samples by hand.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"

#include "aggregator/tables/latest.h"
#include "proto/metric/metric_groups.h"

enum { NODES = 150, BATCHES = 60 };

static struct rig rig;
static struct latest wanted[NODES];

static int
set_up(void **state)
{
	rig_open(&rig, NULL);
	for (int i = 0; i < NODES; i++)
		wanted[i] = LATEST_NONE;
	return 0;
}

static int
tear_down(void **state)
{
	rig_close(&rig);
	return 0;
}

/* ---- what is sent ---- */

/* Of the batch that is not sent yet: the last time of each node. */
static int64_t batch_ns[NODES];

static const char *
name_of(int node)
{
	static char name[16];

	snprintf(name, sizeof(name), "n%d", node);
	return name;
}

static void
put(int node, enum record_kind kind, int64_t time_ns)
{
	struct record record = { .kind = kind,
		.time_ns = time_ns,
		.end_ns = time_ns + 5,
		.source = text_of("s"),
		.name = text_of("x") };

	rig_record(&rig, name_of(node), &record);
	if ((kind == RECORD_EVENT || kind == RECORD_SPAN) &&
	    time_ns > batch_ns[node])
		batch_ns[node] = time_ns;
}

static void
send_batch(unsigned session)
{
	int64_t receive_ns;

	rig_send(&rig, session);
	receive_ns = RIG_T0 + (int64_t)rig.seq[session];
	for (int i = 0; i < NODES; i++) {
		struct latest *of = &wanted[i];

		if (batch_ns[i] == INT64_MIN)
			continue;
		if (receive_ns > of->receive_ns ||
		    (receive_ns == of->receive_ns &&
			batch_ns[i] > of->time_ns)) {
			of->receive_ns = receive_ns;
			of->time_ns = batch_ns[i];
		}
		batch_ns[i] = INT64_MIN;
	}
}

static void
begin(void)
{
	for (int i = 0; i < NODES; i++)
		batch_ns[i] = INT64_MIN;
}

/* ---- what the store answers ---- */

static struct latest
found(const char *lines, int node)
{
	char word[32];
	const char *at, *received, *end;
	struct latest latest = LATEST_NONE;

	snprintf(word, sizeof(word), "[node|%s|]", name_of(node));
	at = strstr(lines, word);
	if (at == NULL)
		return latest;
	end = strchr(at, '\n');
	received = strstr(at, " received_ns=");
	if (received == NULL || received > end)
		return latest;
	assert_int_equal(sscanf(received, " received_ns=%ld time_ns=%ld",
			     &latest.receive_ns, &latest.time_ns),
	    2);
	return latest;
}

static char *
ask(void)
{
	uint64_t records;

	return rig_read(
	    &rig, RIG_STATS, rig_query(1u << RECORD_CONTEXT, 4096), &records);
}

static void
compare_all(void)
{
	char *lines = ask();

	rig_verify(&rig);
	for (int i = 0; i < NODES; i++) {
		struct latest got = found(lines, i);

		assert_int_equal(got.receive_ns, wanted[i].receive_ns);
		assert_int_equal(got.time_ns, wanted[i].time_ns);
	}
	free(lines);
}

static int64_t
some_time(uint64_t *random)
{
	return RIG_T0 + (int64_t)(check_random(random) % 8) * 1000000000000;
}

static void
send_some(uint64_t *random)
{
	static const enum record_kind kinds[] = { RECORD_EVENT, RECORD_SPAN,
		RECORD_GAP, RECORD_ENTITY };

	begin();
	for (unsigned i = 0; i < BATCHES; i++) {
		unsigned records = (unsigned)(check_random(random) % 40);

		for (unsigned k = 0; k < records; k++)
			put((int)(check_random(random) % NODES),
			    kinds[check_random(random) % 4], some_time(random));
		send_batch((unsigned)(check_random(random) % 3));
		if (check_random(random) % 6 == 0)
			rig_indexer(&rig);
	}
	rig_indexer(&rig);
}

/* ---- the tests ---- */

static void
the_last_record_is_the_one_received_last(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };

	send_some(&random);
	compare_all();
	/* Another process goes on. */
	writer_close(&rig.writer);
	rig_open_indexer(&rig);
	send_some(&random);
	compare_all();
	rig_good(writer_rebuild(rig.writer, &err), &err);
	compare_all();
	rig_good(writer_compact(rig.writer, &err), &err);
	compare_all();
}

/* A node of which the store has only what it describes has none. */
static void
gaps_and_entities_are_no_records_of_a_node(void **state)
{
	char *lines;

	begin();
	put(1, RECORD_ENTITY, 0);
	put(2, RECORD_GAP, RIG_T0);
	put(3, RECORD_EVENT, RIG_T0 + 7);
	put(3, RECORD_EVENT, RIG_T0 + 3);
	put(4, RECORD_SPAN, RIG_T0 - 9);
	send_batch(0);
	/* Received later, of an earlier time: what is sent late. */
	put(4, RECORD_EVENT, RIG_T0 - 99);
	send_batch(0);
	rig_indexer(&rig);
	compare_all();
	lines = ask();
	assert_non_null(strstr(lines, "[node|n1|] 0\n"));
	assert_non_null(strstr(lines, "[node|n2|] 0\n"));
	assert_int_equal(found(lines, 3).time_ns, RIG_T0 + 7);
	assert_int_equal(found(lines, 4).time_ns, RIG_T0 - 99);
	assert_int_equal(found(lines, 4).receive_ns, RIG_T0 + 2);
	free(lines);
}

/* ---- samples ---- */

static void
define(
    const char *group, const char *names, const char *units, const char *types)
{
	unsigned char pairs[2048];
	struct record entity = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of(group),
		.attributes = 3 };
	struct wire_writer w;

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("names"), text_of(names));
	wire_put_text_attribute(&w, text_of("units"), text_of(units));
	wire_put_text_attribute(&w, text_of("types"), text_of(types));
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	rig_record(&rig, "n0", &entity);
}

static void
sample(int node, const char *group, int seconds, uint32_t count,
    const struct value *values)
{
	unsigned char bytes[1000];
	struct record record = { .kind = RECORD_SAMPLE,
		.time_ns = RIG_T0 + seconds * INT64_C(1000000000),
		.source = text_of(group),
		.values = count };
	struct wire_writer w;

	wire_writer_init(&w, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < count; i++)
		wire_put_value(&w, &values[i]);
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	rig_record(&rig, name_of(node), &record);
}

static void
sample_int(int node, const char *group, int seconds, int64_t value)
{
	sample(node, group, seconds, 1,
	    &(struct value){ VALUE_INT, { .i = value } });
}

/* What an answer has of a node but when it was received, times as seconds of
 * RIG_T0. */
static void
assert_heard(int node, const char *story)
{
	char *lines = ask(), word[32], heard[200] = "", *at, *end;
	size_t used = 0;

	snprintf(word, sizeof(word), "[node|%s|]", name_of(node));
	at = strstr(lines, word);
	assert_non_null(at);
	end = strchr(at, '\n');
	*end = '\0';
	for (char *w = strtok(at, " "); w != NULL; w = strtok(NULL, " ")) {
		char *is = strchr(w, '=');

		if (is == NULL || strncmp(w, "received_ns", 11) == 0)
			continue;
		*is = '\0';
		used += (size_t)snprintf(heard + used, sizeof(heard) - used,
		    "%s=%ld ", w,
		    strcmp(w, "clock_ns") == 0 || strcmp(w, "spool_bytes") == 0
			? atol(is + 1)
			: (atol(is + 1) - RIG_T0) / 1000000000);
	}
	assert_string_equal(heard, story);
	free(lines);
}

/* As an agent's, with a column more. */
static void
define_again(const char *group)
{
	const struct metric_group *of = metric_group_find(text_of(group));
	char names[1000] = "", units[500] = "", types[500] = "";

	for (uint32_t i = 0; i < of->count; i++) {
		strcat(strcat(names, of->columns[i].name), " ");
		strcat(strcat(units, of->columns[i].unit), " ");
		strcat(types, of->columns[i].counter ? "counter " : "gauge ");
	}
	define(group, strcat(names, "more"), strcat(units, "1"),
	    strcat(types, "gauge"));
}

/*
 * n1: the newest sample is that of 50 s, received first; the last record that
 * of 40 s.  Its clock is off by -7 ns, which is the value of 40 s: that of 50 s
 * has none.  n2: the sample of 20 s has more values than its group has columns,
 * so that nobody knows which is which, but it was taken.  n3: a float is a
 * number, but not one that 64 bits do not hold.  n4: what is not defined.  n5:
 * another group has such a metric.
 */
static void
send_samples(const struct value *spool, uint32_t columns)
{
	const struct value nil = { .type = VALUE_NIL };
	const struct value numbers[] = { { VALUE_FLOAT, { .f = -2.9 } },
		{ VALUE_FLOAT, { .f = 1e300 } } };

	metric_group_define(&rig.batch, &metric_group_clock, text_of("clock"));
	metric_group_define(&rig.batch, &metric_group_self, text_of("self"));
	define("other", "poolscope.clock.offset", "ns", "gauge");
	sample_int(1, "clock", 30, 6);
	sample(1, "clock", 50, 1, &nil);
	rig_send(&rig, 0);
	sample_int(1, "clock", 40, -7);
	sample(2, "self", 10, columns, spool);
	sample(2, "self", 20, columns + 1, spool);
	for (int i = 0; i < 2; i++)
		sample(3, "clock", 10 * i, 1, &numbers[i]);
	sample_int(4, "undefined", 60, 3);
	sample_int(5, "other", 60, 3);
	rig_send(&rig, 0);
	rig_indexer(&rig);
}

static void
samples_say_how_a_node_is(void **state)
{
	uint32_t columns = metric_group_self.count;
	struct value spool[64] = { { .type = VALUE_NIL } };
	struct err err = { 0 };

	for (uint32_t i = 0; i < columns; i++)
		spool[i] = (struct value){ VALUE_UINT,
			{ .u = strcmp(metric_group_self.columns[i].name,
				   "poolscope.agent.spool.unacked") == 0
				   ? 5000
				   : i } };
	send_samples(spool, columns);
	for (int again = 0; again < 3; again++) {
		assert_heard(
		    1, "time_ns=40 sample_ns=50 clock_ns=-7 clock_at_ns=40 ");
		assert_heard(2,
		    "time_ns=20 sample_ns=20 spool_bytes=5000 spool_at_ns=10 ");
		assert_heard(
		    3, "time_ns=10 sample_ns=10 clock_ns=-2 clock_at_ns=0 ");
		assert_heard(4, "time_ns=60 sample_ns=60 ");
		assert_heard(5, "time_ns=60 sample_ns=60 ");
		rig_verify(&rig);
		if (again == 0)
			rig_good(writer_rebuild(rig.writer, &err), &err);
		else if (again == 1)
			rig_good(writer_compact(rig.writer, &err), &err);
	}
	/* The definition grows in the batch that brings more values. */
	define_again("self");
	sample_int(1, "clock", 45, 8);
	sample(2, "self", 30, columns + 1, spool);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	assert_heard(1, "time_ns=45 sample_ns=50 clock_ns=8 clock_at_ns=45 ");
	assert_heard(
	    2, "time_ns=30 sample_ns=30 spool_bytes=5000 spool_at_ns=30 ");
	rig_verify(&rig);
}

/* Change each row in turn: none, of a node that is none, of earlier records. */
static void
verification_reports_wrong_rows(void **state)
{
	struct db *db = writer_db(rig.writer);
	unsigned char key[LATEST_KEY_BYTES];
	struct text at = { (const char *)key, sizeof(key) };
	uint64_t random = check_seed();
	struct buffer bytes = { NULL, 0, 0 };
	struct latest_row good, bad;
	unsigned rows = 0, way, i;
	struct err err = { 0 };
	struct db_txn *txn;

	send_some(&random);
	for (uint32_t block = 0; block < 6; block++) {
		for (way = 0; way < 4; way++) {
			unsigned wrong = 0;

			rig_good(db_begin(db, true, &txn, &err), &err);
			latest_read(txn, 1, block, &good);
			latest_put_key(key, 1, block);
			/* About 160 names: row 2 has numbers beyond. */
			if (good.has == 0 || (way == 3 && block != 2)) {
				db_abort(&txn);
				continue;
			}
			for (i = 0; (good.has >> i & 1) == 0; i++)
				;
			bad = good;
			bad.at[i].receive_ns -= way == 1;
			bad.at[i].time_ns -= way == 2;
			bad.has |= way == 3 ? ~good.has : 0;
			bytes.bytes = 0;
			latest_encode(&bad, &bytes);
			if (way == 0)
				db_del(txn, TABLES_NAMES, at);
			else
				db_put(
				    txn, TABLES_NAMES, at, buffer_text(&bytes));
			assert_int_equal(db_commit(&txn, &err), DB_OK);
			assert_true(
			    verify_tables(db, rig_count, &wrong, &err) > 0);
			assert_true(wrong > 0);
			rig_good(db_begin(db, true, &txn, &err), &err);
			bytes.bytes = 0;
			latest_encode(&good, &bytes);
			db_put(txn, TABLES_NAMES, at, buffer_text(&bytes));
			assert_int_equal(db_commit(&txn, &err), DB_OK);
			rows++;
		}
	}
	assert_true(rows >= 8);
	compare_all();
	buffer_clear(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(the_last_record_is_the_one_received_last),
		TEST(gaps_and_entities_are_no_records_of_a_node),
		TEST(samples_say_how_a_node_is),
		TEST(verification_reports_wrong_rows),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
