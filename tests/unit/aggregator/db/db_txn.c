/*
 * db_txn - tests of aggregator/db/db.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggregator/db/db.h"
#include "aggregator/db/durable_dir.h"

enum { ROWS, META };
static const char *const tables[] = { "rows", "meta", NULL };
static const struct db_options usual = {
	.tables = tables,
	.map_bytes = 64 << 20,
	.format = 1,
};
static char folder[64];

static int
make_folder(void **state)
{
	strcpy(folder, "/tmp/poolscope-db-XXXXXX");
	return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **state)
{
	static const char *const names[] = { "env", "env.new", "copy",
		"copy.new" };
	char path[DURABLE_DIR_PATH_BYTES];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (durable_dir_path(path, folder, names[i], NULL) != 0 ||
		    durable_dir_remove(path, NULL) != 0)
			return -1;
	return rmdir(folder);
}

static const char *
in_folder(char to[static DURABLE_DIR_PATH_BYTES], const char *name)
{
	assert_int_equal(durable_dir_path(to, folder, name, NULL), 0);
	return to;
}

static struct db *
open_env(const struct db_options *options)
{
	char path[DURABLE_DIR_PATH_BYTES];
	struct err err = { 0 };
	struct db *db;

	if (db_open(&db, in_folder(path, "env"), options, &err) != 0)
		fail_msg("%s", err.text);
	return db;
}

static struct db_txn *
begin(struct db *db, bool write)
{
	struct err err = { 0 };
	struct db_txn *txn;

	if (db_begin(db, write, &txn, &err) != 0)
		fail_msg("%s", err.text);
	return txn;
}

static void
commit(struct db_txn *txn)
{
	struct err err = { 0 };

	if (db_commit(&txn, &err) != DB_OK)
		fail_msg("%s", err.text);
	assert_null(txn);
}

static void
put_word(struct db *db, const char *key, const char *value)
{
	struct db_txn *txn = begin(db, true);

	db_put(txn, ROWS, text_of(key), text_of(value));
	commit(txn);
}

/* LMDB keeps the overflow pages of the larger one. */
static void
a_smaller_value_replaces_a_large_one_of_its_transaction(void **state)
{
	static const uint32_t sizes[] = { 10, 3000, 5000, 9000 };
	static char bytes[10000];
	struct db *db = open_env(&usual);
	struct db_cursor *cursor;
	struct db_txn *txn;

	for (unsigned i = 0; i < 8; i++) {
		struct text smaller = { bytes, sizes[i / 2] };

		txn = begin(db, true);
		cursor = db_cursor_open(txn, ROWS);
		db_put(txn, ROWS, text_of("row"),
		    (struct text){ bytes, sizeof(bytes) });
		if (i % 2 == 0)
			db_put(txn, ROWS, text_of("row"), smaller);
		else
			assert_non_null(
			    db_cursor_put(cursor, text_of("row"), smaller));
		db_cursor_close(&cursor);
		commit(txn);
		put_word(db, "row", "1");
	}
	db_close(&db);
}

static void
committed_rows_survive_reopening(void **state)
{
	struct db *db = open_env(&usual);
	struct db_txn *txn;
	struct text value;

	put_word(db, "one", "1");
	put_word(db, "empty", "");
	db_close(&db);
	assert_null(db);
	db = open_env(&usual);
	txn = begin(db, false);
	assert_true(db_get(txn, ROWS, text_of("one"), &value));
	assert_true(text_equal(value, text_of("1")));
	assert_true(db_get(txn, ROWS, text_of("empty"), &value));
	assert_int_equal(value.bytes, 0);
	assert_false(db_get(txn, ROWS, text_of("two"), &value));
	assert_false(db_was_damaged(txn));
	db_abort(&txn);
	db_close(&db);
}

static void
an_aborted_transaction_has_no_effect(void **state)
{
	struct db *db = open_env(&usual);
	struct db_txn *txn = begin(db, true);
	struct text value;

	db_put(txn, ROWS, text_of("one"), text_of("1"));
	assert_true(db_get(txn, ROWS, text_of("one"), &value));
	db_abort(&txn);
	assert_null(txn);
	txn = begin(db, false);
	assert_false(db_get(txn, ROWS, text_of("one"), &value));
	commit(txn);
	db_close(&db);
}

