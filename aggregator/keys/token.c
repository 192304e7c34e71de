/*
 * keys_token - create a token for poolscope-web, or revoke tokens.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "aggregator/keys/keys.h"
#include "proto/keys/token.h"
#include "proto/os/log.h"

int
keys_tokens_path(char to[static INSTANCE_PATH_BYTES], struct err *err)
{
	return keys_path(to, "tokens", "", err);
}

int
keys_token(const struct keys_grant *grant, struct err *err)
{
	struct authorized_key entry = { .role = KEY_READER,
		.partition = text_of(grant->partition),
		.node = text_of("*"),
		.name = text_of(grant->name) };
	char path[INSTANCE_PATH_BYTES], token[TOKEN_CHARACTERS + 1];
	uint32_t removed;

	token_make(token);
	token_hash(entry.public, text_of(token));
	if (keys_tokens_path(path, err) != 0 ||
	    authorized_keys_change(path,
		&(struct authorized_keys_change){ .add = &entry }, &removed,
		err) != 0)
		return -1;
	printf("%s\n", token);
	log_info("only the hash of the token is stored: it cannot be printed "
		 "again; the page takes it in its field, or as #k=TOKEN at the "
		 "end of its address");
	return 0;
}

/* poolscope-web sees at each request that the file has changed. */
int
keys_revoke_tokens(const struct authorized_keys_change *change,
    uint32_t *removed, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];

	if (keys_tokens_path(path, err) != 0)
		return -1;
	return authorized_keys_change(path, change, removed, err);
}
