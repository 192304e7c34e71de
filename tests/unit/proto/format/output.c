/*
 * output - files that are there whole or not at all.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/output.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/check.h"

static char dir[] = "/tmp/output.XXXXXX";

static int
make_dir(void **state)
{
	return mkdtemp(dir) == NULL;
}

static int
remove_dir(void **state)
{
	return rmdir(dir);
}

static const char *
in_dir(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static unsigned
count_files(void)
{
	DIR *d = opendir(dir);
	unsigned count = 0;
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		count +=
		    strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return count;
}

static void
assert_content(const char *path, const char *wanted)
{
	char got[256];
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(got, 1, sizeof(got) - 1, file);
	got[n] = '\0';
	fclose(file);
	assert_string_equal(got, wanted);
}

static void
a_file_appears_only_at_the_commit(void **state)
{
	struct output output;
	struct err err;

	assert_int_equal(output_open(&output, in_dir("a"), &err), 0);
	fputs("new", output.file);
	fflush(output.file);
	assert_int_equal(access(in_dir("a"), F_OK), -1);
	assert_int_equal(output_commit(&output, &err), 0);
	assert_null(output.file);
	assert_content(in_dir("a"), "new");
	assert_int_equal(count_files(), 1);
	unlink(in_dir("a"));
}

static void
an_abort_leaves_what_was_there(void **state)
{
	struct output output;
	struct err err;

	assert_int_equal(output_open(&output, in_dir("a"), &err), 0);
	fputs("old", output.file);
	assert_int_equal(output_commit(&output, &err), 0);
	assert_int_equal(output_open(&output, in_dir("a"), &err), 0);
	fputs("new", output.file);
	output_abort(&output);
	output_abort(&output); /* does nothing */
	assert_content(in_dir("a"), "old");
	assert_int_equal(count_files(), 1);
	unlink(in_dir("a"));
}

