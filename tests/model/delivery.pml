/*
 * delivery - accepted once, kept once: the protocol of proto/delivery.md.
 *
 * A sender appends to a page cache, syncs it to a disk, tells its caller that
 * the record is accepted, and sends what it has under numbers 1, 2, 3 ... of
 * its session.  The network loses, repeats and reorders.  A keeper stages the
 * next number, commits it together with the stream's counter, and answers.
 * Either side may crash at any step and loses what is not on its disk.
 *
 * The assertions, in words: what is acknowledged is kept; what was accepted is
 * kept or still on the sender's disk; nothing is kept twice.
 *
 * The right protocol has none of the macros below; each of them is a mistake
 * that must be found (run.sh):
 *   ACCEPT_BEFORE_SYNC   the caller hears "accepted" when it is in the cache
 *   SEND_BEFORE_SYNC     what is only in the cache is sent
 *   ACK_BEFORE_COMMIT    the answer leaves when it is staged
 *   ACCEPT_GAPS          any number above the counter is taken
 *   SPLIT_TRANSACTION    record and counter are committed one by one
 *   SESSION_PER_START    every start of the sender begins a new session
 *   ANY_SESSION_ACKS     acknowledgements of older sessions count
 *   NUMBERS_ONLY         no chains: numbers alone say what was sent
 * Two events of the world, which the right protocol survives:
 *   RESTORED_DISK        the sender's disk comes back as it was before
 *   LOST_DISK            it comes back empty, and a new session begins
 *
 * And to see that the model does anything at all, NEVER_DONE claims that not
 * all records are ever acknowledged.
 *
 * A chain is modelled by the record at its end: no record is made twice, so
 * that equal ends mean equal histories.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef N
#define N 3           /* records that are ever appended */
#endif
#ifndef CRASHES
#define CRASHES 3     /* of each side */
#endif
#define SESSIONS 4
#define WIRES 2       /* batches on their way at once */

/* Does an answer count?  Is a batch the next one? */
#if defined(ANY_SESSION_ACKS)
#define is_for_us true
#elif defined(NUMBERS_ONLY)
#define is_for_us (answer_session == session)
#else
#define is_for_us (answer_session == session && answer_chain == record[answer_upto])
#endif
#if defined(ACCEPT_GAPS)
#define is_next(w) true
#elif defined(NUMBERS_ONLY)
#define is_next(w) (wire[w].number == counter[s] + 1)
#else
#define is_next(w) (wire[w].number == counter[s] + 1 && wire[w].before == chain[s])
#endif

/* ---- the sender -------------------------------------------------------- */
byte record[N + 1];   /* which record has number n; 0: none yet */
byte cached;          /* numbers given out */
byte synced;          /* of them: on disk */
byte acked;           /* of them: acknowledged, as far as it remembers */
byte session;         /* on disk */
byte made;            /* records appended so far */
bool accepted[N + 1]; /* what callers were told; they never forget */
byte sender_crashes;

/* ---- between ------------------------------------------------------------ */
typedef batch {
	bool there;
	byte session;
	byte number;
	byte content;
	byte before       /* its chain */
};
batch wire[WIRES];
bool answer_there;
byte answer_session, answer_upto, answer_chain;

/* ---- the keeper --------------------------------------------------------- */
byte copies[N + 1];   /* on disk */
byte counter[SESSIONS];
byte chain[SESSIONS]; /* at the counter */
bool staged;
byte staged_session, staged_number, staged_content;
byte keeper_crashes;

inline must_not_be_lost() {
	/* every accepted record is kept, or on the sender's disk */
	k = 1;
	do
	:: k <= N ->
		if
		:: accepted[k] && copies[k] == 0 ->
			j = 1; found = false;
			do
			:: j <= synced -> found = found || record[j] == k; j++
			:: else -> break
			od;
			assert(found)
		:: else
		fi;
		k++
	:: else -> break
	od;
	k = 0; j = 0; found = false
}

/* With a disk goes what was promised on it. */
inline forget_last() {
	accepted[record[cached]] = false;
	record[cached] = 0;
	cached--
}

inline no_answer() {
	answer_there = false;
	answer_session = 0;
	answer_upto = 0;
	answer_chain = 0
}

inline put_on(w, n) {
	wire[w].there = true;
	wire[w].session = session;
	wire[w].number = n;
	wire[w].content = record[n];
	wire[w].before = (n > 1 -> record[n - 1] : 0)
}

inline take_off(w) {
	wire[w].there = false;
	wire[w].session = 0;
	wire[w].number = 0;
	wire[w].content = 0;
	wire[w].before = 0
}

