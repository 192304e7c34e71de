/*
 * keyfile - a key pair, its role, and the server keys that go with it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/keyfile.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>

#include "proto/base/text.h"
#include "proto/keys/secret.h"

enum { LINE_BYTES = 64 + KEYFILE_NAME_MAX };

static const char *const roles[] = { "agent", "broker", "reader", "server" };
static const char first_line[] = "poolscope-key: 1";

/* The position of the parser. */
struct lines {
	struct text rest;
	const char *path;
	uint32_t number;
	bool has_name, has_role, has_public;
};

const char *
key_role_name(enum key_role role)
{
	return role < KEY_ROLES ? roles[role] : "?";
}

bool
key_role_parse(struct text t, enum key_role *role)
{
	for (int i = 0; i < KEY_ROLES; i++)
		if (text_equal(t, text_of(roles[i]))) {
			*role = (enum key_role)i;
			return true;
		}
	return false;
}

bool
keyfile_name_is_good(struct text name)
{
	if (name.bytes == 0 || name.bytes > KEYFILE_NAME_MAX)
		return false;
	for (uint32_t i = 0; i < name.bytes; i++) {
		unsigned char c = (unsigned char)name.at[i];

		if (c > 0x7E ||
		    (!isalnum(c) && (i == 0 || c == '\0' || !strchr("._-", c))))
			return false;
	}
	return true;
}

void
keyfile_make(struct keyfile *key, const char *name, enum key_role role)
{
	char shown[Z85_CHARACTERS];

	*key = (struct keyfile){ .role = role };
	snprintf(key->name, sizeof(key->name), "%s", name);
	key->secret = secret_memory(Z85_KEY_BYTES);
	/* A public key that begins with a letter or digit cannot be mistaken
	 * for an option of a command. */
	do {
		crypto_box_keypair(key->public, key->secret);
		z85_encode(shown, key->public);
	} while (!isalnum((unsigned char)shown[0]));
}

void
keyfile_clear(struct keyfile *key)
{
	secret_free(&key->secret);
	*key = (struct keyfile){ .secret = NULL };
}

static int
take_name(struct keyfile *key, struct lines *lines, struct text value)
{
	if (lines->has_name || !keyfile_name_is_good(value))
		return -1;
	memcpy(key->name, value.at, value.bytes);
	key->name[value.bytes] = '\0';
	lines->has_name = true;
	return 0;
}

static int
take_role(struct keyfile *key, struct lines *lines, struct text value)
{
	if (lines->has_role || !key_role_parse(value, &key->role))
		return -1;
	lines->has_role = true;
	return 0;
}

static int
take_public(struct keyfile *key, struct lines *lines, struct text value)
{
	if (lines->has_public || !z85_decode(key->public, value))
		return -1;
	lines->has_public = true;
	return 0;
}

static int
take_secret(struct keyfile *key, struct lines *lines, struct text value)
{
	(void)lines;
	if (key->secret != NULL)
		return -1;
	key->secret = secret_memory(Z85_KEY_BYTES);
	return z85_decode(key->secret, value) ? 0 : -1;
}

static int
take_server(struct keyfile *key, struct lines *lines, struct text value)
{
	(void)lines;
	if (key->servers == KEYFILE_SERVERS_MAX ||
	    !z85_decode(key->server[key->servers], value))
		return -1;
	key->servers++;
	return 0;
}

static const struct {
	const char *word;
	int (*take)(struct keyfile *, struct lines *, struct text);
	const char *must; /* be */
} words[] = {
	{ "name: ", take_name,
	    "one name of at most 100 letters, digits, '.', '_' and '-'" },
	{ "role: ", take_role, "one of agent, broker, reader and server" },
	{ "public: ", take_public, "one key of 40 characters (Z85)" },
	{ "secret: ", take_secret, "one key of 40 characters (Z85)" },
	{ "server: ", take_server,
	    "a key of 40 characters (Z85), and there are at most four" },
};

/* The next line without its newline; false: there is none. */
static bool
next_line(struct lines *lines, struct text *line)
{
	if (!text_next_line(&lines->rest, line))
		return false;
	lines->number++;
	if (line->bytes > 0 && line->at[line->bytes - 1] == '\r')
		line->bytes--;
	return true;
}

