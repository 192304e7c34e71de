/*
 * file_put - upload a file to a storage service.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/common/file_put.h"

#include <inttypes.h>

#include "proto/http/http.h"
#include "proto/os/log.h"

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
