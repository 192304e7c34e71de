/*
 * auth - authenticates peers of the TCP listeners of this process.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/auth.h"

#include "proto/auth/auth_private.h"
#include "proto/auth/forwarded_peer.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_NS (60 * NS_PER_SECOND)

enum { QUOTED_BYTES = 300 };

static int
find_file(char to[static INSTANCE_PATH_BYTES], const char *given,
    const char *name, struct err *err)
{
	if (given == NULL)
		return instance_path(to, name, err);
	if (snprintf(to, INSTANCE_PATH_BYTES, "%s", given) >=
	    INSTANCE_PATH_BYTES)
		return err_set(err, "%s: the path is too long", given);
	return 0;
}

static int
read_server_key(const struct auth *auth, struct keyfile *key, struct err *err)
{
	if (keyfile_read(key, auth->key_path, err) != 0)
		return -1;
	if (key->role != KEY_SERVER)
		return err_set(err,
		    "%s: a key of role %s cannot be used by a listener; create "
		    "one with poolscope keys new server --role server",
		    auth->key_path, key_role_name(key->role));
	return 0;
}

int
auth_open(
    struct auth **auth, const struct auth_options *options, struct err *err)
{
	struct auth *made = memory_zero(1, sizeof(*made));

	made->options = *options;
	pthread_mutex_init(&made->lock, NULL);
	if (find_file(made->allow_path, options->allow, "keys/allow", err) !=
		0 ||
	    find_file(made->key_path, options->server_key, "keys/server.key",
		err) != 0 ||
	    authorized_keys_read(&made->keys, made->allow_path, err) != 0 ||
	    (options->listeners &&
		(read_server_key(made, &made->server, err) != 0 ||
		    auth_zap_start(made, err) != 0))) {
		auth_close(&made);
		return -1;
	}
	made->counters.keys = authorized_keys_count(made->keys);
	*auth = made;
	return 0;
}

void
auth_close(struct auth **auth)
{
	struct auth *old = *auth;

	if (old == NULL)
		return;
	auth_zap_stop(old);
	keyfile_clear(&old->server);
	authorized_keys_free(&old->keys);
	pthread_mutex_destroy(&old->lock);
	free(old);
	*auth = NULL;
}

/* Takes `*keys` and `*key`; returns whether the server key has changed. */
static bool
replace(struct auth *auth, struct authorized_keys **keys, struct keyfile *key)
{
	struct authorized_keys *old;
	bool rekeyed = false;

	pthread_mutex_lock(&auth->lock);
	old = auth->keys;
	auth->keys = *keys;
	auth->counters.keys = authorized_keys_count(auth->keys);
	auth->counters.reloads++;
	if (auth->options.listeners &&
	    memcmp(auth->server.public, key->public, ZSOCK_KEY_BYTES) != 0) {
		/* In place: listeners hold a pointer to the secret. */
		memcpy(auth->server.public, key->public, ZSOCK_KEY_BYTES);
		memcpy(auth->server.secret, key->secret, ZSOCK_KEY_BYTES);
		rekeyed = true;
	}
	pthread_mutex_unlock(&auth->lock);
	authorized_keys_free(&old);
	keyfile_clear(key);
	return rekeyed;
}

int
auth_reload(struct auth *auth, bool *rekeyed, struct err *err)
{
	struct authorized_keys *keys = NULL;
	struct keyfile key = { .servers = 0 };

	*rekeyed = false;
	if (authorized_keys_read(&keys, auth->allow_path, err) == 0 &&
	    (!auth->options.listeners ||
		read_server_key(auth, &key, err) == 0)) {
		*rekeyed = replace(auth, &keys, &key);
		return 0;
	}
	authorized_keys_free(&keys);
	keyfile_clear(&key);
	pthread_mutex_lock(&auth->lock);
	auth->counters.reloads_failed++;
	pthread_mutex_unlock(&auth->lock);
	return -1;
}

const unsigned char *
auth_secret(const struct auth *auth)
{
	return auth != NULL && auth->options.listeners ? auth->server.secret
						       : NULL;
}

