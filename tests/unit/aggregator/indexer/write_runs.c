/*
 * write_runs - tests of how the indexer stores test runs: rows, and the
 * statistics of their groups, against a slow pass over what was sent.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/lines.h"
#include "tests/unit/aggregator/rig.h"

#include "aggregator/phases/run_sum.h"

static const char model[] =
    "run { attribute = \"run\" group = \"dev\" requestor = \"who\" "
    "error = \"error\" begun = \"run:b\" ended = \"run:d\" "
    "properties = { \"dev\", \"who\", \"error\" } }\n"
    "phase \"wait\" { start = \"run:a\" end = \"run:b\" scope = \"run\" "
    "run = \"run\" }\n"
    "phase \"flash\" { start = \"run:c\" end = \"run:e\" scope = \"run\" "
    "run = \"run\" }\n"
    "phase \"all\" { start = \"run:a\" end = \"run:d\" scope = \"run\" "
    "run = \"run\" }\n";

enum { RUNS = 60, EVENTS_MAX = 4000, ROLES = 5, STEPS = 3, GROUPS = 4 };
static const char *const steps[STEPS] = { "m:wait", "m:flash", "m:all" };
static const char step_of[STEPS][2] = { { 'a', 'b' }, { 'c', 'e' },
	{ 'a', 'd' } };

static struct rig rig;
static bool packing; /* again and again, what is stored is packed */

static int
set_up(void **state)
{
	packing = false;
	rig_open(&rig, model);
	rig.in_order = true;
	return 0;
}

static int
set_up_packing(void **state)
{
	set_up(state);
	packing = true;
	return 0;
}

static uint64_t
rows_of(unsigned table)
{
	struct db_status status;
	struct err err = { 0 };

	assert_int_equal(db_status(writer_db(rig.writer), &status, &err), 0);
	return status.rows[table];
}

static void
pack(void)
{
	struct err err = { 0 };

	if (!packing)
		return;
	rig_good(writer_compact(rig.writer, &err), &err);
	/* Of each run, what rests is in one place; few rows may stay. */
	assert_true(rows_of(TABLES_RUNS) < 8 && rows_of(TABLES_ENTITIES) < 8 &&
		    rows_of(TABLES_RUN_TIMES) < 8);
}

static int
tear_down(void **state)
{
	rig_close(&rig);
	return 0;
}

/* ---- what is sent ---- */

static struct reported {
	int run; /* -1: nothing */
	char name;
	int64_t time_ns, receive_ns;
	/* A property of an event or, with name 0, of an entity. */
	const char *group, *who, *error;
	bool no_error; /* says so */
} reported[EVENTS_MAX];
static unsigned reports;

static const char *const groups[] = { "alpha", "beta", "gamma" };
static const char *const people[] = { "ann", "bob", "cy", "dee" };

static void
send_report(struct reported what)
{
	assert_true(reports < EVENTS_MAX);
	reported[reports++] = what;
}

/* Runs in all states, repeated steps, ends without begins, events x and y that
 * the model does not have, and runs without an entity. No two events have the
 * same time. */
static void
make_runs(uint64_t *random)
{
	int64_t now = RIG_T0;

	reports = 0;
	for (int run = 0; run < RUNS; run++) {
		static const char names[] = "xabceyxcexced";
		unsigned stage =
		    (unsigned)(check_random(random) % sizeof(names));

		for (unsigned i = 0; i < stage; i++) {
			now += 1 + (int64_t)(check_random(random) % 5000000000);
			if (check_random(random) % 8 == 0)
				continue; /* missing */
			send_report((struct reported){ .run = run,
			    .name = names[i],
			    .time_ns = now,
			    .receive_ns =
				now - 1000000000 +
				(int64_t)(check_random(random) % 3000000000) });
		}
		if (check_random(random) % 10 == 0)
			continue;
		send_report((struct reported){ .run = run,
		    .group = groups[check_random(random) % 3],
		    .who = people[check_random(random) % 4],
		    .error = check_random(random) % 5 ? NULL : "broken" });
	}
}