active proctype sender()
{
	byte k, j, n;
	bool found;

	do
	/* a caller hands over a record */
	:: atomic { made < N && cached < N ->
		made++;
		cached++;
		record[cached] = made;
#ifdef ACCEPT_BEFORE_SYNC
		accepted[made] = true
#endif
	}
	/* group commit, then the callers hear of it */
	:: atomic { cached > synced ->
		synced = cached;
		k = 1;
		do
		:: k <= synced -> accepted[record[k]] = true; k++
		:: else -> break
		od;
		k = 0
	}
	/* send one of the window, the first unacknowledged or the next */
	:: atomic {
#ifdef SEND_BEFORE_SYNC
		acked < cached ->
#else
		acked < synced ->
#endif
		n = acked + 1;
		if
		:: true
		:: n < synced -> n++
		fi;
		if
		:: !wire[0].there -> put_on(0, n)
		:: !wire[1].there -> put_on(1, n)
		:: else
		fi;
		n = 0
	}
	/* an acknowledgement: cumulative, never beyond what was sent, and
	 * only when the keeper has what we have */
	:: atomic { answer_there ->
		if
		:: answer_upto > acked && answer_upto <= cached && is_for_us ->
			acked = answer_upto;
			k = 1;
			do
			:: k <= acked -> assert(copies[record[k]] > 0); k++
			:: else -> break
			od;
			k = 0;
#ifdef NEVER_DONE
			assert(acked < N)
#endif
		:: else
		fi;
		no_answer()
	}
	/* a crash: some of the cache may have reached the disk */
	:: atomic { sender_crashes < CRASHES ->
		sender_crashes++;
		do
		:: cached > synced -> record[cached] = 0; cached--
		:: break
		od;
		synced = cached;
		acked = 0;
#ifdef SESSION_PER_START
		if
		:: session < SESSIONS - 1 -> session++
		:: else
		fi;
#endif
#ifdef LOST_DISK
		if
		:: session < SESSIONS - 1 ->
			do
			:: cached > 0 -> forget_last()
			:: else -> break
			od;
			synced = 0;
			session++
		:: true
		fi;
#endif
#ifdef RESTORED_DISK
		do
		:: cached > 0 -> forget_last(); synced = cached
		:: break
		od;
#endif
		must_not_be_lost()
	}
	od
}

active proctype network()
{
	do
	:: atomic { wire[0].there -> take_off(0) }
	:: atomic { wire[1].there -> take_off(1) }
	:: atomic { wire[0].there && !wire[1].there ->
		wire[1].there = true;
		wire[1].session = wire[0].session;
		wire[1].number = wire[0].number;
		wire[1].content = wire[0].content;
		wire[1].before = wire[0].before
	}
	:: atomic { answer_there -> no_answer() }
	od
}

inline answer_with(s, upto, end) {
	answer_there = true;
	answer_session = s;
	answer_upto = upto;
	answer_chain = end
}

inline unstage() {
	staged = false;
	staged_session = 0;
	staged_number = 0;
	staged_content = 0
}

inline receive(w) {
	s = wire[w].session;
	if
	:: wire[w].number <= counter[s] -> /* a repetition */
		answer_with(s, counter[s], chain[s])
	:: wire[w].number > counter[s] && is_next(w) ->
		staged = true;
		staged_session = s;
		staged_number = wire[w].number;
		staged_content = wire[w].content
	:: else /* a gap or a fork: the sender is told, and goes back */
	fi;
	take_off(w);
	s = 0
}

inline commit_record() {
	assert(copies[staged_content] == 0);
	copies[staged_content]++
}

inline commit_counter() {
	counter[staged_session] = staged_number;
	chain[staged_session] = staged_content
}

active proctype keeper()
{
	byte s;

	do
	:: atomic { !staged && wire[0].there -> receive(0) }
	:: atomic { !staged && wire[1].there -> receive(1) }
#ifdef ACK_BEFORE_COMMIT
	:: atomic { staged -> answer_with(staged_session, staged_number, staged_content) }
#endif
#ifdef SPLIT_TRANSACTION
	:: atomic { staged -> commit_record() };
		if
		:: atomic { keeper_crashes < CRASHES ->
			keeper_crashes++;
			unstage()
		}
		:: atomic { commit_counter();
			answer_with(staged_session, staged_number, staged_content);
			unstage()
		}
		fi
#else
	:: atomic { staged ->
		commit_record();
		commit_counter();
		answer_with(staged_session, staged_number, staged_content);
		unstage()
	}
#endif
	/* a crash before the commit */
	:: atomic { staged && keeper_crashes < CRASHES ->
		keeper_crashes++;
		unstage()
	}
	od
}
