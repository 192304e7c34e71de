/*
 * script_file: who could change the program of a script.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/script_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96], link_path[96];

/* "" or what the sentence contains. */
static void
assert_check(const char *file, uid_t user, const char *says)
{
	struct err err = { 0 };
	int rc = script_file_check(file, user, &err);

	if (strstr(err.text, says) == NULL || (rc == 0) != (says[0] == '\0'))
		fail_msg("%d '%s', not '%s'", rc, err.text, says);
}

static void
only_the_owners_may_write_file_and_folders(void **state)
{
	assert_check(path, geteuid(), "");
	chmod(path, 0775);
	assert_check(path, geteuid(), "can be written by others (mode 0775)");
	chmod(path, 0702);
	assert_check(path, geteuid(), "can be written by others");
	chmod(path, 0644);
	assert_check(path, geteuid(), "is not executable");
	chmod(path, 0755);
	chmod(folder, 01777); /* others can make the file when it is removed */
	assert_check(path, geteuid(), "who could change the script");
	chmod(folder, 0755);
	assert_check(folder, geteuid(), "is no file");
	assert_check("/nowhere/q.sh", geteuid(), "No such file");
	assert_check("/dev/null", geteuid(), "is no file");
	assert_check("/bin/true", geteuid(), "");
}

static void
links_lead_to_what_is_looked_at(void **state)
{
	assert_int_equal(symlink(path, link_path), 0);
	assert_check(link_path, geteuid(), "");
	chmod(path, 0757);
	assert_check(link_path, geteuid(), "can be written by others");
	chmod(path, 0755);
	unlink(link_path);
	/* Others can let the link lead elsewhere. */
	assert_int_equal(symlink("/bin/true", link_path), 0);
	assert_check(link_path, geteuid(), "");
	chmod(folder, 0777);
	assert_check(link_path, geteuid(), "can be written by others");
	chmod(folder, 0755);
	unlink(link_path);
}

static void
files_of_other_users_are_refused(void **state)
{
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_check(path, 0, "belongs to another user (uid 12345)");
	assert_check(path, 12345, "");
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(chown(folder, 12345, 0), 0);
	assert_check(path, 0, "belongs to another user");
	assert_int_equal(chown(folder, 0, 0), 0);
}

static void
assert_words(const char *command, const char *want)
{
	char *word[SCRIPT_WORDS_MAX + 1], *room, got[512] = "";
	struct err err = { 0 };

	if (script_file_words(word, &room, command, &err) != 0)
		snprintf(got, sizeof(got), "%s", err.text);
	else
		for (int i = 0; word[i] != NULL; i++) {
			strcat(got, word[i]);
			strcat(got, "|");
		}
	free(room);
	assert_string_equal(got, want);
}

static void
words_are_separated_by_blanks(void **state)
{
	assert_words("/opt/q.sh", "/opt/q.sh|");
	assert_words(
	    "  /opt/q.sh -a  \"b c\"; ls\t", "/opt/q.sh|-a|\"b|c\";|ls|");
	assert_words("", "the command is empty");
	assert_words(" \t", "the command is empty");
	assert_words("q.sh",
	    "'q.sh' is no absolute path: no shell looks for the program");
	assert_words(
	    "/a 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 "
	    "23 24 25 26 27 28 29 30 31 32 33",
	    "a command has at most 32 words");
}

static int
begin(void **state)
{
	FILE *file;

	snprintf(folder, sizeof(folder), "/tmp/script_file.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/q.sh", folder);
	snprintf(link_path, sizeof(link_path), "%s/link", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	chmod(path, 0755);
	return 0;
}

static int
end(void **state)
{
	unlink(path);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_owners_may_write_file_and_folders),
		cmocka_unit_test(links_lead_to_what_is_looked_at),
		cmocka_unit_test(files_of_other_users_are_refused),
		cmocka_unit_test(words_are_separated_by_blanks),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