static void
shuffle(uint64_t *random)
{
	for (unsigned i = reports; i > 1; i--) {
		unsigned j = (unsigned)(check_random(random) % i);
		struct reported one = reported[j];

		reported[j] = reported[i - 1];
		reported[i - 1] = one;
	}
}

static void
put_property(
    struct wire_writer *w, uint32_t *count, const char *key, const char *text)
{
	if (text == NULL)
		return;
	wire_put_text_attribute(w, text_of(key), text_of(text));
	++*count;
}

static void
send_one(const struct reported *what)
{
	struct value receive = { VALUE_INT, { .i = what->receive_ns } };
	struct value none = { .type = VALUE_NIL };
	unsigned char pairs[1024];
	struct wire_writer w;
	char id[16], name[2] = { what->name, '\0' };
	struct record record = { .kind = RECORD_EVENT,
		.time_ns = what->time_ns,
		.source = text_of("run"),
		.name = text_of(name) };

	snprintf(id, sizeof(id), "run%d", what->run);
	wire_writer_init(&w, pairs, sizeof(pairs));
	if (what->name == 0) {
		record.kind = RECORD_ENTITY;
		record.name = text_of(id);
	} else {
		put_property(&w, &record.attributes, "run", id);
		wire_put_attribute(&w, text_of("receive_ns"), &receive);
		record.attributes++;
	}
	put_property(&w, &record.attributes, "dev", what->group);
	put_property(&w, &record.attributes, "who", what->who);
	put_property(&w, &record.attributes, "error", what->error);
	if (what->no_error) {
		wire_put_attribute(&w, text_of("error"), &none);
		record.attributes++;
	}
	record.pairs = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
	rig_record(&rig, "n", &record);
}

static void
take_in(uint64_t *random)
{
	for (unsigned i = 0; i < reports; i++) {
		send_one(&reported[i]);
		if (i + 1 == reports || check_random(random) % 20 == 0)
			rig_send(&rig, (unsigned)(check_random(random) % 5));
		if (check_random(random) % 60 != 0)
			continue;
		rig_indexer(&rig);
		if (check_random(random) % 2 == 0)
			pack();
	}
	rig_indexer(&rig);
	pack();
	rig_verify(&rig);
	assert_int_equal(rows_of(TABLES_RUN_BLOCKS) > 0, packing);
	assert_int_equal(rows_of(TABLES_ENTITY_BLOCKS) > 0, packing);
	assert_int_equal(rows_of(TABLES_NAME_BLOCKS) > 0, packing);
	assert_int_equal(rows_of(TABLES_TIME_BLOCKS) > 0, packing);
}

/* ---- the slow pass: lines as the reader's ---- */

struct run {
	bool known, error;
	const char *group, *who;
	struct reported event[64];
	unsigned events;
};

