/*
 * poolscope-keys - create, authorize, revoke, rotate and list keys;
 * poolscope-keys(8).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/keys/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/log.h"

struct values {
	const char *partitions, *nodes, *file;
	struct opt_list server;
	int role;
	struct answer_options answer;
	bool finish;
};

static const struct values defaults = { .partitions = "*", .nodes = "*" };

enum { ROLE_ROW };
static const struct opt options[] = {
	[ROLE_ROW] = { "role", 0, OPT_CHOICE, OPT_TO(struct values, role),
	    "ROLE", "new, allow: what the key allows (default: agent)",
	    "agent|broker|reader|server" },
	{ "partitions", 'p', OPT_TEXT, OPT_TO(struct values, partitions),
	    "PATTERN",
	    "new, allow, token: limit the key to partitions that match PATTERN "
	    "(default: *)" },
	{ "nodes", 'n', OPT_TEXT, OPT_TO(struct values, nodes), "PATTERN",
	    "new, allow: limit the key of an agent or broker to nodes that "
	    "match PATTERN (default: *)" },
	{ "file", 'o', OPT_TEXT, OPT_TO(struct values, file), "FILE",
	    "new, rotate: write the key to FILE (default: DIR/keys/NAME.key)" },
	{ "server", 0, OPT_LIST, OPT_TO(struct values, server), "PUBLIC",
	    "new: create a key for the server with this public key; may be "
	    "repeated (default: the server of this instance)" },
	{ "finish", 0, OPT_FLAG, OPT_TO(struct values, finish), NULL,
	    "rotate: finish the rotation and revoke the old key" },
	{ .name = NULL },
};

static const char *
get_name(const char *word)
{
	if (!keyfile_name_is_good(text_of(word)))
		opt_usage("a name has 1 to %d letters, digits, '.', '_' and "
			  "'-', and begins with a letter or digit",
		    KEYFILE_NAME_MAX);
	return word;
}

static bool
is_server_name(const char *name)
{
	return strcmp(name, KEYS_SERVER) == 0 ||
	       strcmp(name, KEYS_SERVER_NEXT) == 0 ||
	       strcmp(name, KEYS_SERVER_OLD) == 0;
}

/* A pattern without * and ? is the name of a partition. */
static void
check_partition(const char *pattern)
{
	char name[INSTANCE_PATH_BYTES];
	struct err err = { 0 };

	if (!text_is_pattern(text_of(pattern)) &&
	    instance_read_partition(name, pattern, &err) != 0)
		opt_usage("--partitions: %s", err.text);
}

static struct keys_grant
get_grant(const struct values *values, const char *name)
{
	struct keys_grant grant = { get_name(name), (enum key_role)values->role,
		values->partitions, values->nodes };
	enum text_fault fault = text_check_name(text_of(grant.partition));

	if (fault != TEXT_OK)
		opt_usage("--partitions %s", text_fault_words(fault));
	check_partition(grant.partition);
	fault = text_check_name(text_of(grant.node));
	if (fault != TEXT_OK)
		opt_usage("--nodes %s", text_fault_words(fault));
	if (grant.role == KEY_SERVER || is_server_name(name))
		opt_usage(
		    "to create the key of role server: new %s --role server",
		    KEYS_SERVER);
	return grant;
}

static int
new_for_others(const struct values *values, const struct keys_grant *grant,
    struct err *err)
{
	unsigned char servers[KEYFILE_SERVERS_MAX][Z85_KEY_BYTES];

	if (values->server.count > KEYFILE_SERVERS_MAX)
		opt_usage("--server may be given at most %d times",
		    (int)KEYFILE_SERVERS_MAX);
	for (uint32_t i = 0; i < values->server.count; i++)
		if (!z85_decode(servers[i], text_of(values->server.at[i])))
			opt_usage("--server needs a public key: 40 characters "
				  "of Z85");
	return keys_new_for(grant, values->file,
	    (const unsigned char(*)[Z85_KEY_BYTES])servers,
	    values->server.count, err);
}

static int
do_new(struct values *values, char **words, uint32_t count, struct err *err)
{
	struct keys_grant grant;

	(void)count;
	if (values->role == KEY_SERVER && strcmp(words[0], KEYS_SERVER) == 0) {
		if (values->file != NULL)
			opt_usage("the server key is always in keys/%s.key; "
				  "--file is not allowed",
			    KEYS_SERVER);
		return keys_new_server(err);
	}
	grant = get_grant(values, words[0]);
	if (values->server.count > 0)
		return new_for_others(values, &grant, err);
	return keys_new(&grant, values->file, err);
}

static int
give_list(void *arg, struct answer *answer, struct err *err)
{
	(void)arg;
	return keys_list(answer, err);
}

