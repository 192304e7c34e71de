/*
 * gate_audit - who was refused what: counted, and told once a minute.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "proto/clock.h"
#include "proto/gate_private.h"
#include "proto/log.h"

#define TELL_NS (60 * NS_PER_SECOND)

enum { QUOTED_BYTES = 300 };

static void
tell(const struct gate *gate, const struct gate_audit *audit,
    struct text partition, struct text node)
{
	const struct allow_entry *entry = allow_find(gate->allow, audit->key);
	char in_partition[QUOTED_BYTES], as_node[QUOTED_BYTES];
	char key[Z85_CHARACTERS];

	z85_encode(key, audit->key);
	log_warn("forbidden (%s): key=%.*s public=%.*s partition=%s node=%s "
		 "times=%llu",
	    gate_verdict_name(audit->verdict),
	    entry == NULL ? 1 : (int)entry->name.bytes,
	    entry == NULL ? "-" : entry->name.at, (int)sizeof(key), key,
	    text_quote(in_partition, sizeof(in_partition), partition),
	    text_quote(as_node, sizeof(as_node), node),
	    (unsigned long long)audit->untold);
}

static struct gate_audit *
find(struct gate *gate, const struct port_peer *peer, enum gate_verdict verdict)
{
	struct gate_audit *oldest = gate->audit;

	for (uint32_t i = 0; i < GATE_AUDITS; i++) {
		struct gate_audit *audit = &gate->audit[i];

		if (audit->verdict == verdict &&
		    memcmp(audit->key, peer->key, sizeof(peer->key)) == 0)
			return audit;
		if (audit->told_ns < oldest->told_ns)
			oldest = audit;
	}
	if (oldest->verdict != GATE_OK &&
	    clock_monotonic_ns() - oldest->told_ns < TELL_NS)
		return NULL;
	*oldest = (struct gate_audit){ .verdict = verdict };
	memcpy(oldest->key, peer->key, sizeof(oldest->key));
	return oldest;
}

void
gate_refused(struct gate *gate, const struct port_peer *peer,
    enum gate_verdict verdict, struct text partition, struct text node)
{
	int64_t now_ns = clock_monotonic_ns();
	struct gate_audit *audit;

	gate->counters.forbidden[verdict]++;
	/* More keys than there are places in one minute: only counted. */
	audit = find(gate, peer, verdict);
	if (audit == NULL)
		return;
	audit->untold++;
	if (audit->told_ns != 0 && now_ns - audit->told_ns < TELL_NS)
		return;
	tell(gate, audit, partition, node);
	audit->told_ns = now_ns;
	audit->untold = 0;
}