static int
by_time(const void *left, const void *right)
{
	const struct reported *a = left, *b = right;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* What is known of a run, in whatever order it arrived. */
static struct run
know(int number)
{
	struct run run = { .known = false };

	for (unsigned i = 0; i < reports; i++) {
		const struct reported *what = &reported[i];

		if (what->run != number)
			continue;
		if (what->name != 0)
			run.event[run.events++] = *what;
		if (what->name != 0 && what->group == NULL &&
		    what->who == NULL && what->error == NULL && !what->no_error)
			continue;
		run.known = true;
		run.group = what->group ? what->group : run.group;
		run.who = what->who ? what->who : run.who;
		run.error = what->error      ? true
			    : what->no_error ? false
					     : run.error;
	}
	qsort(run.event, run.events, sizeof(run.event[0]), by_time);
	return run;
}

static bool
has(const struct run *run, char name)
{
	for (unsigned i = 0; i < run->events; i++)
		if (run->event[i].name == name)
			return true;
	return false;
}

/* The begin that an end belongs to: backwards from it, the first event of the
 * step, if that is a begin.  NULL: none. */
static const struct reported *
begin_of(const struct run *run, unsigned step, unsigned end)
{
	while (end-- > 0) {
		if (run->event[end].name == step_of[step][0])
			return &run->event[end];
		if (run->event[end].name == step_of[step][1])
			break;
	}
	return NULL;
}

static bool
has_end(const struct run *run, unsigned step, unsigned begin)
{
	for (unsigned i = begin + 1; i < run->events; i++)
		if (run->event[i].name == step_of[step][1])
			return begin_of(run, step, i) == &run->event[begin];
	return false;
}

struct sum {
	unsigned count;
	double sum, squares, min, max;
};

static void
add(struct sum *sum, double seconds)
{
	if (sum->count == 0 || seconds < sum->min)
		sum->min = seconds;
	if (sum->count == 0 || seconds > sum->max)
		sum->max = seconds;
	sum->count++;
	sum->sum += seconds;
	sum->squares += seconds * seconds;
}

static void
add_run(struct sum *sum, const struct run *run, unsigned step, bool receive,
    bool total)
{
	const struct reported *begin, *end;
	double all = 0;
	unsigned pairs = 0;

	for (unsigned i = 0; i < run->events; i++) {
		double one;

		end = &run->event[i];
		if (end->name != step_of[step][1] ||
		    (begin = begin_of(run, step, i)) == NULL)
			continue;
		one = receive ? (double)(end->receive_ns - begin->receive_ns)
			      : (double)(end->time_ns - begin->time_ns);
		pairs++;
		all += one / 1e9;
		if (!total)
			add(sum, one / 1e9);
	}
	if (total && pairs > 0)
		add(sum, all);
}

static const char *
state_of(const struct run *run)
{
	return has(run, 'd')   ? "finished"
	       : has(run, 'b') ? "ongoing"
			       : "queued";
}

/* NULL: of all known runs; "?": of those without an entity. */
static bool
is_of(const struct run *run, const char *group)
{
	if (strcmp(group, "?") == 0)
		return !run->known && run->events > 0;
	return run->known && strcmp(run->group, group) == 0;
}

/* ---- the answers of the store ---- */

static char *
answer(void)
{
	uint64_t records;

	return rig_read(
	    &rig, RIG_STATS, rig_query(1u << RECORD_RUN, 300), &records);
}

/* The line that contains all of these. */
static const char *
line_with(
    const char *all, const char *a, const char *b, const char *c, const char *d)
{
	static char line[1024];

	for (const char *at = all; *at != '\0'; at = strchr(at, '\n') + 1) {
		snprintf(line, sizeof(line), "%.*s ",
		    (int)(strchr(at, '\n') - at), at);
		if (strstr(line, a) && strstr(line, b) && strstr(line, c) &&
		    strstr(line, d))
			return line;
	}
	return NULL;
}

static double
number(const char *line, const char *name)
{
	char what[64];
	const char *at;

	snprintf(what, sizeof(what), " %s=", name);
	at = line != NULL ? strstr(line, what) : NULL;
	return at != NULL ? strtod(at + strlen(what), NULL) : 0;
}

static void
compare_steps(const char *all, const char *group, const char *word)
{
	for (unsigned i = 0; i < STEPS * 4; i++) {
		unsigned step = i / 4;
		bool receive = i % 4 / 2 != 0, total = i % 2 != 0;
		struct sum sum = { .count = 0 };
		const char *line;
		char id[32];
		double mean, deviation;

		for (int r = 0; r < RUNS; r++) {
			struct run run = know(r);

			if (is_of(&run, group))
				add_run(&sum, &run, step, receive, total);
		}
		snprintf(id, sizeof(id), "[run-stats|%s|]", steps[step]);
		line = line_with(all, id, word,
		    receive ? "clock='receive'" : "clock='emit'",
		    total ? "of='total'" : "of='iteration'");
		assert_int_equal((unsigned)number(line, "count"), sum.count);
		if (sum.count == 0)
			continue;
		mean = sum.sum / sum.count;
		deviation = sqrt(sum.squares / sum.count - mean * mean);
		assert_true(fabs(number(line, "sum") - sum.sum) < 1e-6);
		assert_true(fabs(number(line, "min") - sum.min) < 1e-9);
		assert_true(fabs(number(line, "max") - sum.max) < 1e-9);
		assert_true(fabs(number(line, "mean") - mean) < 1e-6);
		assert_true(
		    fabs(number(line, "std_population") - deviation) < 1e-4);
	}
}

static void
compare_group(const char *all, const char *group)
{
	static const char *const states[] = { "queued", "ongoing", "finished" };
	unsigned counts[3] = { 0 }, runs = 0, errors = 0, listed = 0;
	unsigned person[4] = { 0 };
	const char *line;
	char word[32];

	if (strcmp(group, "?") == 0)
		strcpy(word, "known=no");
	else
		snprintf(word, sizeof(word), "group='%s'", group);
	for (int r = 0; r < RUNS; r++) {
		struct run run = know(r);
		char id[32];

		if (!is_of(&run, group))
			continue;
		runs++;
		errors += run.error;
		for (unsigned i = 0; i < 3; i++)
			counts[i] += !run.error &&
				     strcmp(state_of(&run), states[i]) == 0;
		for (unsigned i = 0; i < 4; i++)
			person[i] +=
			    run.who != NULL && strcmp(run.who, people[i]) == 0;
		snprintf(id, sizeof(id), "[run-listed|run%d|]", r);
		line = line_with(all, id, word, state_of(&run), "");
		assert_int_equal(line != NULL,
		    !run.known || (!run.error && !has(&run, 'd')));
		listed += line != NULL;
	}
	line = line_with(all, "[run-group|", word, "", "");
	assert_int_equal((unsigned)number(line, "runs"), runs);
	assert_int_equal((unsigned)number(line, "errors"), errors);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal((unsigned)number(line, states[i]), counts[i]);
	for (unsigned i = 0; i < 4; i++) {
		char id[64];

		snprintf(id, sizeof(id), "[run-requestor|%s|]", people[i]);
		line = line_with(all, id, word, "", "");
		assert_int_equal((unsigned)number(line, "runs"), person[i]);
	}
	compare_steps(all, group, word);
}

/* The time of the first event; 0: there is none. */
static int64_t
first_of(int number)
{
	struct run run = know(number);

	return run.events > 0 ? run.event[0].time_ns : 0;
}

/* The newest run first, those without events last, each once. */
static void
compare_newest(void)
{
	uint64_t records, wanted = 0;
	char *got = rig_read(
	    &rig, RIG_NEWEST, rig_query(1u << RECORD_RUN, 300), &records);
	int64_t last_ns = INT64_MAX;
	bool seen[RUNS] = { false };

	for (const char *at = got; (at = strstr(at, "[m|run")) != NULL; at++) {
		int number = atoi(at + strlen("[m|run"));
		int64_t first_ns = first_of(number);

		assert_false(seen[number]);
		seen[number] = true;
		assert_true(
		    first_ns < last_ns || (first_ns == 0 && last_ns == 0));
		last_ns = first_ns;
	}
	for (int number = 0; number < RUNS; number++) {
		struct run run = know(number);

		assert_int_equal(seen[number], run.known || run.events > 0);
		wanted += seen[number];
	}
	assert_int_equal(records, wanted);
	free(got);
}

static void
compare_all(void)
{
	char *all = answer();

	for (unsigned i = 0; i < 3; i++)
		compare_group(all, groups[i]);
	compare_group(all, "?");
	free(all);
	compare_newest();
}

/* ---- the tests ---- */

static void
groups_equal_a_slow_pass_in_any_order(void **state)
{
	uint64_t random = check_seed();

	make_runs(&random);
	shuffle(&random);
	take_in(&random);
	compare_all();
}

static void
a_rebuild_and_a_repetition_change_nothing(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };
	char *before, *after;

	make_runs(&random);
	shuffle(&random);
	take_in(&random);
	before = answer();
	rig_good(writer_rebuild(rig.writer, &err), &err);
	rig_verify(&rig);
	assert_int_equal(rows_of(TABLES_RUN_BLOCKS), 0);
	after = answer();
	assert_string_equal(before, after);
	free(before);
	free(after);
	compare_all();
}