bool
auth_admits(struct auth *auth, const unsigned char key[ZSOCK_KEY_BYTES])
{
	bool yes;

	pthread_mutex_lock(&auth->lock);
	yes = authorized_keys_find(auth->keys, key) != NULL;
	if (yes)
		auth->counters.handshakes++;
	else
		auth->counters.handshakes_refused++;
	pthread_mutex_unlock(&auth->lock);
	return yes;
}

/* ---- messages ---- */

/* Find the authorized key of the peer that sent the message, directly or
 * through a broker; NULL: a peer with all rights.  `*peer` is for the log. */
static enum auth_verdict
find_sender(const struct auth *auth, const struct zsock_message *message,
    struct zsock_peer *peer, const struct authorized_key **broker,
    const struct authorized_key **sender)
{
	struct zsock_peer forwarded_for;
	bool forwarded;
	uint32_t frames =
	    forwarded_peer_get(&message->route, &forwarded_for, &forwarded);

	*peer = message->peer;
	*broker = *sender = NULL;
	if (message->peer.keyed) {
		*sender = authorized_keys_find(auth->keys, message->peer.key);
		if (*sender == NULL)
			return AUTH_KEY;
		if ((*sender)->role != KEY_BROKER)
			return frames == 1 && !forwarded ? AUTH_OK : AUTH_SHAPE;
		if (!forwarded)
			return frames > 1 ? AUTH_SHAPE : AUTH_OK;
		*broker = *sender;
	}
	if (!forwarded)
		return AUTH_OK;
	/* The route holds the broker's frame and then the peer's. */
	if (frames < 2)
		return AUTH_SHAPE;
	*sender = NULL;
	if (!forwarded_for.keyed || !auth->options.checks_forwarded)
		return AUTH_OK;
	*peer = forwarded_for;
	*sender = authorized_keys_find(auth->keys, forwarded_for.key);
	return *sender == NULL ? AUTH_KEY : AUTH_OK;
}

static enum auth_verdict
judge_entry(const struct authorized_key *entry, enum key_role role,
    struct text partition, struct text node)
{
	if (entry->role != role)
		return AUTH_ROLE;
	if (!text_match_partition(entry->partition, partition))
		return AUTH_PARTITION;
	if (role != KEY_READER && !text_match(entry->node, node))
		return AUTH_NODE;
	return AUTH_OK;
}

static enum auth_verdict
judge_sender(const struct authorized_key *entry, enum auth_want want,
    struct text partition, struct text node)
{
	switch (want) {
	case AUTH_PUBLISH:
		return judge_entry(entry, KEY_AGENT, partition, node);
	case AUTH_READ: return judge_entry(entry, KEY_READER, partition, node);
	default: return entry->role == KEY_READER ? AUTH_OK : AUTH_ROLE;
	}
}

static _Thread_local char readable[NAME_BYTES_MAX];
static _Thread_local uint32_t readable_bytes;

/* The list of keys may be replaced before the question is answered. */
static void
note_readable(const struct authorized_key *sender)
{
	struct text pattern = sender == NULL ? text_of("*") : sender->partition;

	assert(pattern.bytes <= sizeof(readable));
	memcpy(readable, pattern.at, pattern.bytes);
	readable_bytes = pattern.bytes;
}

struct text
auth_readable(void)
{
	return (struct text){ readable, readable_bytes };
}

static enum auth_verdict
judge(const struct auth *auth, const struct zsock_message *message,
    enum auth_want want, struct text partition, struct text node,
    struct zsock_peer *peer, const struct authorized_key **judged)
{
	const struct authorized_key *broker, *sender;
	enum auth_verdict verdict =
	    find_sender(auth, message, peer, &broker, &sender);

	*judged = NULL;

