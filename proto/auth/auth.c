/*
 * auth - who may come in through the TCP doors of this process.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/auth.h"

#include "proto/auth/auth_private.h"
#include "proto/auth/forwarded_peer.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
read_server_key(const struct gate *gate, struct keyfile *key, struct err *err)
{
	if (keyfile_read(key, gate->key_path, err) != 0)
		return -1;
	if (key->role != KEY_SERVER)
		return err_set(err, "%s: a key of the role %s is no door's",
		    gate->key_path, key_role_name(key->role));
	return 0;
}

int
gate_open(
    struct gate **gate, const struct gate_options *options, struct err *err)
{
	struct gate *made = calloc(1, sizeof(*made));

	if (made == NULL)
		abort();
	made->options = *options;
	pthread_mutex_init(&made->lock, NULL);
	if (find_file(made->allow_path, options->allow, "keys/allow", err) !=
		0 ||
	    find_file(made->key_path, options->server_key, "keys/server.key",
		err) != 0 ||
	    allow_read(&made->allow, made->allow_path, err) != 0 ||
	    (options->doors &&
		(read_server_key(made, &made->server, err) != 0 ||
		    gate_zap_start(made, err) != 0))) {
		gate_close(&made);
		return -1;
	}
	made->counters.keys = allow_count(made->allow);
	*gate = made;
	return 0;
}

void
gate_close(struct gate **gate)
{
	struct gate *old = *gate;

	if (old == NULL)
		return;
	gate_zap_stop(old);
	keyfile_clear(&old->server);
	allow_free(&old->allow);
	pthread_mutex_destroy(&old->lock);
	free(old);
	*gate = NULL;
}

/* Takes `allow` and `key` over. */
static bool
replace(struct gate *gate, struct allow **allow, struct keyfile *key)
{
	struct allow *old;
	bool rekeyed = false;

	pthread_mutex_lock(&gate->lock);
	old = gate->allow;
	gate->allow = *allow;
	gate->counters.keys = allow_count(gate->allow);
	gate->counters.reloads++;
	if (gate->options.doors &&
	    memcmp(gate->server.public, key->public, PORT_KEY_BYTES) != 0) {
		/* In place: doors hold a pointer to the secret. */
		memcpy(gate->server.public, key->public, PORT_KEY_BYTES);
		memcpy(gate->server.secret, key->secret, PORT_KEY_BYTES);
		rekeyed = true;
	}
	pthread_mutex_unlock(&gate->lock);
	allow_free(&old);
	keyfile_clear(key);
	return rekeyed;
}

int
gate_reload(struct gate *gate, bool *rekeyed, struct err *err)
{
	struct allow *allow = NULL;
	struct keyfile key = { .servers = 0 };

	*rekeyed = false;
	if (allow_read(&allow, gate->allow_path, err) == 0 &&
	    (!gate->options.doors || read_server_key(gate, &key, err) == 0)) {
		*rekeyed = replace(gate, &allow, &key);
		return 0;
	}
	allow_free(&allow);
	keyfile_clear(&key);
	pthread_mutex_lock(&gate->lock);
	gate->counters.reloads_failed++;
	pthread_mutex_unlock(&gate->lock);
	return -1;
}

const unsigned char *
gate_secret(const struct gate *gate)
{
	return gate != NULL && gate->options.doors ? gate->server.secret : NULL;
}

bool
gate_admits(struct gate *gate, const unsigned char key[PORT_KEY_BYTES])
{
	bool yes;

	pthread_mutex_lock(&gate->lock);
	yes = allow_find(gate->allow, key) != NULL;
	if (yes)
		gate->counters.handshakes++;
	else
		gate->counters.handshakes_refused++;
	pthread_mutex_unlock(&gate->lock);
	return yes;
}

/* ---- messages ---- */

/* Who speaks, once routing frames and brokers are seen through: an entry of
 * the list, or NULL for one with all rights.  `*peer`: for the log. */
static enum gate_verdict
find_speaker(const struct gate *gate, const struct message *message,
    struct port_peer *peer, const struct allow_entry **broker,
    const struct allow_entry **speaker)
{
	struct port_peer vouched_for;
	bool vouched;
	uint32_t frames = vouch_get(&message->route, &vouched_for, &vouched);

	*peer = message->peer;
	*broker = *speaker = NULL;
	if (message->peer.keyed) {
		*speaker = allow_find(gate->allow, message->peer.key);
		if (*speaker == NULL)
			return GATE_KEY;
		if ((*speaker)->role != KEY_BROKER)
			return frames == 1 && !vouched ? GATE_OK : GATE_SHAPE;
		if (!vouched)
			return frames > 1 ? GATE_SHAPE : GATE_OK;
		*broker = *speaker;
	}
	if (!vouched)
		return GATE_OK;
	/* A broker's route, and behind it the peer's. */
	if (frames < 2)
		return GATE_SHAPE;
	*speaker = NULL;
	if (!vouched_for.keyed || !gate->options.keeps)
		return GATE_OK;
	*peer = vouched_for;
	*speaker = allow_find(gate->allow, vouched_for.key);
	return *speaker == NULL ? GATE_KEY : GATE_OK;
}

static enum gate_verdict
judge_entry(const struct allow_entry *entry, enum key_role role,
    struct text partition, struct text node)
{
	if (entry->role != role)
		return GATE_ROLE;
	if (!text_match(entry->partition, partition))
		return GATE_PARTITION;
	if (role != KEY_READER && !text_match(entry->node, node))
		return GATE_NODE;
	return GATE_OK;
}

