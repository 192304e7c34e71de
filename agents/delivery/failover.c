/*
 * failover - selects one of several brokers.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/failover.h"

#include "proto/hash/prng.h"
#include "proto/os/clock.h"

enum { DOUBLINGS_MAX = 5 };

void
failover_init(struct failover *failover, uint32_t endpoints, uint64_t seed)
{
	*failover = (struct failover){ .endpoints = endpoints, .random = seed };
}

static int64_t
retry_ns(struct failover *failover)
{
	uint32_t rounds = failover->unanswered / failover->endpoints;
	int64_t base_ns;

	if (rounds > DOUBLINGS_MAX)
		rounds = DOUBLINGS_MAX;
	base_ns = NS_PER_SECOND << rounds;
	return prng_between(&failover->random, base_ns, 2 * base_ns - 1);
}

bool
failover_answered(struct failover *failover)
{
	bool first = failover->unanswered > 0;

	failover->unanswered = 0;
	failover->until_ns = 0;
	return first;
}

static void
move(struct failover *failover)
{
	failover->until_ns = 0;
	failover->at = (failover->at + 1) % failover->endpoints;
	failover->unanswered++;
	failover->moves++;
}

bool
failover_skip(struct failover *failover)
{
	if (failover->unanswered + 1 >= failover->endpoints)
		return false;
	move(failover);
	return true;
}

bool
failover_check(struct failover *failover, bool trouble, int64_t now_ns)
{
	if (!trouble || failover->endpoints < 2) {
		failover->until_ns = 0;
		return false;
	}
	if (failover->until_ns == 0)
		failover->until_ns = now_ns + retry_ns(failover);
	if (now_ns < failover->until_ns)
		return false;
	move(failover);
	return true;
}
