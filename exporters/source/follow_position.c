/*
 * follow_position - the position file of a follower.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/follow_position.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/format/output.h"

enum { TEXT_BYTES = 64 };

static int
no_position(struct err *err)
{
	return err_set(err, "is not a journal position; remove the file to "
			    "start with the oldest stored entry");
}

int
follow_position_parse(
    struct follow_position *follow_position, struct text text, struct err *err)
{
	const char *blank = memchr(text.at, ' ', text.bytes);
	struct text first = text, second;

	if (blank == NULL || text.at[text.bytes - 1] != '\n')
		return no_position(err);
	first.bytes = (uint32_t)(blank - text.at);
	second = (struct text){ blank + 1, text.bytes - first.bytes - 2 };
	if (number_parse_u64(first, &follow_position->generation, err) != 0 ||
	    number_parse_u64(second, &follow_position->entry, err) != 0)
		return no_position(err);
	return 0;
}

int
follow_position_read(
    struct follow_position *follow_position, const char *path, struct err *err)
{
	char text[TEXT_BYTES];
	size_t bytes;
	FILE *file = fopen(path, "re");
	int wrong;

	*follow_position = (struct follow_position){ 0 };
	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	bytes = fread(text, 1, sizeof(text), file);
	wrong = ferror(file) ? errno : 0;
	fclose(file);
	if (wrong != 0)
		return err_set(err, "%s: %s", path, strerror(wrong));
	if (follow_position_parse(follow_position,
		(struct text){ text, (uint32_t)bytes }, err) != 0)
		return err_prefix(err, "%s", path);
	return 0;
}

int
follow_position_write(const struct follow_position *follow_position,
    const char *path, struct err *err)
{
	struct output output;

	if (output_open(&output, path, err) != 0)
		return -1;
	fprintf(output.file, "%" PRIu64 " %" PRIu64 "\n",
	    follow_position->generation, follow_position->entry);
	return output_commit(&output, err);
}

int
follow_position_follow(const struct follow_position *follow_position,
    struct source *source, struct text partition,
    const struct wire_query *query, struct err *err)
{
	if (source_follow(
		source, partition, query, follow_position->entry, err) != 0)
		return -1;
	if (follow_position->generation == 0 ||
	    follow_position->generation == source_generation(source))
		return 0;
	return err_set(err,
	    "%s: the position belongs to another store, or to this store "
	    "before it was restored",
	    source_name(source));
}
