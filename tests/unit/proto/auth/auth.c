/* SPDX-License-Identifier: MIT */
#include "proto/auth/auth.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/auth/auth_private.h"
#include "proto/auth/forwarded_peer.h"
#include "proto/auth/refusal.h"
#include "proto/keys/authorized_keys.h"
#include "proto/net/zsock.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

enum { PATIENCE_MS = 20000, QUIET_MS = 400, FRAME_MAX = 4096 };

static char dir[SCRATCH_BYTES];
static char key_path[SCRATCH_BYTES + 16], allow_path[SCRATCH_BYTES + 16];
static char ipc[SCRATCH_BYTES + 16], tcp[ENDPOINT_BYTES_MAX];
static struct keyfile server, agent, other, reader, broker, stranger;
static struct auth *auth;
static struct zsock *listener;
static struct zsock_message message;

static void
good(int rc, const struct err *err)
{
	if (rc != 0)
		fail_msg("%s", err->text);
}

static void
allow(const struct keyfile *key, const char *partition, const char *node)
{
	struct authorized_key entry = { .role = key->role,
		.partition = text_of(partition),
		.node = text_of(node),
		.name = text_of(key->name) };
	struct authorized_keys_change change = { .add = &entry };
	struct err err = { 0 };
	uint32_t removed;

	memcpy(entry.public, key->public, sizeof(entry.public));
	good(authorized_keys_change(allow_path, &change, &removed, &err), &err);
}

static void
make_client(struct keyfile *key, const char *name, enum key_role role)
{
	keyfile_make(key, name, role);
	memcpy(key->server[0], server.public, ZSOCK_KEY_BYTES);
	key->servers = 1;
}

static struct zsock *
open_port(struct zsock_options options)
{
	struct zsock *zsock;
	struct err err = { 0 };

	options.queue_messages = 4;
	options.frame_bytes_max = FRAME_MAX;
	good(zsock_open(&zsock, &options, &err), &err);
	return zsock;
}

static struct zsock *
open_line(const char *endpoint, const struct keyfile *key)
{
	struct zsock *line = open_port((struct zsock_options){
	    .kind = ZSOCK_CONNECTION, .key = key, .insecure = key == NULL });
	struct err err = { 0 };

	good(zsock_connect(line, endpoint, &err), &err);
	return line;
}

/* Both ports have something to do now and then. */
static void
nap(struct zsock *line)
{
	struct pollfd fds[] = {
		{ zsock_fd(listener), POLLIN, 0 },
		{ zsock_watch_fd(listener), POLLIN, 0 },
		{ zsock_fd(line), POLLIN, 0 },
		{ zsock_watch_fd(line), POLLIN, 0 },
	};

	poll(fds, 4, 20);
	zsock_is_ready(line);
	zsock_watch(line);
	zsock_watch(listener);
}

/* Does a word of the line arrive at the listener within so long, and as whose?
 */
static bool
arrives(struct zsock *line, int patience_ms)
{
	static const struct route no_route;
	bool sent = false;

	for (int i = 0; i < patience_ms / 20; i++) {
		struct err err = { 0 };

		if (!sent)
			sent = zsock_send(line, &no_route, text_of("hello")) ==
			       ZSOCK_DONE;
		if (zsock_recv(listener, &message) == ZSOCK_DONE)
			return true;
		if (zsock_trouble(line) == ZSOCK_TRY_NEXT)
			good(zsock_reconnect(line, &err), &err);
		nap(line);
	}
	return false;
}

static enum zsock_trouble
trouble_of(struct zsock *line, struct err *err)
{
	for (int i = 0; i < PATIENCE_MS / 20; i++) {
		enum zsock_trouble trouble = refusal_get(line, err);

		if (trouble != ZSOCK_FINE && trouble != ZSOCK_TRY_NEXT)
			return trouble;
		if (arrives(line, 20))
			return ZSOCK_FINE;
	}
	return ZSOCK_FINE;
}

