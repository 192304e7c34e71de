/* SPDX-License-Identifier: MIT */
#include "proto/auth/auth.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/auth/auth_private.h"
#include "proto/auth/forwarded_peer.h"
#include "proto/keys/allowlist.h"
#include "proto/net/route.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

enum { PATIENCE_MS = 20000, QUIET_MS = 400, FRAME_MAX = 4096 };

static char dir[SCRATCH_BYTES];
static char key_path[SCRATCH_BYTES + 16], allow_path[SCRATCH_BYTES + 16];
static char ipc[SCRATCH_BYTES + 16], tcp[PORT_ENDPOINT_BYTES_MAX];
static struct keyfile server, agent, other, reader, broker, stranger;
static struct gate *gate;
static struct port *door;
static struct message message;

static void
good(int rc, const struct err *err)
{
	if (rc != 0)
		fail_msg("%s", err->text);
}

static void
allow(const struct keyfile *key, const char *partition, const char *node)
{
	struct allow_entry entry = { .role = key->role,
		.partition = text_of(partition),
		.node = text_of(node),
		.name = text_of(key->name) };
	struct allow_change change = { .add = &entry };
	struct err err = { "" };
	uint32_t removed;

	memcpy(entry.public, key->public, sizeof(entry.public));
	good(allow_change(allow_path, &change, &removed, &err), &err);
}

static void
make_client(struct keyfile *key, const char *name, enum key_role role)
{
	keyfile_make(key, name, role);
	memcpy(key->server[0], server.public, PORT_KEY_BYTES);
	key->servers = 1;
}

static struct port *
open_port(struct port_options options)
{
	struct port *port;
	struct err err = { "" };

	options.queue_messages = 4;
	options.frame_bytes_max = FRAME_MAX;
	good(port_open(&port, &options, &err), &err);
	return port;
}

static struct port *
open_line(const char *endpoint, const struct keyfile *key)
{
	struct port *line = open_port((struct port_options){
	    .kind = PORT_LINE, .key = key, .insecure = key == NULL });
	struct err err = { "" };

	good(port_connect(line, endpoint, &err), &err);
	return line;
}

/* Both ports have something to do now and then. */
static void
nap(struct port *line)
{
	struct pollfd fds[] = {
		{ port_fd(door), POLLIN, 0 },
		{ port_watch_fd(door), POLLIN, 0 },
		{ port_fd(line), POLLIN, 0 },
		{ port_watch_fd(line), POLLIN, 0 },
	};

	poll(fds, 4, 20);
	port_is_ready(line);
	port_watch(line);
	port_watch(door);
}

/* Does a word of the line arrive at the door within so long, and as whose? */
static bool
arrives(struct port *line, int patience_ms)
{
	static const struct route no_route;
	bool sent = false;

	for (int i = 0; i < patience_ms / 20; i++) {
		struct err err = { "" };

		if (!sent)
			sent = port_send(line, &no_route, text_of("hello")) ==
			       PORT_DONE;
		if (port_recv(door, &message) == PORT_DONE)
			return true;
		if (port_trouble(line, &err) == PORT_TRY_NEXT)
			good(port_reconnect(line, &err), &err);
		nap(line);
	}
	return false;
}

static enum port_trouble
trouble_of(struct port *line, struct err *err)
{
	for (int i = 0; i < PATIENCE_MS / 20; i++) {
		enum port_trouble trouble = port_trouble(line, err);

		if (trouble != PORT_FINE && trouble != PORT_TRY_NEXT)
			return trouble;
		if (arrives(line, 20))
			return PORT_FINE;
	}
	return PORT_FINE;
}

static int
set_up(void **state)
{
	const struct gate_options how = { .server_key = key_path,
		.allow = allow_path,
		.doors = true,
		.keeps = true };
	struct err err = { "" };

	(void)state;
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
	good(gate_open(&gate, &how, &err), &err);
	message_init(&message);
	door = open_port((struct port_options){
	    .kind = PORT_DOOR, .server_secret = gate_secret(gate) });
	good(port_bind(door, "tcp://127.0.0.1:*", &err), &err);
	snprintf(tcp, sizeof(tcp), "%s", port_endpoint(door));
	good(port_bind(door, ipc, &err), &err);
	return 0;
}