static void
an_event_extends_its_run_and_a_run_changes_its_group(void **state)
{
	uint64_t random = check_seed();

	make_runs(&random);
	take_in(&random);
	/* The new writer has to find the numbers of ids. */
	writer_close(&rig.writer);
	rig_open_indexer(&rig);
	for (int run = 0; run < RUNS; run += 2) {
		int64_t now = RIG_T0 + INT64_C(1000000000000) * (run + 1000);

		reports = reports < EVENTS_MAX - 2 ? reports : EVENTS_MAX - 2;
		send_report((struct reported){ .run = run,
		    .name = "ecd"[run % 3],
		    .time_ns = now,
		    .receive_ns = now + 5,
		    .group = groups[(run / 2) % 3],
		    .who = run % 4 ? NULL : "dee",
		    .no_error = run % 8 == 0 });
		send_one(&reported[reports - 1]);
		if (run % 6 == 0) {
			rig_send(&rig, 1);
			rig_indexer(&rig);
		}
		if (run % 12 == 0)
			pack();
	}
	rig_send(&rig, 2);
	rig_indexer(&rig);
	rig_verify(&rig);
	compare_all();
}

/* Remove the events before the cut, and entities of runs without any other. */
static void
forget_before(int64_t cut_ns)
{
	bool old[RUNS];
	unsigned kept = 0;

	for (int r = 0; r < RUNS; r++) {
		struct run run = know(r);

		old[r] = run.events > 0 &&
			 run.event[run.events - 1].time_ns < cut_ns;
	}
	for (unsigned i = 0; i < reports; i++)
		if (!old[reported[i].run] &&
		    (reported[i].name == 0 || reported[i].time_ns >= cut_ns))
			reported[kept++] = reported[i];
	assert_true(kept < reports);
	reports = kept;
}

