/*
 * critical_rules - what a model says of the order of phases.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_RULES_H
#define EXPORTERS_CRITICAL_RULES_H

#include "exporters/phases/read.h"

enum critical_wait {
	CRITICAL_AFTER = 1,
	CRITICAL_AFTER_ANY = 2,
	CRITICAL_END_AFTER = 4,
};

/* Of one model; phases by their numbers in phases_names, which has all. */
struct critical_rules {
	uint32_t phases;
	uint8_t *waits;    /* [waiting][other], bits of enum critical_wait */
	uint32_t *places;  /* 0: any number */
	char **bytes;      /* by phase: the attribute; NULL: none */
	bool *is_required; /* by phase */
	uint32_t required; /* how many */
	uint32_t first; /* the one that begins a node of the model, or phases */
	bool any;       /* is there a word of waiting, or of places? */
};

/* Clear it in any case. */
int critical_rules_read(struct critical_rules *rules,
    const struct phases_names *names, struct text model, struct source *source,
    struct text partition, struct err *err);
void critical_rules_clear(struct critical_rules *rules);

static inline bool
critical_rules_say(const struct critical_rules *rules, uint32_t phase,
    enum critical_wait wait, uint32_t other)
{
	return (rules->waits[(size_t)phase * rules->phases + other] & wait) !=
	       0;
}

#endif
