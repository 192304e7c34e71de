/*
 * keyfile - files with keys, the good and the hostile ones.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "proto/keys/keyfile.h"
#include "tests/unit/scratch.h"

#define HEAD "poolscope-key: 1\n"
#define NAME "name: n1\n"
#define ROLE "role: agent\n"
/* The client's and the server's pair of zmq_curve(7). */
#define PUBLIC "public: Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\n"
#define SECRET "secret: D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs\n"
#define SERVER "server: rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\n"

static char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 16];
static struct err err;

static void
write_file(const char *text)
{
	FILE *file;

	unlink(path);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	chmod(path, 0600);
}

/* Refused with these words, in one line that names the file, and nothing is
 * left of the key. */
static void
check_refused(const char *words)
{
	struct keyfile key;

	if (keyfile_read(&key, path, &err) != -1 ||
	    strstr(err.text, words) == NULL || strstr(err.text, path) == NULL ||
	    strchr(err.text, '\n') != NULL)
		fail_msg("not '%s': %s", words, err.text);
	assert_null(key.secret);
	assert_int_equal(key.servers, 0);
}

static void
check_text_refused(const char *text, const char *words)
{
	write_file(text);
	check_refused(words);
	assert_null(strstr(err.text, "D:)Q[IlAW!"));
}

static void
test_a_file_with_all_its_lines_is_a_key(void **state)
{
	struct keyfile key;
	char text[Z85_CHARACTERS];

	write_file(
	    HEAD "# of a pool\n\n" ROLE NAME SERVER SECRET PUBLIC SERVER);
	if (keyfile_read(&key, path, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(key.name, "n1");
	assert_int_equal(key.role, KEY_AGENT);
	assert_int_equal(key.servers, 2);
	z85_encode(text, key.secret);
	assert_memory_equal(text, SECRET + 8, sizeof(text));
	z85_encode(text, key.server[1]);
	assert_memory_equal(text, SERVER + 8, sizeof(text));
	keyfile_clear(&key);
	assert_null(key.secret);
	keyfile_clear(&key);
}

static void
test_what_was_written_is_read(void **state)
{
	static const enum key_role all[] = { KEY_AGENT, KEY_BROKER, KEY_READER,
		KEY_SERVER };
	struct keyfile key, again;
	struct stat st;

	for (uint32_t i = 0; i < 4; i++) {
		keyfile_make(&key, "some-key.1", all[i]);
		key.servers = all[i] == KEY_SERVER ? 0 : i + 1;
		for (uint32_t s = 0; s < key.servers; s++)
			memset(key.server[s], (int)(s + 1), Z85_KEY_BYTES);
		unlink(path);
		assert_int_equal(keyfile_write(&key, path, false, &err), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		if (keyfile_read(&again, path, &err) != 0)
			fail_msg("%s", err.text);
		assert_string_equal(again.name, key.name);
		assert_int_equal(again.role, key.role);
		assert_memory_equal(again.public, key.public, Z85_KEY_BYTES);
		assert_memory_equal(again.secret, key.secret, Z85_KEY_BYTES);
		assert_int_equal(again.servers, key.servers);
		assert_memory_equal(
		    again.server, key.server, sizeof(key.server));
		keyfile_clear(&again);
		keyfile_clear(&key);
	}
}

static void
test_a_key_is_never_written_over_another_by_mistake(void **state)
{
	struct keyfile key;

	write_file("mine");
	keyfile_make(&key, "n1", KEY_SERVER);
	assert_int_equal(keyfile_write(&key, path, false, &err), -1);
	assert_non_null(strstr(err.text, strerror(EEXIST)));
	check_refused("not a key file");
	assert_int_equal(keyfile_write(&key, path, true, &err), 0);
	keyfile_clear(&key);
	assert_int_equal(keyfile_read(&key, path, &err), 0);
	keyfile_clear(&key);
	/* No temporary file stays behind. */
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
}

static void
test_new_keys_differ_and_begin_with_a_letter_or_digit(void **state)
{
	struct keyfile a, b;
	char text[Z85_CHARACTERS];

	keyfile_make(&a, "a", KEY_AGENT);
	for (int i = 0; i < 50; i++) {
		keyfile_make(&b, "b", KEY_AGENT);
		assert_memory_not_equal(a.secret, b.secret, Z85_KEY_BYTES);
		z85_encode(text, b.public);
		assert_null(strchr("-#.:+=^!/*?&<>()[]{}@%$", text[0]));
		keyfile_clear(&b);
	}
	keyfile_clear(&a);
}

static void
test_what_is_cut_or_wrong_is_refused_and_never_shown(void **state)
{
	check_text_refused("", "is empty");
	check_text_refused("\n", "is empty");
	check_text_refused(NAME, "not a key file");
	check_text_refused("poolscope-key: 2\n" NAME, "not a key file");
	check_text_refused(HEAD, "the line name: is missing");
	check_text_refused(HEAD NAME, "the line role: is missing");
	check_text_refused(HEAD NAME ROLE, "the line public: is missing");
	check_text_refused(
	    HEAD NAME ROLE PUBLIC, "the line secret: is missing");
	check_text_refused(
	    HEAD NAME ROLE PUBLIC SECRET, "the line server: is missing");
	check_text_refused(HEAD NAME ROLE PUBLIC
	    "secret: D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOT\n",
	    ":5: secret is not one key of 40 characters");
	check_text_refused(HEAD "public: nonsense\n", ":2: public is not");
	check_text_refused(HEAD SECRET SECRET, ":3: secret is not one");
	check_text_refused(HEAD PUBLIC PUBLIC, ":3: public is not one");
	check_text_refused(HEAD NAME NAME, ":3: name is not one");
	check_text_refused(HEAD "name: ../x\n", ":2: name is not");
	check_text_refused(HEAD "role: root\n", ":2: role is not");
	check_text_refused(HEAD SERVER SERVER SERVER SERVER SERVER,
	    ":6: server is not a key of 40 characters (Z85), and there are at "
	    "most four");
	check_text_refused(HEAD NAME "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs",
	    ":3: not a line of a key file");
	check_text_refused(HEAD NAME "role: server\n" PUBLIC SECRET SERVER,
	    "role server has no server:");
	check_text_refused(HEAD NAME ROLE SERVER PUBLIC
	    "secret: JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\n",
	    "the secret does not belong to the public key");
}

static void
test_every_beginning_of_a_key_file_is_refused(void **state)
{
	static const char whole[] = HEAD NAME ROLE PUBLIC SECRET SERVER;
	struct keyfile key;
	size_t bytes;

	/* The last newline may be missing. */
	for (bytes = 0; bytes < sizeof(whole) - 2; bytes++) {
		assert_int_equal(
		    keyfile_parse(&key, (struct text){ whole, (uint32_t)bytes },
			"f", &err),
		    -1);
		assert_null(key.secret);
	}
	assert_int_equal(
	    keyfile_parse(
		&key, (struct text){ whole, (uint32_t)bytes }, "f", &err),
	    0);
	keyfile_clear(&key);
}

static void
test_files_of_other_kinds_are_refused(void **state)
{
	char target[SCRATCH_BYTES + 32];
	int fd;

	unlink(path);
	check_refused("No such file");
	assert_int_equal(mkdir(path, 0700), 0);
	check_refused("is not a regular file");
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_refused("is not a regular file");
	write_file(HEAD NAME ROLE PUBLIC SECRET SERVER);
	snprintf(target, sizeof(target), "%s/real", dir);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	check_refused("is a symbolic link");
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, INT64_C(10) << 30), 0);
	close(fd);
	check_refused("is longer than the 16384 bytes");
	unlink(path);
	unlink(target);
}

static void
test_files_that_others_read_or_own_are_refused(void **state)
{
	static const mode_t modes[] = { 0644, 0640, 0604, 0620, 0601, 0777 };

	write_file(HEAD NAME ROLE PUBLIC SECRET SERVER);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		check_refused("can be read by others (mode 0");
		assert_non_null(strstr(err.text, "chmod 600"));
	}
	chmod(path, 0600);
	if (geteuid() != 0) {
		print_message("not root: no file of another user is tried\n");
		return;
	}
	assert_int_equal(chown(path, 65534, 65534), 0);
	check_refused("belongs to another user (uid 65534)");
	unlink(path);
}

