/*
 * stragglers_why - what a phase that took too long waited for.
 *
 * A cause counts if the node differs from its peers, each in its own time of
 * the same phase, by more than 3.5 robust spreads and by more than a floor that
 * each number has.  It is ranked by the seconds that it explains: for what the
 * kernel counts as waiting that is the share of the time beyond the peers'
 * share, times the length.  It is named from a quarter of the lost time on.
 *
 * A slow disk pushes back and lets data come slowly, and swapping looks like a
 * slow disk.  So what waiting for memory explains is taken from the disk: where
 * pages come back again and again all that waited for the disk or kept it busy
 * is due to memory.  That data came slowly is a cause only where nothing else
 * differs, and waiting for the disk was measured.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_WHY_H
#define EXPORTERS_STRAGGLERS_WHY_H

#include "exporters/stragglers/measured.h"
#include "exporters/stragglers/straggler.h"

enum { WHY_PEERS_MIN = 3 };

/* What is known without samples. */
struct why_known {
	/* Seconds in which it waited for a place (place_waits.h), the median of
	 * those of its peers, and the node that had the last one. */
	double waited, peers_waited;
	struct text holder;
	/* What its events say that it moved; NaN: nothing. */
	double bytes, peers_bytes, peers_rate;
};

/* Set the causes of a straggler, which is a phase; `own` is its window, of
 * `peers` those are taken that were measured. */
void why_explain(struct straggler *straggler, const struct measured *measured,
    uint32_t own, const uint32_t *peers, uint32_t peer_count,
    const struct why_known *known, struct string_table *texts);
/* Set one cause, of which no number is known; `clause` lives on. */
void why_explain_by(
    struct straggler *straggler, enum straggler_kind kind, const char *clause);
/* That a node began late is its own cause. */
void why_explain_begin(struct straggler *straggler, struct string_table *texts);

#endif