static int
set_up(void **state)
{
	const struct auth_options how = { .server_key = key_path,
		.allow = allow_path,
		.listeners = true,
		.checks_forwarded = true };
	struct err err = { 0 };

	scratch_make(dir);
	snprintf(key_path, sizeof(key_path), "%s/server.key", dir);
	snprintf(allow_path, sizeof(allow_path), "%s/allow", dir);
	snprintf(ipc, sizeof(ipc), "ipc://%s/door", dir);
	keyfile_make(&server, "server", KEY_SERVER);
	good(keyfile_write(&server, key_path, true, &err), &err);
	make_client(&agent, "n1", KEY_AGENT);
	make_client(&other, "n2", KEY_AGENT);
	make_client(&reader, "boss", KEY_READER);
	make_client(&broker, "front", KEY_BROKER);
	make_client(&stranger, "who", KEY_AGENT);
	allow(&agent, "a$p", "n1");
	allow(&other, "*", "*");
	allow(&reader, "a$*", "*");
	allow(&broker, "a$*", "*");
	good(auth_open(&auth, &how, &err), &err);
	zsock_message_init(&message);
	listener = open_port((struct zsock_options){
	    .kind = ZSOCK_LISTENER, .server_secret = auth_secret(auth) });
	good(zsock_bind(listener, "tcp://127.0.0.1:*", &err), &err);
	snprintf(tcp, sizeof(tcp), "%s", zsock_endpoint(listener));
	good(zsock_bind(listener, ipc, &err), &err);
	return 0;
}

static int
tear_down(void **state)
{
	struct keyfile *const keys[] = { &server, &agent, &other, &reader,
		&broker, &stranger };

	zsock_message_clear(&message);
	zsock_close(&listener);
	auth_close(&auth);
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		keyfile_clear(keys[i]);
	scratch_remove(dir);
	return 0;
}

/* ---- connections ---- */

static void
the_right_key_comes_in_and_is_known(void **state)
{
	struct zsock *line = open_line(tcp, &agent);

	assert_true(arrives(line, PATIENCE_MS));
	assert_true(message.peer.keyed);
	assert_memory_equal(message.peer.key, agent.public, ZSOCK_KEY_BYTES);
	assert_int_equal(
	    zsock_send(listener, &message.route, text_of("yes")), ZSOCK_DONE);
	zsock_close(&line);
}

static void
a_unix_socket_of_the_same_listener_needs_no_key(void **state)
{
	struct zsock *line = open_line(ipc, NULL);

	assert_true(arrives(line, PATIENCE_MS));
	assert_false(message.peer.keyed);
	assert_true(message.peer.has_uid);
	assert_int_equal(message.peer.uid, getuid());
	zsock_close(&line);
}

static void
a_key_that_is_not_on_the_list_is_refused(void **state)
{
	struct zsock *line = open_line(tcp, &stranger);
	struct err err = { 0 };
	struct auth_counters counters;

	assert_int_equal(trouble_of(line, &err), ZSOCK_REFUSED);
	assert_non_null(strstr(err.text, "refuses the key who"));
	auth_counters(auth, &counters);
	assert_true(counters.handshakes_refused > 0);
	/* Allowed a little later, it is accepted at the next connect. */
	allow(&stranger, "*", "*");
	good(auth_reload(auth, &(bool){ false }, &err), &err);
	good(zsock_reconnect(line, &err), &err);
	assert_true(arrives(line, PATIENCE_MS));
	zsock_close(&line);
}

static void
a_key_for_another_server_tries_all_that_it_has(void **state)
{
	struct keyfile both = stranger;
	struct zsock *line;
	struct err err = { 0 };

	memcpy(stranger.server[0], stranger.public, ZSOCK_KEY_BYTES);
	line = open_line(tcp, &stranger);
	assert_int_equal(trouble_of(line, &err), ZSOCK_WRONG_SERVER);
	zsock_close(&line);
	memcpy(both.public, agent.public, ZSOCK_KEY_BYTES);
	both.secret = agent.secret;
	memcpy(both.server[0], stranger.public, ZSOCK_KEY_BYTES);
	memcpy(both.server[1], server.public, ZSOCK_KEY_BYTES);
	both.servers = 2;
	line = open_line(tcp, &both);
	assert_true(arrives(line, PATIENCE_MS));
	zsock_close(&line);
}

static void
a_peer_without_keys_delivers_nothing(void **state)
{
	struct zsock *line = open_line(tcp, NULL);
	struct err err = { 0 };

	assert_int_equal(trouble_of(line, &err), ZSOCK_MECHANISM_MISMATCH);
	assert_non_null(strstr(err.text, "requires a key"));
	assert_false(arrives(line, QUIET_MS));
	zsock_close(&line);
}

static void
with_the_handler_gone_nobody_delivers_anything(void **state)
{
	struct zsock *line;

	auth_zap_stop(auth);
	line = open_line(tcp, &agent);
	assert_false(arrives(line, 3 * QUIET_MS));
	for (int i = 0; i < PATIENCE_MS / QUIET_MS &&
			zsock_counters(listener)->handshakes_failed == 0;
	     i++)
		assert_false(arrives(line, QUIET_MS));
	assert_true(zsock_counters(listener)->handshakes_failed > 0);
	zsock_close(&line);
}

