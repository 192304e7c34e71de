/*
 * file_put - upload a file to a storage service.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/file_put.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/http/http.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

uint64_t
file_part_bytes(uint32_t number)
{
	return (uint64_t)FILE_PART_BYTES << (number - 1) / FILE_PARTS_PER_SIZE;
}

int
file_parts_open(struct file_parts *parts, int fd, int64_t bytes,
    const char *name, struct err *err)
{
	*parts = (struct file_parts){ .fd = fd, .bytes = bytes };
	if (!opt_common_values.quiet && progress_is_wanted())
		parts->name = name;
	parts->progress = (struct progress){
		.total = bytes > 0 ? (uint64_t)bytes : 0,
		.began_ns = clock_monotonic_ns(),
		.unit = "MiB",
	};
	if (fstat(fd, &parts->before) != 0)
		return err_set(err, "%s", strerror(errno));
	if (md5_open(&parts->part_sum, err) != 0 ||
	    md5_open(&parts->whole_sum, err) != 0)
		return -1;
	return 0;
}

void
file_parts_close(struct file_parts *parts)
{
	if (parts->name != NULL)
		progress_clear();
	md5_close(&parts->part_sum);
	md5_close(&parts->whole_sum);
	free(parts->buffer);
	parts->buffer = NULL;
}

static void
show(struct file_parts *parts)
{
	if (parts->name == NULL)
		return;
	parts->progress.done = parts->done;
	parts->progress.rows = parts->done >> 20;
	parts->progress.now_ns = clock_monotonic_ns();
	progress_show(parts->name, &parts->progress);
}

/* Read one byte more than the part, to know whether it is the last. */
static int
fill(struct file_parts *parts, struct err *err)
{
	size_t wanted = file_part_bytes(parts->number) + 1;

	if (parts->room < wanted) {
		parts->buffer = memory_resize(parts->buffer, wanted);
		parts->room = wanted;
	}
	while (parts->used < wanted && !parts->ended) {
		ssize_t n = read(parts->fd, parts->buffer + parts->used,
		    wanted - parts->used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, "%s", strerror(errno));
		parts->used += (size_t)n;
		parts->ended = n == 0;
	}
	return 0;
}

static int
check_unchanged(const struct file_parts *parts, struct err *err)
{
	struct stat now;

	if (!S_ISREG(parts->before.st_mode))
		return 0;
	if (fstat(parts->fd, &now) != 0 ||
	    now.st_size != parts->before.st_size ||
	    now.st_mtim.tv_sec != parts->before.st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != parts->before.st_mtim.tv_nsec ||
	    (parts->bytes >= 0 && parts->done != (uint64_t)parts->bytes))
		return err_set(err, "it changed while it was read");
	return 0;
}

/* Drop the returned part; the byte read beyond it begins the next part. */
static void
drop_given(struct file_parts *parts)
{
	parts->used -= parts->given;
	if (parts->used > 0)
		memmove(
		    parts->buffer, parts->buffer + parts->given, parts->used);
	parts->given = 0;
}

int
file_parts_next(
    struct file_parts *parts, struct file_part *part, struct err *err)
{
	size_t most;

	show(parts);
	if (parts->number > 0 && parts->ended && parts->used == parts->given)
		return 0;
	drop_given(parts);
	if (++parts->number > FILE_PARTS_MAX)
		return err_set(err,
		    "it needs more than the %d parts that an upload may have",
		    FILE_PARTS_MAX);
	if (fill(parts, err) != 0)
		return -1;
	most = file_part_bytes(parts->number);
	parts->given = parts->used < most ? parts->used : most;
	*part = (struct file_part){
		.number = parts->number,
		.body = { parts->buffer, (uint32_t)parts->given },
		.last = parts->ended && parts->used == parts->given,
	};
	md5_add(parts->part_sum, part->body);
	md5_add(parts->whole_sum, part->body);
	md5_end(parts->part_sum, part->md5);
	parts->done += parts->given;
	if (!part->last)
		return 1;
	md5_end(parts->whole_sum, parts->md5);
	return check_unchanged(parts, err) == 0 ? 1 : -1;
}

/* The number of parts, and how many of them the service already stored. */
struct counts {
	uint32_t parts, there;
};

static int
put_parts(const struct file_put *put, struct file_parts *parts,
    struct file_part *part, struct counts *counts, struct err *err)
{
	int rc;

	if (put->begin(put->arg, err) != 0)
		return -1;
	do {
		bool there = false;

		if (put->put_part(put->arg, part, &there, err) != 0)
			return -1;
		log_debug("%s: part %u %s there", put->name, part->number,
		    there ? "was" : "is");
		counts->parts++;
		counts->there += there;
		rc = file_parts_next(parts, part, err);
	} while (rc > 0);
	return rc == 0 ? put->finish(put->arg, parts, err) : -1;
}

/* Decide what happens to the parts uploaded before a failure. */
static void
give_up(const struct file_put *put, const struct counts *counts)
{
	if (put->is_lost(put->arg)) {
		if (counts->parts > 0)
			log_warn("%s: %u uploaded parts remain on the service; "
				 "repeat the upload to continue after them",
			    put->name, counts->parts);
	} else if (put->abort != NULL) {
		put->abort(put->arg);
	}
}

int
file_put(const struct file_put *put, int fd, int64_t bytes, struct err *err)
{
	struct counts counts = { 0, 0 };
	struct file_parts parts;
	struct file_part part;
	bool many = false;
	int rc;

	rc = file_parts_open(&parts, fd, bytes, put->name, err);
	if (rc == 0 && file_parts_next(&parts, &part, err) < 0)
		rc = -1;
	if (rc == 0) {
		many = !part.last;
		rc = many ? put_parts(put, &parts, &part, &counts, err)
			  : put->put_whole(put->arg, &part, err);
	}
	file_parts_close(&parts);
	if (rc != 0 && many)
		give_up(put, &counts);
	if (rc == 0 && !put->dry)
		log_info("%s: %" PRIu64
			 " bytes, %u parts, %u of them already uploaded",
		    put->name, parts.done, many ? counts.parts : 1,
		    counts.there);
	return rc;
}
