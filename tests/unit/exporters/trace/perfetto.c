/*
 * perfetto - what was put in, judged by a reader of its own in Python.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/perfetto.h"

#include <inttypes.h>
#include <unistd.h>

#include "exporters/trace/tracks.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

enum { SLICES = 60000, LANES = 32 };
#define BASE INT64_C(1791000000123456789)

static char path[] = "/tmp/poolscope.XXXXXX", wanted_path[64];
static FILE *file, *wanted;
static struct byte_stream byte_stream;
static struct perfetto *proto;

static void
begin(void)
{
	struct err err = { 0 };
	struct wire_writer w;
	char pairs[64];

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("base"), text_of("then"));
	file = fopen(path, "w");
	wanted = fopen(wanted_path, "w");
	assert_true(file != NULL && wanted != NULL);
	assert_int_equal(byte_stream_begin(&byte_stream, file,
			     BYTE_STREAM_PLAIN, text_of(""), &err),
	    0);
	proto = perfetto_begin(
	    &byte_stream, BASE, (struct text){ pairs, (uint32_t)w.bytes });
	fprintf(
	    wanted, "about base then\nclock 1 %" PRId64 "\nclock 6 0\n", BASE);
}

static void
assert_judged(void)
{
	struct err err = { 0 };
	char command[1024];

	perfetto_end(&proto);
	assert_int_equal(byte_stream_end(&byte_stream, &err), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(fclose(wanted), 0);
	snprintf(command, sizeof(command),
	    "export LC_ALL=C; sort %s >%s.s && /usr/bin/python3 "
	    "tests/unit/exporters/trace/perfetto_judge.py %s | sort >%s "
	    "&& "
	    "diff %s.s %s | head; cmp -s %s.s %s",
	    wanted_path, wanted_path, path, wanted_path, wanted_path,
	    wanted_path, wanted_path, wanted_path);
	assert_int_equal(system(command), 0);
}

static void
names_clocks_and_numbers_arrive(void **state)
{
	struct trace_slice slice = { .name = text_of("pull\xC3\xA4"),
		.category = text_of("cascade"),
		.begin_ns = 5,
		.duration_ns = 7,
		.pid = 1,
		.tid = 2 };

	begin();
	perfetto_complete(proto, &slice);
	perfetto_instant(proto, &slice);
	slice.category = text_of("");
	perfetto_instant(proto, &slice);
	perfetto_counter(proto, 1, text_of("cpu"), text_of("s/s"), 9, 0.1);
	perfetto_counter(proto, 1, text_of("cpu"), text_of("s/s"), 10, -2);
	perfetto_counter(proto, 3, text_of("cpu"), text_of(""), 0, 1e300);
	perfetto_counter(proto, 3, text_of("cpu"), text_of(""), 0, 0. / 0.);
	perfetto_thread(proto, 1, 2, text_of("pulls"), 1);
	perfetto_process(proto, 1, text_of("node"), 300);
	fputs("slice 2 5 7 cascade pull\xC3\xA4\n"
	      "instant 2 5 cascade pull\xC3\xA4\ninstant 2 5  pull\xC3\xA4\n"
	      "counter 1 cpu s/s 9 0.1\ncounter 1 cpu s/s 10 -2.0\n"
	      "counter 3 cpu  0 1e+300\n"
	      "thread 1 2 1 pulls\nprocess 1 300 node\n",
	    wanted);
	assert_judged();
}

static void
attributes_keep_their_types(void **state)
{
	static char text[RECORD_TEXT_BYTES_MAX + 1];
	static char pairs[2 * RECORD_TEXT_BYTES_MAX];
	struct value values[] = { { .type = VALUE_NIL },
		{ .type = VALUE_BOOL, .is.boolean = true },
		{ .type = VALUE_INT, .is.i = INT64_MIN },
		{ .type = VALUE_UINT, .is.u = UINT64_MAX },
		{ .type = VALUE_FLOAT, .is.f = 0.1 },
		{ .type = VALUE_TEXT,
		    .is.text = { text, RECORD_TEXT_BYTES_MAX } } };
	struct trace_slice slice = {
		.name = text_of("n"), .category = text_of("c"), .tid = 2
	};
	struct wire_writer w;
	char key[2] = "a";

	memset(text, 'x', RECORD_TEXT_BYTES_MAX);
	wire_writer_init(&w, pairs, sizeof(pairs));
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		wire_put_attribute(&w, text_of(key), &values[i]);
		key[0]++;
	}
	slice.pairs = (struct text){ pairs, (uint32_t)w.bytes };
	begin();
	perfetto_complete(proto, &slice);
	fprintf(wanted,
	    "slice 2 0 0 c n a=text:null b=bool:1 c=int:%" PRId64
	    " d=uint:%" PRIu64 " e=double:0.1 f=text:%s\n",
	    INT64_MIN, UINT64_MAX, text);
	assert_judged();
}

/* As a timeline does it: by begin, the longest first, spread over lanes;
 * times so few that many are equal, and more names than are remembered. */
static void
random_slices_are_paired_again(void **state)
{
	uint64_t seed = check_seed();
	struct lanes lanes = { .at = NULL };
	int64_t now = 0;
	uint32_t lane;

	begin();
	for (int i = 0; i < SLICES;) {
		int64_t long_ns = (int64_t)(check_random(&seed) % 40);

		now += (int64_t)(check_random(&seed) % 10);
		for (; long_ns >= 0 && i < SLICES;
		     long_ns -= 1 + (int64_t)(check_random(&seed) % 20), i++) {
			char name[32];
			struct trace_slice slice = { .begin_ns = now,
				.duration_ns = long_ns };

			snprintf(name, sizeof(name), "n%" PRIu64,
			    check_random(&seed) %
				(i < SLICES / 2 ? 10 : 50000));
			slice.name = text_of(name);
			slice.category = text_of("c");
			assert_true(
			    lanes_place(&lanes, now, now + long_ns, &lane));
			slice.tid = 10 + lane;
			perfetto_complete(proto, &slice);
			fprintf(wanted,
			    "slice %" PRId64 " %" PRId64 " %" PRId64 " c %s\n",
			    slice.tid, now, long_ns, name);
		}
		now++;
	}
	assert_true(lanes.count > 1);
	lanes_clear(&lanes);
	assert_judged();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_clocks_and_numbers_arrive),
		cmocka_unit_test(attributes_keep_their_types),
		cmocka_unit_test(random_slices_are_paired_again),
	};
	char command[256];
	int fd = mkstemp(path), rc;

	if (fd < 0)
		return 1;
	close(fd);
	snprintf(wanted_path, sizeof(wanted_path), "%s.wanted", path);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -f %s %s.*", path, path);
	return system(command) != 0 ? 1 : rc;
}
