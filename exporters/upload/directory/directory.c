/*
 * upload_directory - upload the files of a directory, then archive them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/directory/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/results/publish.h"
#include "exporters/upload/directory/directory_private.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

#define SHOW_NS (NS_PER_SECOND / 10)

/* ---- messages ---- */

void
upload_directory_report(struct upload_directory *u,
    const struct inbox_file *file, bool bad, const char *what)
{
	char name[4 * NAME_BYTES_MAX];
	bool was_bad;

	if (reported_files_has(u->reported_files, file, &was_bad) &&
	    (was_bad || !bad))
		return;
	reported_files_add(u->reported_files, file, bad);
	if (u->options.progress)
		progress_clear();
	fprintf(stderr, "%s/%s: %s\n", u->options.data->path,
	    text_quote(name, sizeof(name), text_of(file->name)), what);
}

void
upload_directory_show(struct upload_directory *u)
{
	if (!u->options.progress)
		return;
	u->bar.now_ns = clock_monotonic_ns();
	if (u->bar.now_ns - u->shown_ns < SHOW_NS)
		return;
	u->shown_ns = u->bar.now_ns;
	u->bar.rows = u->counters.entries;
	progress_show("results", &u->bar);
}

int
upload_directory_count_failure(
    uint32_t *failures, const char *what, struct err *err)
{
	if (++*failures < UPLOAD_FAILURES_MAX)
		return 0;
	return err_set(err, "%s three times in a row; giving up", what);
}

/* ---- bad files ---- */