/* Error messages never quote the line: it may be the secret. */
static int
take_line(
    struct keyfile *key, struct lines *lines, struct text line, struct err *err)
{
	if (line.bytes == 0 || line.at[0] == '#')
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct text word = text_of(words[i].word);

		if (line.bytes < word.bytes ||
		    memcmp(line.at, word.at, word.bytes) != 0)
			continue;
		line.at += word.bytes;
		line.bytes -= word.bytes;
		if (words[i].take(key, lines, line) == 0)
			return 0;
		return err_set(err, "%.300s:%u: %.*s is not %s", lines->path,
		    lines->number, (int)word.bytes - 2, words[i].word,
		    words[i].must);
	}
	return err_set(err,
	    "%.300s:%u: not a line of a key file (name, role, public, secret, "
	    "server)",
	    lines->path, lines->number);
}

static int
check_whole(
    const struct keyfile *key, const struct lines *lines, struct err *err)
{
	unsigned char public[Z85_KEY_BYTES];
	bool server = lines->has_role && key->role == KEY_SERVER;
	const char *missing = !lines->has_name               ? "name"
			      : !lines->has_role             ? "role"
			      : !lines->has_public           ? "public"
			      : key->secret == NULL          ? "secret"
			      : !server && key->servers == 0 ? "server"
							     : NULL;

	if (missing != NULL)
		return err_set(err,
		    "%.300s: the line %s: is missing; the file may be "
		    "truncated",
		    lines->path, missing);
	if (server && key->servers > 0)
		return err_set(err,
		    "%.300s: a key of role server has no server: line",
		    lines->path);
	crypto_scalarmult_base(public, key->secret);
	if (memcmp(public, key->public, sizeof(public)) != 0)
		return err_set(err,
		    "%.300s: the secret does not belong to the public key",
		    lines->path);
	return 0;
}

static int
parse(struct keyfile *key, struct lines *lines, struct err *err)
{
	struct text line;

	if (!next_line(lines, &line) || !text_equal(line, text_of(first_line)))
		return err_set(err,
		    "%.300s: not a key file: it does not begin with \"%s\"",
		    lines->path, first_line);
	while (next_line(lines, &line))
		if (take_line(key, lines, line, err) != 0)
			return -1;
	return check_whole(key, lines, err);
}

int
keyfile_parse(
    struct keyfile *key, struct text bytes, const char *path, struct err *err)
{
	struct lines lines = { .rest = bytes, .path = path };

	*key = (struct keyfile){ .secret = NULL };
	if (parse(key, &lines, err) == 0)
		return 0;
	keyfile_clear(key);
	return -1;
}

int
keyfile_read(struct keyfile *key, const char *path, struct err *err)
{
	struct secret bytes;
	int rc;

	*key = (struct keyfile){ .secret = NULL };
	if (secret_from_file_of(&bytes, path, TRUSTED_FILE_KEY, err) != 0)
		return -1;
	rc = keyfile_parse(key, secret_text(&bytes), path, err);
	secret_clear(&bytes);
	return rc;
}

static size_t
put_key(char *to, const char *word, const unsigned char key[Z85_KEY_BYTES])
{
	size_t bytes = strlen(word);

	memcpy(to, word, bytes);
	z85_encode(to + bytes, key);
	to[bytes + Z85_CHARACTERS] = '\n';
	return bytes + Z85_CHARACTERS + 1;
}

int
keyfile_write(
    const struct keyfile *key, const char *path, bool replace, struct err *err)
{
	const size_t room = LINE_BYTES * (5 + KEYFILE_SERVERS_MAX);
	unsigned char *memory = secret_memory(room);
	char *at = (char *)memory;
	size_t bytes;
	int rc;

	bytes = (size_t)snprintf(at, room, "%s\nname: %s\nrole: %s\n",
	    first_line, key->name, key_role_name(key->role));
	bytes += put_key(at + bytes, "public: ", key->public);
	bytes += put_key(at + bytes, "secret: ", key->secret);
	for (uint32_t i = 0; i < key->servers; i++)
		bytes += put_key(at + bytes, "server: ", key->server[i]);
	rc = trusted_file_write(path, at, bytes, replace, err);
	secret_free(&memory);
	return rc;
}
