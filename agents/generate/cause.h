/*
 * generate_cause - what slows a node of a generated pool, on purpose.
 *
 * A cause is KIND:NODE:FACTOR: the large image takes this node FACTOR times as
 * long as without it, for the reason KIND.  "none" is no cause.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_CAUSE_H
#define AGENTS_GENERATE_CAUSE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum generate_cause_kind {
	GENERATE_CAUSE_NONE,
	GENERATE_CAUSE_CLOCK,   /* its clock jumps ahead during the pull */
	GENERATE_CAUSE_LATE,    /* it begins after all others */
	GENERATE_CAUSE_PLACES,  /* others have all places */
	GENERATE_CAUSE_SIZE,    /* its image is larger */
	GENERATE_CAUSE_MEMORY,  /* it reads its pages back again and again */
	GENERATE_CAUSE_STEAL,   /* its processors serve other machines */
	GENERATE_CAUSE_CPU,     /* its processors serve other programs */
	GENERATE_CAUSE_DISK,    /* its disk is slow */
	GENERATE_CAUSE_ERRORS,  /* packets are damaged, and sent again */
	GENERATE_CAUSE_NETWORK, /* data comes slowly, for no reason of its own
				 */
	GENERATE_CAUSE_HIDDEN,  /* loading takes longer; nothing shows it */
	GENERATE_CAUSE_KINDS
};

enum {
	GENERATE_CAUSE_LEAST = 1100, /* factors, in thousandths */
	GENERATE_CAUSE_MOST = 100000,
	GENERATE_CAUSE_ONE = 1000,
};

struct generate_cause {
	enum generate_cause_kind kind;
	uint64_t node; /* from 1 */
	int64_t factor;
};

extern const char *const generate_cause_names[GENERATE_CAUSE_KINDS];

/* "disk:17:3", "disk:17:x2.5" or "none". */
int generate_cause_parse(
    struct generate_cause *cause, struct text from, struct err *err);

#endif
