/*
 * put_check - checks a submission from a packet or a file.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/put_check.h"

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
