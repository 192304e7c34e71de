/*
 * upload_directory - upload the files of a directory, then archive them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/results/publish.h"
#include "exporters/results/read.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

#include <sodium.h>

int
destinations_find(struct destinations *destinations, const char *const *to,
    uint32_t count, struct err *err)
{
	*destinations = (struct destinations){ .count = count };
	for (uint32_t i = 0; i < count; i++) {
		struct destination *destination = &destinations->at[i];
		const char *rest;

		destination->name = to[i];
		destination->type =
		    target_find(to[i], TARGET_RESULTS, &rest, err);
		if (destination->type == NULL)
			return -1;
		if (destination->type != &target_store) {
			destinations->others = true;
			continue;
		}
		destinations->store = true;
		destination->type = NULL;
	}
	return 0;
}

static int
destinations_open(struct destinations *destinations, struct text partition,
    const struct source_options *asked, const struct http_options *how,
    struct err *err)
{
	destinations->asked = *asked;
	destinations->partition = partition;
	for (uint32_t i = 0; i < destinations->count; i++) {
		struct destination *destination = &destinations->at[i];
		const char *rest;

		if (destination->type == NULL)
			continue;
		target_find(destination->name, TARGET_RESULTS, &rest, err);
		if (destination->type->open(
			&destination->target, rest, how, err) != 0)
			return -1;
	}
	return 0;
}

static void
destinations_close(struct destinations *destinations)
{
	for (uint32_t i = 0; i < destinations->count; i++) {
		struct destination *destination = &destinations->at[i];

		if (destination->type != NULL && destination->target != NULL)
			destination->type->close(&destination->target);
	}
	source_close(&destinations->source);
}

static const char *
get_identity(const struct destination *destination)
{
	return destination->type == NULL
		   ? destination->name
		   : destination->type->identity(destination->target);
}

/* Query the store which targets have the file. */
static int
ask(struct destinations *destinations, char ids[][RESULT_UPLOAD_ID_BYTES],
    bool *has, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char pattern[RESULT_UPLOAD_ID_BYTES + 32];
	struct record record;
	int rc;

	if (destinations->source == NULL &&
	    source_open(&destinations->source, &destinations->asked, err) != 0)
		return -1;
	snprintf(pattern, sizeof(pattern), RESULT_KIND_UPLOAD ":%.*s/*",
	    2 * RESULT_DIGEST_BYTES, ids[0]);
	query.name = text_of(pattern);
	if (source_select(destinations->source, SOURCE_RECORDS,
		destinations->partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(destinations->source, &record, err)) > 0)
		for (uint32_t i = 0; i < destinations->count; i++)
			has[i] =
			    has[i] || text_equal(record.name, text_of(ids[i]));
	return rc;
}

/* Send the file to every target except the store that does not have it yet,
 * and record each success in `publish`; `*put` is set if a record was
 * submitted. With `publish` NULL nothing is queried or recorded.  Returns -1
 * if `*target` did not accept the file, or with `*target` NULL if the store
 * could not be queried. */
static int
destinations_put(struct destinations *destinations,
    const struct result_file *result, struct publisher *publisher, bool *put,
    const char **target, struct err *err)
{
	char ids[DESTINATIONS_MAX][RESULT_UPLOAD_ID_BYTES];
	bool has[DESTINATIONS_MAX] = { false };

	*target = NULL;
	for (uint32_t i = 0; i < destinations->count; i++)
		result_upload_id(
		    ids[i], result->digest, get_identity(&destinations->at[i]));
	if (publisher != NULL && ask(destinations, ids, has, err) != 0) {
		source_close(
		    &destinations->source); /* a new connection may succeed */
		return -1;
	}
	for (uint32_t i = 0; i < destinations->count; i++) {
		struct destination *destination = &destinations->at[i];

		if (destination->type == NULL || has[i])
			continue;
		if (destination->type->put_result(
			destination->target, result, err) != 0) {
			*target = destination->name;
			return -1;
		}
		if (publisher == NULL)
			continue;
		if (result_put_upload(publisher, ids[i], err) != 0)
			return -1;
		*put = true;
	}
	return 0;
}

