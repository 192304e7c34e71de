/*
 * authorized_keys - each key with its role and patterns; wrong lines.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <sys/wait.h>

#include "proto/keys/authorized_keys.h"
#include "tests/unit/scratch.h"

#define KEY  "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define KEY2 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define NONE "0q:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define LINE KEY "\tagent\tacct$pool\tn-*\tnodes\n"

static char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 16];
static struct err err;

static struct authorized_keys *
parse(const char *text)
{
	struct authorized_keys *list;

	if (authorized_keys_parse(&list, text_of(text), "f", &err) != 0)
		fail_msg("%s", err.text);
	return list;
}

static const struct authorized_key *
find(const struct authorized_keys *list, const char *key)
{
	unsigned char public[Z85_KEY_BYTES];

	assert_true(z85_decode(public, text_of(key)));
	return authorized_keys_find(list, public);
}

static void
check_refused(const char *text, const char *words)
{
	struct authorized_keys *list;

	if (authorized_keys_parse(&list, text_of(text), "f", &err) != -1 ||
	    strstr(err.text, words) == NULL)
		fail_msg("not '%s': %s", words, err.text);
	assert_null(list);
}

static void
test_a_line_says_what_a_key_may_do(void **state)
{
	struct authorized_keys *list =
	    parse("# nodes\n#\n\n" LINE KEY2 "\treader\t*\t*\tall.1\n");
	const struct authorized_key *entry = find(list, KEY);

	assert_non_null(entry);
	assert_int_equal(authorized_keys_count(list), 2);
	assert_ptr_equal(entry, authorized_keys_at(list, 0));
	assert_int_equal(entry->line, 4);
	assert_int_equal(entry->role, KEY_AGENT);
	assert_true(text_equal(entry->name, text_of("nodes")));
	assert_int_equal(find(list, KEY2)->role, KEY_READER);
	assert_null(find(list, NONE));
	assert_null(find(NULL, KEY));
	authorized_keys_free(&list);
	assert_null(list);
	authorized_keys_free(&list);
}

static void
test_patterns_bind_partition_and_node(void **state)
{
	static const struct {
		const char *partition, *node;
		bool matches;
	} cases[] = {
		{ "acct$pool", "n-1", true },
		{ "acct$pool", "n-", true },
		{ "acct$pool", "m-1", false },
		{ "acct$pool2", "n-1", false },
		{ "xacct$pool", "n-1", false },
		{ "acct$pool", "xn-1", false },
		{ "", "", false },
	};
	struct authorized_keys *list = parse(LINE);
	const struct authorized_key *entry = authorized_keys_at(list, 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(
		    text_match(entry->partition, text_of(cases[i].partition)) &&
			text_match(entry->node, text_of(cases[i].node)),
		    cases[i].matches);
	authorized_keys_free(&list);
}

static void
test_a_bad_line_refuses_the_list_and_says_where(void **state)
{
	check_refused(LINE "nonsense\n", "f:2: expected PUBLIC, ROLE");
	check_refused("x\tagent\t*\t*\tn\n", "f:1: the public key");
	check_refused(KEY "\troot\t*\t*\tn\n", "f:1: the role");
	check_refused(KEY "\tserver\t*\t*\tn\n", "f:1: the role");
	check_refused(KEY "\tagent\t\t*\tn\n", "partition pattern is empty");
	check_refused(KEY "\tagent\t*\t\xFF\tn\n", "node pattern is not UTF-8");
	check_refused(KEY "\tagent\t*\t*\t../n\n", "f:1: the name");
	check_refused(KEY "\tagent\t*\t*\t\n", "f:1: the name");
	check_refused(KEY "\tagent\t*\t*\tn\tmore\n", "f:1: expected PUBLIC");
	check_refused(KEY "\tagent\t*\t*\tn\r\n", "f:1: the name");
	check_refused(KEY " agent * * n\n", "f:1: expected PUBLIC");
	check_refused(LINE "\n" LINE, "f:3: repeats the key of line 1");
	check_refused(
	    LINE KEY2 "\treader\t*\t*\ta", "f:2: the last line has no newline");
}

static void
test_every_cut_of_a_list_is_whole_lines_or_refused(void **state)
{
	static const char whole[] = LINE KEY2 "\treader\t*\t*\tb\n";
	struct authorized_keys *list;
	int rc;

	for (uint32_t bytes = 0; bytes < sizeof(whole); bytes++) {
		bool end = bytes == 0 || whole[bytes - 1] == '\n';

		rc = authorized_keys_parse(
		    &list, (struct text){ whole, bytes }, "f", &err);
		assert_int_equal(rc, end ? 0 : -1);
		authorized_keys_free(&list);
	}
}

static void
test_no_key_begins_with_the_sign_of_comments(void **state)
{
	static const char others[] = "0Z.$#";
	unsigned char public[Z85_KEY_BYTES];
	char key[] = KEY;

	for (int i = 0; i < 625; i++) {
		key[0] = '#';
		for (int at = 1, n = i; at < 5; at++, n /= 5)
			key[at] = others[n % 5];
		assert_false(z85_decode(public, text_of(key)));
	}
}

static void
put_random_line(FILE *to, uint64_t *seed)
{
	unsigned char public[Z85_KEY_BYTES];
	char text[Z85_CHARACTERS];

	for (int b = 0; b < Z85_KEY_BYTES; b++)
	public[b] = (unsigned char)check_random(seed);
	z85_encode(text, public);
	fprintf(to, "%.40s\tagent\t*\t*\tn%llu\n", text,
	    (unsigned long long)(check_random(seed) % 1000));
}

static void
test_a_hundred_thousand_keys_are_found_and_one_more_is_refused(void **state)
{
	uint64_t seed = check_seed(), again = seed, other = ~seed;
	unsigned char public[Z85_KEY_BYTES];
	struct authorized_keys *list;
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	for (int i = 0; i < AUTHORIZED_KEYS_MAX; i++)
		put_random_line(file, &seed);
	fflush(file);
	if (authorized_keys_parse(
		&list, (struct text){ text, (uint32_t)bytes }, "f", &err) != 0)
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < AUTHORIZED_KEYS_MAX; i++) {
		for (int b = 0; b < Z85_KEY_BYTES; b++)
		public[b] = (unsigned char)check_random(&again);
		check_random(&again);
		assert_ptr_equal(authorized_keys_find(list, public),
		    authorized_keys_at(list, i));
		for (int b = 0; b < Z85_KEY_BYTES; b++)
		public[b] = (unsigned char)check_random(&other);
		assert_null(authorized_keys_find(list, public));
	}
	authorized_keys_free(&list);
	put_random_line(file, &seed);
	fclose(file);
	assert_int_equal(authorized_keys_parse(&list,
			     (struct text){ text, (uint32_t)bytes }, "f", &err),
	    -1);
	assert_string_equal(
	    err.text, "f:100001: more than 100000 keys in one list");
	free(text);
}

static void
write_file(const char *text, mode_t mode)
{
	FILE *file;

	unlink(path);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void
check_file(const char *words)
{
	struct authorized_keys *list;
	int rc = authorized_keys_read(&list, path, &err);

	if (words == NULL && rc != 0)
		fail_msg("%s", err.text);
	if (words != NULL && (rc != -1 || !strstr(err.text, words)))
		fail_msg("not '%s': %s", words, err.text);
	authorized_keys_free(&list);
}

static void
test_only_its_owner_may_have_written_the_file(void **state)
{
	struct authorized_keys *list;
	int fd;

	assert_int_equal(authorized_keys_read(&list, path, &err), 0);
	assert_int_equal(authorized_keys_count(list), 0);
	authorized_keys_free(&list);
	write_file(LINE, 0644);
	check_file(NULL);
	write_file(LINE, 0664);
	check_file("can be changed by others (mode 0664): run chmod go-w");
	write_file(LINE, 0602);
	check_file("can be changed by others");
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	check_file("is a symbolic link");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_file("is not a regular file");
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, INT64_C(10) << 30), 0);
	close(fd);
	check_file("is longer than 16777216 bytes");
	if (geteuid() == 0) {
		write_file(LINE, 0600);
		assert_int_equal(chown(path, 65534, 65534), 0);
		check_file("belongs to another user (uid 65534)");
	}
	unlink(path);
}

static bool
is_named(const void *arg, const struct authorized_keys *list,
    const struct authorized_key *entry)
{
	return text_equal(entry->name, text_of(arg));
}

static struct authorized_key
entry_of(const char *key, const char *name)
{
	struct authorized_key entry = { .role = KEY_READER,
		.partition = text_of("p*"),
		.node = text_of("?"),
		.name = text_of(name) };

	assert_true(z85_decode(entry.public, text_of(key)));
	return entry;
}

static void
check_content(const char *want)
{
	char text[4096];
	int fd = open(path, O_RDONLY);
	ssize_t bytes = read(fd, text, sizeof(text) - 1);

	assert_true(bytes >= 0);
	text[bytes] = '\0';
	close(fd);
	assert_string_equal(text, want);
}

static void
test_a_change_keeps_comments_and_other_keys(void **state)
{
	struct authorized_key added = entry_of(KEY2, "b");
	struct authorized_keys_change add = { .add = &added };
	struct authorized_keys_change take = { .remove = is_named,
		.arg = "nodes" };
	uint32_t removed;

	assert_int_equal(
	    authorized_keys_change(path, &take, &removed, &err), 0);
	assert_int_equal(removed, 0);
	assert_int_equal(access(path, F_OK), -1);
	write_file("# a\n" LINE "# b\n", 0644);
	assert_int_equal(authorized_keys_change(path, &add, &removed, &err), 0);
	check_content("# a\n" LINE "# b\n" KEY2 "\treader\tp*\t?\tb\n");
	assert_int_equal(
	    authorized_keys_change(path, &add, &removed, &err), -1);
	assert_non_null(strstr(err.text, ":5: repeats the key of line 4"));
	assert_int_equal(
	    authorized_keys_change(path, &take, &removed, &err), 0);
	assert_int_equal(removed, 1);
	check_content("# a\n# b\n" KEY2 "\treader\tp*\t?\tb\n");
	write_file("nonsense\n", 0600);
	assert_int_equal(
	    authorized_keys_change(path, &add, &removed, &err), -1);
	check_content("nonsense\n");
	unlink(path);
}

/* Changes at the same time: none is lost. */
static void
test_changes_at_the_same_time_all_count(void **state)
{
	enum { CHILDREN = 4, EACH = 8 };
	struct authorized_keys *list;
	int status;

	for (int child = 0; child < CHILDREN; child++)
		if (fork() == 0) {
			uint32_t removed;
			int rc = 0;

			for (int i = 0; i < EACH; i++) {
				struct authorized_key entry =
				    entry_of(KEY, "c");

				entry.public[0] = (unsigned char)child;
				entry.public[1] = (unsigned char)i;
				rc |= authorized_keys_change(path,
				    &(struct authorized_keys_change){
					.add = &entry },
				    &removed, &err);
			}
			_exit(rc != 0);
		}
	for (int child = 0; child < CHILDREN; child++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(authorized_keys_read(&list, path, &err), 0);
	assert_int_equal(authorized_keys_count(list), CHILDREN * EACH);
	authorized_keys_free(&list);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_says_what_a_key_may_do),
		cmocka_unit_test(test_patterns_bind_partition_and_node),
		cmocka_unit_test(
		    test_a_bad_line_refuses_the_list_and_says_where),
		cmocka_unit_test(
		    test_every_cut_of_a_list_is_whole_lines_or_refused),
		cmocka_unit_test(test_no_key_begins_with_the_sign_of_comments),
		cmocka_unit_test(
		    test_a_hundred_thousand_keys_are_found_and_one_more_is_refused),
		cmocka_unit_test(test_only_its_owner_may_have_written_the_file),
		cmocka_unit_test(test_a_change_keeps_comments_and_other_keys),
		cmocka_unit_test(test_changes_at_the_same_time_all_count),
	};
	int rc;

	scratch_make(dir);
	snprintf(path, sizeof(path), "%s/allow", dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	scratch_remove(dir);
	return rc;
}
