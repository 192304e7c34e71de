/*
 * put_check - checks a submission from a packet or a file.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/put_check.h"

#include <unistd.h>

#include "proto/metric/metric_groups.h"

enum wire_fault
put_check(struct text frame, struct wire_room *room, struct wire_header *header,
    struct text *plain)
{
	struct text body;
	enum wire_fault fault = wire_open(frame, header, &body);

	if (fault != WIRE_OK)
		return fault;
	if (header->type != WIRE_PUT)
		return WIRE_TYPE;
	if (header->codec != WIRE_NONE)
		return WIRE_CODEC;
	return wire_body(header, body, room, plain);
}

/* The metric group that the record defines or fills; empty: none. */
static struct text
group_of(const struct record *record)
{
	static const struct text none = { "", 0 };

	if (record->kind == RECORD_SAMPLE)
		return record->source;
	return record->kind == RECORD_ENTITY &&
		       text_equal(record->source, text_of("set"))
		   ? record->name
		   : none;
}

int
put_check_user(uid_t uid, const struct wire_header *header, struct text plain,
    struct err *err)
{
	struct wire_cursor cursor;
	struct record record;
	char shown[64];

	if (uid == geteuid() || uid == 0)
		return 0;
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		struct text group = group_of(&record);

		if (metric_group_find(group) != NULL)
			return err_set(err,
			    "metric group %s is the agent's own: only its user "
			    "and root can define or fill it; use another name, "
			    "such as app/%s",
			    text_quote(shown, sizeof(shown), group), shown);
	}
	return 0;
}