static void
old_runs_are_deleted_with_their_statistics(void **state)
{
	uint64_t random = check_seed();
	int64_t cut_ns = (clock_wall_ns() / KEY_HOUR_NS - 10) * KEY_HOUR_NS;
	struct err err = { 0 };
	unsigned middle = 100;
	int64_t shift_ns;

	make_runs(&random);
	while (reported[middle].name == 0)
		middle++;
	shift_ns = cut_ns - reported[middle].time_ns;
	for (unsigned i = 0; i < reports; i++) {
		reported[i].time_ns += shift_ns;
		reported[i].receive_ns += shift_ns;
	}
	shuffle(&random);
	take_in(&random);
	writer_close(&rig.writer);
	rig.options.retain_ns = clock_wall_ns() - cut_ns;
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	rig_verify(&rig);
	forget_before(cut_ns);
	compare_all();
	/* What was deleted does not return. */
	rig_good(writer_rebuild(rig.writer, &err), &err);
	rig_verify(&rig);
	compare_all();
}

/* The expected lines of the phases that steps make, sorted. */
static char *
expected_phases(unsigned open[STEPS][2])
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	for (int r = 0; r < RUNS; r++) {
		struct run run = know(r);

		for (unsigned step = 0; step < STEPS; step++) {
			for (unsigned i = 0; i < run.events; i++) {
				const struct reported *begin, *end;

				begin = end = &run.event[i];
				if (end->name == step_of[step][1])
					begin = begin_of(&run, step, i);
				else if (begin->name == step_of[step][0] &&
					 !has_end(&run, step, i))
					end = NULL;
				else
					continue; /* comes with its end */
				open[step][0] += end == NULL;
				open[step][1] += begin == NULL;
				fprintf(out, "phase n");
				/* A lone end has its time in its id. */
				if (begin != NULL)
					fprintf(out, " %lld",
					    (long long)begin->time_ns);
				if (begin != NULL && end != NULL)
					fprintf(out, "..%lld",
					    (long long)end->time_ns);
				fprintf(out, " [m|%s|] 0 run='run%d'\n",
				    steps[step] + 2, r);
			}
		}
	}
	fclose(out);
	return sorted_lines(text);
}