static void
another_server_key_keeps_old_ones_out(void **state)
{
	struct zsock *line = open_line(tcp, &agent);
	struct keyfile next;
	struct err err = { 0 };
	bool rekeyed;

	assert_true(arrives(line, PATIENCE_MS));
	keyfile_make(&next, "server", KEY_SERVER);
	good(keyfile_write(&next, key_path, true, &err), &err);
	good(auth_reload(auth, &rekeyed, &err), &err);
	assert_true(rekeyed);
	good(zsock_rekey(listener, auth_secret(auth), &err), &err);
	assert_int_equal(trouble_of(line, &err), ZSOCK_WRONG_SERVER);
	zsock_close(&line);
	memcpy(agent.server[0], next.public, ZSOCK_KEY_BYTES);
	line = open_line(tcp, &agent);
	assert_true(arrives(line, PATIENCE_MS));
	zsock_close(&line);
	keyfile_clear(&next);
}

/* ---- messages ---- */

static bool
remove_agent(const void *arg, const struct authorized_keys *list,
    const struct authorized_key *entry)
{
	return text_equal(entry->name, text_of("n1"));
}

static enum auth_verdict
judge(enum auth_want want, const char *partition, const char *node)
{
	return auth_check(
	    auth, &message, want, text_of(partition), text_of(node));
}

static void
a_revoked_key_is_out_though_connected(void **state)
{
	struct zsock *line = open_line(tcp, &agent);
	struct authorized_keys_change change = { .remove = remove_agent };
	struct auth_counters counters;
	struct err err = { 0 };
	uint32_t removed;
	bool rekeyed;

	assert_true(arrives(line, PATIENCE_MS));
	assert_int_equal(judge(AUTH_PUBLISH, "a$p", "n1"), AUTH_OK);
	good(authorized_keys_change(allow_path, &change, &removed, &err), &err);
	good(auth_reload(auth, &rekeyed, &err), &err);
	assert_false(rekeyed);
	assert_true(arrives(line, PATIENCE_MS)); /* the connection is there */
	assert_int_equal(judge(AUTH_PUBLISH, "a$p", "n1"), AUTH_KEY);
	auth_counters(auth, &counters);
	assert_int_equal(counters.forbidden[AUTH_KEY], 1);
	assert_int_equal(auth_forbidden(&counters), 1);
	zsock_close(&line);
}

static void
a_bad_list_leaves_the_old_one(void **state)
{
	struct err err = { 0 };
	FILE *file = fopen(allow_path, "a");
	bool rekeyed;

	fputs("nonsense\n", file);
	fclose(file);
	assert_int_equal(auth_reload(auth, &rekeyed, &err), -1);
	assert_non_null(strstr(err.text, "allow:5: "));
	message.peer.keyed = true;
	memcpy(message.peer.key, agent.public, ZSOCK_KEY_BYTES);
	route_add(&message.route, "peer", 4);
	assert_int_equal(judge(AUTH_PUBLISH, "a$p", "n1"), AUTH_OK);
}

/* A message as it comes from a peer (NULL: no key), through `brokers` brokers
 * further away, forwarded for (NULL: not, &server: a peer without a key). */
static void
come_from(
    const struct keyfile *peer, int brokers, const struct keyfile *forwarded)
{
	struct zsock_peer whom = { .keyed = false };

	zsock_message_clear(&message);
	message.peer = whom;
	if (peer != NULL) {
		message.peer.keyed = true;
		memcpy(message.peer.key, peer->public, ZSOCK_KEY_BYTES);
	}
	for (int i = 0; i <= brokers; i++)
		assert_true(route_add(&message.route, "12345", 5));
	if (forwarded == NULL)
		return;
	whom.keyed = forwarded != &server;
	memcpy(whom.key, forwarded->public, ZSOCK_KEY_BYTES);
	assert_true(forwarded_peer_add(&message.route, &whom));
}

/* The kernel says who is at the other end of a Unix socket; a broker passes it
 * on, and two of them, too.  Behind a key it may be that of another machine. */
