/*
 * google_credentials_account - any credentials file is an account with all that
 * is needed, or none at all.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/google_credentials.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text json = { (const char *)data, (uint32_t)size };
	struct google_account account;
	struct err err = { 0 };

	if (google_account_read(&account, json, &err) == 0) {
		assert(account.email[0] != '\0' && account.key[0] != '\0');
		assert(google_url_is_safe(account.token_uri));
		google_account_clear(&account);
	}
	assert(account.email == NULL && account.token_uri == NULL &&
	       account.key_id == NULL && account.key == NULL);
	return 0;
}