static void
steps_are_phases_of_runs(void **state)
{
	unsigned open[STEPS][2] = { { 0 } };
	uint64_t random = check_seed(), records;
	char *got, *want, *stats, id[32];
	const char *line;

	make_runs(&random);
	shuffle(&random);
	take_in(&random);
	want = expected_phases(open);
	got = sorted_lines(without_ids(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_PHASE, 400), &records)));
	assert_string_equal(got, want);
	free(got);
	free(want);
	stats = rig_read(
	    &rig, RIG_STATS, rig_query(1u << RECORD_ENTITY, 0), &records);
	for (unsigned step = 0; step < STEPS; step++) {
		struct sum sum = { .count = 0 };

		for (int r = 0; r < RUNS; r++) {
			struct run run = know(r);

			add_run(&sum, &run, step, false, false);
		}
		snprintf(id, sizeof(id), "[phase|%s|]", steps[step]);
		line = line_with(stats, id, "", "", "");
		assert_int_equal((unsigned)number(line, "count"), sum.count);
		assert_true(fabs(number(line, "sum") - sum.sum) < 1e-6);
		assert_int_equal(
		    (unsigned)number(line, "open_starts"), open[step][0]);
		assert_int_equal(
		    (unsigned)number(line, "open_ends"), open[step][1]);
	}
	free(stats);
}

/* Change each row of the groups in turn: verification always reports it. */
static void
verification_reports_wrong_groups(void **state)
{
	struct db *db = writer_db(rig.writer);
	uint64_t random = check_seed();
	struct text key, value, all = { NULL, 0 };
	struct err err = { 0 };
	struct db_txn *txn;
	unsigned rows = 0;

	make_runs(&random);
	take_in(&random);
	for (bool more = true; more; rows++) {
		unsigned char bytes[RUN_SUM_KEY_BYTES], *old, other = 77;
		struct text at = { (const char *)bytes, sizeof(bytes) };
		unsigned wrong = 0;
		struct db_cursor *cursor;
		uint32_t old_bytes;

		rig_good(db_begin(db, true, &txn, &err), &err);
		cursor = db_cursor_open(txn, TABLES_GROUPS);
		more = db_seek(cursor, all, &key, &value);
		for (unsigned i = 0; more && i < rows; i++)
			more = db_next(cursor, &key, &value);
		db_cursor_close(&cursor);
		if (!more) {
			db_abort(&txn);
			break;
		}
		memcpy(bytes, key.at, sizeof(bytes));
		old_bytes = value.bytes;
		old = malloc(old_bytes);
		assert_non_null(old);
		memcpy(old, value.at, old_bytes);
		if (rows % 2 == 0 || bytes[12] == RUN_SUM_PART_LIST)
			db_del(txn, TABLES_GROUPS, at);
		else
			db_put(txn, TABLES_GROUPS, at,
			    (struct text){ (const char *)&other, 1 });
		assert_int_equal(db_commit(&txn, &err), DB_OK);
		assert_true(verify_tables(db, rig_count, &wrong, &err) > 0);
		assert_true(wrong > 0);
		rig_good(db_begin(db, true, &txn, &err), &err);
		db_put(txn, TABLES_GROUPS, at,
		    (struct text){ (const char *)old, old_bytes });
		assert_int_equal(db_commit(&txn, &err), DB_OK);
		free(old);
	}
	assert_true(rows > 20);
	rig_verify(&rig);
}