static void
users_of_unix_sockets_are_told_apart(void **state)
{
	uint64_t direct, elsewhere, key;
	struct zsock_peer peer = { .has_uid = true, .uid = 1000 };

	come_from(NULL, 0, NULL);
	message.peer = peer;
	direct = auth_sender(auth, &message);
	assert_true(direct != 0);
	come_from(NULL, 1, NULL);
	assert_true(forwarded_peer_add(&message.route, &peer));
	assert_true(auth_sender(auth, &message) == direct);
	assert_true(auth_sender(NULL, &message) == direct);
	come_from(&broker, 1, NULL);
	assert_true(forwarded_peer_add(&message.route, &peer));
	elsewhere = auth_sender(auth, &message);
	assert_true(elsewhere != direct);
	come_from(&broker, 2, NULL);
	assert_true(forwarded_peer_add(&message.route, &peer));
	assert_true(auth_sender(auth, &message) == elsewhere);
	peer.uid = 1001;
	come_from(&broker, 2, NULL);
	assert_true(forwarded_peer_add(&message.route, &peer));
	assert_true(auth_sender(auth, &message) != direct);
	assert_true(auth_sender(auth, &message) != elsewhere);
	/* Nobody in particular; the key of an agent, by every way. */
	come_from(&broker, 1, &server);
	assert_true(auth_sender(auth, &message) != direct);
	come_from(&agent, 0, NULL);
	key = auth_sender(auth, &message);
	assert_true(key != direct);
	come_from(&broker, 1, &agent);
	assert_true(auth_sender(auth, &message) == key);
	come_from(NULL, 1, &agent);
	assert_true(auth_sender(auth, &message) == key);
	come_from(NULL, 1, &other);
	assert_true(auth_sender(auth, &message) != key);
}

static void
each_key_may_do_what_its_line_says(void **state)
{
	static const struct {
		const struct keyfile *peer;
		int brokers;
		const struct keyfile *forwarded;
		enum auth_want want;
		const char *partition, *node;
		enum auth_verdict verdict;
	} rows[] = {
		{ NULL, 0, NULL, AUTH_PUBLISH, "x", "y", AUTH_OK },
		{ NULL, 0, NULL, AUTH_STATUS, "", "", AUTH_OK },
		{ &agent, 0, NULL, AUTH_PUBLISH, "a$p", "n1", AUTH_OK },
		{ &agent, 0, NULL, AUTH_PUBLISH, "a$q", "n1", AUTH_PARTITION },
		{ &agent, 0, NULL, AUTH_PUBLISH, "a$p", "n2", AUTH_NODE },
		{ &agent, 0, NULL, AUTH_READ, "a$p", "n1", AUTH_ROLE },
		{ &agent, 0, NULL, AUTH_STATUS, "", "", AUTH_ROLE },
		{ &stranger, 0, NULL, AUTH_PUBLISH, "a$p", "n1", AUTH_KEY },
		{ &reader, 0, NULL, AUTH_READ, "a$q", "", AUTH_OK },
		{ &reader, 0, NULL, AUTH_READ, "b$q", "", AUTH_PARTITION },
		{ &reader, 0, NULL, AUTH_STATUS, "", "", AUTH_OK },
		{ &reader, 0, NULL, AUTH_PUBLISH, "a$p", "n1", AUTH_ROLE },
		/* Only brokers forward_identity. */
		{ &agent, 0, &other, AUTH_PUBLISH, "a$p", "n1", AUTH_SHAPE },
		{ &agent, 1, &other, AUTH_PUBLISH, "a$p", "n1", AUTH_SHAPE },
		{ &agent, 1, &server, AUTH_PUBLISH, "a$p", "n1", AUTH_SHAPE },
		{ &agent, 1, NULL, AUTH_PUBLISH, "a$p", "n1", AUTH_SHAPE },
		{ &reader, 1, &other, AUTH_PUBLISH, "a$p", "n1", AUTH_SHAPE },
		{ &stranger, 1, &other, AUTH_PUBLISH, "a$p", "n1", AUTH_KEY },
		{ &broker, 1, &agent, AUTH_PUBLISH, "a$p", "n1", AUTH_OK },
		{ &broker, 2, &agent, AUTH_PUBLISH, "a$p", "n1", AUTH_OK },
		{ &broker, 1, &agent, AUTH_PUBLISH, "a$p", "n2", AUTH_NODE },
		{ &broker, 1, &agent, AUTH_PUBLISH, "a$q", "n1",
		    AUTH_PARTITION },
		{ &broker, 1, &server, AUTH_PUBLISH, "a$q", "n7", AUTH_OK },
		{ &broker, 1, &stranger, AUTH_PUBLISH, "a$p", "n1", AUTH_KEY },
		{ &broker, 1, &broker, AUTH_PUBLISH, "a$p", "n1", AUTH_ROLE },
		{ &broker, 1, &reader, AUTH_PUBLISH, "a$p", "n1", AUTH_ROLE },
		/* Within its own bounds. */
		{ &broker, 1, &other, AUTH_PUBLISH, "b$p", "n1",
		    AUTH_PARTITION },
		{ &broker, 1, &server, AUTH_PUBLISH, "b$p", "n1",
		    AUTH_PARTITION },
		/* And always for somebody. */
		{ &broker, 0, NULL, AUTH_PUBLISH, "a$p", "n1", AUTH_ROLE },
		{ &broker, 1, NULL, AUTH_PUBLISH, "a$p", "n1", AUTH_SHAPE },
		{ &broker, 0, &agent, AUTH_PUBLISH, "a$p", "n1", AUTH_SHAPE },
		/* A broker on this host. */
		{ NULL, 1, &agent, AUTH_PUBLISH, "a$p", "n1", AUTH_OK },
		{ NULL, 1, &agent, AUTH_PUBLISH, "b$p", "n1", AUTH_PARTITION },
		{ NULL, 1, &stranger, AUTH_PUBLISH, "a$p", "n1", AUTH_KEY },
		{ NULL, 1, &server, AUTH_PUBLISH, "b$p", "n1", AUTH_OK },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum auth_verdict verdict;

		come_from(rows[i].peer, rows[i].brokers, rows[i].forwarded);
		verdict = judge(rows[i].want, rows[i].partition, rows[i].node);
		if (verdict != rows[i].verdict)
			fail_msg("row %u: %s, not %s", i,
			    auth_verdict_name(verdict),
			    auth_verdict_name(rows[i].verdict));
	}
}