static void
test_who_has_had_a_key_leaves_no_core(void **state)
{
	struct keyfile key;
	struct rlimit limit;

	keyfile_make(&key, "a", KEY_AGENT);
	assert_int_equal(getrlimit(RLIMIT_CORE, &limit), 0);
	assert_int_equal(limit.rlim_cur, 0);
	assert_int_equal(limit.rlim_max, 0);
	assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
	keyfile_clear(&key);
}

/* Locked pages of this process, in kB. */
static unsigned long
locked_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	unsigned long kb = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "VmLck: %lu", &kb) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return kb;
}

static void
test_a_secret_is_in_locked_memory_until_it_is_cleared(void **state)
{
	struct keyfile key;
	unsigned long before = locked_kb(), during;

	keyfile_make(&key, "a", KEY_AGENT);
	during = locked_kb();
	keyfile_clear(&key);
	assert_int_equal(locked_kb(), before);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	assert_int_equal(during, before); /* sanitizers lock nothing */
#else
	assert_true(during > before);
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_with_all_its_lines_is_a_key),
		cmocka_unit_test(test_what_was_written_is_read),
		cmocka_unit_test(
		    test_a_key_is_never_written_over_another_by_mistake),
		cmocka_unit_test(
		    test_new_keys_differ_and_begin_with_a_letter_or_digit),
		cmocka_unit_test(
		    test_what_is_cut_or_wrong_is_refused_and_never_shown),
		cmocka_unit_test(test_every_beginning_of_a_key_file_is_refused),
		cmocka_unit_test(test_files_of_other_kinds_are_refused),
		cmocka_unit_test(
		    test_files_that_others_read_or_own_are_refused),
		cmocka_unit_test(test_who_has_had_a_key_leaves_no_core),
		cmocka_unit_test(
		    test_a_secret_is_in_locked_memory_until_it_is_cleared),
	};
	int rc;

	scratch_make(dir);
	snprintf(path, sizeof(path), "%s/key", dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	scratch_remove(dir);
	return rc;
}