static int
tear_down(void **state)
{
	struct keyfile *const keys[] = { &server, &agent, &other, &reader,
		&broker, &stranger };

	(void)state;
	message_clear(&message);
	port_close(&door);
	gate_close(&gate);
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		keyfile_clear(keys[i]);
	scratch_remove(dir);
	return 0;
}

/* ---- connections ---- */

static void
the_right_key_comes_in_and_is_known(void **state)
{
	struct port *line = open_line(tcp, &agent);

	(void)state;
	assert_true(arrives(line, PATIENCE_MS));
	assert_true(message.peer.keyed);
	assert_memory_equal(message.peer.key, agent.public, PORT_KEY_BYTES);
	assert_int_equal(
	    port_send(door, &message.route, text_of("yes")), PORT_DONE);
	port_close(&line);
}

static void
a_unix_socket_of_the_same_door_needs_no_key(void **state)
{
	struct port *line = open_line(ipc, NULL);

	(void)state;
	assert_true(arrives(line, PATIENCE_MS));
	assert_false(message.peer.keyed);
	port_close(&line);
}

static void
a_key_that_is_not_on_the_list_is_refused(void **state)
{
	struct port *line = open_line(tcp, &stranger);
	struct err err = { "" };
	struct gate_counters counters;

	(void)state;
	assert_int_equal(trouble_of(line, &err), PORT_REFUSED);
	assert_non_null(strstr(err.text, "refuses the key who"));
	gate_counters(gate, &counters);
	assert_true(counters.handshakes_refused > 0);
	/* Allowed a little later, it comes in with the next knock. */
	allow(&stranger, "*", "*");
	good(gate_reload(gate, &(bool){ false }, &err), &err);
	good(port_reconnect(line, &err), &err);
	assert_true(arrives(line, PATIENCE_MS));
	port_close(&line);
}

static void
a_key_for_another_server_tries_all_that_it_has(void **state)
{
	struct keyfile both = stranger;
	struct port *line;
	struct err err = { "" };

	(void)state;
	memcpy(stranger.server[0], stranger.public, PORT_KEY_BYTES);
	line = open_line(tcp, &stranger);
	assert_int_equal(trouble_of(line, &err), PORT_OTHER_KEY);
	port_close(&line);
	memcpy(both.public, agent.public, PORT_KEY_BYTES);
	both.secret = agent.secret;
	memcpy(both.server[0], stranger.public, PORT_KEY_BYTES);
	memcpy(both.server[1], server.public, PORT_KEY_BYTES);
	both.servers = 2;
	line = open_line(tcp, &both);
	assert_true(arrives(line, PATIENCE_MS));
	port_close(&line);
}

static void
a_peer_without_keys_delivers_nothing(void **state)
{
	struct port *line = open_line(tcp, NULL);
	struct err err = { "" };

	(void)state;
	assert_int_equal(trouble_of(line, &err), PORT_UNLIKE);
	assert_non_null(strstr(err.text, "a door with keys"));
	assert_false(arrives(line, QUIET_MS));
	port_close(&line);
}

static void
with_the_handler_gone_nobody_delivers_anything(void **state)
{
	struct port *line;

	(void)state;
	gate_zap_stop(gate);
	line = open_line(tcp, &agent);
	assert_false(arrives(line, 3 * QUIET_MS));
	for (int i = 0; i < PATIENCE_MS / QUIET_MS &&
			port_counters(door)->handshakes_failed == 0;
	     i++)
		assert_false(arrives(line, QUIET_MS));
	assert_true(port_counters(door)->handshakes_failed > 0);
	port_close(&line);
}

static void
another_server_key_keeps_old_ones_out(void **state)
{
	struct port *line = open_line(tcp, &agent);
	struct keyfile next;
	struct err err = { "" };
	bool rekeyed;

	(void)state;
	assert_true(arrives(line, PATIENCE_MS));
	keyfile_make(&next, "server", KEY_SERVER);
	good(keyfile_write(&next, key_path, true, &err), &err);
	good(gate_reload(gate, &rekeyed, &err), &err);
	assert_true(rekeyed);
	good(port_rekey(door, gate_secret(gate), &err), &err);
	assert_int_equal(trouble_of(line, &err), PORT_OTHER_KEY);
	port_close(&line);
	memcpy(agent.server[0], next.public, PORT_KEY_BYTES);
	line = open_line(tcp, &agent);
	assert_true(arrives(line, PATIENCE_MS));
	port_close(&line);
	keyfile_clear(&next);
}

/* ---- messages ---- */