static void
a_reserved_value_is_compacted_in_place(void **state)
{
	enum { BYTES = 70000 };
	struct db *db = open_env(&usual);
	struct db_txn *txn = begin(db, true);
	struct text value;
	unsigned char *at;

	at = db_reserve(txn, ROWS, text_of("big"), BYTES, true);
	assert_non_null(at);
	memset(at, 'x', BYTES);
	db_complete(txn, text_of("big"), at, BYTES);
	commit(txn);
	txn = begin(db, false);
	assert_true(db_get(txn, ROWS, text_of("big"), &value));
	assert_int_equal(value.bytes, BYTES);
	assert_int_equal(value.at[BYTES - 1], 'x');
	db_abort(&txn);
	db_close(&db);
}

static uint64_t
number_of(struct text t)
{
	char word[24];

	snprintf(word, sizeof(word), "%.*s", (int)t.bytes, t.at);
	return strtoull(word, NULL, 10);
}

/* A model of rows in an array, and the same in the table. */
static void
cursors_agree_with_a_sorted_array(void **state)
{
	enum { KEYS = 500, STEPS = 20000 };
	struct db *db = open_env(&usual);
	struct db_txn *txn = begin(db, true);
	struct db_cursor *cursor = db_cursor_open(txn, ROWS);
	uint64_t random = check_seed(), n, sum = 0, seen = 0;
	struct text key, value;
	char name[16], word[24];
	uint32_t model[KEYS] = { 0 };
	bool more;

	for (unsigned i = 0; i < STEPS; i++) {
		n = check_random(&random) % KEYS;
		snprintf(name, sizeof(name), "%08u", (unsigned)n);
		if (check_random(&random) % 3 != 0) {
			model[n] = (uint32_t)check_random(&random) | 1;
			snprintf(word, sizeof(word), "%u", model[n]);
			db_cursor_put(cursor, text_of(name), text_of(word));
		} else if (db_seek(cursor, text_of(name), &key, &value)) {
			n = number_of(key);
			assert_true(model[n] != 0);
			model[n] = 0;
			db_cursor_del(cursor);
			more = db_next(cursor, &key, &value);
			while (++n < KEYS && model[n] == 0)
				;
			assert_int_equal(more, n < KEYS);
			if (more)
				assert_int_equal(number_of(key), n);
		}
	}
	for (n = 0; n < KEYS; n++)
		sum += model[n];
	more = db_seek(cursor, (struct text){ NULL, 0 }, &key, &value);
	for (; more; more = db_next(cursor, &key, &value))
		seen += number_of(value);
	assert_true(seen == sum);
	db_cursor_close(&cursor);
	commit(txn);
	db_close(&db);
}

/* Flip a bit of the value behind LMDB's back. */
static void
damage(const char *value)
{
	char path[DURABLE_DIR_PATH_BYTES];

	assert_true(scratch_flip(in_folder(path, "env/data.mdb"), value,
			strlen(value)) > 0);
}

static void
a_flipped_bit_is_noticed_and_skipped(void **state)
{
	struct db *db = open_env(&usual);
	struct db_status status;
	struct db_txn *txn;
	struct db_cursor *cursor;
	struct text key, value;
	struct err err;

	txn = begin(db, true);
	db_put(txn, ROWS, text_of("a"), text_of("first value"));
	db_put(txn, ROWS, text_of("b"), text_of("second value"));
	db_put(txn, ROWS, text_of("c"), text_of("third value"));
	commit(txn);
	db_close(&db);
	damage("second value");
	db = open_env(&usual);
	txn = begin(db, false);
	assert_false(db_get(txn, ROWS, text_of("b"), &value));
	assert_true(db_was_damaged(txn));
	assert_true(db_get(txn, ROWS, text_of("a"), &value));
	assert_false(db_was_damaged(txn));
	cursor = db_cursor_open(txn, ROWS);
	assert_true(db_seek(cursor, text_of("b"), &key, &value));
	assert_true(text_equal(key, text_of("c")));
	db_cursor_close(&cursor);
	commit(txn);
	assert_int_equal(db_status(db, &status, &err), 0);
	/* One row, met twice. */
	assert_int_equal(status.damaged, 1);
	assert_int_equal(status.rows[ROWS], 3);
	db_close(&db);
}

