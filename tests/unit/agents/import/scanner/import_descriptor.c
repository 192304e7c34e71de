/*
 * import_descriptor - the few fields that are wanted, whatever else is there.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/descriptor.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/check.h"

static struct import_file file;
static struct import_descriptor descriptor;
static struct err err;

static void
open_bytes(const char *bytes, size_t count)
{
	char path[64];
	int fd = memfd_create("descriptor", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), (ssize_t)count);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(import_file_open(&file, path, &err), 0);
	close(fd);
	err.text[0] = '\0';
}
#define OPEN(bytes) open_bytes(bytes, sizeof(bytes) - 1)

static int
close_bytes(void **state)
{
	import_file_close(&file);
	return 0;
}

static void
id_name_and_nodes_are_read(void **state)
{
	OPEN("\x08\x03\x12\x03job\x18\xfa\x01\x20\x32\x28\x02");
	assert_int_equal(import_descriptor_read(&descriptor, &file, &err), 0);
	assert_int_equal(descriptor.id, 3);
	assert_int_equal(descriptor.nodes, 2);
	assert_true(
	    text_equal(import_name_text(&descriptor.name), text_of("job")));
}

static void
fields_of_zero_are_not_there(void **state)
{
	OPEN("");
	assert_int_equal(import_descriptor_read(&descriptor, &file, &err), 0);
	assert_int_equal(descriptor.id, 0);
	assert_int_equal(descriptor.nodes, 0);
	assert_int_equal(descriptor.name.bytes, 0);
}

static void
fields_of_every_type_are_passed_over(void **state)
{
	OPEN("\x49"
	     "12345678"
	     "\x55"
	     "1234"
	     "\x5b\x08\x09\x5c"
	     "\x32\x05jobs\x28"
	     "\x08\x07\x28\x01");
	assert_int_equal(import_descriptor_read(&descriptor, &file, &err), 0);
	assert_int_equal(descriptor.id, 7);
	assert_int_equal(descriptor.nodes, 1);
}

static void
a_field_may_be_larger_than_any_buffer(void **state)
{
	static char large[3000000];
	size_t at = 0;

	memcpy(large, "\x32\xa0\xdc\xb4\x01", 5); /* 2,960,928 bytes */
	at = 5 + 2960928;
	memcpy(large + at, "\x28\x09", 2);
	open_bytes(large, at + 2);
	assert_int_equal(import_descriptor_read(&descriptor, &file, &err), 0);
	assert_int_equal(descriptor.nodes, 9);
}

static void
damage_is_reported_with_its_offset(void **state)
{
	static const struct {
		const char *bytes, *why;
	} cases[] = {
		{ "\x28\x02\x12\x7fjob",
		    "offset 4: it ends in the middle of a name" },
		{ "\x28\x02\x28",
		    "offset 3: it ends in the middle of a number" },
		{ "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
		    "offset 1: a number is longer than 64 bits" },
		{ "\x28\x02\x2f",
		    "offset 3: the field key before it is invalid" },
		{ "\x28\x02\x32\x09x",
		    "offset 4: it ends in the middle of a field" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		open_bytes(cases[i].bytes, strlen(cases[i].bytes));
		assert_int_equal(
		    import_descriptor_read(&descriptor, &file, &err), -1);
		assert_string_equal(err.text, cases[i].why);
		assert_int_equal(descriptor.nodes, i == 2 ? 0 : 2);
		import_file_close(&file);
	}
	OPEN("");
}

#define JOBS                                                                   \
	"\x08\x09\x10\x04\x1a\x08\x08\x03\x12\x04"                             \
	"demo"                                                                 \
	"\x22\x07\x08\x01\x12\x03tab\x1a\x09\x12\x05"                          \
	"first\x18\x01\x1a\x08\x12\x04"                                        \
	"demo\x08\x07"

static void
a_job_is_found_by_its_name(void **state)
{
	int32_t id = -1;

	OPEN(JOBS);
	assert_int_equal(
	    import_descriptor_find(&file, text_of("first"), &id, &err), 1);
	assert_int_equal(id, 0);
	import_file_rewind(&file);
	/* Of two jobs of one name the later one. */
	assert_int_equal(
	    import_descriptor_find(&file, text_of("demo"), &id, &err), 1);
	assert_int_equal(id, 7);
	import_file_rewind(&file);
	/* A table is not a job. */
	assert_int_equal(
	    import_descriptor_find(&file, text_of("tab"), &id, &err), 0);
}

static void
a_damaged_list_of_jobs_is_reported(void **state)
{
	int32_t id;

	OPEN("\x1a\x03\x12\x09x");
	assert_int_equal(
	    import_descriptor_find(&file, text_of("x"), &id, &err), -1);
	assert_string_equal(err.text,
	    "offset 2: in the list of jobs: it ends in the middle of a name");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define READS(test) cmocka_unit_test_teardown(test, close_bytes)
		READS(id_name_and_nodes_are_read),
		READS(fields_of_zero_are_not_there),
		READS(fields_of_every_type_are_passed_over),
		READS(a_field_may_be_larger_than_any_buffer),
		READS(damage_is_reported_with_its_offset),
		READS(a_job_is_found_by_its_name),
		READS(a_damaged_list_of_jobs_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
