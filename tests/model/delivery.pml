/*
 * delivery - accepted once, stored once: the protocol of proto/delivery.md.
 *
 * A sender appends to a page cache, syncs it to a disk, tells its caller that
 * the record is accepted, and sends what is on the disk under numbers 1, 2,
 * 3 ... of its session.  Each start begins a new session and sends the earlier
 * ones to their end, read-only, one at a time.  A stream says hello, gets a
 * welcome with the generation of the store and its running hash, and sends
 * from there, or from an earlier number if the store is another one.  What was
 * acknowledged is deleted at any time later; what is deleted and needed again
 * is reported as a gap.  The network loses, repeats and delays.
 *
 * The assertions, in words: what is acknowledged is stored in the store that
 * acknowledged it; what was accepted is stored, or on a sender's disk, or in a
 * gap, or, once a store was lost, its number is known to a sender, which
 * reports it before it comes to rest; nothing is stored twice; a session is
 * not given up unless a machine was copied while it ran.
 *
 * Events of the world, which the right protocol survives:
 *   CRASHES=n        senders crash, and start anew
 *   LOST_STORE       the store comes back empty, with another generation
 *   RESTORED_STORE   it comes back as it was in a backup
 *   COPIED_SPOOL     a second machine starts with a copy of the disk
 *   ROLLED_BACK      a machine's disk comes back as it was before
 *   CLONE            a second machine goes on with the same session; with
 *                    COPIED_EARLY from the beginning, after one record
 *
 * The right protocol has none of the macros below; each of them is a mistake
 * that must be found (run.sh):
 *   ACCEPT_BEFORE_SYNC   the caller hears "accepted" when it is in the cache
 *   SEND_BEFORE_SYNC     what is only in the cache is sent
 *   ACK_BEFORE_COMMIT    the answer leaves before the commit
 *   ACCEPT_GAPS          any number above the last one is taken
 *   SPLIT_TRANSACTION    record and row are committed one by one
 *   SAME_SESSION         a start continues the session before
 *   NO_COMPARISON        whatever the store has the number of is acknowledged
 *   NO_CHAIN             any content may continue a stream
 *   TRUST_WELCOME        what the store has counts as acknowledged
 *   FORGET_ORIGIN        moved batches do not say where from
 *   FORGET_RETAINED      a new store is not asked about earlier sessions
 * They are the mutants of tests/fault/sim, and those of the spool.
 *
 * And to see that the model does anything at all, NEVER_DONE claims that not
 * all records are ever stored while all senders are at rest.
 *
 * How it is small: a running hash is the history itself, a digit for each
 * number.  The receiver has no memory but its store, so that its crash is a
 * message or an answer that is lost; a transaction has one message.  A frame
 * under way is lost when another takes its place, and repeated until then.
 * One machine has two frames and two answers under way, so that one may be
 * late; of two machines each has one, and no page cache.  A hello and the
 * answer of the store are one step, the welcome comes later; a sender says
 * hello at any time, which stands for every contradiction that it meets.
 *
 * What is not here: brokers, other owners of a session (what they send is
 * refused before anything is compared), credit, refusals, damage, time, several
 * partitions, senders with derived sessions, rows that were collected, running
 * hashes that the store no longer remembers, and two kinds of events together.
 * tests/fault/simulate.c plays those at random, at larger sizes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef N
#define N 2           /* records that are ever handed over */
#endif
#ifndef L
#define L N           /* numbers of a session, at most 5 */
#endif
#ifndef S
#define S 3           /* sessions */
#endif
#ifndef CRASHES
#define CRASHES 1     /* of senders */
#endif
#ifndef LOSSES
#define LOSSES 1      /* stores that are lost */
#endif
#if defined(CLONE) || defined(COPIED_SPOOL) || defined(ROLLED_BACK)
#define MACHINES 2    /* a rolled-back one: the second is the backup */
#else
#define MACHINES 1
#endif

#define CLOSED 0      /* no welcome is awaited */
#define HELLO 1       /* the welcome is under way */
#define OPEN 2
#define ACK 1
#define DIVERGED 2
#define GAP 6         /* of the first machine: what was moved and is lost */