static void
a_damaged_required_row_fails_the_transaction(void **state)
{
	struct db *db = open_env(&usual);
	struct db_txn *txn;
	struct text value;
	struct err err;

	put_word(db, "count", "as far as here");
	db_close(&db);
	damage("as far as here");
	db = open_env(&usual);
	txn = begin(db, false);
	assert_false(db_need(txn, ROWS, text_of("count"), &value));
	commit(txn);
	txn = begin(db, true);
	assert_false(db_need(txn, ROWS, text_of("other"), &value));
	assert_false(db_failed(txn));
	assert_false(db_need(txn, ROWS, text_of("count"), &value));
	assert_true(db_failed(txn));
	assert_int_equal(db_commit(&txn, &err), DB_DAMAGED);
	assert_non_null(strstr(err.text, "damaged"));
	db_close(&db);
}

/* The last key of each branch: its last digit but one becomes another. */
static void
flip_branches(void)
{
	enum { PAGE = 4096, BRANCH = 1 };
	char path[DURABLE_DIR_PATH_BYTES];
	unsigned char page[PAGE];
	int fd = open(in_folder(path, "env/data.mdb"), O_RDWR);
	uint16_t flags, lower, node;

	assert_true(fd >= 0);
	for (off_t at = 2 * PAGE; pread(fd, page, PAGE, at) == PAGE;
	     at += PAGE) {
		memcpy(&flags, page + 10, 2);
		memcpy(&lower, page + 12, 2);
		if (flags != BRANCH)
			continue;
		memcpy(&node, page + lower - 2, 2);
		page[node + 8 + 5] ^= 1;
		assert_int_equal(pwrite(fd, page, PAGE, at), PAGE);
	}
	close(fd);
}

/* Rows "key-a", "key-c" and "key-f". */
static struct db *
open_keys(void)
{
	struct db *db = open_env(&usual);

	put_word(db, "key-a", "first value");
	put_word(db, "key-c", "second value");
	put_word(db, "key-f", "third value");
	return db;
}

static void
a_writer_does_not_take_a_row_with_a_flipped_key_for_absent(void **state)
{
	struct db *db = open_keys();
	struct db_txn *txn;
	struct text value;
	struct err err;

	db_close(&db);
	damage("key-c"); /* now it is key-b */
	db = open_env(&usual);
	txn = begin(db, true);
	assert_false(db_get(txn, ROWS, text_of("key-d"), &value));
	assert_false(db_was_damaged(txn));
	assert_false(db_get(txn, ROWS, text_of("key-c"), &value));
	assert_true(db_was_damaged(txn));
	assert_false(db_failed(txn));
	assert_false(db_need(txn, ROWS, text_of("key-c"), &value));
	assert_int_equal(db_commit(&txn, &err), DB_DAMAGED);
	db_close(&db);
}

static void
a_row_that_the_transaction_deleted_is_absent_not_damaged(void **state)
{
	struct db *db = open_keys();
	struct db_txn *txn = begin(db, true);
	struct text value;

	assert_true(db_del(txn, ROWS, text_of("key-c")));
	assert_false(db_get(txn, ROWS, text_of("key-c"), &value));
	assert_false(db_was_damaged(txn));
	commit(txn);
	db_close(&db);
}

static void
nothing_is_written_to_a_page_whose_keys_are_out_of_order(void **state)
{
	struct db *db = open_keys();
	struct db_txn *txn;
	struct text value;
	struct err err;

	put_word(db, "key-b", "one more");
	db_close(&db);
	damage("key-b"); /* now it is key-c, twice */
	db = open_env(&usual);
	txn = begin(db, false);
	assert_true(db_get(txn, ROWS, text_of("key-f"), &value));
	commit(txn);
	txn = begin(db, true);
	db_put(txn, ROWS, text_of("key-g"), text_of("fourth value"));
	assert_int_equal(db_commit(&txn, &err), DB_DAMAGED);
	assert_non_null(strstr(err.text, "is damaged"));
	txn = begin(db, true);
	db_del(txn, ROWS, text_of("key-a"));
	assert_int_equal(db_commit(&txn, &err), DB_DAMAGED);
	db_close(&db);
}