static bool
remove_agent(
    const void *arg, const struct allow *list, const struct allow_entry *entry)
{
	(void)arg;
	(void)list;
	return text_equal(entry->name, text_of("n1"));
}

static enum gate_verdict
judge(enum gate_want want, const char *partition, const char *node)
{
	return gate_judge(
	    gate, &message, want, text_of(partition), text_of(node));
}

static void
a_revoked_key_is_out_though_connected(void **state)
{
	struct port *line = open_line(tcp, &agent);
	struct allow_change change = { .remove = remove_agent };
	struct gate_counters counters;
	struct err err = { "" };
	uint32_t removed;
	bool rekeyed;

	(void)state;
	assert_true(arrives(line, PATIENCE_MS));
	assert_int_equal(judge(GATE_PUBLISH, "a$p", "n1"), GATE_OK);
	good(allow_change(allow_path, &change, &removed, &err), &err);
	good(gate_reload(gate, &rekeyed, &err), &err);
	assert_false(rekeyed);
	assert_true(arrives(line, PATIENCE_MS)); /* the connection is there */
	assert_int_equal(judge(GATE_PUBLISH, "a$p", "n1"), GATE_KEY);
	gate_counters(gate, &counters);
	assert_int_equal(counters.forbidden[GATE_KEY], 1);
	assert_int_equal(gate_forbidden(&counters), 1);
	port_close(&line);
}

static void
a_bad_list_leaves_the_old_one(void **state)
{
	struct err err = { "" };
	FILE *file = fopen(allow_path, "a");
	bool rekeyed;

	(void)state;
	fputs("nonsense\n", file);
	fclose(file);
	assert_int_equal(gate_reload(gate, &rekeyed, &err), -1);
	assert_non_null(strstr(err.text, "allow:5: "));
	message.peer.keyed = true;
	memcpy(message.peer.key, agent.public, PORT_KEY_BYTES);
	route_add(&message.route, "peer", 4);
	assert_int_equal(judge(GATE_PUBLISH, "a$p", "n1"), GATE_OK);
}

/* A message as it comes from a peer (NULL: no key), through so many brokers
 * further away, vouched for (NULL: not, &server: a peer without a key). */
static void
come_from(
    const struct keyfile *peer, int brokers, const struct keyfile *vouched)
{
	struct port_peer whom = { .keyed = false };

	message_clear(&message);
	message.peer = whom;
	if (peer != NULL) {
		message.peer.keyed = true;
		memcpy(message.peer.key, peer->public, PORT_KEY_BYTES);
	}
	for (int i = 0; i <= brokers; i++)
		assert_true(route_add(&message.route, "12345", 5));
	if (vouched == NULL)
		return;
	whom.keyed = vouched != &server;
	memcpy(whom.key, vouched->public, PORT_KEY_BYTES);
	assert_true(vouch_add(&message.route, &whom));
}