typedef stream {
	bool has;         /* is it on this disk at all? */
	byte size;         /* numbers given out */
	byte sync;        /* of them: on disk */
	byte drop;        /* of them: deleted */
	short hist;       /* what they are: the last one in the lowest digit */
	byte org[L + 1];  /* where they were moved from: session and number */
	byte first, first_disk; /* the first unacknowledged number */
	byte gen, gen_disk;     /* the store that acknowledged those before */
	bool settled;     /* that store was asked */
	byte from, upto;  /* moved elsewhere, and how far */
	byte state;
	byte top;         /* sent since the welcome */
	byte w_expect, w_gen;   /* the welcome */
	short w_hash
};

typedef spool {
	stream st[S + 1];
	byte cur          /* the current session; 0: none yet */
};
spool sp[MACHINES];
bool up[MACHINES];
byte sessions;        /* that ever began */
byte crashes;

bool handed[N + 1];   /* records that a caller handed over */
bool accepted[N + 1]; /* what callers were told */

typedef batch {
	byte who, ses, l, f;
	byte content;     /* 0: a gap */
	short before, after;
	bool counts       /* the answer will belong to the last transmission */
};
batch wire[2];        /* the second is the older one, or that of machine 1 */

typedef reply {
	byte what, who, ses, seq, gen;
	bool alone
};
reply answer[2];

typedef store {
	byte gen;
	byte last[S + 1];
	short hash[(S + 1) * (L + 1)];
	byte gapped[S + 1];
	byte copies[N + 1]
};
store k;
#ifdef RESTORED_STORE
store backup;
#endif
byte lost;            /* stores */
bool copied;          /* a machine was copied while it ran */
bool kept;

hidden byte i, j, x, y, e, c;
hidden byte found, rest, knows;
hidden short h, a;

#if !defined(CLONE) && !defined(COPIED_SPOOL)
#define slot(m) 0
#else
#define slot(m) m
#endif
#define X sp[m].st[s]
#define digit(m, s, n) ((sp[m].st[s].hist >> (3 * (sp[m].st[s].size - (n)))) & 7)
#define prefix(m, s, n) (sp[m].st[s].hist >> (3 * (sp[m].st[s].size - (n))))
#if defined(SEND_BEFORE_SYNC)
#define END(m, s) (sp[m].st[s].from > 0 -> sp[m].st[s].from : sp[m].st[s].size + 1)
#else
#define END(m, s) (sp[m].st[s].from > 0 -> sp[m].st[s].from : sp[m].st[s].sync + 1)
#endif
#define is_to_move(m, s) (sp[m].st[s].from > 0 && sp[m].st[s].upto < sp[m].st[s].sync)
#define is_done(m, s) (sp[m].st[s].first >= END(m, s) && !is_to_move(m, s))
#define is_settled(m, s) (sp[m].st[s].settled && is_done(m, s))
#define is_gapped(s, n) ((k.gapped[s] >> (n)) & 1)
#define hash(s, n) k.hash[(s) * (L + 1) + (n)]

/* ---- what must hold ------------------------------------------------------ */

/* Is record r on some disk, or in a gap?  With `deleted`: or is its number
 * known at least? */
inline find(r, deleted) {
	found = k.copies[r] > 0;
	for (i : 0 .. MACHINES - 1) {
		for (j : 1 .. S) {
			if
			:: up[i] && sp[i].st[j].has ->
				for (x : 1 .. sp[i].st[j].sync) {
					found = found || (digit(i, j, x) == r &&
					    (deleted || x > sp[i].st[j].drop || is_gapped(j, x)))
				}
			:: else
			fi
		}
	}
}

/* What was accepted is stored, or on a disk, or reported as a gap.  After the
 * loss of a store: or a sender knows its number. */
inline must_not_be_lost() {
	for (y : 1 .. N) {
		if
		:: accepted[y] ->
			find(y, lost > 0);
			assert(found)
		:: else
		fi
	}
}

/* With a store goes what nobody else knows. */
inline forgive() {
	for (y : 1 .. N) {
		find(y, true);
		accepted[y] = accepted[y] && found
	}
}

/* All senders have sent all that they have, and know of this store: everything
 * that they know of is in it, or in a gap. */
