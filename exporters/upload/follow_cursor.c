/*
 * upload_follow_cursor - the file with the position of a follower.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/follow_cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/number.h"
#include "proto/os/whole_file.h"

#define TITLE "poolscope-upload cursor 1\n"

/* ---- reading ---- */

/* Remove "NAME VALUE\n" from the front of the text. */
static bool
take_line(struct text *rest, const char *name, struct text *value)
{
	size_t bytes = strlen(name);
	const char *end;

	if (rest->bytes <= bytes + 1 || memcmp(rest->at, name, bytes) != 0 ||
	    rest->at[bytes] != ' ')
		return false;
	end = memchr(rest->at, '\n', rest->bytes);
	if (end == NULL)
		return false;
	*value = (struct text){ rest->at + bytes + 1,
		(uint32_t)(end - rest->at - (ptrdiff_t)bytes - 1) };
	rest->bytes -= (uint32_t)(end + 1 - rest->at);
	rest->at = end + 1;
	return true;
}

static bool
take_number(struct text *rest, const char *name, uint64_t *number)
{
	struct text value;

	return take_line(rest, name, &value) &&
	       number_parse_u64(value, number, NULL) == 0;
}

/* May be negative. */
static bool
take_time(struct text *rest, const char *name, int64_t *ns)
{
	struct text value;
	uint64_t below;
	bool minus;

	if (!take_line(rest, name, &value))
		return false;
	minus = value.bytes > 0 && *value.at == '-';
	value.at += minus;
	value.bytes -= minus;
	if (number_parse_u64(value, &below, NULL) != 0 ||
	    below > (uint64_t)INT64_MAX + minus)
		return false;
	*ns = minus ? (int64_t)(0 - below) : (int64_t)below;
	return true;
}

int
upload_cursor_parse(
    struct upload_cursor *cursor, struct text text, struct err *err)
{
	struct text rest = text, selection;
	size_t title = strlen(TITLE);

	memset(cursor, 0, sizeof(*cursor));
	if (rest.bytes < title || memcmp(rest.at, TITLE, title) != 0)
		return err_set(err, "it does not begin with '%.*s'",
		    (int)title - 1, TITLE);
	rest.at += title;
	rest.bytes -= (uint32_t)title;
	if (!take_line(&rest, "selection", &selection) ||
	    selection.bytes != UPLOAD_SELECTION_BYTES - 1 ||
	    !take_number(&rest, "generation", &cursor->generation) ||
	    !take_number(&rest, "entry", &cursor->entry) ||
	    !take_number(&rest, "records", &cursor->records) ||
	    !take_number(&rest, "until", &cursor->until) ||
	    !take_number(&rest, "sent", &cursor->sent) ||
	    !take_time(&rest, "from", &cursor->from_ns) ||
	    !take_time(&rest, "to", &cursor->to_ns) || rest.bytes > 0)
		return err_set(err, "it is damaged");
	memcpy(cursor->selection, selection.at, selection.bytes);
	return 0;
}

int
upload_cursor_load(struct upload_cursor *cursor, const char *path, bool *found,
    struct err *err)
{
	char bytes[UPLOAD_CURSOR_BYTES_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	memset(cursor, 0, sizeof(*cursor));
	*found = fd >= 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	if (n < 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	if (upload_cursor_parse(
		cursor, (struct text){ bytes, (uint32_t)n }, err) != 0)
		return err_prefix(err, "the cursor %.300s", path);
	return 0;
}

/* ---- writing ---- */

int
upload_cursor_save(
    const struct upload_cursor *cursor, const char *path, struct err *err)
{
	const struct whole_file file = { .path = path };
	char bytes[UPLOAD_CURSOR_BYTES_MAX];
	int n = snprintf(bytes, sizeof(bytes),
	    TITLE "selection %s\ngeneration %" PRIu64 "\nentry %" PRIu64
		  "\nrecords %" PRIu64 "\nuntil %" PRIu64 "\nsent %" PRIu64
		  "\nfrom %" PRId64 "\nto %" PRId64 "\n",
	    cursor->selection, cursor->generation, cursor->entry,
	    cursor->records, cursor->until, cursor->sent, cursor->from_ns,
	    cursor->to_ns);

	if (whole_file_write(&file, bytes, (uint32_t)n) != 0)
		return err_set(
		    err, "the cursor %.300s: %s", path, strerror(errno));
	return 0;
}
