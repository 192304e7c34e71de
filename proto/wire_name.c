/*
 * wire_name - the words for faults, reasons and types.
 * SPDX-License-Identifier: MIT
 */
#include "proto/wire.h"

static const char *
word(const char *const *words, size_t count, unsigned i)
{
	return i < count && words[i] ? words[i] : "unknown";
}

const char *
wire_fault_name(enum wire_fault fault)
{
	static const char *const words[WIRE_FAULTS] = {
		[WIRE_OK] = "ok",
		[WIRE_TRUNCATED] = "truncated",
		[WIRE_MAGIC] = "magic",
		[WIRE_OTHER_VERSION] = "version",
		[WIRE_TYPE] = "type",
		[WIRE_LENGTH] = "length",
		[WIRE_CHECKSUM] = "checksum",
		[WIRE_HEADER] = "header",
		[WIRE_NAME] = "name",
		[WIRE_CODEC] = "codec",
		[WIRE_DEPTH] = "depth",
		[WIRE_RECORD] = "record",
		[WIRE_LIMIT] = "limit",
		[WIRE_COUNT] = "count",
	};

	return word(words, WIRE_FAULTS, fault);
}

const char *
wire_reason_name(enum wire_reason reason)
{
	static const char *const words[WIRE_REASONS] = {
		[WIRE_REASON_NONE] = "none",
		[WIRE_NACK_GAP] = "gap",
		[WIRE_NACK_BUSY] = "busy",
		[WIRE_NACK_OWNER] = "owner",
		[WIRE_NACK_FENCED] = "fenced",
		[WIRE_NACK_FORKED] = "forked",
		[WIRE_NACK_UNSUPPORTED] = "unsupported",
		[WIRE_NACK_FORBIDDEN] = "forbidden",
		[WIRE_NACK_MALFORMED] = "malformed",
		[WIRE_NACK_TOO_BIG] = "too-big",
		[WIRE_NACK_FULL] = "full",
		[WIRE_NACK_IO] = "io",
		[WIRE_GAP_DAMAGED] = "damaged",
		[WIRE_GAP_REFUSED] = "refused",
		[WIRE_GAP_RESTORED] = "restored",
	};

	return word(words, WIRE_REASONS, reason);
}

const char *
wire_type_name(enum wire_type type)
{
	static const char *const words[] = {
		[WIRE_HELLO] = "hello",
		[WIRE_WELCOME] = "welcome",
		[WIRE_BATCH] = "batch",
		[WIRE_ACK] = "ack",
		[WIRE_NACK] = "nack",
		[WIRE_BYE] = "bye",
		[WIRE_GAP] = "gap",
		[WIRE_SELECT] = "select",
		[WIRE_PAGE] = "page",
		[WIRE_STATS] = "stats",
		[WIRE_STATUS] = "status",
		[WIRE_PUT] = "put",
		[WIRE_FOLLOW] = "follow",
	};

	return word(words, sizeof(words) / sizeof(words[0]), type);
}