/* Two leaves: a key between them that is damaged leads to the wrong one. */
static void
a_damaged_key_between_leaves_is_noticed(void **state)
{
	enum { KEYS = 200 };
	struct db *db = open_env(&usual);
	struct db_txn *txn = begin(db, true);
	struct db_cursor *cursor;
	struct text found, value;
	unsigned lost = 0;

	for (unsigned i = 0; i < KEYS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "row-%03u", i);
		db_put(txn, ROWS, text_of(key), text_of("some value of a row"));
	}
	commit(txn);
	db_close(&db);
	flip_branches();
	db = open_env(&usual);
	txn = begin(db, true);
	for (unsigned i = 0; i < KEYS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "row-%03u", i);
		if (db_get(txn, ROWS, text_of(key), &value))
			continue;
		assert_true(db_was_damaged(txn));
		lost++;
	}
	assert_true(lost > 0);
	db_abort(&txn);
	/* Who seeks on from what was found comes to an end. */
	txn = begin(db, false);
	cursor = db_cursor_open(txn, ROWS);
	for (unsigned i = 0; i < KEYS; i++) {
		char sought[16];

		snprintf(sought, sizeof(sought), "row-%03u", i);
		if (db_seek(cursor, text_of(sought), &found, &value))
			assert_true(memcmp(found.at, sought, 7) >= 0);
		if (db_seek_key(cursor, text_of(sought), &found))
			assert_true(memcmp(found.at, sought, 7) >= 0);
	}
	db_cursor_close(&cursor);
	commit(txn);
	db_close(&db);
}

static void
damaged_rows_can_be_found_and_removed(void **state)
{
	struct db *db = open_env(&usual);
	struct db_cursor *cursor;
	struct db_txn *txn;
	struct text key;

	put_word(db, "a", "first value");
	put_word(db, "b", "second value");
	db_close(&db);
	damage("first value");
	db = open_env(&usual);
	txn = begin(db, true);
	cursor = db_cursor_open(txn, ROWS);
	assert_true(db_seek_key(cursor, (struct text){ NULL, 0 }, &key));
	assert_true(text_equal(key, text_of("a")));
	db_cursor_del(cursor);
	assert_true(db_seek_key(cursor, text_of("a"), &key));
	assert_true(text_equal(key, text_of("b")));
	assert_false(db_seek_key(cursor, text_of("c"), &key));
	assert_true(db_last_key(cursor, &key));
	assert_true(text_equal(key, text_of("b")));
	db_cursor_close(&cursor);
	commit(txn);
	db_close(&db);
}

static void
a_full_map_refuses_and_recovers(void **state)
{
	struct db_options small = usual;
	struct db *db;
	struct db_txn *txn;
	struct text value;
	struct err err;
	enum db_result result;
	char name[16];
	static char big[60000];
	unsigned n = 0;

	small.map_bytes = 1 << 20;
	db = open_env(&small);
	do {
		txn = begin(db, true);
		snprintf(name, sizeof(name), "%08u", n++);
		db_put(txn, ROWS, text_of(name),
		    (struct text){ big, sizeof(big) });
		result = db_commit(&txn, &err);
	} while (result == DB_OK);
	assert_int_equal(result, DB_FULL);
	assert_true(n > 5);
	txn = begin(db, true);
	assert_false(db_get(txn, ROWS, text_of(name), &value));
	assert_true(db_del(txn, ROWS, text_of("00000000")));
	commit(txn);
	put_word(db, "small", "fits again");
	db_close(&db);
}