inline judge() {
	rest = true;
	for (i : 0 .. MACHINES - 1) {
		if
		:: up[i] ->
			knows = false;
			found = false;
			for (j : 1 .. S) {
				if
				:: sp[i].st[j].has ->
					found = true;
					knows = knows || sp[i].st[j].gen == k.gen;
					rest = rest && sp[i].st[j].size == sp[i].st[j].sync &&
					    is_settled(i, j) &&
					    (j != sp[i].cur ||
					        sp[i].st[j].state == OPEN && sp[i].st[j].gen == k.gen)
				:: else
				fi
			}
			rest = rest && (knows || !found)
		:: else
		fi
	}
	if
	:: rest ->
		for (i : 0 .. MACHINES - 1) {
			for (j : 1 .. S) {
				if
				:: up[i] && sp[i].st[j].has ->
					e = END(i, j) - 1;
					for (x : 1 .. e) {
						c = digit(i, j, x);
						assert(c > N || k.copies[c] > 0 || is_gapped(j, x) ||
						    (copied && x <= sp[i].st[j].drop))
					}
				:: else
				fi
			}
		}
#ifdef NEVER_DONE
		found = true;
		for (x : 1 .. N) {
			found = found && k.copies[x] > 0
		}
		assert(!found)
#endif
	:: else
	fi
}

/* ---- the spool ----------------------------------------------------------- */

inline clear(m, s) {
	X.has = false; X.size = 0; X.sync = 0; X.drop = 0; X.hist = 0;
	X.first = 0; X.first_disk = 0; X.gen = 0; X.gen_disk = 0;
	X.settled = false; X.from = 0; X.upto = 0;
	for (x : 1 .. L) {
		X.org[x] = 0
	}
	say_hello(m, s)
}

/* What was sent counts no longer. */
inline say_hello(m, s) {
	X.state = CLOSED; X.top = 0;
	X.w_expect = 0; X.w_gen = 0; X.w_hash = 0;
	never_mind(m, s, 0)
}

/* Number n is sent again (0: every number): older transmissions of it are not
 * answered. */
inline never_mind(m, s, n) {
	for (x : 0 .. 1) {
		if
		:: wire[x].who == m && wire[x].ses == s && (n == 0 || wire[x].f == n) ->
			wire[x].counts = false
		:: else
		fi;
		if
		:: answer[x].what == DIVERGED && answer[x].who == m && answer[x].ses == s &&
		   (n == 0 || answer[x].seq == n) ->
			forget_answer(x)
		:: else
		fi
	}
}

inline forget_answer(w) {
	answer[w].what = 0; answer[w].who = 0; answer[w].ses = 0;
	answer[w].seq = 0; answer[w].gen = 0; answer[w].alone = false
}

/* With the last segment goes what a lost store had of it. */
inline give_up(m, s, may_lack) {
	for (x : 1 .. X.drop) {
		c = digit(m, s, x);
		if
		:: c <= N && k.copies[c] == 0 && (may_lack || is_gapped(s, x)) ->
			accepted[c] = false
		:: else
		fi
	}
}

#define has_room(m) \
	(sp[m].cur == 0 -> sessions < S : sp[m].st[sp[m].cur].size < L)

inline append(m, what, where) {
	if
	:: sp[m].cur == 0 ->
		sessions++;
		sp[m].cur = sessions;
		sp[m].st[sessions].has = true;
		sp[m].st[sessions].first = 1;
		sp[m].st[sessions].first_disk = 1
	:: else
	fi;
	y = sp[m].cur;
	sp[m].st[y].size++;
	sp[m].st[y].hist = (sp[m].st[y].hist << 3) | (what);
	sp[m].st[y].org[sp[m].st[y].size] = where;
	y = 0
}

/* Group commit, then the callers hear of it. */
inline commit(m) {
	y = sp[m].cur;
	if
	:: y > 0 ->
		for (x : sp[m].st[y].sync + 1 .. sp[m].st[y].size) {
			c = digit(m, y, x);
			if
			:: c <= N -> accepted[c] = true
			:: else
			fi
		}
		sp[m].st[y].sync = sp[m].st[y].size
	:: else
	fi
}