enum {
	UPLOAD_FLIGHTS_MAX = 256,
	UPLOAD_SESSIONS = 3, /* sessions: one commits while another fills */
	UPLOAD_SESSION_FILES =
	    16, /* files per session before the next one takes over */
	/* A smaller number uses one session: an aggregator limits new sessions
	 * per hour. */
	UPLOAD_SESSIONS_FILES_MIN = 1000,
	TAG_BYTES = 9,
	UPLOAD_FAILURES_MAX =
	    3, /* consecutive failures that mean a fault outside the files */
};

/* A file that all targets but the store have, and that is sent to the store. */
struct flight {
	struct inbox_file file; /* owns its name */
	int fd;
	struct publisher *session;
	uint64_t upto; /* acknowledgement that it waits for on its session */
	uint32_t entries;
	char tag[TAG_BYTES];
};

struct upload_directory {
	struct upload_directory_options options;
	struct destinations destinations;
	struct publisher *session[UPLOAD_SESSIONS];
	uint32_t turn;
	struct inbox refused;
	struct reported_files *reported_files;
	struct flight flight[UPLOAD_FLIGHTS_MAX];
	uint32_t first, flights;
	uint32_t move_failures, send_failures; /* consecutive failures */
	int64_t settled_ns, stored_ns;
	struct progress bar;
	int64_t shown_ns;
	struct upload_directory_counters counters;
	char text[RESULT_FILE_BYTES_MAX + 1];
};

/* With more files, all are forgotten and reported again. */
enum { SLOTS = 1 << 17, SLOTS_USED_MAX = SLOTS / 2 };

struct slot {
	ino_t ino; /* 0: free */
	int64_t mtime_ns;
	uint64_t bytes;
	bool bad;
};

struct reported_files {
	uint32_t used;
	struct slot slot[SLOTS];
};

struct reported_files *
reported_files_new(void)
{
	struct reported_files *reported_files =
	    memory_zero(1, sizeof(*reported_files));

	return reported_files;
}

void
reported_files_free(struct reported_files **reported_files)
{
	free(*reported_files);
	*reported_files = NULL;
}

static uint32_t
find(const struct reported_files *reported_files, ino_t ino)
{
	uint32_t i =
	    (uint32_t)((uint64_t)ino * UINT64_C(0x9E3779B97F4A7C15) >> 40) %
	    SLOTS;

	while (reported_files->slot[i].ino != 0 &&
	       reported_files->slot[i].ino != ino)
		i = (i + 1) % SLOTS;
	return i;
}

void
reported_files_add(struct reported_files *reported_files,
    const struct inbox_file *file, bool bad)
{
	struct slot *slot;

	if (reported_files->used == SLOTS_USED_MAX)
		memset(reported_files, 0, sizeof(*reported_files));
	slot = &reported_files->slot[find(reported_files, file->ino)];
	reported_files->used += slot->ino == 0;
	*slot = (struct slot){ file->ino, file->mtime_ns, file->bytes, bad };
}

bool
reported_files_has(const struct reported_files *reported_files,
    const struct inbox_file *file, bool *bad)
{
	const struct slot *slot;

	*bad = false;
	if (reported_files->used == 0)
		return false; /* free without touching all of that memory */
	slot = &reported_files->slot[find(reported_files, file->ino)];
	*bad = slot->bad;
	return slot->ino != 0 && slot->mtime_ns == file->mtime_ns &&
	       slot->bytes == file->bytes;
}

#define SHOW_NS (NS_PER_SECOND / 10)

/* ---- messages ---- */

/* Report a file once per version.  `bad`: do not read this version again. */
static void
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

static void
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

/* Count a failure of a file; -1 if too many consecutive files failed. */
static int
upload_directory_count_failure(
    uint32_t *failures, const char *what, struct err *err)
{
	if (++*failures < UPLOAD_FAILURES_MAX)
		return 0;
	return err_set(err, "%s three times in a row; giving up", what);
}

/* ---- sent files, until they are archived ---- */

