/*
 * Bodies: records there and back, against python3-msgpack and against their
 * limits.
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

enum { JUDGED = 400, ROOM = 512 << 10 };

/* The interpreter that Debian's python3-msgpack belongs to, whatever else is
 * first on the path. */
#define JUDGE "${PYTHON:-/usr/bin/python3} tests/unit/proto/wire/wire_judge.py"

static unsigned char frame[ROOM];

/* ---- one line a record, as wire_judge.py writes it ---- */

static void
print_hex(FILE *to, struct text t)
{
	for (uint32_t i = 0; i < t.bytes; i++)
		fprintf(to, "%02x", (unsigned char)t.at[i]);
}

static void
print_value(FILE *to, const struct value *value)
{
	uint64_t bits;

	switch (value->type) {
	case VALUE_NIL: fputs("n", to); break;
	case VALUE_BOOL: fprintf(to, "b%d", value->is.boolean); break;
	case VALUE_INT: fprintf(to, "i%lld", (long long)value->is.i); break;
	case VALUE_UINT:
		fprintf(to, "i%llu", (unsigned long long)value->is.u);
		break;
	case VALUE_FLOAT:
		memcpy(&bits, &value->is.f, sizeof(bits));
		fprintf(to, "f%016llx", (unsigned long long)bits);
		break;
	case VALUE_TEXT:
		fputs("t", to);
		print_hex(to, value->is.text);
		break;
	}
}

static void
print_time(FILE *to, bool has, int64_t time_ns)
{
	if (has)
		fprintf(to, " %lld", (long long)time_ns);
	else
		fputs(" -", to);
}

static void
print_lists(FILE *to, const struct record *r)
{
	struct text rest = r->pairs;
	struct record_attribute attribute;
	struct value value;
	uint32_t n = 0;

	fputs(" {", to);
	for (; record_next_attribute(&rest, &attribute); n++) {
		fputs(n > 0 ? "," : "", to);
		print_hex(to, attribute.key);
		fputs("=", to);
		print_value(to, &attribute.value);
	}
	assert_int_equal(n, r->attributes);
	fputs("} [", to);
	rest = r->values > 0 ? r->value_bytes : (struct text){ 0 };
	for (n = 0; record_next_value(&rest, &value); n++) {
		fputs(n > 0 ? "," : "", to);
		print_value(to, &value);
	}
	assert_int_equal(n, r->values);
	fputs("] ", to);
	if (r->values == 0)
		print_hex(
		    to, r->kind == RECORD_PHASE ? r->run : r->value_bytes);
	print_time(to, r->has_duration, r->duration_ns);
	fputs("\n", to);
}

static void
print_record(FILE *to, const struct record *r)
{
	char session[33];

	fprintf(to, "%s ", record_kind_name(r->kind));
	print_hex(to, r->node);
	fprintf(to, "/%s/%llu/%u/%lld", session_text(session, &r->id.session),
	    (unsigned long long)r->id.seq, r->id.index,
	    (long long)r->receive_ns);
	print_time(to, r->has_time, r->time_ns);
	print_time(to, r->has_end, r->end_ns);
	fputs(" ", to);
	print_hex(to, r->source);
	fputs("/", to);
	print_hex(to, r->name);
	fputs("/", to);
	print_hex(to, r->key);
	fprintf(to, " %llu", (unsigned long long)r->count);
	print_lists(to, r);
}

/* ---- what python writes ---- */

/* A length and as many bytes in memory of exactly that size; NULL at the
 * end. */
static char *
read_part(FILE *from, uint32_t *bytes)
{
	char *part;

	if (fread(bytes, sizeof(*bytes), 1, from) != 1)
		return NULL;
	part = malloc(*bytes + 1u);
	assert_non_null(part);
	assert_int_equal(fread(part, 1, *bytes, from), *bytes);
	part = realloc(part, *bytes > 0 ? *bytes : 1);
	assert_non_null(part);
	return part;
}

static enum wire_fault
open_records(struct text whole, struct wire_header *header, struct text *plain)
{
	static struct wire_room room;
	struct text body, cursor;
	enum wire_fault fault = wire_open(whole, header, &body);

	if (fault != WIRE_OK)
		return fault;
	return header->type == WIRE_PAGE
		   ? wire_page_body(header, body, &room, &cursor, plain)
		   : wire_body(header, body, &room, plain);
}

/* Every record in a line, after record_check has passed it too. */
static char *
lines_of(struct text whole, size_t *bytes)
{
	struct wire_header header;
	struct wire_cursor cursor;
	struct record record;
	struct text plain;
	struct err err = { 0 };
	char *lines;
	FILE *to = open_memstream(&lines, bytes);

	assert_non_null(to);
	assert_string_equal(
	    wire_fault_name(open_records(whole, &header, &plain)), "ok");
	wire_cursor_init(&cursor, &header, plain);
	while (wire_next(&cursor, &record)) {
		if (record_check(&record, &err) != 0)
			fail_msg("record_check: %s", err.text);
		print_record(to, &record);
	}
	assert_int_equal(fclose(to), 0);
	return lines;
}

