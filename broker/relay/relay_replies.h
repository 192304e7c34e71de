/*
 * relay_replies - the frames that the broker writes itself.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_RELAY_REPLIES_H
#define BROKER_RELAY_RELAY_REPLIES_H

#include <stddef.h>
#include <stdint.h>

#include "broker/relay/relay.h"
#include "proto/wire/wire.h"

enum {
	RELAY_REPLY_NACK_BYTES = WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX,
	RELAY_REPLY_STATUS_BYTES = 32 << 10,
};

/* Write a nack.  It repeats the fields by which the sender knows its message.
 * `retry_ms` is for WIRE_NACK_BUSY.  Returns the length of the frame. */
size_t relay_reply_nack(unsigned char to[static RELAY_REPLY_NACK_BYTES],
    const struct wire_header *question, enum wire_reason reason,
    uint32_t retry_ms, struct text detail);

/* Write a page of entities of kind "status": "broker", and "broker:ENDPOINT"
 * for every aggregator.  `limited`: for a reader of some partitions; what all
 * of them add to is left out. */
size_t relay_reply_status(unsigned char to[static RELAY_REPLY_STATUS_BYTES],
    const struct wire_header *question, const struct relay *relay,
    bool limited);

#endif