static void
the_mode_is_that_of_the_umask(void **state)
{
	struct output output;
	struct err err;
	struct stat st;
	mode_t old = umask(027);

	assert_int_equal(output_open(&output, in_dir("a"), &err), 0);
	assert_int_equal(output_commit(&output, &err), 0);
	umask(old);
	assert_int_equal(stat(in_dir("a"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	unlink(in_dir("a"));
}

static void
a_name_from_outside_is_one_file_name(void **state)
{
	const char evil[] = "../..\x01/%a b";
	struct output output;
	struct err err;

	assert_int_equal(
	    output_open_in(&output, dir, text_of(evil), ".dat", &err), 0);
	assert_string_equal(
	    strrchr(output.path, '/') + 1, "%2E.%2F..%01%2F%25a%20b.dat");
	assert_int_equal(output_commit(&output, &err), 0);
	assert_int_equal(unlink(in_dir("%2E.%2F..%01%2F%25a%20b.dat")), 0);
	assert_int_equal(
	    output_open_in(&output, dir, text_of(""), ".dat", &err), -1);
}

static void
a_write_that_failed_is_found_at_the_commit(void **state)
{
	struct output output;
	struct err err;

	assert_int_equal(output_open(&output, "/dev/full", &err), 0);
	fputs("lost", output.file);
	assert_int_equal(output_commit(&output, &err), -1);
	assert_string_equal(err.text, "/dev/full: No space left on device");
	assert_int_equal(output_open(&output, dir, &err), -1);
	assert_int_equal(output_open(&output, in_dir("no/a"), &err), -1);
	assert_int_equal(count_files(), 0);
}

static void
what_is_not_a_file_is_not_replaced(void **state)
{
	struct output output;
	struct err err;
	struct stat st;

	assert_int_equal(output_open(&output, "/dev/null", &err), 0);
	fputs("x", output.file);
	assert_int_equal(output_commit(&output, &err), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void
a_link_stays_and_its_file_is_replaced(void **state)
{
	struct output output;
	struct err err;
	struct stat st;

	assert_int_equal(output_open(&output, in_dir("a"), &err), 0);
	assert_int_equal(output_commit(&output, &err), 0);
	assert_int_equal(symlink("a", in_dir("link")), 0);
	assert_int_equal(output_open(&output, in_dir("link"), &err), 0);
	fputs("new", output.file);
	assert_int_equal(output_commit(&output, &err), 0);
	assert_int_equal(lstat(in_dir("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content(in_dir("a"), "new");
	assert_int_equal(count_files(), 2);
	unlink(in_dir("a"));
	unlink(in_dir("link"));
}

static void
standard_output_by_name_is_no_file(void **state)
{
	static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1",
		"/proc/self/fd/1" };
	struct output output;
	struct err err;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(output_open(&output, names[i], &err), 0);
		assert_ptr_equal(output.file, stdout);
		output_abort(&output);
	}
	assert_int_equal(output_open(&output, "", &err), -1);
	assert_string_equal(err.text, "the output file has no name");
}

/* What a child leaves behind that ends itself in the middle of writing. */
static void
end_in_the_middle(int signo)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct output output;
		struct err err;

		signal(SIGTERM, SIG_DFL);
		if (output_open(&output, in_dir("a"), &err) != 0)
			_exit(99);
		fputs("half", output.file);
		if (signo == 0)
			exit(7);
		raise(signo);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (signo == 0) {
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 7);
	} else {
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signo);
	}
	assert_int_equal(count_files(), 0);
}

static void
a_signal_or_an_exit_leaves_nothing_behind(void **state)
{
	end_in_the_middle(SIGTERM);
	end_in_the_middle(SIGINT);
	end_in_the_middle(SIGHUP);
	end_in_the_middle(0);
}

static int
digit(char c)
{
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* What it came from, or -1 when it is no encoding of anything. */
static int
decode(const char *from, char *to)
{
	int bytes = 0;

	for (; *from != '\0'; from++) {
		if (*from == '%') {
			if (strspn(from + 1, "0123456789ABCDEF") < 2)
				return -1;
			to[bytes++] =
			    (char)(digit(from[1]) << 4 | digit(from[2]));
			from += 2;
		} else {
			to[bytes++] = *from;
		}
	}
	return bytes;
}

static void
names_of_files_are_plain_and_differ_where_names_do(void **state)
{
	static const char *const evil[] = { "a/../../x", ".", "..", "-rf",
		"con", "`x`", "$(x)", "a b", "*", "?", "~", "'", "\"", "\\",
		";x", "a|b", "<a>", "#", "!", "&", "{a,b}", "(", "\n", "\x7f",
		"%41" };
	unsigned seed = (unsigned)check_seed();
	char name[NAME_BYTES_MAX], file[4 * NAME_BYTES_MAX], back[1024];

	srand(seed);
	for (unsigned i = 0; i < 100000; i++) {
		bool given = i < sizeof(evil) / sizeof(*evil);
		uint32_t bytes = given ? (uint32_t)strlen(evil[i])
				       : 1 + (uint32_t)rand() % 60;

		for (uint32_t k = 0; k < bytes; k++)
			name[k] = given ? evil[i][k] : (char)rand();
		assert_true(output_encode(file, sizeof(file),
				(struct text){ name, bytes }, "") > 0);
		assert_null(strpbrk(file, "/ \t\n`$;|&<>*?[](){}!#~'\"\\\x7f"));
		assert_null(strchr("-.~", file[0]));
		assert_int_equal(decode(file, back), bytes);
		assert_memory_equal(back, name, bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: this process must not watch signals yet. */
		cmocka_unit_test(
		    names_of_files_are_plain_and_differ_where_names_do),
		cmocka_unit_test(a_signal_or_an_exit_leaves_nothing_behind),
		cmocka_unit_test(a_file_appears_only_at_the_commit),
		cmocka_unit_test(an_abort_leaves_what_was_there),
		cmocka_unit_test(the_mode_is_that_of_the_umask),
		cmocka_unit_test(a_name_from_outside_is_one_file_name),
		cmocka_unit_test(a_write_that_failed_is_found_at_the_commit),
		cmocka_unit_test(what_is_not_a_file_is_not_replaced),
		cmocka_unit_test(a_link_stays_and_its_file_is_replaced),
		cmocka_unit_test(standard_output_by_name_is_no_file),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