static void
frames_that_python_packs_are_read_as_it_means_them(void **state)
{
	uint64_t seed = check_seed();
	char command[256], *bytes;
	uint32_t length;
	FILE *judge;
	int frames = 0;

	snprintf(command, sizeof(command), JUDGE " write %llu %d",
	    (unsigned long long)seed, JUDGED);
	judge = popen(command, "r");
	assert_non_null(judge);
	for (; (bytes = read_part(judge, &length)) != NULL; frames++) {
		size_t got_bytes;
		char *got =
		    lines_of((struct text){ bytes, length }, &got_bytes);
		uint32_t want_bytes;
		char *want = read_part(judge, &want_bytes);

		assert_non_null(want);
		if (got_bytes != want_bytes ||
		    memcmp(got, want, got_bytes) != 0)
			fail_msg("frame %d is\n%.*sread as\n%.*s", frames,
			    (int)want_bytes, want, (int)got_bytes, got);
		free(bytes);
		free(got);
		free(want);
	}
	assert_int_equal(pclose(judge), 0);
	assert_int_equal(frames, JUDGED);
}

/* ---- what python reads ---- */

static struct text
pick_text(uint64_t *random, uint32_t bytes_max)
{
	static char pool[70000];

	if (pool[0] == '\0')
		memset(pool, 'p', sizeof(pool));
	return (struct text){ pool,
		(uint32_t)(check_random(random) % (bytes_max + 1)) };
}

static struct text
pick_name(uint64_t *random)
{
	static const char *const names[] = { "a", "cascade", "n\xc3\xa4he",
		"exactly-thirty-one-bytes-long-x",
		"exactly-thirty-two-bytes-long-xy" };
	uint64_t r = check_random(random);
	struct text name = pick_text(random, 254);

	if (r % 8 < 5)
		return text_of(names[r % 8]);
	name.bytes++;
	return name;
}

static struct value
pick_value(uint64_t *random)
{
	uint64_t r = check_random(random), bits = check_random(random);
	struct value value = { .type = (enum value_type)(r % 6) };

	bits >>= r >> 8 & 63;
	switch (value.type) {
	case VALUE_NIL: break;
	case VALUE_BOOL: value.is.boolean = bits & 1; break;
	case VALUE_INT: value.is.i = (int64_t)(r & 64 ? bits : ~bits); break;
	case VALUE_UINT: value.is.u = bits; break;
	case VALUE_FLOAT: value.is.f = (double)(int64_t)bits / 1024; break;
	case VALUE_TEXT:
		value.is.text = pick_text(random, r & 64 ? 40 : 400);
		break;
	}
	return value;
}

static int64_t
pick_time(uint64_t *random)
{
	int64_t t =
	    (int64_t)(check_random(random) >> (check_random(random) & 63));

	return t > TIME_MAX_NS || t < TIME_MIN_NS ? -t / 16 : t;
}

static void
pick_lists(uint64_t *random, struct record *r, struct wire_writer *lists)
{
	size_t from;

	wire_writer_init(lists, lists->at, lists->room);
	r->attributes = (uint32_t)(check_random(random) % 20);
	for (uint32_t i = 0; i < r->attributes; i++) {
		struct value value = pick_value(random);

		assert_true(
		    wire_put_attribute(lists, pick_name(random), &value));
	}
	r->pairs = (struct text){ (char *)lists->at, (uint32_t)lists->bytes };
	from = lists->bytes;
	r->values = (uint32_t)(check_random(random) % 40);
	for (uint32_t i = 0; i < r->values; i++) {
		struct value value = pick_value(random);

		if (value.type < VALUE_INT || value.type > VALUE_FLOAT)
			value = (struct value){ .type = VALUE_INT };
		assert_true(wire_put_value(lists, &value));
	}
	r->value_bytes = (struct text){ (char *)lists->at + from,
		(uint32_t)(lists->bytes - from) };
}

/* Everything is filled in: what a kind does not have must not be written. */
static struct record
pick_record(uint64_t *random, bool page, struct wire_writer *lists)
{
	uint64_t bits = check_random(random);
	struct record r = { .kind = (enum record_kind)(1 + bits % 5) };

	if (page && bits & 256)
		r.kind = bits & 512 ? RECORD_PHASE : RECORD_REJECTED;
	r.node = pick_name(random);
	session_random(&r.id.session);
	r.id.seq = check_random(random);
	r.id.index = (uint32_t)check_random(random);
	r.receive_ns = pick_time(random);
	r.time_ns = pick_time(random);
	r.end_ns = pick_time(random);
	r.has_time = r.kind != RECORD_PHASE || bits & 1024;
	r.has_end = r.kind != RECORD_PHASE || bits & 2048;
	r.duration_ns = (int64_t)check_random(random);
	r.has_duration = r.kind == RECORD_PHASE && bits & 32768;
	r.source = pick_name(random);
	r.name = pick_name(random);
	if (bits & 4096)
		r.key = r.kind == RECORD_EVENT ? text_of("0123456789abcdef")
					       : pick_name(random);
	if (bits & 16384)
		r.run = pick_name(random);
	r.count = check_random(random) >> (bits >> 20 & 63);
	pick_lists(random, &r, lists);
	if (r.kind == RECORD_SAMPLE && !page)
		r.count = 0; /* no columns where values must be */
	else if (r.kind == RECORD_SAMPLE && r.count > 0 && bits & 8192)
		r.values = 0;
	return r;
}