static uint64_t
newest_count(void)
{
	uint64_t records;

	free(rig_read(
	    &rig, RIG_NEWEST, rig_query(1u << RECORD_RUN, 0), &records));
	return records;
}

/* Remove each row of the index of times, and put each at a wrong time:
 * verification always reports it, and no run is listed at a wrong time. */
static void
verification_reports_wrong_times(void **state)
{
	struct packed *packed = packed_new();
	struct db *db = writer_db(rig.writer);
	unsigned char bytes[RUN_ROW_TIME_KEY_BYTES] = { 0 };
	struct text at = { (const char *)bytes, sizeof(bytes) };
	struct text key, value, empty = { "", 0 };
	uint64_t random = check_seed(), runs;
	struct err err = { 0 };
	struct db_txn *txn;
	unsigned rows = 0;

	make_runs(&random);
	take_in(&random);
	runs = newest_count();
	for (;; rows++) {
		unsigned wrong = 0;
		struct packed_cursor *cursor;
		bool more;

		rig_good(db_begin(db, true, &txn, &err), &err);
		cursor = packed_cursor_open(txn, tables_run_times);
		/* Of two passes: behind the last row, which is whole again. */
		more = packed_seek(cursor, at, &key, &value) &&
		       (rows % 2 == 1 || rows == 0 ||
			   packed_next(cursor, &key, &value));
		if (more)
			memcpy(bytes, key.at, sizeof(bytes));
		packed_cursor_close(&cursor);
		if (!more) {
			db_abort(&txn);
			break;
		}
		packed_del(packed, txn, tables_run_times, at);
		if (rows % 2 == 1) {
			bytes[15] ^= 1;
			packed_put(packed, txn, tables_run_times, at, empty);
		}
		assert_int_equal(db_commit(&txn, &err), DB_OK);
		assert_true(verify_tables(db, rig_count, &wrong, &err) > 0);
		assert_true(wrong > 0);
		assert_int_equal(newest_count(), runs - 1);
		rig_good(db_begin(db, true, &txn, &err), &err);
		if (rows % 2 == 1) {
			packed_del(packed, txn, tables_run_times, at);
			bytes[15] ^= 1;
		}
		packed_put(packed, txn, tables_run_times, at, empty);
		assert_int_equal(db_commit(&txn, &err), DB_OK);
	}
	assert_true(rows > 20);
	rig_verify(&rig);
	packed_free(&packed);
}

static void
put_event_at(int run, int64_t second)
{
	send_one(&(struct reported){ .run = run,
	    .name = 'a',
	    .time_ns = RIG_T0 + second * NS_PER_SECOND,
	    .receive_ns = RIG_T0 + 1000 * NS_PER_SECOND,
	    .group = run == 3 ? "alpha" : NULL });
}

/* The ids of the newest runs, without what they have in common. */
static char *
newest(struct wire_query query)
{
	uint64_t records;
	char *got = rig_read(&rig, RIG_NEWEST, query, &records);
	size_t used = 0;

	for (const char *at = got; (at = strstr(at, "[m|run")) != NULL;) {
		char *end;
		long number = strtol(at + strlen("[m|run"), &end, 10);

		at = end;
		/* Never longer than what was read. */
		used += (size_t)sprintf(got + used, "%ld ", number);
	}
	got[used] = '\0';
	return got;
}

/* Runs 0 to 4 begin at 30, 10, 50, 30 and 20 s; run 5 is described only.  Of
 * equal times the run that appeared later comes first. */