static int
open_refused(struct upload_directory *u, struct err *err)
{
	int data = u->options.data->fd;

	if (u->refused.fd >= 0)
		return 0;
	if (mkdirat(data, u->refused.path, 0777) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", u->refused.path, strerror(errno));
	u->refused.fd = openat(data, u->refused.path,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u->refused.fd < 0)
		return err_set(err, "%s: %s", u->refused.path, strerror(errno));
	return 0;
}

static void
refuse(struct upload_directory *u, const struct inbox_file *file, int fd,
    const char *why)
{
	char tag[TAG_BYTES];
	struct err err = { 0 };
	bool gone;

	u->counters.bad++;
	u->bar.done++;
	upload_directory_report(u, file, true, why);
	if (!u->options.refuse || u->options.dry)
		return;
	snprintf(tag, sizeof(tag), "%08" PRIx32,
	    (uint32_t)(file->mtime_ns ^ (int64_t)file->ino));
	if (open_refused(u, &err) != 0 ||
	    inbox_move(
		u->options.data, file, fd, &u->refused, tag, &gone, &err) != 0)
		fprintf(stderr, "%s/%s\n", u->options.data->path, err.text);
	else if (!gone)
		u->counters.refused++;
}

/* ---- one file ---- */

/* Returns 1 if it was read, 0 if it is still being written, -1 and `err`. */
static int
read_file(struct upload_directory *u, const struct inbox_file *file, int fd,
    struct text *text, struct err *err)
{
	size_t bytes = 0;
	ssize_t n;

	if (file->bytes > RESULT_FILE_BYTES_MAX)
		return err_set(
		    err, "it is larger than %d bytes", RESULT_FILE_BYTES_MAX);
	/* Ask for one byte more than the file has, to detect its end. */
	do {
		n = pread(
		    fd, u->text + bytes, file->bytes + 1 - bytes, (off_t)bytes);
		if (n < 0 && errno != EINTR)
			return err_set(err, "%s", strerror(errno));
		bytes += n > 0 ? (size_t)n : 0;
	} while (n != 0 && bytes < file->bytes);
	*text = (struct text){ u->text, (uint32_t)bytes };
	return bytes == file->bytes;
}

static void
show_dry(const struct upload_directory *u, const struct inbox_file *file,
    const struct result_file *result)
{
	char name[4 * NAME_BYTES_MAX], test[4 * NAME_BYTES_MAX];

	if (u->destinations.store)
		printf("store %s: %s, start_us %" PRId64 ", %" PRIu32
		       " entries\n",
		    text_quote(name, sizeof(name), text_of(file->name)),
		    text_quote(test, sizeof(test), result->test),
		    result->start_us, result->count);
}

/* Returns 1 if the file was submitted, 0 if it stays in place, -1 if the
 * upload cannot continue. */
static int
send_file(struct upload_directory *u, const struct inbox_file *file, int fd,
    struct publisher *session, const struct result_file *result,
    struct err *err)
{
	const char *target;
	bool fits = true, put = false;
	struct err why;

	if (u->options.dry)
		show_dry(u, file, result);
	else if (u->destinations.store &&
		 result_put(session, result, file->name, &u->stored_ns, &fits,
		     err) != 0) {
		if (fits)
			return -1;
		refuse(u, file, fd, err->text);
		return 0;
	}
	if (!u->destinations.others)
		return 1;
	if (destinations_put(
		&u->destinations, result, session, &put, &target, &why) != 0) {
		if (target == NULL)
			return err_set(err, "%s", why.text);
		err_prefix(&why, "%s", target);
		u->counters.left++;
		u->counters.failed++;
		upload_directory_report(u, file, false, why.text);
		/* Other targets have the file: the store must still record
		 * that. */
		if (put && upload_flight_await(u, session, err) != 0)
			return -1;
		return upload_directory_count_failure(
		    &u->send_failures, target, err);
	}
	u->send_failures = 0;
	/* Recorded before the next file is sent. */
	return put && upload_flight_await(u, session, err) != 0 ? -1 : 1;
}

static int
use_file(struct upload_directory *u, const struct inbox_file *file, int fd,
    bool *flies, struct err *err)
{
	struct publisher *session;
	struct result_file result;
	struct text text;
	struct err why = { 0 };
	int rc = read_file(u, file, fd, &text, &why);

	if (rc == 0) {
		u->counters.left++;
		return 0;
	}
	if (rc < 0 ||
	    result_file_read(&result, text, u->options.strict, &why) != 0) {
		refuse(u, file, fd, why.text);
		return 0;
	}
	if (result.bad > 0) {
		err_set(&why, "skipped %" PRIu32 " bad entries: %s", result.bad,
		    result.complaint.text);
		upload_directory_report(u, file, false, why.text);
		u->counters.bad_entries += result.bad;
	}
	rc = upload_flight_session(u, &session, err);
	if (rc == 0)
		rc = send_file(u, file, fd, session, &result, err);
	*flies = rc > 0 && !u->options.dry;
	if (*flies)
		rc = upload_flight_begin(u, file, fd, session, &result, err);
	result_file_clear(&result);
	return rc < 0 ? -1 : 0;
}

static bool
is_young(
    struct upload_directory *u, const struct inbox_file *file, int64_t now_ns)
{
	int64_t at_ns;

	/* A modification time in the future means nothing. */
	if (u->options.settle_ns == 0 || file->mtime_ns > now_ns)
		return false;
	if (__builtin_add_overflow(
		file->mtime_ns, u->options.settle_ns, &at_ns))
		at_ns = INT64_MAX;
	if (at_ns <= now_ns)
		return false;
	if (u->settled_ns == 0 || at_ns < u->settled_ns)
		u->settled_ns = at_ns;
	u->counters.left++;
	return true;
}

static int
visit(struct upload_directory *u, struct inbox_file *file, int64_t now_ns,
    struct err *err)
{
	struct err why = { 0 };
	bool bad, flies = false;
	int fd, rc = 0;

	if (is_young(u, file, now_ns) ||
	    (reported_files_has(u->reported_files, file, &bad) && bad))
		return 0;
	switch (inbox_take(u->options.data, file, &fd, &why)) {
	case INBOX_TAKEN:
		if (!is_young(u, file, now_ns))
			rc = use_file(u, file, fd, &flies, err);
		if (!flies)
			close(fd);
		break;
	case INBOX_FAILED:
		u->counters.bad +=
		    !reported_files_has(u->reported_files, file, &bad);
		upload_directory_report(u, file, false, why.text);
		break;
	case INBOX_LOCKED:
	case INBOX_GONE: u->bar.done++; break;
	}
	return rc;
}

/* ---- a pass ---- */

static int
visit_all(struct upload_directory *u, struct inbox_list *list, struct err *err)
{
	int64_t now_ns = clock_wall_ns();

	for (uint32_t i = 0; i < list->count; i++)
		if (visit(u, &list->at[i], now_ns, err) != 0)
			return -1;
	return upload_flight_end(u, err);
}

/* Where the next list begins: files may change during the pass. */
static void
remember_last(struct inbox_file *last, const struct inbox_list *list)
{
	free(last->name);
	*last = list->at[list->count - 1];
	last->name = memory_string(last->name);
}

int
upload_directory_pass(struct upload_directory *u, struct err *err)
{
	struct inbox_list list = { .at = NULL };
	struct inbox_file last = { .name = NULL };
	bool more;
	int rc;

	u->settled_ns = 0;
	u->move_failures = u->send_failures = 0;
	u->counters.left = u->counters.failed = 0;
	do {
		rc = inbox_list(u->options.data,
		    last.name != NULL ? &last : NULL, &list, err);
		u->bar = (struct progress){ .total = list.count,
			.began_ns = clock_monotonic_ns() };
		more = list.more;
		if (more)
			remember_last(&last, &list);
		if (rc == 0)
			rc = visit_all(u, &list, err);
		inbox_list_clear(&list);
	} while (rc == 0 && more);
	free(last.name);
	if (rc != 0)
		upload_flight_drop(u);
	if (u->options.progress)
		progress_clear();
	return rc;
}

/* ---- create and free ---- */

int
upload_directory_open(struct upload_directory **files,
    const struct upload_directory_options *options, struct err *err)
{
	struct upload_directory *u = memory_zero(1, sizeof(*u));

	*files = u;
	u->options = *options;
	u->refused = (struct inbox){ "refused", -1 };
	u->reported_files = reported_files_new();
	if (destinations_find(
		&u->destinations, options->to, options->targets, err) != 0)
		return -1;
	return destinations_open(&u->destinations, text_of(options->partition),
	    options->asked, options->http, err);
}

void
upload_directory_close(struct upload_directory **files)
{
	struct upload_directory *u = *files;

	if (u == NULL)
		return;
	upload_flight_drop(u);
	destinations_close(&u->destinations);
	inbox_close(&u->refused);
	reported_files_free(&u->reported_files);
	free(u);
	*files = NULL;
}

int64_t
upload_directory_settled_ns(const struct upload_directory *u)
{
	return u->settled_ns;
}

const struct upload_directory_counters *
upload_directory_counters(const struct upload_directory *u)
{
	return &u->counters;
}