	/* The broker's own key limits what it may forward. */
	if (verdict == AUTH_OK && broker != NULL) {
		*judged = broker;
		verdict = judge_entry(broker, KEY_BROKER, partition, node);
		/* A status is not of the partition that its header names. */
		if (verdict == AUTH_OK && want == AUTH_STATUS &&
		    !text_equal(broker->partition, text_of("*")))
			verdict = AUTH_PARTITION;
		if (verdict != AUTH_OK)
			*peer = message->peer;
	}
	if (verdict == AUTH_OK && sender != NULL) {
		*judged = sender;
		verdict = judge_sender(sender, want, partition, node);
	}
	if (verdict == AUTH_OK && want == AUTH_STATUS)
		note_readable(sender);
	return verdict;
}

static _Thread_local char why[NAME_BYTES_MAX + 1];

/* The patterns are those of the list of keys, so any names. */
static void
explain(const struct authorized_key *judged)
{
	char name[48], partition[64], node[48];

	if (judged == NULL)
		snprintf(why, sizeof(why),
		    "the key is not in the list of allowed keys");
	else
		snprintf(why, sizeof(why),
		    "key '%s' has role %s and may use partition '%s', node "
		    "'%s'",
		    text_quote(name, sizeof(name), judged->name),
		    key_role_name(judged->role),
		    text_quote(partition, sizeof(partition), judged->partition),
		    text_quote(node, sizeof(node), judged->node));
}

struct text
auth_why(void)
{
	return text_of(why);
}

static void
log_refusal(const struct auth *auth, const struct auth_audit *audit,
    struct text partition, struct text node)
{
	const struct authorized_key *entry =
	    authorized_keys_find(auth->keys, audit->key);
	char in_partition[QUOTED_BYTES], as_node[QUOTED_BYTES];
	char key[Z85_CHARACTERS];

	z85_encode(key, audit->key);
	log_warn("forbidden (%s): key=%.*s public=%.*s partition=%s node=%s "
		 "times=%llu",
	    auth_verdict_name(audit->verdict),
	    entry == NULL ? 1 : (int)entry->name.bytes,
	    entry == NULL ? "-" : entry->name.at, (int)sizeof(key), key,
	    text_quote(in_partition, sizeof(in_partition), partition),
	    text_quote(as_node, sizeof(as_node), node),
	    (unsigned long long)audit->unreported);
}

static struct auth_audit *
find(
    struct auth *auth, const struct zsock_peer *peer, enum auth_verdict verdict)
{
	struct auth_audit *oldest = auth->audit;

	for (uint32_t i = 0; i < AUTH_AUDITS; i++) {
		struct auth_audit *audit = &auth->audit[i];

		if (audit->verdict == verdict &&
		    memcmp(audit->key, peer->key, sizeof(peer->key)) == 0)
			return audit;
		if (audit->reported_ns < oldest->reported_ns)
			oldest = audit;
	}
	if (oldest->verdict != AUTH_OK &&
	    clock_monotonic_ns() - oldest->reported_ns < LOG_NS)
		return NULL;
	*oldest = (struct auth_audit){ .verdict = verdict };
	memcpy(oldest->key, peer->key, sizeof(oldest->key));
	return oldest;
}

/* Count a refusal, and log it at most once a minute.  The caller holds the
 * lock. */
static void
note_refusal(struct auth *auth, const struct zsock_peer *peer,
    enum auth_verdict verdict, struct text partition, struct text node)
{
	int64_t now_ns = clock_monotonic_ns();
	struct auth_audit *audit;

	auth->counters.forbidden[verdict]++;
	/* More keys in one minute than there are slots: count only. */
	audit = find(auth, peer, verdict);
	if (audit == NULL)
		return;
	audit->unreported++;
	if (audit->reported_ns != 0 && now_ns - audit->reported_ns < LOG_NS)
		return;
	log_refusal(auth, audit, partition, node);
	audit->reported_ns = now_ns;
	audit->unreported = 0;
}

enum auth_verdict
auth_check(struct auth *auth, const struct zsock_message *message,
    enum auth_want want, struct text partition, struct text node)
{
	const struct authorized_key *judged;
	struct zsock_peer peer;
	enum auth_verdict verdict;