static void
errors_stick_to_a_transaction(void **state)
{
	struct db *db = open_env(&usual);
	struct db_txn *txn = begin(db, true);
	struct text value;
	struct err err;

	db_put(txn, ROWS, text_of("b"), text_of("1"));
	assert_null(db_reserve(txn, ROWS, text_of("a"), 1, true));
	assert_true(db_failed(txn));
	assert_false(db_get(txn, ROWS, text_of("b"), &value));
	db_put(txn, ROWS, text_of("c"), text_of("3"));
	assert_int_equal(db_commit(&txn, &err), DB_BROKEN);
	assert_non_null(strstr(err.text, "append"));
	txn = begin(db, false);
	assert_false(db_get(txn, ROWS, text_of("b"), &value));
	db_abort(&txn);
	db_close(&db);
}

static void
another_format_is_refused_by_name_and_untouched(void **state)
{
	static const char *const other[] = { "meta", "new", NULL };
	struct db_options later = usual;
	struct db *db = open_env(&usual);
	char path[DURABLE_DIR_PATH_BYTES];
	struct stat before, after;
	struct err err;

	db_close(&db);
	later.format = 7;
	later.tables = other;
	assert_int_equal(stat(in_folder(path, "env/data.mdb"), &before), 0);
	assert_int_equal(
	    db_open(&db, in_folder(path, "env"), &later, &err), -1);
	assert_null(db);
	assert_non_null(strstr(err.text, "format 1"));
	assert_non_null(strstr(err.text, "format 7"));
	assert_int_equal(stat(in_folder(path, "env/data.mdb"), &after), 0);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
}

static void
two_handles_of_one_process_share_an_environment(void **state)
{
	static const char *const turned[] = { "meta", "rows", NULL };
	struct db_options reader = usual;
	struct db *writer = open_env(&usual), *other;
	struct db_txn *txn;
	struct text value;

	reader.read_only = true;
	reader.tables = turned;
	other = open_env(&reader);
	put_word(writer, "one", "1");
	db_close(&writer);
	txn = begin(other, false);
	assert_true(db_get(txn, 1, text_of("one"), &value));
	db_abort(&txn);
	db_close(&other);
}

enum { LARGE_ROWS = 64, LARGE_BYTES = 60000 };

/* Another process: when reported so, it makes the map larger and fills it. */
static pid_t
start_writer(int reported)
{
	static char large[LARGE_BYTES];
	struct db_txn *txn;
	char name[24], byte;
	pid_t pid = fork();
	struct db *db;

	if (pid != 0)
		return pid;
	if (read(reported, &byte, 1) != 1)
		_exit(1);
	db = open_env(&usual);
	txn = begin(db, true);
	for (int i = 0; i < LARGE_ROWS; i++) {
		snprintf(name, sizeof(name), "large %02d", i);
		db_put(txn, ROWS, text_of(name),
		    (struct text){ large, sizeof(large) });
	}
	commit(txn);
	db_close(&db);
	_exit(0);
}

static uintptr_t
start_of_mapping(const void *place)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from = 0, to = 0;
	char line[4200];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    from <= (uintptr_t)place && (uintptr_t)place < to)
			break;
	fclose(maps);
	return from;
}

static void
a_reader_does_not_touch_the_old_address_of_the_map(void **state)
{
	enum { MAP = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE };
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct db_options small = usual, reading = usual;
	struct text key, value;
	struct db_cursor *cursor;
	struct db_txn *txn;
	struct db *db;
	int tell[2], status, rows = 0;
	char *place, *guard;
	pid_t writer;
	bool more;

	small.map_bytes = 1 << 20;
	reading.read_only = true;
	reading.map_bytes = 1 << 20;
	db = open_env(&small);
	put_word(db, "one", "1");
	db_close(&db);
	assert_int_equal(pipe(tell), 0);
	writer = start_writer(tell[0]);
	db = open_env(&reading);
	txn = begin(db, false);
	assert_true(db_get(txn, ROWS, text_of("one"), &value));
	place = (char *)((uintptr_t)value.at & ~(page - 1));
	commit(txn);
	/* No room to grow where it is. */
	guard = mmap((char *)start_of_mapping(place) - page, page, PROT_NONE,
	    MAP, -1, 0);
	assert_int_equal(write(tell[1], "", 1), 1);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	txn = begin(db, false);
	/* Somebody else's memory now. */
	place = mmap(place, page, PROT_READ | PROT_WRITE, MAP, -1, 0);
	assert_true(place != MAP_FAILED);
	memset(place, 'x', page);
	cursor = db_cursor_open(txn, ROWS);
	more = db_seek(cursor, text_of("large"), &key, &value);
	for (; more && key.bytes > 3; rows++)
		more = db_next(cursor, &key, &value);
	db_cursor_close(&cursor);
	commit(txn);
	assert_int_equal(rows, LARGE_ROWS);
	assert_int_equal(*place, 'x');
	munmap(place, page);
	munmap(guard, page);
	db_close(&db);
}

