/*
 * clickhouse - statements and blocks for the replicas of a ClickHouse cluster,
 * by HTTP.
 *
 * Each call sends one request to the replica that it names, once, and ends
 * within the timeout: another attempt, or another replica, is the caller's
 * choice.  One thread at a time uses a handle; different handles are
 * independent.  Redirects are errors, and so is an exception that comes at the
 * end of a complete answer.  Shards and replicas are counted from 0.  A
 * shard has the number of the cluster's configuration; a replica keeps its
 * number as long as the handle lives, while servers come and go.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_CLIENT_H
#define PROTO_CLICKHOUSE_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/clickhouse/url.h"
#include "proto/os/clock.h"

enum {
	CLICKHOUSE_SHARDS_MAX = 32,
	CLICKHOUSE_REPLICAS_MAX = 4,
	/* A larger answer is an error. */
	CLICKHOUSE_ANSWER_BYTES_MAX = 64 << 20,
	/* The first version with what 18.16 lacks: low cardinality, settings of
	 * inserts (clickhouse_cluster.version). */
	CLICKHOUSE_VERSION_NEW = 22000,
};

/* Initialise with CLICKHOUSE_DEFAULT; the texts must outlive the handle. */
struct clickhouse_options {
	const char *url;      /* url.h */
	const char *password; /* a file of mode 0600, or NULL: no password */
	const char *cacert;   /* PEM file, or NULL */
	bool insecure;        /* allow plain HTTP beyond this machine */
	int64_t timeout_ns;   /* without a byte of an answer to a question */
	/* How many replicas of a shard clickhouse_find looks for among those
	 * that are silent, too (silence.h). */
	unsigned enough;
	/* NULL, or set by another thread: a request ends with -1 within 200 ms,
	 * and no other one begins. */
	const atomic_bool *stop;
};
#define CLICKHOUSE_DEFAULT                                                     \
	{                                                                      \
		.timeout_ns = 5 * NS_PER_SECOND, .enough = 1                   \
	}

struct clickhouse_replica {
	/* Its macro {replica}; "" unless `up`. */
	char name[CLICKHOUSE_NAME_BYTES];
	char host[CLICKHOUSE_HOST_BYTES];
	uint16_t port;    /* of HTTP; 0: unknown */
	uint32_t version; /* 18.16.1 is 18016; 0 unless `up` */
	bool up;          /* it answered the last clickhouse_find */
	/* Settings of our user there.  By `readonly` 1 a statement cannot have
	 * settings of its own, by 2 it can. */
	uint8_t readonly;
	bool is_limited; /* statements have a limit of time */
};

struct clickhouse_shard {
	unsigned replicas; /* configured, 1..CLICKHOUSE_REPLICAS_MAX */
	struct clickhouse_replica replica[CLICKHOUSE_REPLICAS_MAX];
};

struct clickhouse_cluster {
	/* The macro {cluster}, "" for a single server without one. */
	char name[CLICKHOUSE_NAME_BYTES];
	bool keeper;      /* false: a single server, one copy, no ZooKeeper */
	uint32_t version; /* the lowest of the replicas that are up */
	unsigned shards;  /* 0: not found yet */
	struct clickhouse_shard shard[CLICKHOUSE_SHARDS_MAX];
};

struct clickhouse; /* opaque */

/* Checks the options and reads the password; connects to nothing.  -1: the
 * error names the option as "to", "archive-password" ... (ERR_OPTION); `option`
 * is the name of the option that has the address. */
int clickhouse_open(struct clickhouse **clickhouse,
    const struct clickhouse_options *options, const char *option,
    struct err *err);
/* Another handle for the same archive, for another thread; it knows no cluster
 * yet. */
int clickhouse_open_again(struct clickhouse **clickhouse,
    const struct clickhouse *of, struct err *err);
void clickhouse_close(struct clickhouse **clickhouse);

/* Ask the hosts of the address, and the hosts that these name, for the shards
 * and replicas, after the password was read again.  Call it first, and again
 * while a replica is not up.  -1: no host answers, or the answers contradict
 * each other; the cluster of an earlier call stays. */
int clickhouse_find(struct clickhouse *clickhouse, struct err *err);
/* What the last successful clickhouse_find found; lives as long as the
 * handle. */
const struct clickhouse_cluster *clickhouse_cluster(
    const struct clickhouse *clickhouse);
/* In which order to ask the replicas of a shard: from `first` on, and those
 * last that did not answer within their time (silence.h).  Returns how many
 * come before those. */
unsigned clickhouse_order(const struct clickhouse *clickhouse, unsigned shard,
    unsigned first, unsigned order[static CLICKHOUSE_REPLICAS_MAX]);
const char *clickhouse_database(const struct clickhouse *clickhouse);
/* Take over what the other handle has found, and its password. */
void clickhouse_take_cluster(
    struct clickhouse *clickhouse, const struct clickhouse *from);

/* Insert a block of format Native (native.h) into a table of the database.  0:
 * the replica stored it.  -1: it is not known to be stored. */
int clickhouse_insert(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, const char *table, struct text native_block,
    struct err *err);

/* Ask a question; the answer is in format TabSeparated, complete, and valid
 * until the next call.  Where the user may change settings, the server ends it
 * when nobody can be waiting for it any more: a second after the timeout, and
 * from CLICKHOUSE_VERSION_NEW on as soon as the connection is closed.
 * Statements name tables by clickhouse_database; they contain checked names,
 * numbers and hexadecimal digits, nothing else of the world.  The first column
 * must not be free text: a line that begins like an exception is one. */
int clickhouse_ask(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, const char *sql, struct text *answer, struct err *err);
/* The same; " FORMAT Native" is added to the statement.  The caller reads the
 * answer with native_read.h, which finds what does not belong there. */
int clickhouse_ask_native(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, const char *sql, struct text *answer, struct err *err);

/* Run a statement without an answer: CREATE, INSERT INTO ... SELECT, DROP. */
int clickhouse_run(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, const char *sql, struct err *err);

/* The number of the exception of the last request that failed so ("Code: 60"),
 * 0: none. */
unsigned clickhouse_exception(const struct clickhouse *clickhouse);

#endif
