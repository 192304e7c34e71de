/*
 * entities - tests of aggregator/query/records/entities.c: entities selected
 * by the beginning of their names.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/pool.h"

/* Names with common beginnings, also across the ':' between kind and id; one
 * of maximum length, and beginnings longer than a cursor can hold. */
static const char *const kinds[] = { "a", "a:b", "ab", "result", "result.entry",
	"set", "z" };
static const char *const fronts[] = { "", "b:", "b", "abc", "abd/1", "\xC3\xA9",
	"4be1c2d30f0e1a2b3c4d5e6f/0123456789abcdef/0011223344556677/",
	"4be1c2d30f0e1a2b3c4d5e6f/0123456789abcdef/0011223344556678/" };

static const char *
pick(uint64_t *random, const char *const *from, unsigned of)
{
	return from[check_random(random) % of];
}

#define PICK(random, from) pick(random, from, sizeof(from) / sizeof((from)[0]))

static void
put(const char *kind, const char *id)
{
	const struct record record = { .kind = RECORD_ENTITY,
		.source = text_of(kind),
		.name = text_of(id) };

	rig_record(&rig, "n", &record);
}

static void
put_many(uint64_t *random, unsigned many)
{
	char id[NAME_BYTES_MAX + 1];
	unsigned i;

	for (i = 0; i < many; i++) {
		snprintf(id, sizeof(id), "%s%u", PICK(random, fronts),
		    (unsigned)(check_random(random) % many));
		put(PICK(random, kinds), id);
		if (i % 50 == 49)
			rig_send(&rig, 0);
	}
	memset(id, 'b', NAME_BYTES_MAX);
	id[NAME_BYTES_MAX] = '\0';
	put("a", id);
	rig_send(&rig, 0);
	rig_indexer(&rig);
}

/* Select the lines that match a pattern; returns their number. */
static char *
wanted(const char *all, const char *pattern, uint64_t *records)
{
	char *text = NULL, name[2 * NAME_BYTES_MAX + 2];
	const char *line, *end, *kind, *id;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	*records = 0;
	for (line = all; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		kind = strchr(line, '[') + 1;
		id = strchr(kind, '|') + 1;
		snprintf(name, sizeof(name), "%.*s:%.*s", (int)(id - 1 - kind),
		    kind, (int)(strchr(id, '|') - id), id);
		if (!text_match(text_of(pattern), text_of(name)))
			continue;
		fprintf(out, "%.*s", (int)(end + 1 - line), line);
		++*records;
	}
	fclose(out);
	return text;
}

static void
make_pattern(uint64_t *random, char *to, size_t room)
{
	static const char *const ends[] = { "*", "?", "", "*3", "??", "1*",
		"a:", ":*", ":" };
	static const char *const middles[] = { ":", ":", ":", "?", "*", "" };
	char name[512];
	int keep;

	snprintf(name, sizeof(name), "%s%s%s%u", PICK(random, kinds),
	    PICK(random, middles), PICK(random, fronts),
	    (unsigned)(check_random(random) % 100));
	keep = (int)(check_random(random) % (strlen(name) + 1));
	if (check_random(random) % 3 == 0)
		keep = (int)strlen(name);
	while (keep > 0 && (name[keep] & 0xC0) == 0x80)
		keep--;
	snprintf(to, room, "%.*s%s", keep, name, PICK(random, ends));
}

static void
a_pattern_selects_the_entities_that_match(void **state)
{
	uint64_t random = check_seed(), records, found, some = 0;
	unsigned i, rounds = check_share(600, 60);
	char pattern[600], *all;

	put_many(&random, 700);
	all = rig_all(&rig, RECORD_ENTITY);
	for (i = 0; i < rounds; i++) {
		struct wire_query query = rig_query(1u << RECORD_ENTITY,
		    (uint32_t)(check_random(&random) % 3000));
		char *want;

		make_pattern(&random, pattern, sizeof(pattern));
		if (pattern[0] == '\0')
			continue; /* no pattern */
		query.name = text_of(pattern);
		rig.examined_max = 1 + (uint32_t)(check_random(&random) % 40);
		want = wanted(all, pattern, &records);
		assert_same(want, rig_read(&rig, RIG_SELECT, query, &found));
		assert_int_equal(records, found);
		some += records > 0;
	}
	assert_true(some > rounds / 20);
	free(all);
}

static void
an_entity_with_the_longest_name_is_found(void **state)
{
	char pattern[600];
	struct wire_query query = rig_query(1u << RECORD_ENTITY, 0);
	uint64_t random = check_seed(), found;

	put_many(&random, 10);
	memset(pattern, 'b', sizeof(pattern));
	memcpy(pattern, "a:", 2);
	query.name = (struct text){ pattern, 2 + NAME_BYTES_MAX };
	free(rig_read(&rig, RIG_SELECT, query, &found));
	assert_int_equal(found, 1);
	pattern[2 + NAME_BYTES_MAX] = '*';
	query.name.bytes++;
	free(rig_read(&rig, RIG_SELECT, query, &found));
	assert_int_equal(found, 1);
	pattern[2 + NAME_BYTES_MAX] = 'b';
	free(rig_read(&rig, RIG_SELECT, query, &found));
	assert_int_equal(found, 0);
	query.name.bytes = 2 * NAME_BYTES_MAX + 1;
	free(rig_read(&rig, RIG_SELECT, query, &found));
	assert_int_equal(found, 0);
}

/* The number of records in the only page of a reader that may examine this
 * many. */
static uint32_t
look(const char *pattern, uint32_t examined_max, bool *last)
{
	static unsigned char bytes[1 << 20];
	struct wire_query query = rig_query(1u << RECORD_ENTITY, 0);
	struct wire_writer w;
	struct reader *reader;
	struct err err = { 0 };

	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	reader->examined_max = examined_max;
	query.name = text_of(pattern);
	wire_writer_init(&w, bytes, sizeof(bytes));
	*last = rig_page(reader, RIG_SELECT, &query, &w);
	reader_close(&reader);
	return w.records;
}

static void
entities_that_cannot_match_are_not_examined(void **state)
{
	enum { MANY = 5000 };
	char id[64];
	unsigned i;
	bool last;

	for (i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "front/%05u", i);
		put(kinds[i % 4 + 3], id);
		if (i % 50 == 49)
			rig_send(&rig, 0);
	}
	rig_indexer(&rig);
	/* One for each kind, and one for each entity found. */
	assert_int_equal(look("result.entry:front/02501", 6, &last), 1);
	assert_true(last);
	assert_int_equal(look("result.entry:front/0250*", 9, &last), 3);
	assert_true(last);
	assert_int_equal(look("result.entry:front/0250?", 9, &last), 3);
	assert_true(last);
	assert_int_equal(look("result.entry:front/1*", 6, &last), 0);
	assert_true(last);
	assert_int_equal(look("none:*", 6, &last), 0);
	assert_true(last);
	/* A pattern without a kind examines all kinds. */
	assert_int_equal(look("*:front/02501", 1000, &last), 0);
	assert_false(last);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_pattern_selects_the_entities_that_match),
		CASE(an_entity_with_the_longest_name_is_found),
		CASE(entities_that_cannot_match_are_not_examined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