static size_t
make_frame(uint64_t *random)
{
	static unsigned char lists_at[64 << 10], body[200 << 10];
	struct wire_writer lists = { lists_at, 0, sizeof(lists_at), 0, false };
	bool page = check_random(random) & 1;
	struct wire_header header = { .type = page ? WIRE_PAGE : WIRE_BATCH,
		.partition = text_of("account$pool"),
		.node = text_of("node-1"),
		.seq = check_random(random),
		.sent_ns = -1 };
	struct wire_writer w;

	session_random(&header.session);
	wire_writer_init(&w, body, sizeof(body));
	if (page)
		assert_true(wire_put_page_cursor(
		    &w, pick_text(random, WIRE_CURSOR_BYTES_MAX)));
	for (uint64_t n = check_random(random) % 12; n > 0; n--) {
		struct record r = pick_record(random, page, &lists);

		if (page)
			assert_true(wire_put_context_full(&w, &r));
		else if (check_random(random) & 1)
			assert_true(wire_put_context(&w, r.node));
		assert_true(wire_put_record(&w, &r));
	}
	header.records = w.records;
	return wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (char *)body, (uint32_t)w.bytes });
}

static void
frames_that_we_write_are_read_by_python_as_we_mean_them(void **state)
{
	uint64_t random = check_seed();
	char path[] = "/tmp/wire.XXXXXX", command[256];
	FILE *to = fdopen(mkstemp(path), "wb");

	assert_non_null(to);
	for (int i = 0; i < JUDGED; i++) {
		uint32_t bytes = (uint32_t)make_frame(&random), line_bytes;
		size_t length;
		char *lines;

		assert_int_not_equal(bytes, 0);
		lines =
		    lines_of((struct text){ (char *)frame, bytes }, &length);
		line_bytes = (uint32_t)length;
		fwrite(&bytes, sizeof(bytes), 1, to);
		fwrite(frame, 1, bytes, to);
		fwrite(&line_bytes, sizeof(line_bytes), 1, to);
		fwrite(lines, 1, length, to);
		free(lines);
	}
	assert_int_equal(fclose(to), 0);
	snprintf(command, sizeof(command), JUDGE " read %s", path);
	assert_int_equal(system(command), 0);
	unlink(path);
}

/* ---- a buffer's hard end ---- */

static void
a_record_that_does_not_fit_is_taken_back_whole(void **state)
{
	uint64_t random = check_seed();
	static unsigned char lists_at[64 << 10], whole[64 << 10];
	struct wire_writer lists = { lists_at, 0, sizeof(lists_at), 0, false };

	for (int i = 0; i < 40; i++) {
		struct record r = pick_record(&random, true, &lists);
		struct wire_writer w;

		wire_writer_init(&w, whole, sizeof(whole));
		assert_true(wire_put_context_full(&w, &r));
		assert_true(wire_put_record(&w, &r));
		for (size_t room = 0; room <= w.bytes; room++) {
			unsigned char *tight = malloc(room + 1);
			struct wire_writer t;
			bool context, record;

			assert_non_null(tight);
			wire_writer_init(&t, tight + 1, room);
			context = wire_put_context_full(&t, &r);
			record = wire_put_record(&t, &r);
			assert_int_equal(record, room == w.bytes);
			assert_int_equal(t.full, !record);
			assert_int_equal(t.records, record);
			assert_true(context || t.bytes == 0);
			assert_memory_equal(tight + 1, whole, t.bytes);
			free(tight);
		}
	}
}

static void
a_full_writer_stays_full(void **state)
{
	unsigned char buffer[8];
	struct wire_writer w;
	struct value one = { .type = VALUE_INT, .is.i = 1 };

	wire_writer_init(&w, buffer, sizeof(buffer));
	assert_true(wire_put_attribute(&w, text_of("a"), &one));
	assert_false(
	    wire_put_text_attribute(&w, text_of("name"), text_of("value")));
	assert_true(w.full);
	assert_int_equal(w.bytes, 3);
	assert_false(wire_put_attribute(&w, text_of("a"), &one));
	assert_false(wire_put_value(&w, &one));
	assert_int_equal(w.bytes, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    frames_that_python_packs_are_read_as_it_means_them),
		cmocka_unit_test(
		    frames_that_we_write_are_read_by_python_as_we_mean_them),
		cmocka_unit_test(
		    a_record_that_does_not_fit_is_taken_back_whole),
		cmocka_unit_test(a_full_writer_stays_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
