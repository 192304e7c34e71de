/*
 * byte_stream - what arrives, judged by gzip, tar and Python.
 * SPDX-License-Identifier: MIT
 */
#include "proto/stream/byte_stream.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { ROOM = 1 << 20 };

static char dir[] = "/tmp/poolscope.XXXXXX", path[64], plain[64];
static unsigned char bytes[ROOM];

/* Some of it compresses well, some does not. */
static void
make_bytes(uint64_t *seed, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = i / 4096 % 2 ? (unsigned char)check_random(seed)
					: (unsigned char)(i % 61);
}

static void
write_all(enum byte_stream_kind kind, size_t count, uint64_t *seed)
{
	FILE *file = fopen(path, "w");
	struct err err = { 0 };
	struct byte_stream byte_stream;
	size_t done = 0;

	assert_non_null(file);
	assert_int_equal(byte_stream_begin(&byte_stream, file, kind,
			     text_of("t\xC3\xA4st.trace"), &err),
	    0);
	while (done < count) {
		size_t part = 1 + check_random(seed) % 9000;

		if (part > count - done)
			part = count - done;
		if (part <= BYTE_STREAM_ROOM_MAX) {
			unsigned char *to =
			    byte_stream_room(&byte_stream, part);

			memcpy(to, bytes + done, part);
			byte_stream_filled(&byte_stream, to + part);
		} else {
			byte_stream_put(&byte_stream, bytes + done, part);
		}
		done += part;
		assert_int_equal(byte_stream_bytes(&byte_stream), done);
	}
	assert_int_equal(byte_stream_end(&byte_stream, &err), 0);
	assert_int_equal(fclose(file), 0);
	file = fopen(plain, "w");
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

static int
run(const char *command)
{
	char whole[1024];

	snprintf(whole, sizeof(whole), "cd %s && %s", dir, command);
	return system(whole);
}

static const size_t sizes[] = { 0, 1, 511, 512, 513,
	BYTE_STREAM_BUFFER_BYTES - 1, BYTE_STREAM_BUFFER_BYTES,
	BYTE_STREAM_BUFFER_BYTES + 1, ROOM };
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static void
plain_bytes_arrive_as_they_are(void **state)
{
	uint64_t seed = check_seed();

	for (int i = 0; i < SIZES; i++) {
		make_bytes(&seed, sizes[i]);
		write_all(BYTE_STREAM_PLAIN, sizes[i], &seed);
		assert_int_equal(run("cmp -s out plain"), 0);
	}
}

static void
gzip_reads_what_was_zipped_as_one_member(void **state)
{
	uint64_t seed = check_seed();

	for (int i = 0; i < SIZES; i++) {
		make_bytes(&seed, sizes[i]);
		write_all(BYTE_STREAM_GZIP, sizes[i], &seed);
		assert_int_equal(run("gzip -dc <out | cmp -s - plain"), 0);
		assert_int_equal(
		    run("/usr/bin/python3 -c 'import zlib\n"
			"d = zlib.decompressobj(31)\n"
			"d.decompress(open(\"out\", \"rb\").read())\n"
			"assert d.eof and not d.unused_data'"),
		    0);
	}
}

static void
tar_reads_the_only_member(void **state)
{
	uint64_t seed = check_seed();

	for (int i = 0; i < SIZES; i++) {
		make_bytes(&seed, sizes[i]);
		write_all(BYTE_STREAM_TAR_GZIP, sizes[i], &seed);
		assert_int_equal(run("gzip -t <out && tar xzf out && "
				     "cmp -s t\xC3\xA4st.trace plain"),
		    0);
		assert_int_equal(
		    run("/usr/bin/python3 -c 'import tarfile, stat, time\n"
			"t = tarfile.open(\"out\", \"r:gz\")\n"
			"[m] = t.getmembers()\n"
			"assert m.name == \"t\\u00e4st.trace\", m.name\n"
			"assert m.isreg() and m.mode == 0o644\n"
			"assert abs(m.mtime - time.time()) < 3600\n"
			"assert t.extractfile(m).read() == "
			"open(\"plain\", \"rb\").read()'"),
		    0);
	}
}

static void
a_tar_into_a_pipe_is_refused(void **state)
{
	FILE *file = popen("cat >/dev/null", "w");
	struct err err = { 0 };
	struct byte_stream byte_stream;

	assert_int_equal(byte_stream_begin(&byte_stream, file,
			     BYTE_STREAM_TAR_GZIP, text_of("a.trace"), &err),
	    -1);
	assert_string_equal(
	    err.text, "the output must be a regular file for tar");
	pclose(file);
}

static void
a_full_disk_is_reported_once_at_the_end(void **state)
{
	static const enum byte_stream_kind kinds[] = { BYTE_STREAM_PLAIN,
		BYTE_STREAM_GZIP };
	uint64_t seed = check_seed();

	make_bytes(&seed, ROOM);
	for (int i = 0; i < 2; i++) {
		FILE *file = fopen("/dev/full", "w");
		struct err err = { 0 };
		struct byte_stream byte_stream;

		assert_int_equal(byte_stream_begin(&byte_stream, file, kinds[i],
				     text_of(""), &err),
		    0);
		for (int k = 0; k < 8; k++)
			byte_stream_put(&byte_stream, bytes, ROOM);
		assert_int_equal(byte_stream_end(&byte_stream, &err), -1);
		assert_string_equal(err.text, "No space left on device");
		fclose(file);
	}
}

static void
without_a_file_bytes_are_counted(void **state)
{
	struct err err = { 0 };
	struct byte_stream byte_stream;

	assert_int_equal(byte_stream_begin(&byte_stream, NULL,
			     BYTE_STREAM_PLAIN, text_of(""), &err),
	    0);
	for (int k = 0; k < 3; k++)
		byte_stream_put(&byte_stream, bytes, ROOM);
	assert_int_equal(byte_stream_bytes(&byte_stream), 3 * ROOM);
	assert_int_equal(byte_stream_end(&byte_stream, &err), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_bytes_arrive_as_they_are),
		cmocka_unit_test(gzip_reads_what_was_zipped_as_one_member),
		cmocka_unit_test(tar_reads_the_only_member),
		cmocka_unit_test(a_tar_into_a_pipe_is_refused),
		cmocka_unit_test(a_full_disk_is_reported_once_at_the_end),
		cmocka_unit_test(without_a_file_bytes_are_counted),
	};
	int rc;

	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/out", dir);
	snprintf(plain, sizeof(plain), "%s/plain", dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	run("rm -rf \"$PWD\"");
	return rc;
}