/* What a start finds on the disk.  Gaps stand between batches only. */
inline recover(m, is_crash) {
	for (s : 1 .. S) {
		for (x : X.sync + 1 .. X.size) {
			c = digit(m, s, x);
			X.org[x] = 0;
			if
			:: is_crash && c <= N && !accepted[c] -> handed[c] = false
			:: else
			fi
		}
		e = X.sync;
		do
		:: e > X.drop && digit(m, s, e) >= GAP -> X.org[e] = 0; e--
		:: else -> break
		od;
		X.hist = prefix(m, s, e);
		X.size = e;
		X.sync = e;
		X.first = (X.first_disk > e + 1 -> e + 1 : X.first_disk);
		X.gen = X.gen_disk;
		X.settled = false;
		X.from = 0;
		X.upto = 0;
		if
		:: X.has && e == X.drop -> /* nothing says that it ever was */
			give_up(m, s, (lost > 0));
			clear(m, s)
		:: else -> say_hello(m, s)
		fi
	}
	for (s : 1 .. S) {
		for (x : X.drop + 1 .. X.size) {
			y = X.org[x] >> 3;
			e = X.org[x] & 7;
			if
			:: y > 0 && sp[m].st[y].has ->
				if
				:: sp[m].st[y].from == 0 || sp[m].st[y].from > e ->
					sp[m].st[y].from = e
				:: else
				fi;
				if
				:: sp[m].st[y].upto < e -> sp[m].st[y].upto = e
				:: else
				fi
			:: else
			fi
		}
	}
	if
	:: sp[m].cur > 0 && !sp[m].st[sp[m].cur].has -> sp[m].cur = 0
	:: else
	fi;
	s = 0
}

/* ---- the sender ---------------------------------------------------------- */

/* The first earlier session that has something to send, or to ask. */
inline oldest(m) {
	e = 0;
	for (x : 1 .. S) {
		if
		:: e == 0 && x != sp[m].cur && sp[m].st[x].has && !is_settled(m, x) -> e = x
		:: else
		fi
	}
}

/* Our running hash before number n; 0: not known. */
#define hash_before(m, s, n) \
	((n) > 1 && (n) <= END(m, s) && (n) > X.drop && X.size > X.drop -> \
	    prefix(m, s, (n) - 1) : 0)

inline welcome(m, s) {
#ifdef TRUST_WELCOME
	e = X.w_expect;
#else
	e = X.first;
	if
	:: X.w_gen == X.gen && X.w_expect >= e
	:: else ->
		h = hash_before(m, s, X.w_expect);
		e = (X.w_hash == 0 || h != X.w_hash -> 1 : X.w_expect)
	fi;
#endif
	if
	:: e > END(m, s) -> e = END(m, s)
	:: else
	fi;
	X.first = e;
	X.gen = X.w_gen;
	X.settled = true;
#ifndef FORGET_RETAINED
	for (x : 1 .. S) {
		if
		:: x != sp[m].cur && sp[m].st[x].gen != X.gen -> sp[m].st[x].settled = false
		:: else
		fi
	}
#endif
	X.state = OPEN;
	X.top = e - 1;
	/* the other one has another store than before, too */
	for (y : 1 .. S) {
		if
		:: sp[m].st[y].state == OPEN && sp[m].st[y].gen != X.gen -> say_hello(m, y)
		:: else
		fi
	}
	judge();
	X.w_expect = 0; X.w_gen = 0; X.w_hash = 0
}

/* The number where a batch or gap ends that begins with n. */
#define last_of(m, s, n) \
	(n > X.drop -> n : (X.drop < END(m, s) -> X.drop : END(m, s) - 1))

/* The new frame displaces one of those under way: that one is lost. */
inline send(m, s, n, delay) {
	never_mind(m, s, n);
	e = last_of(m, s, n);
	c = (n > X.drop -> digit(m, s, n) : GAP);
	h = 0;
	a = (e == X.drop && X.sync == X.drop || e < X.drop -> 0 : prefix(m, s, e));
	if
	:: c < GAP ->
		h = prefix(m, s, n - 1)
	:: else ->
		c = 0
	fi;
#if !defined(CLONE) && !defined(COPIED_SPOOL)
	if
	:: delay && wire[0].ses > 0 ->
		wire[1].who = wire[0].who; wire[1].ses = wire[0].ses;
		wire[1].f = wire[0].f; wire[1].l = wire[0].l;
		wire[1].content = wire[0].content;
		wire[1].before = wire[0].before; wire[1].after = wire[0].after;
		wire[1].counts = wire[0].counts
	:: else
	fi;
#endif
	wire[slot(m)].who = m; wire[slot(m)].ses = s; wire[slot(m)].f = n; wire[slot(m)].l = e;
	wire[slot(m)].content = c; wire[slot(m)].before = h; wire[slot(m)].after = a;
	wire[slot(m)].counts = true;
	if
	:: e > X.top -> X.top = e
	:: else
	fi
}