static int
do_list(struct values *values, char **words, uint32_t count, struct err *err)
{
	(void)words;
	(void)count;
	answer_options_judge(&values->answer, keys_tables);
	return answer_run(&values->answer, keys_tables, give_list, NULL, err);
}

static int
do_allow(struct values *values, char **words, uint32_t count, struct err *err)
{
	unsigned char public[Z85_KEY_BYTES];
	struct keys_grant grant;
	struct keyfile key;
	int rc;

	if (count == 2) {
		grant = get_grant(values, words[1]);
		if (!z85_decode(public, text_of(words[0])))
			opt_usage("a public key is 40 characters of Z85");
		return keys_allow(&grant, public, err);
	}
	if (keyfile_read(&key, words[0], err) != 0)
		return -1;
	if (opt_origin(&options[ROLE_ROW]) == OPT_DEFAULT)
		values->role = (int)key.role;
	grant = get_grant(values, key.name);
	rc = keys_allow(&grant, key.public, err);
	keyfile_clear(&key);
	return rc;
}

static int
do_revoke(struct values *values, char **words, uint32_t count, struct err *err)
{
	(void)values;
	(void)count;
	return keys_revoke(words[0], err);
}

static int
do_token(struct values *values, char **words, uint32_t count, struct err *err)
{
	struct keys_grant grant;

	(void)count;
	values->role = KEY_READER;
	grant = get_grant(values, words[0]);
	return keys_token(&grant, err);
}

static int
do_rotate(struct values *values, char **words, uint32_t count, struct err *err)
{
	if (strcmp(words[0], KEYS_SERVER) == 0) {
		if (values->file != NULL)
			opt_usage("the server key is always in keys/%s.key; "
				  "--file is not allowed",
			    KEYS_SERVER);
		return values->finish
			   ? keys_rotate_server_finish(
				 words + 1, count - 1, err)
			   : keys_rotate_server(words + 1, count - 1, err);
	}
	if (count > 1)
		opt_usage("rotate NAME takes no further argument");
	get_name(words[0]);
	return values->finish ? keys_rotate_finish(words[0], err)
			      : keys_rotate(words[0], values->file, err);
}

static const struct opt_topic topics[] = {
	{ "new", " NAME", "create a key, and authorize it",
	    "role partitions nodes file server",
	    "poolscope keys new nodes -p 'acct$pool' -o nodes.key\n" },
	{ "list", "", "the keys and tokens of the instance",
	    "format sort top columns",
	    "poolscope keys list\n"
	    "poolscope keys list --format csv --columns name,role\n" },
	{ "allow", " FILE | PUBLIC NAME", "authorize a key of somebody else",
	    "role partitions nodes", "poolscope keys allow nodes.key\n" },
	{ "revoke", " NAME|PUBLIC", "a key is valid no longer", "",
	    "poolscope keys revoke nodes\n" },
	{ "token", " NAME", "create a token for poolscope web", "partitions",
	    "poolscope keys token ada -p 'acct$*'\n" },
	{ "rotate", " NAME | server [FILE...]", "replace a key by a new one",
	    "file finish", "poolscope keys rotate server\n" },
	{ .word = NULL },
};

static const struct verb {
	const char *word;
	bool makes; /* creates DIR/keys if necessary */
	int (*run)(struct values *values, char **words, uint32_t count,
	    struct err *err);
} verbs[] = {
	{ "new", true, do_new },
	{ "list", false, do_list },
	{ "allow", true, do_allow },
	{ "revoke", false, do_revoke },
	{ "token", true, do_token },
	{ "rotate", false, do_rotate },
};

/* The word is one of the topics. */
static const struct verb *
find_verb(const char *word)
{
	const struct verb *verb = verbs;

	while (strcmp(word, verb->word) != 0)
		verb++;
	return verb;
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ answer_options, &values->answer }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-keys",
		.synopsis = "WHAT [options]",
		.summary = "manage the keys of an instance; WHAT is one of",
		.examples =
		    "poolscope keys new nodes -p 'acct$pool' -o nodes.key\n"
		    "poolscope keys list\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct opt_operands operands;
	const struct verb *verb;
	struct err err = { 0 };

	parse(&values, argc, argv, &operands);
	verb = find_verb(operands.at[0]);
	if ((!verb->makes || keys_make_directory(&err) == 0) &&
	    verb->run(&values, operands.at + 1, operands.count - 1, &err) ==
		0 &&
	    fflush(stdout) == 0)
		return EXIT_SUCCESS;
	if (err.code == ERR_NONE)
		err_set(&err, "cannot write standard output");
	log_fail(&err);
	return EXIT_FAILURE;
}