	if (auth == NULL) {
		assert(!message->peer.keyed);
		note_readable(NULL);
		return AUTH_OK;
	}
	pthread_mutex_lock(&auth->lock);
	verdict = judge(auth, message, want, partition, node, &peer, &judged);
	if (verdict != AUTH_OK) {
		note_refusal(auth, &peer, verdict, partition, node);
		explain(judged);
	}
	pthread_mutex_unlock(&auth->lock);
	return verdict;
}

static bool
limits_nodes(const struct authorized_key *entry)
{
	return entry != NULL && !text_equal(entry->node, text_of("*"));
}

bool
auth_limits_nodes(struct auth *auth, const struct zsock_message *message)
{
	const struct authorized_key *broker, *sender;
	struct zsock_peer peer;
	bool limited;

	if (auth == NULL)
		return false;
	pthread_mutex_lock(&auth->lock);
	find_sender(auth, message, &peer, &broker, &sender);
	limited = limits_nodes(broker) || limits_nodes(sender);
	pthread_mutex_unlock(&auth->lock);
	return limited;
}

/* Hashes of names that operators choose: a fixed key is enough.  `within`: what
 * the name is one of. */
static uint64_t
identity(uint64_t within, const char *what, const void *at, uint32_t bytes)
{
	uint64_t hash =
	    hash_bytes((struct hash_key){ within, 0 }, what, strlen(what));

	hash = hash_bytes((struct hash_key){ hash, 0 }, at, bytes);
	return hash != 0 ? hash : 1;
}

uint64_t
auth_sender(struct auth *auth, const struct zsock_message *message)
{
	const struct authorized_key *broker, *sender;
	struct zsock_peer peer;
	bool forwarded;
	uint64_t who = 0, within = 0;
	uint32_t uid;

	if (auth != NULL) {
		pthread_mutex_lock(&auth->lock);
		find_sender(auth, message, &peer, &broker, &sender);
		if (sender != NULL)
			who = identity(
			    0, "key", sender->name.at, sender->name.bytes);
		/* Its machine has users of its own. */
		if (broker != NULL)
			within = identity(
			    0, "broker", broker->name.at, broker->name.bytes);
		pthread_mutex_unlock(&auth->lock);
	}
	if (who != 0)
		return who;
	forwarded_peer_get(&message->route, &peer, &forwarded);
	if (!forwarded)
		peer = message->peer;
	uid = htole32(peer.uid);
	return peer.has_uid ? identity(within, "uid", &uid, sizeof(uid))
			    : identity(within, "nobody", "", 0);
}

void
auth_refuse_session(struct auth *auth, const struct zsock_message *message,
    struct text partition, struct text node)
{
	const struct authorized_key *broker, *sender;
	struct zsock_peer peer;

	if (auth == NULL)
		return;
	pthread_mutex_lock(&auth->lock);
	find_sender(auth, message, &peer, &broker, &sender);
	note_refusal(auth, &peer, AUTH_SESSION, partition, node);
	pthread_mutex_unlock(&auth->lock);
}

const char *
auth_verdict_name(enum auth_verdict verdict)
{
	static const char *const names[AUTH_VERDICTS] = {
		[AUTH_OK] = "ok",
		[AUTH_SHAPE] = "shape",
		[AUTH_KEY] = "key",
		[AUTH_ROLE] = "role",
		[AUTH_PARTITION] = "partition",
		[AUTH_NODE] = "node",
		[AUTH_SESSION] = "session",
	};

	return names[verdict];
}

void
auth_counters(struct auth *auth, struct auth_counters *counters)
{
	*counters = (struct auth_counters){ .keys = 0 };
	if (auth == NULL)
		return;
	pthread_mutex_lock(&auth->lock);
	*counters = auth->counters;
	pthread_mutex_unlock(&auth->lock);
}

uint64_t
auth_forbidden(const struct auth_counters *counters)
{
	uint64_t sum = 0;

	for (unsigned i = AUTH_OK + 1; i < AUTH_VERDICTS; i++)
		sum += counters->forbidden[i];
	return sum;
}
