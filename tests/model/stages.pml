/*
 * stages - a pass sends records, then how far streams are, then what follows
 * from the records, then it is committed (proto/archive.md, "Writing").
 *
 * A head may be lost before each step, or stand still and wake up; what it was
 * about to send it sends then, if it has looked before.  A store is made of the
 * archive and takes over while it is lost or stands still.
 *
 * The assertions, in words: no stream is further than its records, and no
 * statistics have records that no stream has; after the takeover no row of the
 * old head has statistics of records that the new one has not.
 *
 * Each macro is a mistake that must be found (run.sh):
 *   STREAMS_FIRST  streams do not wait for the records
 *   TOGETHER       streams and what follows are sent at once
 *   LOOK_ONCE      there is no look between them
 * NEVER_TAKEN claims that nobody takes over.
 *
 * A number stands for the records up to it; replicas are in archive.pml.
 * SPDX-License-Identifier: MIT
 */
#ifndef N
#define N 3
#endif

byte made;              /* records that the first head has */
byte facts, streams;    /* in the archive: up to there */
byte stats;             /* of how many records statistics are */
byte committed;
byte base = 255;        /* what the second head took; 255: nothing yet */
bool is_still, is_lost; /* the first head */

#define FREE (!is_still && !is_lost)

inline judge() {
	assert(streams <= facts);
	assert(stats <= streams);
	assert(base == 255 || stats <= base)
}

active proctype first() {
	byte to;

	end: do
	:: atomic { FREE && made < N -> made++ }
	/* Records are true, whoever sends them. */
	:: atomic { FREE && facts < made -> facts = made }
	/* It looks, ... */
#ifdef STREAMS_FIRST
	:: atomic { FREE && base == 255 && streams < made -> to = made };
#else
	:: atomic { FREE && base == 255 && streams < facts -> to = facts };
#endif
	   /* ... and sends, perhaps much later. */
#ifdef TOGETHER
	   if
	   :: atomic { FREE -> streams = to; judge() };
	      atomic { FREE -> stats = to; judge() }
	   :: atomic { FREE -> stats = to; judge() };
	      atomic { FREE -> streams = to; judge() }
	   fi
#else
	   atomic { FREE -> streams = to; judge() }
#endif
#ifdef LOOK_ONCE
	   ;
	   atomic { FREE -> stats = streams; judge() }
#endif
	:: atomic { FREE && base == 255 && stats < streams -> to = streams };
	   atomic { FREE -> stats = to; judge() }
	:: atomic { FREE && base == 255 && committed < stats -> to = stats };
	   atomic { FREE -> committed = (base == 255 -> to : committed) }
	:: atomic { FREE -> is_lost = true; break }
	od
}

active proctype second() {
	if
	:: is_still = true
	:: is_lost
	fi;
	/* What streams have is there; statistics of fewer are derived again. */
	base = streams;
	assert(base <= facts && stats <= base && committed <= base);
#ifdef NEVER_TAKEN
	assert(false);
#endif
	is_still = false
}