static void
each_key_may_do_what_its_line_says(void **state)
{
	static const struct {
		const struct keyfile *peer;
		int brokers;
		const struct keyfile *vouched;
		enum gate_want want;
		const char *partition, *node;
		enum gate_verdict verdict;
	} rows[] = {
		{ NULL, 0, NULL, GATE_PUBLISH, "x", "y", GATE_OK },
		{ NULL, 0, NULL, GATE_STATUS, "", "", GATE_OK },
		{ &agent, 0, NULL, GATE_PUBLISH, "a$p", "n1", GATE_OK },
		{ &agent, 0, NULL, GATE_PUBLISH, "a$q", "n1", GATE_PARTITION },
		{ &agent, 0, NULL, GATE_PUBLISH, "a$p", "n2", GATE_NODE },
		{ &agent, 0, NULL, GATE_READ, "a$p", "n1", GATE_ROLE },
		{ &agent, 0, NULL, GATE_STATUS, "", "", GATE_ROLE },
		{ &stranger, 0, NULL, GATE_PUBLISH, "a$p", "n1", GATE_KEY },
		{ &reader, 0, NULL, GATE_READ, "a$q", "", GATE_OK },
		{ &reader, 0, NULL, GATE_READ, "b$q", "", GATE_PARTITION },
		{ &reader, 0, NULL, GATE_STATUS, "", "", GATE_PARTITION },
		{ &reader, 0, NULL, GATE_PUBLISH, "a$p", "n1", GATE_ROLE },
		/* Only brokers vouch. */
		{ &agent, 0, &other, GATE_PUBLISH, "a$p", "n1", GATE_SHAPE },
		{ &agent, 1, &other, GATE_PUBLISH, "a$p", "n1", GATE_SHAPE },
		{ &agent, 1, &server, GATE_PUBLISH, "a$p", "n1", GATE_SHAPE },
		{ &agent, 1, NULL, GATE_PUBLISH, "a$p", "n1", GATE_SHAPE },
		{ &reader, 1, &other, GATE_PUBLISH, "a$p", "n1", GATE_SHAPE },
		{ &stranger, 1, &other, GATE_PUBLISH, "a$p", "n1", GATE_KEY },
		{ &broker, 1, &agent, GATE_PUBLISH, "a$p", "n1", GATE_OK },
		{ &broker, 2, &agent, GATE_PUBLISH, "a$p", "n1", GATE_OK },
		{ &broker, 1, &agent, GATE_PUBLISH, "a$p", "n2", GATE_NODE },
		{ &broker, 1, &agent, GATE_PUBLISH, "a$q", "n1",
		    GATE_PARTITION },
		{ &broker, 1, &server, GATE_PUBLISH, "a$q", "n7", GATE_OK },
		{ &broker, 1, &stranger, GATE_PUBLISH, "a$p", "n1", GATE_KEY },
		{ &broker, 1, &broker, GATE_PUBLISH, "a$p", "n1", GATE_ROLE },
		{ &broker, 1, &reader, GATE_PUBLISH, "a$p", "n1", GATE_ROLE },
		/* Within its own bounds. */
		{ &broker, 1, &other, GATE_PUBLISH, "b$p", "n1",
		    GATE_PARTITION },
		{ &broker, 1, &server, GATE_PUBLISH, "b$p", "n1",
		    GATE_PARTITION },
		/* And always for somebody. */
		{ &broker, 0, NULL, GATE_PUBLISH, "a$p", "n1", GATE_ROLE },
		{ &broker, 1, NULL, GATE_PUBLISH, "a$p", "n1", GATE_SHAPE },
		{ &broker, 0, &agent, GATE_PUBLISH, "a$p", "n1", GATE_SHAPE },
		/* A broker on this host. */
		{ NULL, 1, &agent, GATE_PUBLISH, "a$p", "n1", GATE_OK },
		{ NULL, 1, &agent, GATE_PUBLISH, "b$p", "n1", GATE_PARTITION },
		{ NULL, 1, &stranger, GATE_PUBLISH, "a$p", "n1", GATE_KEY },
		{ NULL, 1, &server, GATE_PUBLISH, "b$p", "n1", GATE_OK },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum gate_verdict verdict;

		come_from(rows[i].peer, rows[i].brokers, rows[i].vouched);
		verdict = judge(rows[i].want, rows[i].partition, rows[i].node);
		if (verdict != rows[i].verdict)
			fail_msg("row %u: %s, not %s", i,
			    gate_verdict_name(verdict),
			    gate_verdict_name(rows[i].verdict));
	}
}

static void
a_vouch_is_taken_off_by_the_broker_that_gave_it(void **state)
{
	struct port_peer peer;
	uint16_t bytes;
	bool vouched;

	(void)state;
	come_from(NULL, 0, &agent);
	vouch_take(&message.route);
	assert_int_equal(vouch_get(&message.route, &peer, &vouched), 1);
	assert_false(vouched);
	come_from(NULL, 1, &agent);
	bytes = message.route.bytes;
	vouch_take(&message.route);
	assert_int_equal(message.route.bytes, bytes);
	assert_int_equal(vouch_get(&message.route, &peer, &vouched), 2);
	assert_true(vouched);
	assert_memory_equal(peer.key, agent.public, PORT_KEY_BYTES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_right_key_comes_in_and_is_known),
		TEST(a_unix_socket_of_the_same_door_needs_no_key),
		TEST(a_key_that_is_not_on_the_list_is_refused),
		TEST(a_key_for_another_server_tries_all_that_it_has),
		TEST(a_peer_without_keys_delivers_nothing),
		TEST(with_the_handler_gone_nobody_delivers_anything),
		TEST(another_server_key_keeps_old_ones_out),
		TEST(a_revoked_key_is_out_though_connected),
		TEST(a_bad_list_leaves_the_old_one),
		TEST(each_key_may_do_what_its_line_says),
		TEST(a_vouch_is_taken_off_by_the_broker_that_gave_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