static enum gate_verdict
judge_speaker(const struct allow_entry *entry, enum gate_want want,
    struct text partition, struct text node)
{
	switch (want) {
	case GATE_PUBLISH:
		return judge_entry(entry, KEY_AGENT, partition, node);
	case GATE_READ: return judge_entry(entry, KEY_READER, partition, node);
	default:
		if (entry->role != KEY_READER)
			return GATE_ROLE;
		return text_equal(entry->partition, text_of("*"))
			   ? GATE_OK
			   : GATE_PARTITION;
	}
}

static enum gate_verdict
judge(const struct gate *gate, const struct message *message,
    enum gate_want want, struct text partition, struct text node,
    struct port_peer *peer)
{
	const struct allow_entry *broker, *speaker;
	enum gate_verdict verdict =
	    find_speaker(gate, message, peer, &broker, &speaker);

	/* What a broker brings is within its own bounds as well. */
	if (verdict == GATE_OK && broker != NULL) {
		verdict = judge_entry(broker, KEY_BROKER, partition, node);
		if (verdict != GATE_OK)
			*peer = message->peer;
	}
	if (verdict == GATE_OK && speaker != NULL)
		verdict = judge_speaker(speaker, want, partition, node);
	return verdict;
}

enum gate_verdict
gate_judge(struct gate *gate, const struct message *message,
    enum gate_want want, struct text partition, struct text node)
{
	struct port_peer peer;
	enum gate_verdict verdict;

	if (gate == NULL) {
		assert(!message->peer.keyed);
		return GATE_OK;
	}
	pthread_mutex_lock(&gate->lock);
	verdict = judge(gate, message, want, partition, node, &peer);
	if (verdict != GATE_OK)
		gate_refused(gate, &peer, verdict, partition, node);
	pthread_mutex_unlock(&gate->lock);
	return verdict;
}

bool
gate_is_bound(struct gate *gate, const struct message *message,
    char pattern[static NAME_BYTES_MAX + 1])
{
	const struct allow_entry *broker, *entry = NULL;
	struct port_peer peer;

	if (gate == NULL)
		return false;
	pthread_mutex_lock(&gate->lock);
	find_speaker(gate, message, &peer, &broker, &entry);
	if (entry == NULL)
		entry = broker;
	if (entry != NULL)
		snprintf(pattern, NAME_BYTES_MAX + 1, "%.*s",
		    (int)entry->node.bytes, entry->node.at);
	pthread_mutex_unlock(&gate->lock);
	return entry != NULL && strcmp(pattern, "*") != 0;
}

const char *
gate_verdict_name(enum gate_verdict verdict)
{
	static const char *const names[GATE_VERDICTS] = {
		[GATE_OK] = "ok",
		[GATE_SHAPE] = "shape",
		[GATE_KEY] = "key",
		[GATE_ROLE] = "role",
		[GATE_PARTITION] = "partition",
		[GATE_NODE] = "node",
	};

	return names[verdict];
}

void
gate_counters(struct gate *gate, struct gate_counters *counters)
{
	*counters = (struct gate_counters){ .keys = 0 };
	if (gate == NULL)
		return;
	pthread_mutex_lock(&gate->lock);
	*counters = gate->counters;
	pthread_mutex_unlock(&gate->lock);
}

uint64_t
gate_forbidden(const struct gate_counters *counters)
{
	uint64_t sum = 0;

	for (unsigned i = GATE_OK + 1; i < GATE_VERDICTS; i++)
		sum += counters->forbidden[i];
	return sum;
}

#define TELL_NS (60 * NS_PER_SECOND)

enum { QUOTED_BYTES = 300 };

static void
tell(const struct gate *gate, const struct gate_audit *audit,
    struct text partition, struct text node)
{
	const struct allow_entry *entry = allow_find(gate->allow, audit->key);
	char in_partition[QUOTED_BYTES], as_node[QUOTED_BYTES];
	char key[Z85_CHARACTERS];

	z85_encode(key, audit->key);
	log_warn("forbidden (%s): key=%.*s public=%.*s partition=%s node=%s "
		 "times=%llu",
	    gate_verdict_name(audit->verdict),
	    entry == NULL ? 1 : (int)entry->name.bytes,
	    entry == NULL ? "-" : entry->name.at, (int)sizeof(key), key,
	    text_quote(in_partition, sizeof(in_partition), partition),
	    text_quote(as_node, sizeof(as_node), node),
	    (unsigned long long)audit->untold);
}

static struct gate_audit *
find(struct gate *gate, const struct port_peer *peer, enum gate_verdict verdict)
{
	struct gate_audit *oldest = gate->audit;

	for (uint32_t i = 0; i < GATE_AUDITS; i++) {
		struct gate_audit *audit = &gate->audit[i];

		if (audit->verdict == verdict &&
		    memcmp(audit->key, peer->key, sizeof(peer->key)) == 0)
			return audit;
		if (audit->told_ns < oldest->told_ns)
			oldest = audit;
	}
	if (oldest->verdict != GATE_OK &&
	    clock_monotonic_ns() - oldest->told_ns < TELL_NS)
		return NULL;
	*oldest = (struct gate_audit){ .verdict = verdict };
	memcpy(oldest->key, peer->key, sizeof(oldest->key));
	return oldest;
}

void
gate_refused(struct gate *gate, const struct port_peer *peer,
    enum gate_verdict verdict, struct text partition, struct text node)
{
	int64_t now_ns = clock_monotonic_ns();
	struct gate_audit *audit;

	gate->counters.forbidden[verdict]++;
	/* More keys than there are places in one minute: only counted. */
	audit = find(gate, peer, verdict);
	if (audit == NULL)
		return;
	audit->untold++;
	if (audit->told_ns != 0 && now_ns - audit->told_ns < TELL_NS)
		return;
	tell(gate, audit, partition, node);
	audit->told_ns = now_ns;
	audit->untold = 0;
}