/* Every target and the store have the file: move it to the archive. */
static int
archive(struct upload_directory *u, struct flight *f, struct err *err)
{
	bool gone = false;
	struct err why;
	int rc = 0;

	if (inbox_move(u->options.data, &f->file, f->fd, u->options.archive,
		f->tag, &gone, &why) != 0) {
		u->counters.left++;
		u->counters.failed++;
		upload_directory_report(u, &f->file, false, why.text);
		rc = upload_directory_count_failure(&u->move_failures,
		    "cannot move a stored file to the archive", err);
	} else if (!gone) {
		u->move_failures = 0;
		u->counters.files++;
		u->counters.entries += f->entries;
	}
	u->bar.done++;
	return rc;
}

static void
drop_first(struct upload_directory *u)
{
	struct flight *f = &u->flight[u->first];

	close(f->fd);
	free(f->file.name);
	u->first = (u->first + 1) % UPLOAD_FLIGHTS_MAX;
	u->flights--;
}

/* Archive acknowledged files, oldest first. */
static int
archive_acked(struct upload_directory *u, struct err *err)
{
	while (u->flights > 0) {
		struct flight *f = &u->flight[u->first];
		int rc;

		if (f->upto > publisher_acked(f->session))
			break;
		rc = archive(u, f, err);
		drop_first(u);
		if (rc != 0)
			return -1;
	}
	upload_directory_show(u);
	return 0;
}

/* Get the current session; `*session` is NULL if nothing is sent to the store.
 */
static int
upload_flight_session(
    struct upload_directory *u, struct publisher **session, struct err *err)
{
	uint32_t sessions =
	    u->bar.total < UPLOAD_SESSIONS_FILES_MIN ? 1 : UPLOAD_SESSIONS;
	struct publisher **its =
	    &u->session[u->turn++ / UPLOAD_SESSION_FILES % sessions];

	*session = NULL;
	if (u->options.dry)
		return 0;
	if (*its == NULL &&
	    publisher_open(its, u->options.brokers, &u->options.asked->key,
		text_of(u->options.partition), text_of(u->options.node),
		u->options.timeout_ns, err) != 0)
		return -1;
	*session = *its;
	return 0;
}

/* Add a file that all targets have, or that is being sent over `session`. Takes
 * ownership of `fd`. */
static int
upload_flight_begin(struct upload_directory *u, const struct inbox_file *file,
    int fd, struct publisher *session, const struct result_file *result,
    struct err *err)
{
	struct flight *f =
	    &u->flight[(u->first + u->flights) % UPLOAD_FLIGHTS_MAX];

	*f = (struct flight){ .file = *file,
		.fd = fd,
		.session = session,
		.upto = publisher_taken(session),
		.entries = result->count };
	f->file.name = memory_string(file->name);
	sodium_bin2hex(f->tag, sizeof(f->tag), result->digest, TAG_BYTES / 2);
	u->flights++;
	if (u->flights == UPLOAD_FLIGHTS_MAX &&
	    publisher_await(u->flight[u->first].session,
		u->flight[u->first].upto, err) != 0)
		return -1;
	return archive_acked(u, err);
}

/* Wait until everything submitted to `session` is acknowledged. */
static int
upload_flight_await(
    struct upload_directory *u, struct publisher *session, struct err *err)
{
	if (publisher_await(session, publisher_taken(session), err) != 0)
		return -1;
	return archive_acked(u, err);
}

/* Wait until all files are archived. */
static int
upload_flight_end(struct upload_directory *u, struct err *err)
{
	/* Flush all sessions before waiting for the first. */
	for (uint32_t i = 0; i < UPLOAD_SESSIONS; i++)
		if (u->session[i] != NULL &&
		    publisher_await(u->session[i], 0, err) != 0)
			return -1;
	for (uint32_t i = 0; i < UPLOAD_SESSIONS; i++)
		if (u->session[i] != NULL &&
		    upload_flight_await(u, u->session[i], err) != 0)
			return -1;
	return 0;
}

/* Release the files in progress: another pass or process continues with
 * them. */
static void
upload_flight_drop(struct upload_directory *u)
{
	while (u->flights > 0)
		drop_first(u);
	for (uint32_t i = 0; i < UPLOAD_SESSIONS; i++)
		publisher_close(&u->session[i]);
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