static void
the_newest_runs_come_first(void **state)
{
	static const int64_t begin[] = { 30, 10, 50, 30, 20 };
	struct wire_query query = rig_query(1u << RECORD_RUN, 0);

	for (int run = 0; run < 5; run++)
		put_event_at(run, begin[run]);
	send_one(&(struct reported){ .run = 5, .who = "ann" });
	rig_send(&rig, 0);
	rig_indexer(&rig);
	pack();
	assert_lines(newest(query), "2 3 0 4 1 5 ");
	for (rig.examined_max = 1; rig.examined_max < 7; rig.examined_max++)
		assert_lines(newest(query), "2 3 0 4 1 5 ");
	/* The window; what has no time is in none, and left to the reader. */
	query.from_ns = RIG_T0 + 20 * NS_PER_SECOND;
	query.to_ns = RIG_T0 + 50 * NS_PER_SECOND;
	assert_lines(newest(query), "3 0 4 5 ");
	query.name = text_of("m:run4");
	assert_lines(newest(query), "4 ");
	query = rig_query(1u << RECORD_RUN, 0);
	query.node = text_of("alpha");
	assert_lines(newest(query), "3 ");
	query.name = text_of("n:*");
	assert_lines(newest(query), "");
	/* A late event moves run 4 to 5 s, one at 60 s moves nothing; run 6
	 * comes between others. */
	put_event_at(4, 5);
	put_event_at(1, 60);
	put_event_at(6, 40);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	pack();
	rig_verify(&rig);
	query = rig_query(1u << RECORD_RUN, 0);
	for (rig.examined_max = 1; rig.examined_max < 8; rig.examined_max++)
		assert_lines(newest(query), "2 6 3 0 1 4 5 ");
}

static void
groups_beyond_the_limit_are_counted_together(void **state)
{
	char name[1200][16], *all;
	const char *line;
	unsigned found = 0;

	reports = 0;
	for (int i = 0; i < 1200; i++) {
		snprintf(name[i], sizeof(name[i]), "g%d", i);
		send_one(&(struct reported){ .run = i, .group = name[i] });
		if (i % 100 == 99) {
			rig_send(&rig, 0);
			rig_indexer(&rig);
		}
	}
	rig_verify(&rig);
	all = answer();
	for (const char *at = all; (at = strstr(at, "[run-group|")) != NULL;
	     at++)
		found++;
	assert_int_equal(found, 1025);
	line = line_with(all, "[run-group|", "group='_other'", "", "");
	assert_int_equal((unsigned)number(line, "runs"), 1200 - 1024);
	free(all);
}

static void
a_run_is_read_back_with_its_events(void **state)
{
	struct wire_query query = rig_query(1u << RECORD_RUN, 0);
	uint64_t records;
	char *lines;

	reports = 0;
	for (int i = 0; i < 3; i++)
		send_report((struct reported){ .run = i,
		    .name = 'a',
		    .time_ns = RIG_T0 + i,
		    .receive_ns = RIG_T0 + 7,
		    .group = i == 1 ? "alpha" : NULL });
	for (unsigned i = 0; i < reports; i++)
		send_one(&reported[i]);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	lines = rig_read(&rig, RIG_SELECT, query, &records);
	assert_int_equal(records, 3);
	free(lines);
	query.name = text_of("m:run1");
	lines = rig_read(&rig, RIG_SELECT, query, &records);
	assert_int_equal(records, 1);
	assert_non_null(strstr(lines, "[m|run1|alpha] 1\n"));
	free(lines);
	query.name = text_of("m:run*");
	query.node = text_of("al*");
	lines = rig_read(&rig, RIG_SELECT, query, &records);
	assert_int_equal(records, 1);
	free(lines);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down),              \
	    { #name " (packing)", name, set_up_packing, tear_down, NULL }
		TEST(groups_equal_a_slow_pass_in_any_order),
		TEST(a_rebuild_and_a_repetition_change_nothing),
		TEST(an_event_extends_its_run_and_a_run_changes_its_group),
		TEST(old_runs_are_deleted_with_their_statistics),
		TEST(steps_are_phases_of_runs),
		TEST(verification_reports_wrong_groups),
		TEST(verification_reports_wrong_times),
		TEST(the_newest_runs_come_first),
		TEST(groups_beyond_the_limit_are_counted_together),
		TEST(a_run_is_read_back_with_its_events),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
