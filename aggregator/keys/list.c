/*
 * keys_list - list the keys, in each format.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aggregator/keys/keys.h"
#include "proto/base/memory.h"

struct row {
	struct text name, role, partition, node, public;
	enum answer_flag newest;
};

static const struct answer_column columns[] = {
	{ "name", "NAME", ANSWER_AT_TEXT(struct row, name),
	    "the name of the key" },
	{ "role", "ROLE", ANSWER_AT_TEXT(struct row, role),
	    "what it allows: agent, broker, reader, server; or a token" },
	{ "partition", "PARTITIONS", ANSWER_AT_TEXT(struct row, partition),
	    "pattern of the partitions it is limited to" },
	{ "node", "NODES", ANSWER_AT_TEXT(struct row, node),
	    "pattern of the nodes it is limited to" },
	{ "public", "PUBLIC", ANSWER_AT_TEXT(struct row, public),
	    "the public key, or the hash of the token",
	    .traits = ANSWER_SPARE },
	{ "newest", "NEWEST", ANSWER_AT_FLAG(struct row, newest),
	    "is it the newest of its name?", .traits = ANSWER_SPARE },
	{ .key = NULL },
};

const struct answer_table keys_tables[] = { { "keys", columns },
	{ .name = NULL } };

static void
put_row(struct answer *to, const struct authorized_key *entry, const char *role,
    bool newest)
{
	char public[Z85_CHARACTERS];
	const struct row row = { entry->name, text_of(role), entry->partition,
		entry->node, { public, sizeof(public) },
		newest ? ANSWER_YES : ANSWER_NO };

	z85_encode(public, entry->public);
	answer_row(to, &row, NULL);
}

/* 1: it does not exist. */
static int
read_server(struct authorized_key *entry, const char *name, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	struct keyfile key;

	if (keys_path(path, name, ".key", err) != 0)
		return -1;
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 1;
	if (keyfile_read(&key, path, err) != 0)
		return -1;
	*entry = (struct authorized_key){ .role = key.role,
		.name = text_of(KEYS_SERVER) };
	memcpy(entry->public, key.public, sizeof(entry->public));
	keyfile_clear(&key);
	return 0;
}

/* The keys of a name one after another, in the order of the file. */
static int
by_name(const void *a, const void *b)
{
	const struct authorized_key *const *one = a, *const *other = b;
	int order = text_compare((*one)->name, (*other)->name);

	if (order != 0)
		return order;
	return (*one)->line < (*other)->line ? -1 : 1;
}

/* Sorted by name first: there may be 100,000 keys. */
static void
put_clients(struct answer *to, const struct authorized_keys *list)
{
	uint32_t count = authorized_keys_count(list);
	const struct authorized_key **sorted =
	    memory_zero(count + 1, sizeof(*sorted));
	bool *newest = memory_zero(count + 1, sizeof(*newest));

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = authorized_keys_at(list, i);
	qsort(sorted, count, sizeof(*sorted), by_name);
	for (uint32_t i = 0; i < count; i++)
		newest[sorted[i] - authorized_keys_at(list, 0)] =
		    i + 1 == count ||
		    !text_equal(sorted[i]->name, sorted[i + 1]->name);
	for (uint32_t i = 0; i < count; i++)
		put_row(to, authorized_keys_at(list, i),
		    key_role_name(authorized_keys_at(list, i)->role),
		    newest[i]);
	free(newest);
	free(sorted);
}

static int
put_tokens(struct answer *to, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	struct authorized_keys *list;

	if (keys_tokens_path(path, err) != 0 ||
	    authorized_keys_read(&list, path, err) != 0)
		return -1;
	for (uint32_t i = 0; i < authorized_keys_count(list); i++)
		put_row(to, authorized_keys_at(list, i), "token", true);
	authorized_keys_free(&list);
	return 0;
}

int
keys_list(struct answer *to, struct err *err)
{
	struct authorized_key server = { .line = 0 }, next = { .line = 0 };
	char path[INSTANCE_PATH_BYTES];
	struct authorized_keys *list;
	int has_server, has_next, rc;

	has_server = read_server(&server, KEYS_SERVER, err);
	has_next = read_server(&next, KEYS_SERVER_NEXT, err);
	if (has_server < 0 || has_next < 0 || keys_allow_path(path, err) != 0 ||
	    authorized_keys_read(&list, path, err) != 0)
		return -1;
	if (has_server == 0)
		put_row(to, &server, key_role_name(server.role), has_next != 0);
	if (has_next == 0)
		put_row(to, &next, key_role_name(next.role), true);
	put_clients(to, list);
	rc = put_tokens(to, err);
	authorized_keys_free(&list);
	if (rc == 0 && answer_rows(to) == 0)
		answer_note(to, "none", ANSWER_NO_COUNT,
		    "no keys yet: poolscope up --listen ENDPOINT creates the "
		    "server key, poolscope keys new NAME a client key");
	return rc;
}