static void
a_reader_creates_no_files(void **state)
{
	struct db_options reader = usual;
	char path[DURABLE_DIR_PATH_BYTES];
	struct db *db;
	struct err err;

	reader.read_only = true;
	assert_int_equal(
	    db_open(&db, in_folder(path, "env"), &reader, &err), -1);
	assert_int_equal(access(path, F_OK), -1);
}

static void
the_remains_of_a_crashed_creation_are_replaced(void **state)
{
	char path[DURABLE_DIR_PATH_BYTES];
	struct db *db;
	int fd;

	assert_int_equal(mkdir(in_folder(path, "env.new"), 0700), 0);
	fd =
	    open(in_folder(path, "env.new/data.mdb"), O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "half", 4), 4);
	close(fd);
	db = open_env(&usual);
	db_close(&db);
	assert_int_equal(access(in_folder(path, "env.new"), F_OK), -1);
}

static void
a_directory_with_other_files_is_refused(void **state)
{
	char path[DURABLE_DIR_PATH_BYTES], file[DURABLE_DIR_PATH_BYTES];
	struct db *db;
	struct err err;
	int fd;

	assert_int_equal(mkdir(in_folder(path, "env"), 0700), 0);
	fd = open(in_folder(file, "env/mine"), O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(db_open(&db, path, &usual, &err), -1);
	assert_int_equal(access(file, F_OK), 0);
}

static void
a_copy_holds_the_same_rows(void **state)
{
	struct db *db = open_env(&usual), *copy;
	char path[DURABLE_DIR_PATH_BYTES];
	struct db_txn *txn;
	struct text value;
	struct err err;

	put_word(db, "one", "1");
	assert_int_equal(db_copy(db, in_folder(path, "copy"), &err), 0);
	assert_int_equal(db_copy(db, path, &err), -1);
	assert_int_equal(db_open(&copy, path, &usual, &err), 0);
	txn = begin(copy, false);
	assert_true(db_get(txn, ROWS, text_of("one"), &value));
	db_abort(&txn);
	db_close(&copy);
	db_close(&db);
}

#define CASE(test)                                                             \
	cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(committed_rows_survive_reopening),
		CASE(a_smaller_value_replaces_a_large_one_of_its_transaction),
		CASE(an_aborted_transaction_has_no_effect),
		CASE(a_reserved_value_is_compacted_in_place),
		CASE(cursors_agree_with_a_sorted_array),
		CASE(a_flipped_bit_is_noticed_and_skipped),
		CASE(a_damaged_required_row_fails_the_transaction),
		CASE(
		    a_writer_does_not_take_a_row_with_a_flipped_key_for_absent),
		CASE(a_row_that_the_transaction_deleted_is_absent_not_damaged),
		CASE(nothing_is_written_to_a_page_whose_keys_are_out_of_order),
		CASE(a_damaged_key_between_leaves_is_noticed),
		CASE(damaged_rows_can_be_found_and_removed),
		CASE(a_full_map_refuses_and_recovers),
		CASE(errors_stick_to_a_transaction),
		CASE(another_format_is_refused_by_name_and_untouched),
		CASE(two_handles_of_one_process_share_an_environment),
		CASE(a_reader_does_not_touch_the_old_address_of_the_map),
		CASE(a_reader_creates_no_files),
		CASE(the_remains_of_a_crashed_creation_are_replaced),
		CASE(a_directory_with_other_files_is_refused),
		CASE(a_copy_holds_the_same_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