inline take_ack(m, s, v) {
	if
	:: X.state == OPEN && answer[v].gen == X.gen &&
	   answer[v].seq >= last_of(m, s, X.first) && answer[v].seq <= X.top &&
	   (!answer[v].alone || answer[v].seq == last_of(m, s, X.first)) ->
		/* what is acknowledged is stored */
		for (x : X.first .. answer[v].seq) {
			c = digit(m, s, x);
			assert(answer[v].gen != k.gen || c > N || k.copies[c] > 0 || is_gapped(s, x))
		}
		X.first = answer[v].seq + 1;
		judge()
	:: else
	fi
}

inline take_diverged(m, s, v) {
	if
	:: X.state == OPEN && answer[v].seq == X.first ->
		assert(copied); /* a session is not given up without need */
		commit(m);
		say_hello(m, s);
		if
		:: s == sp[m].cur -> sp[m].cur = 0
		:: s != sp[m].cur && X.from == 0 ->
			X.from = X.first;
			X.upto = X.first - 1
		:: else
		fi
	:: else
	fi
}

inline move_one(m, s) {
	commit(m);
	e = X.upto + 1;
	c = (e > X.drop -> digit(m, s, e) : GAP);
	if
	:: c >= GAP -> c = GAP + m; j = 0
	:: else -> j = (s << 3) | e
	fi;
#ifdef FORGET_ORIGIN
	j = 0;
#endif
	append(m, c, j);
	commit(m);
	X.upto = e
}

/* May the first number that is left be deleted? */
inline may_drop(m, s) {
	e = X.drop + 1;
	y = (e <= L -> X.org[e] >> 3 : 0);
	found = X.has && X.sync > (s != sp[m].cur && X.settled -> X.drop : e) &&
	    (y == 0 || sp[m].st[y].size == sp[m].st[y].drop) &&
	    (X.from > 0 && e >= X.from ->
	        X.first_disk >= X.from && e <= X.upto :
	        e < X.first_disk && e < X.first)
}

/* An earlier session of which nothing is left is forgotten. */
inline drop_one(m, s) {
	may_drop(m, s);
	h = found;
	if
	:: found -> X.drop++
	:: else
	fi;
	if
	:: X.has && s != sp[m].cur && X.drop == X.size && is_settled(m, s) ->
		h = true;
		give_up(m, s, (X.gen != k.gen));
		clear(m, s)
	:: else
	fi;
	if
	:: h -> must_not_be_lost()
	:: else
	fi
}

