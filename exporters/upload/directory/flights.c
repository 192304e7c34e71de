/*
 * upload_flights - track sent files until they are archived.
 * SPDX-License-Identifier: MIT
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exporters/upload/directory/directory_private.h"
#include "proto/base/memory.h"

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

int
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

int
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

int
upload_flight_await(
    struct upload_directory *u, struct publisher *session, struct err *err)
{
	if (publisher_await(session, publisher_taken(session), err) != 0)
		return -1;
	return archive_acked(u, err);
}

int
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

void
upload_flight_drop(struct upload_directory *u)
{
	while (u->flights > 0)
		drop_first(u);
	for (uint32_t i = 0; i < UPLOAD_SESSIONS; i++)
		publisher_close(&u->session[i]);
}
