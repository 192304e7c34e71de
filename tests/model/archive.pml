/*
 * archive - what a store forgets, two replicas have; what counts in the archive
 * comes from one owner: the protocol of proto/archive.md.
 *
 * Two heads and a shard with two replicas.  The first head claims a partition,
 * makes changes 1 .. N, marks them, sends what is marked to one replica, asks
 * both, commits with a checkpoint, and removes the marks.  A block arrives or is
 * lost, and so is its answer; replicas fetch from each other what they lack, and
 * merge rows, at any moment; the head crashes and begins again at the checkpoint.
 * One replica loses its disk once.  The head repairs: it sends again what was
 * committed.
 *
 * A second head takes the partition over.  The first one may be anywhere then:
 * what it was about to write, it writes later.  It is
 *   (no macro)  a store that was made of the archive, by reading it
 *   COPY        a copy of the first one's store, which is started at any moment
 *   AT_ONCE     a store of its own, that claims the same new partition
 * and, alone with the first head,
 *   WENT_BACK   the first one's store goes back to what it was
 *   REPLACED    the archive is lost, and an empty one takes its place
 *
 * The assertions, in words: a change whose mark was removed is on a replica, also
 * after a disk was lost, after repairs and merges; what the second head reads has
 * all changes up to the checkpoint, also that of the time when it claims; of a
 * change number only one owner's row counts, whichever replica a reader asks.
 *
 * The right protocol has none of the macros below; each of them is a mistake
 * that must be found (run.sh), in brackets those that once were made:
 *   VERIFY_ONE    one replica is enough for the checkpoint
 *   CLEAR_EARLY   marks are removed when the rows were sent
 *   NO_UNTIL      a takeover does not bound the epoch before
 *   UNTIL_LATER   the bound is the checkpoint of that time, not what was read
 *   UNTIL_ONE     the bound is on one replica when the next owner commits
 *   ANY_REPLICA   a restore reads whichever replica answers
 *   LEASE         [8, 9] a claim is a row that comes some time, and a look
 *   VERSIONS      [4] a record that is sent again has a higher version
 *   NO_LOOK       [5] a takeover does not look whether the other one went on
 *   SAME_EPOCH    [18, 19] a copy of a store has its epoch
 *   NO_COUNTER    [3] a store does not know whether the archive has more of it
 *   NO_ID         [2] a store does not know whether it is the same archive
 * And to see that the model does anything at all, NEVER_TAKEN claims that the
 * second head never commits.
 *
 * How it is small: a set of rows is a byte with a bit for each change.  The rows
 * of an epoch with one number are one row.  What a replica has fetched it has
 * from the other one; a wiped one begins empty.
 *
 * What is not here: more shards, several partitions, time, damage.
 * tests/parts/100-archive-kill.sh, 120-takeover.sh and 194 to 196 play those
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

#if !defined(COPY) && !defined(AT_ONCE) && !defined(WENT_BACK) && !defined(REPLACED)
#define RESTORED
#endif

byte a[2], b[2];       /* rows of each head on each replica */
byte made;             /* changes of the first head */
byte sent;             /* of these, by its pass: in memory */
byte commit_a;         /* its checkpoint */
byte noted;            /* what the store has noted of that */
byte cleared;          /* marks up to here were removed */
byte until[2] = NONE;  /* where its epoch ends, as each replica has it */
#ifdef AT_ONCE
byte claim;            /* of the partition: by head 1 or 2; 0: none */
#else
byte claim = 1;
#endif
byte found;            /* the checkpoint of the first head when it was claimed */
bool is_wiped;         /* a disk was lost */
byte base;             /* the second head: what it read, */
byte made_b, commit_b; /* and what it made behind it */
bool is_refused;       /* the first head knows that it must not write */
#ifdef VERSIONS
byte again[2];         /* rows of the first head, once more */
#define ANY(r) (a[r] | again[r])
#else
#define ANY(r) a[r]
#endif

#define UNTIL(r) (commit_a < until[r] -> commit_a : until[r])
/* A reader may ask either. */
#define COUNTED (UNTIL(0) > UNTIL(1) -> UNTIL(0) : UNTIL(1))

inline judge() {
	/* a row that the store forgot, or that counts, is somewhere */
#ifndef REPLACED
	assert(HAS(a[0] | a[1], cleared));
#endif
	assert(HAS(a[0] | a[1], UNTIL(0)));
	/* of a number one owner's row counts */
	assert(commit_b == 0 || COUNTED <= base);
	/* nor does the next owner lack what was committed when it came */
	assert(commit_b == 0 || found <= base)
}

inline lose_disk(r) {
	is_wiped = true;
	a[r] = 0; b[r] = 0;
#ifdef VERSIONS
	again[r] = 0;
#endif
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
#ifdef VERSIONS
	/* The highest version stays, wherever the others are. */
	:: atomic { again[0] & (a[0] | a[1]) ->
		a[0] = a[0] & ~again[0]; a[1] = a[1] & ~again[0]; judge() }
#endif
	od
}

