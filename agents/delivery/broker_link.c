/*
 * broker_link - the connection of a sender to one of several brokers.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/broker_link.h"

#include "proto/hash/hash.h"
#include "proto/os/log.h"

enum { SILENCES = 3 }; /* time-outs before it reconnects */

int
broker_link_check(const struct opt_list *given, struct err *err)
{
	if (given->count > FAILOVER_ENDPOINTS_MAX)
		return err_set(err,
		    "more than %d brokers: remove the most distant ones",
		    FAILOVER_ENDPOINTS_MAX);
	return 0;
}

int
broker_link_choose(struct broker_link *broker_link,
    const struct opt_list *given, const struct client_key_values *key,
    struct err *err)
{
	struct opt_list *list = &broker_link->list;
	uint64_t seed;

	*broker_link = (struct broker_link){ .key = key };
	if (given != NULL)
		*list = *given;
	if (broker_link_check(list, err) != 0)
		return -1;
	if (list->count == 0) {
		if (instance_endpoint(broker_link->own, "broker", err) != 0)
			return -1;
		list->at[list->count++] = broker_link->own;
	}
	hash_random_bytes(&seed, sizeof(seed));
	failover_init(&broker_link->failover, list->count, seed);
	return 0;
}

int
broker_link_connect(const struct broker_link *broker_link, struct zsock **zsock,
    const struct zsock_options *options, struct err *err)
{
	const struct opt_list *list = &broker_link->list;
	struct zsock_options shown = *options;

	for (uint32_t i = 0; i < list->count; i++)
		if (client_key_load(&shown, broker_link->key, list->at[i],
			"agent", err) != 0)
			return -1;
	if (zsock_open(zsock, &shown, err) != 0)
		return -1;
	return zsock_connect(*zsock, list->at[0], err);
}

void
broker_link_unread(struct broker_link *broker_link, const struct zsock *zsock,
    struct text frame)
{
	unsigned version = wire_version(frame);

	if (version != WIRE_VERSION && log_is_due(&broker_link->warned_ns))
		log_warn("%s answers in version %u of the wire protocol, this "
			 "program supports version %d: records wait until both "
			 "have the same",
		    zsock_endpoint(zsock), version, WIRE_VERSION);
}

void
broker_link_answered(struct broker_link *broker_link, const struct zsock *zsock,
    const struct sender *sender)
{
	const struct failover *failover = &broker_link->failover;

	broker_link->timeouts = sender_counters(sender)->timeouts;
	broker_link->heard = true;
	if (failover_answered(&broker_link->failover))
		log_info("%s answers (%u of %u)", zsock_endpoint(zsock),
		    failover->at + 1, failover->endpoints);
}

static void
connect_to_current(
    struct broker_link *broker_link, struct zsock *zsock, struct sender *sender)
{
	const char *endpoint = broker_link->list.at[broker_link->failover.at];
	struct err err = { 0 };

	broker_link->timeouts = sender_counters(sender)->timeouts;
	broker_link->heard = false;
	if (zsock_reconnect_to(zsock, endpoint, &err) != 0)
		log_warn("%s", err.text);
	sender_reconnected(sender);
}

static bool
is_in_trouble(const struct broker_link *broker_link, const struct zsock *zsock,
    const struct sender *sender)
{
	return zsock_counters(zsock)->peers == 0 ||
	       sender_counters(sender)->timeouts > broker_link->timeouts ||
	       (!broker_link->heard && sender_in_flight(sender) > 0);
}

int64_t
broker_link_poll(struct broker_link *broker_link, struct zsock *zsock,
    struct sender *sender, int64_t now_ns)
{
	struct failover *failover = &broker_link->failover;
	const char *from = broker_link->list.at[failover->at];
	bool connected = zsock_counters(zsock)->peers > 0;

	if (failover->endpoints < 2) {
		if (sender_counters(sender)->timeouts <
		    broker_link->timeouts + SILENCES)
			return 0;
		log_info("no answer from %s: reconnecting", from);
		connect_to_current(broker_link, zsock, sender);
		return 0;
	}
	if (failover_check(
		failover, is_in_trouble(broker_link, zsock, sender), now_ns)) {
		log_warn("%s %s: trying %s",
		    connected ? "no answer from" : "no connection to", from,
		    broker_link->list.at[failover->at]);
		connect_to_current(broker_link, zsock, sender);
		failover_check(failover, true, now_ns);
	}
	return failover->until_ns;
}

bool
broker_link_renew_key(
    struct broker_link *broker_link, struct zsock *zsock, struct sender *sender)
{
	struct err err = { 0 };

	if (!zsock_key_has_changed(zsock))
		return false;
	log_info(
	    "the key has changed: reconnecting to %s", zsock_endpoint(zsock));
	broker_link->timeouts = sender_counters(sender)->timeouts;
	broker_link->heard = false;
	if (zsock_use_key(zsock, &err) != 0)
		log_warn("%s", err.text);
	sender_reconnected(sender);
	return true;
}

bool
broker_link_skip(
    struct broker_link *broker_link, struct zsock *zsock, struct sender *sender)
{
	if (!failover_skip(&broker_link->failover))
		return false;
	connect_to_current(broker_link, zsock, sender);
	return true;
}