static void
a_status_is_of_what_its_reader_may_read(void **state)
{
	static const struct {
		const struct keyfile *peer;
		int brokers;
		const struct keyfile *forwarded;
		const char *readable; /* NULL: refused */
	} rows[] = {
		{ NULL, 0, NULL, "*" },
		{ &reader, 0, NULL, "a$*" },
		{ NULL, 1, &reader, "a$*" },
		{ &agent, 0, NULL, NULL },
		/* The broker's key is of a$*, and so is the header. */
		{ &broker, 1, &reader, NULL },
		{ &broker, 1, &server, NULL },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum auth_verdict verdict;

		come_from(rows[i].peer, rows[i].brokers, rows[i].forwarded);
		verdict = judge(AUTH_STATUS, "a$p", "");
		if ((verdict == AUTH_OK) != (rows[i].readable != NULL) ||
		    (verdict == AUTH_OK && !text_equal(auth_readable(),
					       text_of(rows[i].readable))))
			fail_msg("row %u: %s, of '%.*s'", i,
			    auth_verdict_name(verdict),
			    (int)auth_readable().bytes, auth_readable().at);
	}
}

static void
a_vouch_is_taken_off_by_the_broker_that_gave_it(void **state)
{
	struct zsock_peer peer;
	uint16_t bytes;
	bool forwarded;

	come_from(NULL, 0, &agent);
	forwarded_peer_take(&message.route);
	assert_int_equal(
	    forwarded_peer_get(&message.route, &peer, &forwarded), 1);
	assert_false(forwarded);
	come_from(NULL, 1, &agent);
	bytes = message.route.bytes;
	forwarded_peer_take(&message.route);
	assert_int_equal(message.route.bytes, bytes);
	assert_int_equal(
	    forwarded_peer_get(&message.route, &peer, &forwarded), 2);
	assert_true(forwarded);
	assert_memory_equal(peer.key, agent.public, ZSOCK_KEY_BYTES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_right_key_comes_in_and_is_known),
		TEST(a_unix_socket_of_the_same_listener_needs_no_key),
		TEST(a_key_that_is_not_on_the_list_is_refused),
		TEST(a_key_for_another_server_tries_all_that_it_has),
		TEST(a_peer_without_keys_delivers_nothing),
		TEST(with_the_handler_gone_nobody_delivers_anything),
		TEST(another_server_key_keeps_old_ones_out),
		TEST(a_revoked_key_is_out_though_connected),
		TEST(a_bad_list_leaves_the_old_one),
		TEST(a_status_is_of_what_its_reader_may_read),
		TEST(each_key_may_do_what_its_line_says),
		TEST(users_of_unix_sockets_are_told_apart),
		TEST(a_vouch_is_taken_off_by_the_broker_that_gave_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