active [MACHINES] proctype machine()
{
	byte s, n;
	bool delay;

	do
	/* a caller hands over a record */
	:: d_step { up[_pid] && has_room(_pid) && !handed[N] ->
		n = 1;
		do
		:: handed[n] -> n++
		:: else -> break
		od;
		handed[n] = true;
#ifdef ACCEPT_BEFORE_SYNC
		accepted[n] = true;
#endif
		append(_pid, n, 0);
#if defined(CLONE) || defined(COPIED_SPOOL)
		commit(_pid);
#endif
		n = 0
	}
	:: d_step { up[_pid] && sp[_pid].cur > 0 &&
	   sp[_pid].st[sp[_pid].cur].size > sp[_pid].st[sp[_pid].cur].sync ->
		commit(_pid);
		y = 0
	}
	/* to one of the two sessions that are sent */
	:: atomic { up[_pid] ->
		d_step { oldest(_pid); s = e; e = 0 };
		if
		:: s > 0
		:: sp[_pid].cur > 0 -> s = sp[_pid].cur
		fi;
		if
		/* hello, and the welcome to it */
		:: d_step { sp[_pid].st[s].has && END(_pid, s) > 1 ->
			say_hello(_pid, s);
			sp[_pid].st[s].state = HELLO;
			sp[_pid].st[s].w_expect = k.last[s] + 1;
			sp[_pid].st[s].w_gen = k.gen;
			sp[_pid].st[s].w_hash = hash(s, k.last[s])
		}
		:: d_step { sp[_pid].st[s].state == HELLO -> welcome(_pid, s); e = 0 }
		/* send one of the window */
		:: sp[_pid].st[s].state == OPEN && sp[_pid].st[s].first < END(_pid, s) ->
			n = sp[_pid].st[s].first;
			if
			:: true
			:: sp[_pid].st[s].top >= n && sp[_pid].st[s].top + 1 < END(_pid, s) ->
				n = sp[_pid].st[s].top + 1
			fi;
			if
			:: true
			:: slot(1) == 0 && wire[0].ses > 0 -> delay = true
			fi;
			d_step { send(_pid, s, n, delay); n = 0; delay = false }
		:: d_step { is_to_move(_pid, s) && has_room(_pid) -> move_one(_pid, s); e = 0 }
		fi;
		s = 0
	}
	/* an answer */
	:: atomic { up[_pid] ->
		if
		:: answer[0].what > 0 && answer[0].who == _pid -> n = 0
		:: answer[1].what > 0 && answer[1].who == _pid -> n = 1
		fi;
		d_step {
			s = answer[n].ses;
			if
			:: answer[n].what == ACK ->
				take_ack(_pid, s, n)
			:: answer[n].what == DIVERGED && answer[n].gen == sp[_pid].st[s].gen ->
				take_diverged(_pid, s, n)
			:: else
			fi;
			s = 0;
			n = 0
		}
	}
	/* the file ACKED */
	:: d_step { up[_pid] ->
		for (s : 1 .. S) {
			sp[_pid].st[s].first_disk = sp[_pid].st[s].first;
			sp[_pid].st[s].gen_disk = sp[_pid].st[s].gen
		}
		s = 0
	}
	/* deletion */
	:: atomic { up[_pid] ->
		if
		:: s = 1
		:: s = 2
		:: S > 2 -> s = 3
		:: S > 3 -> s = 4
		fi;
		d_step {
			drop_one(_pid, s);
			s = 0
		}
	}
	/* a crash, and the next start: some of the cache may be on the disk */
	:: atomic { up[_pid] && crashes < CRASHES ->
		crashes++;
		if
		:: true
		:: commit(_pid)
		fi;
		d_step {
			recover(_pid, true);
#ifndef SAME_SESSION
			sp[_pid].cur = 0;
#endif
			must_not_be_lost();
			y = 0
		}
	}
#if defined(CLONE) || defined(COPIED_SPOOL)
	:: d_step { up[_pid] && !up[1] ->
		c_code { now.sp[1] = now.sp[0]; };
		recover(1, false);
#ifdef CLONE
		copied = true;
#else
#ifndef SAME_SESSION
		sp[1].cur = 0;
#endif
#endif
		up[1] = true
	}
#endif
#ifdef ROLLED_BACK
	:: d_step { up[_pid] && !kept ->
		kept = true;
		c_code { now.sp[1] = now.sp[0]; };
		recover(1, false);
		y = 0
	}
	:: d_step { up[_pid] && kept ->
		kept = false;
		recover(_pid, true);
		c_code { now.sp[0] = now.sp[1]; };
#ifndef SAME_SESSION
		sp[0].cur = 0;
#endif
		forgive();
		for (s : 1 .. S) {
			clear(1, s)
		}
		sp[1].cur = 0;
		s = 0
	}
#endif
	od
}

/* ---- the store ----------------------------------------------------------- */

