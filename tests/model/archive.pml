/*
 * archive - what a store forgets, two replicas have; what counts in the archive
 * comes from one owner: the protocol of proto/archive.md.
 *
 * Two heads and a shard with two replicas.  The first head makes changes 1 .. N,
 * marks them, sends what is marked to one replica, asks both, commits with a
 * checkpoint, and removes the marks.  A block arrives or is lost, and so is its
 * answer; replicas fetch from each other what they lack, in any order; the head
 * crashes and begins again at the checkpoint.  One replica loses its disk once.
 * A second head reads the archive up to the checkpoint, takes the partition over
 * with a higher epoch, and makes changes of its own behind that.  The first one
 * may go on until it looks at the owners again.
 *
 * The assertions, in words: a change whose mark was removed is on a replica,
 * also after a disk was lost; what the second head reads has all changes up to
 * the checkpoint; of a change number only one owner's row counts.
 *
 * The right protocol has none of the macros below; each of them is a mistake
 * that must be found (run.sh):
 *   VERIFY_ONE    one replica is enough for the checkpoint
 *   CLEAR_EARLY   marks are removed when the rows were sent
 *   NO_UNTIL      a takeover does not bound the epoch before
 *   NO_LOOK       a takeover does not look whether the other one went on
 *   ANY_REPLICA   a restore reads whichever replica answers
 * And to see that the model does anything at all, NEVER_TAKEN claims that the
 * second head never commits.
 *
 * How it is small: a set of rows is a byte with a bit for each change.  The rows
 * of an epoch with one number are one row.  What a replica has fetched it has
 * from the other one; a wiped one begins empty.
 *
 * What is not here: more shards, tables and their merges, several partitions,
 * time, damage.  tests/parts/100-archive-kill.sh and 120-takeover.sh play those
 * with real servers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef N
#define N 3
#endif
#define UPTO(n) ((1 << (n)) - 1)    /* the rows 1 .. n */
#define HAS(set, n) (((set) & UPTO(n)) == UPTO(n))
#define NONE 255

byte a[2], b[2];       /* rows of each head on each replica */
byte made;             /* changes of the first head */
byte sent;             /* of these, by its pass: in memory */
byte commit_a;         /* its checkpoint */
byte cleared;          /* marks up to here were removed */
byte until = NONE;     /* where its epoch ends */
bool is_taken;         /* there is a higher epoch */
bool is_wiped;         /* a disk was lost */
byte base;             /* the second head: what it read, */
byte made_b, commit_b; /* and what it made behind it */

#define COUNTED (commit_a < until -> commit_a : until)

inline judge() {
	/* a row that the store forgot is somewhere */
	assert(HAS(a[0] | a[1], cleared));
	/* of a number one owner's row counts */
	assert(commit_b == 0 || COUNTED <= base)
}

inline lose_disk(r) {
	is_wiped = true;
	a[r] = 0; b[r] = 0;
	judge()
}

/* Replicas fetch what they lack, and a disk is lost, at any moment. */
active proctype cluster() {
	end: do
	:: atomic { a[0] != (a[0] | a[1]) -> a[0] = a[0] | a[1] }
	:: atomic { a[1] != (a[0] | a[1]) -> a[1] = a[0] | a[1] }
	:: atomic { b[0] != (b[0] | b[1]) -> b[0] = b[0] | b[1] }
	:: atomic { b[1] != (b[0] | b[1]) -> b[1] = b[0] | b[1] }
	:: atomic { !is_wiped -> lose_disk(0) }
	:: atomic { !is_wiped -> lose_disk(1) }
	od
}

#ifdef VERIFY_ONE
#define ENOUGH(set, n) (HAS(set[0], n) || HAS(set[1], n))
#else
#define ENOUGH(set, n) (HAS(set[0], n) && HAS(set[1], n))
#endif

active proctype first() {
	byte crashes;

	end: do
	:: made < N -> made++
	/* It looks at the owners, then sends what is marked; the block arrives
	 * at one of the replicas, or is lost, which it may not know. */
	:: atomic { !is_taken && made > sent ->
		if
		:: a[0] = a[0] | (UPTO(made) & ~UPTO(commit_a))
		:: a[1] = a[1] | (UPTO(made) & ~UPTO(commit_a))
		:: skip
		fi;
		sent = made;
#ifdef CLEAR_EARLY
		cleared = sent;
		judge()
#endif
	}
	/* Nobody has all of it: send again. */
	:: atomic { sent > commit_a && !ENOUGH(a, sent) -> sent = commit_a }
	/* The replicas are asked; the checkpoint comes later, when another
	 * owner may be there. */
	:: atomic { sent > commit_a && ENOUGH(a, sent) -> skip };
	   atomic { commit_a = sent; judge() }
	:: atomic { cleared < commit_a -> cleared = commit_a; judge() }
	:: atomic { crashes < 2 -> crashes++; sent = commit_a }
	od
}

active proctype second() {
	byte at, r;

	/* read: the checkpoint, then the rows up to it */
	base = commit_a;
#ifdef ANY_REPLICA
	atomic {
		if
		:: r = 0
		:: r = 1
		fi;
		assert(HAS(a[r], base))
	};
#else
	/* The sums of both say which one has more. */
	assert(HAS(a[0], base) || HAS(a[1], base));
#endif
	/* take over: a higher epoch, then the end of the one before */
	is_taken = true;
	at = commit_a;
#ifndef NO_UNTIL
	until = at;
#endif
	/* Has the other one gone on? */
#ifndef NO_LOOK
	if
	:: at > base -> goto failed
	:: else
	fi;
#endif
	do
	:: made_b < N - base -> made_b++
	:: atomic { made_b > commit_b ->
		if
		:: b[0] = b[0] | UPTO(made_b)
		:: b[1] = b[1] | UPTO(made_b)
		:: skip
		fi
	}
	:: atomic { made_b > commit_b && ENOUGH(b, made_b) ->
		commit_b = made_b;
#ifdef NEVER_TAKEN
		assert(false);
#endif
		judge()
	}
	:: commit_b == N - base -> break
	od;
failed:
	skip
}