#ifdef VERIFY_ONE
#define ENOUGH(set, n) (HAS(set[0], n) || HAS(set[1], n))
#else
#define ENOUGH(set, n) (HAS(set[0], n) && HAS(set[1], n))
#endif
/* What has a mark. */
#define MARKED (UPTO(made) & ~UPTO(cleared))
#define LACKS(r) ((UPTO(sent) & ~UPTO(cleared)) & ~a[r])

#ifdef WENT_BACK
byte saved, saved_noted, since;
bool is_back, is_behind; /* of the archive, then */
#endif
#ifdef REPLACED
bool is_other, is_known; /* another archive, which the store knows */
#endif

#ifdef LEASE
bool row_a, row_b; /* what there is of claims */
#endif

inline look() {
	is_refused = is_refused || claim > 1;
#ifdef WENT_BACK
#ifndef NO_COUNTER
	is_refused = is_refused || commit_a > noted;
#endif
#endif
#ifdef REPLACED
	if
#ifndef NO_ID
	:: is_other && !is_known ->
		is_known = true; cleared = 0; sent = 0; noted = 0
#endif
	:: else
	fi
#endif
}

active proctype first() {
	byte crashes;

#ifdef AT_ONCE
#ifdef LEASE
	/* It looks, and does not see what is on its way. */
	if
	:: row_b -> is_refused = true
	:: else -> skip
	fi;
	row_a = true;
#else
	atomic {
		if
		:: claim == 0 -> claim = 1
		:: else -> is_refused = true
		fi
	}
#endif
#endif
	end: do
	:: made < N -> made++
	/* It looks at the owners, then sends what is marked; the block arrives
	 * at one of the replicas, or is lost, which it may not know. */
	:: atomic { made > sent && !is_refused -> look();
		if
		:: is_refused
		:: !is_refused ->
			if
			:: a[0] = a[0] | MARKED
			:: a[1] = a[1] | MARKED
			:: skip
			fi;
			sent = made;
#ifdef CLEAR_EARLY
			cleared = sent;
			judge()
#endif
		fi
	}
	/* Nobody has all of it: send again. */
	:: atomic { sent > commit_a && (LACKS(0) || LACKS(1)) -> sent = commit_a }
	/* The replicas are asked; the checkpoint comes later, when another
	 * owner may be there. */
#ifdef VERIFY_ONE
	:: atomic { sent > commit_a && (!LACKS(0) || !LACKS(1)) && !is_refused -> look() };
#else
	:: atomic { sent > commit_a && !LACKS(0) && !LACKS(1) && !is_refused -> look() };
#endif
	   atomic {
		if
		:: !is_refused && sent > commit_a -> noted = sent; commit_a = sent; judge()
		:: else
		fi
	   }
	:: atomic { cleared < commit_a && !is_refused -> look();
		if
		:: !is_refused && cleared < commit_a -> cleared = commit_a; judge()
		:: else
		fi
#ifdef WENT_BACK
		/* nor was anything that it made since */
		assert(!is_behind || cleared <= since)
#endif
	}
	/* Repair: the same rows, not committed yet. */
	:: atomic { cleared > 0 && !is_refused ->
#ifdef VERSIONS
		again[0] = UPTO(cleared)
#else
		a[0] = a[0] | UPTO(cleared)
#endif
	}
	:: atomic { crashes < 2 -> crashes++; sent = commit_a }
#ifdef WENT_BACK
	:: atomic { !is_back && saved == 0 -> saved = made; saved_noted = noted }
	:: atomic { !is_back && saved > 0 -> is_back = true; since = saved;
		is_behind = commit_a > saved;
		made = saved; noted = saved_noted; sent = commit_a;
		/* another epoch: what was not committed never counts */
		a[0] = a[0] & UPTO(commit_a); a[1] = a[1] & UPTO(commit_a);
		if
		:: cleared > saved -> cleared = saved
		:: else
		fi }
#endif
#ifdef REPLACED
	:: atomic { !is_other -> is_other = true;
		a[0] = 0; a[1] = 0; commit_a = 0; sent = 0 }
#endif
	od
}

#if defined(RESTORED) || defined(COPY) || defined(AT_ONCE)
active proctype second() {
	byte at, r;

#ifdef RESTORED
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
#endif
#ifdef COPY
	base = noted;
	/* started later; what it has not noted it cannot continue */
	if
	:: commit_a > base -> goto failed
	:: else -> skip
	fi;
#endif
#ifdef AT_ONCE
#ifdef LEASE
	if
	:: row_a -> goto failed
	:: else -> skip
	fi;
	row_b = true;
#else
	atomic {
		if
		:: claim != 0 -> goto failed
		:: else -> claim = 2
		fi
	};
#endif
#else
	/* a higher epoch, then the end of the one before */
#ifndef SAME_EPOCH
	atomic { claim = 2; found = commit_a };
	/* Has the other one gone on? */
#ifndef NO_LOOK
	if
	:: commit_a > base -> goto failed
	:: else -> skip
	fi;
#endif
	at = base;
#ifdef UNTIL_LATER
	at = commit_a;
#endif
#ifndef NO_UNTIL
	until[0] = at;
#ifndef UNTIL_ONE
	until[1] = at;
#endif
#endif
#endif
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
#endif
