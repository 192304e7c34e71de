/*
 * partition_table - maps partitions to aggregators, for brokers.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/partition_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"

#define FIRST_LINE "poolscope-partitions 1"

struct reading {
	struct partition_table *table;
	const char *name;
	uint64_t line;
};

static int
wrong(const struct reading *r, struct err *err, const char *what)
{
	return err_set(err, "%s:%" PRIu64 ": %s", r->name, r->line, what);
}

static int
read_version(const struct reading *r, struct text line, struct err *err)
{
	static const char word[] = "version ";
	const uint32_t front = sizeof(word) - 1;
	uint64_t number = 0;

	if (line.bytes <= front || memcmp(line.at, word, front) != 0 ||
	    line.bytes > front + 18)
		return wrong(r, err, "wanted \"version N\"");
	for (uint32_t i = front; i < line.bytes; i++) {
		if (line.at[i] < '0' || line.at[i] > '9')
			return wrong(r, err, "wanted \"version N\"");
		number = number * 10 + (uint64_t)(line.at[i] - '0');
	}
	r->table->version = number;
	return number > 0 ? 0 : wrong(r, err, "the version must be 1 or more");
}

static int
read_row(const struct reading *r, struct text line, struct err *err)
{
	struct partition_table *table = r->table;
	const char *tab = memchr(line.at, '\t', line.bytes);
	struct partition_table_row row;

	if (tab == NULL)
		return wrong(r, err, "expected PATTERN, a tab, ENDPOINT");
	row.pattern = (struct text){ line.at, (uint32_t)(tab - line.at) };
	row.endpoint =
	    (struct text){ tab + 1, line.bytes - row.pattern.bytes - 1 };
	if (text_check_name(row.pattern) != TEXT_OK)
		return err_set(err, "%s:%" PRIu64 ": the pattern %s", r->name,
		    r->line, text_fault_words(text_check_name(row.pattern)));
	if (text_check_name(row.endpoint) != TEXT_OK)
		return err_set(err, "%s:%" PRIu64 ": the endpoint %s", r->name,
		    r->line, text_fault_words(text_check_name(row.endpoint)));
	if (table->count == PARTITION_TABLE_ROWS_MAX)
		return wrong(r, err, "more than 1024 rows");
	table->row[table->count++] = row;
	return 0;
}

int
partition_table_parse(struct partition_table *table, const char *name,
    struct text file, struct err *err)
{
	struct reading r = { table, name, 1 };
	struct text line;

	table->version = 0;
	table->count = 0;
	if (file.bytes > PARTITION_TABLE_BYTES_MAX)
		return err_set(err, "%s is larger than 1 MiB", name);
	if (!text_next_line(&file, &line) ||
	    !text_equal(line, text_of(FIRST_LINE)))
		return wrong(&r, err, "wanted \"" FIRST_LINE "\"");
	r.line++;
	if (!text_next_line(&file, &line))
		line.bytes = 0;
	if (read_version(&r, line, err) != 0)
		return -1;
	while (text_next_line(&file, &line)) {
		r.line++;
		if (line.bytes > 0 && line.at[0] != '#' &&
		    read_row(&r, line, err) != 0)
			return -1;
	}
	return 0;
}

/* 1, and the file's content in `*bytes`; 0: the file does not exist. */
static int
read_file(const char *path, char **bytes, uint32_t *length, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t got = 0;
	uint32_t have = 0;

	if (fd < 0)
		return errno == ENOENT
			   ? 0
			   : err_set(err, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, "%s is not a regular file", path);
	}
	*bytes = memory_alloc(PARTITION_TABLE_BYTES_MAX + 1);
	while (have <= PARTITION_TABLE_BYTES_MAX &&
	       (got = read(fd, *bytes + have,
		    PARTITION_TABLE_BYTES_MAX + 1 - have)) > 0)
		have += (uint32_t)got;
	close(fd);
	*length = have;
	if (got >= 0)
		return 1;
	free(*bytes);
	*bytes = NULL;
	return err_set(err, "%s: %s", path, strerror(errno));
}

int
partition_table_read(
    struct partition_table *table, const char *path, struct err *err)
{
	uint32_t length = 0;
	int rc;

	memset(table, 0, sizeof(*table));
	rc = read_file(path, &table->bytes, &length, err);
	if (rc <= 0)
		return rc;
	rc = partition_table_parse(
	    table, path, (struct text){ table->bytes, length }, err);
	if (rc != 0)
		partition_table_clear(table);
	return rc;
}

void
partition_table_clear(struct partition_table *table)
{
	free(table->bytes);
	memset(table, 0, sizeof(*table));
}
