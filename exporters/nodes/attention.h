/*
 * attention - why a node needs attention.
 *
 * There is no other definition: `nodes`, `top`, `status`, `stats metrics`, the
 * alerts on them, the page and the report count and name what is judged here.
 * A node that is late needs none yet, and one that has stopped or was retired
 * none any longer; what is wrong with the store is in the table of counters
 * (proto/counter).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_ATTENTION_H
#define EXPORTERS_NODES_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

/* The worst first. */
enum attention {
	ATTENTION_GONE,   /* not heard for an hour */
	ATTENTION_SILENT, /* not heard for 10 minutes */
	ATTENTION_PHASE,  /* in a phase for longer than usual (usual.h) */
	ATTENTION_START, /* not ready, and its start is incomplete (starts.h) */
	ATTENTION_LOST,  /* records of it were lost or refused since a day */
	ATTENTION_SPOOL, /* more than 16 MiB are not sent */
	ATTENTION_CLOCK, /* off by more than 0.1 s */
	ATTENTIONS
};
/* "gone", "silent", "phase", "start", "lost", "spool", "clock" */
extern const char *const attention_words[ATTENTIONS];

struct attention_facts {
	bool is_retired, is_silent, is_gone, is_long, is_incomplete, has_lost;
	double spool, clock_ns; /* NaN: unknown */
};
/* Returns bits 1 << enum attention. */
unsigned attention_judge(const struct attention_facts *node);

/* In the order in which nodes are looked at: the greatest first; 0: none. */
unsigned attention_weight(unsigned attention);

/* The bits as a sentence, such as "not heard; load open 18.0 min, usual 6.00
 * s", or "".  The phase, how long it is open and how long it usually takes, in
 * seconds, are read only with ATTENTION_PHASE. */
enum { ATTENTION_TEXT_BYTES = 240 };
struct attention_phase {
	struct text name; /* without its model */
	double open, usual;
};
const char *attention_text(char to[static ATTENTION_TEXT_BYTES],
    unsigned attention, const struct attention_phase *phase);

/* How many nodes need it for each reason, such as "1 gone, 2 silent". */
void attention_counts(
    char *to, size_t room, const uint64_t counts[static ATTENTIONS]);

#endif
