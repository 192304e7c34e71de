/*
 * http_fence - the files that a request may need.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "exporters/http_private.h"

/* What curl and OpenSSL read instead of what they were built with; Google's
 * account. */
static bool
names_file(struct text variable)
{
	static const char *const names[] = { "CURL_CA_BUNDLE", "SSL_CERT_DIR",
		"GOOGLE_APPLICATION_CREDENTIALS" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_equal(variable, text_of(names[i])))
			return true;
	/* Secrets (secret.h), and SSL_CERT_FILE. */
	return variable.bytes > 5 &&
	       memcmp(variable.at + variable.bytes - 5, "_FILE", 5) == 0;
}

void
http_fence(struct fence *fence)
{
	fence_read_beside(fence, http_values.cacert);
	for (char **each = environ; each != NULL && *each != NULL; each++) {
		size_t bytes = strcspn(*each, "=");

		if ((*each)[bytes] == '=' &&
		    names_file((struct text){ *each, (uint32_t)bytes }))
			fence_read_beside(fence, *each + bytes + 1);
	}
}
