/*
 * broker_link - the line of a sender, to one of several brokers.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/broker_link.h"

#include "proto/auth/client_key.h"
#include "proto/base/hash.h"
#include "proto/os/log.h"

enum { SILENCES = 3 }; /* time-outs before the line is made anew */

int
brokers_check(const struct opt_list *given, struct err *err)
{
	if (given->count > FAILOVER_ENDPOINTS_MAX)
		return err_set(err,
		    "more than %d of them: leave out those that are furthest",
		    FAILOVER_ENDPOINTS_MAX);
	return 0;
}

int
brokers_choose(
    struct brokers *brokers, const struct opt_list *given, struct err *err)
{
	struct opt_list *list = &brokers->list;
	uint64_t seed;

	*brokers = (struct brokers){ .heard = false };
	if (given != NULL)
		*list = *given;
	if (brokers_check(list, err) != 0)
		return -1;
	if (list->count == 0) {
		if (instance_endpoint(brokers->own, "broker", err) != 0)
			return -1;
		list->at[list->count++] = brokers->own;
	}
	random_bytes(&seed, sizeof(seed));
	failover_init(&brokers->failover, list->count, seed);
	return 0;
}

int
brokers_connect(const struct brokers *brokers, struct port **port,
    const struct port_options *options, struct err *err)
{
	const struct opt_list *list = &brokers->list;
	struct port_options shown = *options;

	for (uint32_t i = 0; i < list->count; i++)
		if (pass_show(&shown, list->at[i], "agent", err) != 0)
			return -1;
	if (port_open(port, &shown, err) != 0)
		return -1;
	return port_connect(*port, list->at[0], err);
}

void
brokers_answered(
    struct brokers *brokers, const struct port *port, const struct ship *ship)
{
	const struct failover *failover = &brokers->failover;

	brokers->timeouts = ship_counters(ship)->timeouts;
	brokers->heard = true;
	if (failover_answered(&brokers->failover))
		log_info("%s answers (%u of %u)", port_endpoint(port),
		    failover->at + 1, failover->endpoints);
}

static void
connect_anew(struct brokers *brokers, struct port *port, struct ship *ship,
    int64_t now_ns)
{
	const char *endpoint = brokers->list.at[brokers->failover.at];
	struct err err = { "" };

	brokers->timeouts = ship_counters(ship)->timeouts;
	brokers->heard = false;
	if (port_move(port, endpoint, &err) != 0)
		log_warn("%s", err.text);
	ship_reconnected(ship, now_ns);
}

static bool
is_in_trouble(const struct brokers *brokers, const struct port *port,
    const struct ship *ship)
{
	return port_counters(port)->peers == 0 ||
	       ship_counters(ship)->timeouts > brokers->timeouts ||
	       (!brokers->heard && ship_in_flight(ship) > 0);
}

int64_t
brokers_look(struct brokers *brokers, struct port *port, struct ship *ship,
    int64_t now_ns)
{
	struct failover *failover = &brokers->failover;
	const char *from = brokers->list.at[failover->at];
	bool connected = port_counters(port)->peers > 0;

	if (failover->endpoints < 2) {
		if (ship_counters(ship)->timeouts <
		    brokers->timeouts + SILENCES)
			return 0;
		log_info("no answer from %s: connecting anew", from);
		connect_anew(brokers, port, ship, now_ns);
		return 0;
	}
	if (failover_look(
		failover, is_in_trouble(brokers, port, ship), now_ns)) {
		log_warn("%s %s: trying %s",
		    connected ? "no answer from" : "no connection to", from,
		    brokers->list.at[failover->at]);
		connect_anew(brokers, port, ship, now_ns);
		failover_look(failover, true, now_ns);
	}
	return failover->until_ns;
}

bool
brokers_show_key(struct brokers *brokers, struct port *port, struct ship *ship,
    int64_t now_ns)
{
	struct err err = { "" };

	if (!port_has_other_key(port))
		return false;
	log_info("another key: connecting anew to %s", port_endpoint(port));
	brokers->timeouts = ship_counters(ship)->timeouts;
	brokers->heard = false;
	if (port_show_key(port, &err) != 0)
		log_warn("%s", err.text);
	ship_reconnected(ship, now_ns);
	return true;
}

bool
brokers_pass_by(struct brokers *brokers, struct port *port, struct ship *ship,
    int64_t now_ns)
{
	if (!failover_pass_by(&brokers->failover))
		return false;
	connect_anew(brokers, port, ship, now_ns);
	return true;
}
