/*
 * own_phase - phases without a model: events of which the name says that
 * something starts or ends (poolscope-model(5), "PHASES WITHOUT A MODEL").
 *
 * The id of such a phase is "none:NAME", where NAME is the event without its
 * ending.  All else that a model would say follows from what its events have
 * had: these are its marks, which the list of its parts keeps (part_list.h).
 * Marks are true of a set of events, and only grow, so the order of arrival
 * does not matter.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_OWN_PHASE_H
#define AGGREGATOR_PHASES_OWN_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/model/model.h"

enum {
	OWN_PHASE_NAMES_MAX = 256, /* of a partition */
	OWN_PHASE_KEYS = 4,        /* attributes that may be the key */
	OWN_PHASE_MARKS = (1 << 18) - 1,
	OWN_PHASE_VALUE_BYTES = 255,
	/* A phase with more events keeps its key; with more than the second
	 * number one by which a start and an end pair. */
	OWN_PHASE_EVENTS = 64 << 10,
	OWN_PHASE_PAIRED_EVENTS = 4 << 10,
};

/* What the name of an event says. */
struct own_phase_event {
	struct text id;
	char room[NAME_BYTES_MAX + sizeof(RECORD_NO_MODEL)]; /* of the id */
	bool is_end;
	uint32_t mark; /* its ending, one bit */
};
/* False: it neither starts nor ends anything.  The id is longer than
 * NAME_BYTES_MAX when it cannot be that of a phase, and then not complete. */
bool own_phase_of(
    struct own_phase_event *event, struct text source, struct text name);

/* Is this the id of a phase without a model? */
bool own_phase_is(struct text id);

/* The event that starts, or ends, the phase with these marks: of several, the
 * first by which it is known.  `room` has 2 * NAME_BYTES_MAX bytes. */
struct text own_phase_event_text(
    struct text id, uint32_t marks, bool is_end, char *room);

/* ---- the key ---- */

/* The numbers of the names of the keys, and of "message", in a partition. */
struct own_phase_words {
	uint32_t partition;
	uint32_t number[OWN_PHASE_KEYS + 1];
};
void own_phase_words_find(
    struct own_phase_words *words, struct db_txn *txn, uint32_t partition);

/* The values that an event has for the keys; empty: none. */
struct own_phase_values {
	struct text at[OWN_PHASE_KEYS];
	char room[OWN_PHASE_KEYS][OWN_PHASE_VALUE_BYTES];
};
/* `attributes` is the body of a stored event; the values are views of both. */
void own_phase_get_values(struct own_phase_values *values,
    const struct own_phase_words *words, struct text attributes);
/* The marks of an event with these values, without its ending. */
uint32_t own_phase_carried(const struct own_phase_values *values, bool is_end);
/* The mark that a start and a later end of a node had the same value of it. */
uint32_t own_phase_shared(unsigned key);
/* The first key with that mark.  If there is none, the first that starts and
 * ends have had, or that one kind has had when nothing was heard of the other;
 * OWN_PHASE_KEYS: none. */
unsigned own_phase_key(uint32_t marks);
/* The keys, one bit each, of which such a start and end would change that, when
 * one of them has just carried the keys with the marks `carried`; none when the
 * phase has too many events stored. */
uint32_t own_phase_candidates(
    uint32_t marks, uint32_t carried, uint64_t events);

#endif