inline reply_with(w, kind, is_alone) {
	if
	:: kind == ACK || wire[w].counts ->
		if
		:: answer[slot(wire[w].who)].what == kind && answer[slot(wire[w].who)].who == wire[w].who &&
		   answer[slot(wire[w].who)].ses == wire[w].ses && answer[slot(wire[w].who)].gen == k.gen &&
		   answer[slot(wire[w].who)].seq == wire[w].l && answer[slot(wire[w].who)].alone == (is_alone)
		:: else ->
#if !defined(CLONE) && !defined(COPIED_SPOOL)
			if
			:: delay && answer[0].what > 0 ->
				answer[1].what = answer[0].what; answer[1].who = answer[0].who;
				answer[1].ses = answer[0].ses; answer[1].seq = answer[0].seq;
				answer[1].gen = answer[0].gen; answer[1].alone = answer[0].alone
			:: else
			fi;
#endif
			answer[slot(wire[w].who)].what = kind; answer[slot(wire[w].who)].who = wire[w].who;
			answer[slot(wire[w].who)].ses = wire[w].ses; answer[slot(wire[w].who)].gen = k.gen;
			answer[slot(wire[w].who)].seq = (kind == ACK -> wire[w].l : wire[w].f);
			answer[slot(wire[w].who)].alone = (is_alone)
		fi
	:: else
	fi
}

inline put_record(w) {
	if
	:: wire[w].content > 0 ->
		/* nothing is stored twice */
		assert(k.copies[wire[w].content] == 0);
		k.copies[wire[w].content]++
	:: else ->
		for (x : k.last[wire[w].ses] + 1 .. wire[w].l) {
			k.gapped[wire[w].ses] = k.gapped[wire[w].ses] | (1 << x)
		}
	fi
}

inline put_row(w) {
	k.last[wire[w].ses] = wire[w].l;
	hash(wire[w].ses, wire[w].l) = wire[w].after
}

inline receive(w) {
	i = wire[w].ses;
	h = hash(i, k.last[i]);
	a = hash(i, wire[w].l);
	if
	:: wire[w].l <= k.last[i] -> /* a repetition? */
#ifdef NO_COMPARISON
		reply_with(w, ACK, a == 0)
#else
		if
		:: a != 0 && a != wire[w].after && (wire[w].content > 0 || wire[w].after != 0) ->
			reply_with(w, DIVERGED, false)
		:: else ->
			reply_with(w, ACK, a == 0 || a != wire[w].after)
		fi
#endif
#ifndef ACCEPT_GAPS
	:: wire[w].f > k.last[i] + 1 /* it is resent later */
#endif
#ifndef NO_CHAIN
	:: wire[w].f == k.last[i] + 1 && h != 0 && wire[w].before != 0 && h != wire[w].before ->
		reply_with(w, DIVERGED, false)
#endif
	:: else ->
		found = wire[w].f == 1 ||
		    (wire[w].f == k.last[i] + 1 && h != 0 && h == wire[w].before);
		put_record(w);
		put_row(w);
		reply_with(w, ACK, !found)
	fi
}

active proctype keeper()
{
	byte w;
	bool delay;

	d_step {
		up[0] = true;
#ifdef COPIED_EARLY
		handed[1] = true;
		append(0, 1, 0);
		commit(0);
		c_code { now.sp[1] = now.sp[0]; };
		copied = true;
		up[1] = true;
#endif
		k.gen = 1
	}
	do
	:: atomic {
		if
		:: wire[0].ses > 0
		:: wire[1].ses > 0 -> w = 1
		fi;
		if
		:: true
		:: slot(1) == 0 && answer[0].what > 0 -> delay = true
		fi;
		d_step { receive(w); w = 0; delay = false }
	}
	/* crashes before the commit, that must not matter */
#ifdef ACK_BEFORE_COMMIT
	:: d_step { wire[0].ses > 0 && wire[0].f == k.last[wire[0].ses] + 1 ->
		reply_with(0, ACK, false) }
#endif
#ifdef SPLIT_TRANSACTION
	:: d_step { wire[0].ses > 0 && wire[0].f == k.last[wire[0].ses] + 1 -> put_record(0) }
#endif
#ifdef RESTORED_STORE
	:: d_step { backup.gen == 0 && k.gen == 1 ->
		c_code { now.backup = now.k; } }
	:: d_step { backup.gen > 0 && lost < LOSSES ->
		c_code { now.k = now.backup; };
		lost++;
		k.gen = 1 + lost;
		forgive();
		y = 0
	}
#endif
#ifdef LOST_STORE
	:: d_step { lost < LOSSES ->
		c_code { memset(&now.k, 0, sizeof(now.k)); };
		lost++;
		k.gen = 1 + lost;
		forgive();
		y = 0
	}
#endif
	od
}
