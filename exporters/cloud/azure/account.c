/*
 * azure_account - an Azure Storage account configured in the environment.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sodium.h>
#include <time.h>

#include "exporters/cloud/common/service_error.h"
#include "proto/http/message.h"

#define AZURE_BLOB_VERSION  "x-ms-version: 2021-08-06"
#define AZURE_TABLE_VERSION "x-ms-version: 2019-02-02"

static int
take_account(struct azure *azure, struct err *err)
{
	const char *name = getenv("AZURE_STORAGE_ACCOUNT");

	if (name == NULL || *name == '\0')
		return err_set(err, "AZURE_STORAGE_ACCOUNT is not set: it "
				    "names the storage account");
	if (strlen(name) < 3 || strlen(name) > 24 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") !=
		strlen(name))
		return err_set(err,
		    "AZURE_STORAGE_ACCOUNT is not 3 to 24 lower-case letters "
		    "and digits");
	snprintf(azure->account, sizeof(azure->account), "%s", name);
	azure->who.account = azure->account;
	return 0;
}

static int
take_endpoint(struct azure *azure, struct err *err)
{
	bool table = azure->who.service == SIGN_AZURE_TABLE;
	const char *name = table ? "AZURE_STORAGE_TABLE_ENDPOINT"
				 : "AZURE_STORAGE_BLOB_ENDPOINT";
	const char *endpoint = getenv(name);
	int n;

	if (endpoint == NULL || *endpoint == '\0')
		n = snprintf(azure->base, sizeof(azure->base),
		    "https://%s.%s.core.windows.net", azure->account,
		    table ? "table" : "blob");
	else
		n = snprintf(azure->base, sizeof(azure->base), "%s", endpoint);
	if (n < 0 || (size_t)n >= sizeof(azure->base))
		return err_set(err, "%s is longer than %zu bytes", name,
		    sizeof(azure->base) - 1);
	while (n > 0 && azure->base[n - 1] == '/')
		azure->base[--n] = '\0';
	if (strpbrk(azure->base, "?#") != NULL)
		return err_set(err, "%s contains a query", name);
	if (http_check_url(azure->base, err) != 0)
		return err_prefix(err, "%s", name);
	return 0;
}

static int
take_key(struct azure *azure, struct err *err)
{
	struct secret key;
	bool found;
	int rc;

	if (secret_from_environment(&key, "AZURE_STORAGE_KEY", &found, err) !=
	    0)
		return -1;
	if (found) {
		rc = sign_azure_set_key(&azure->who, secret_text(&key), err);
		secret_clear(&key);
		return rc;
	}
	if (secret_from_environment(
		&azure->sas, "AZURE_STORAGE_SAS_TOKEN", &found, err) != 0)
		return -1;
	if (!found)
		return err_set(err,
		    "no key for storage account %s: set AZURE_STORAGE_KEY, "
		    "AZURE_STORAGE_KEY_FILE or AZURE_STORAGE_SAS_TOKEN",
		    azure->account);
	return 0;
}

int
azure_open(struct azure *azure, enum sign_azure_service service,
    const struct http_options *how, struct err *err)
{
	azure->who.service = service;
	if (take_account(azure, err) != 0 || take_endpoint(azure, err) != 0 ||
	    take_key(azure, err) != 0)
		return -1;
	return http_open(&azure->http, how, err);
}

void
azure_close(struct azure *azure)
{
	http_close(&azure->http);
	if (azure->sas.at != NULL)
		secret_clear(&azure->sas);
	sodium_memzero(azure, sizeof(*azure));
}

static int
make_url(struct azure *azure, const char *path, struct err *err)
{
	const char *sas = (const char *)azure->sas.at;
	int n;

	if (sas != NULL)
		n = snprintf(azure->url, sizeof(azure->url), "%s%s%c%s",
		    azure->base, path, strchr(path, '?') != NULL ? '&' : '?',
		    sas + (*sas == '?'));
	else
		n = snprintf(
		    azure->url, sizeof(azure->url), "%s%s", azure->base, path);
	return n > 0 && (size_t)n < sizeof(azure->url)
		   ? 0
		   : err_set(err, "the address is longer than %d bytes",
			 AZURE_URL_BYTES);
}

/* Set the date (RFC 9110; the program's locale is "C") and the
 * authorization. */
static int
sign(void *arg, struct err *err)
{
	struct azure *azure = arg;
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(azure->date, sizeof(azure->date),
	    "x-ms-date: %a, %d %b %Y %H:%M:%S GMT", &tm);
	if (azure->sas.at != NULL)
		return 0;
	azure->request.headers[azure->count] =
	    NULL; /* not part of the signature */
	if (sign_azure(&azure->who, &azure->request, azure->header, err) != 0)
		return -1;
	azure->request.headers[azure->count] = azure->header;
	return 0;
}

int
azure_send(struct azure *azure, const char *method, const char *path,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err)
{
	struct http_request *request = &azure->request;
	uint32_t count = 0;

	if (make_url(azure, path, err) != 0)
		return -1;
	*request = (struct http_request){ .method = method,
		.url = azure->url,
		.body = body,
		.sign = sign,
		.sign_arg = azure };
	for (; headers[count] != NULL; count++)
		request->headers[count] = headers[count];
	request->headers[count++] = azure->date;
	request->headers[count++] = azure->who.service == SIGN_AZURE_TABLE
					? AZURE_TABLE_VERSION
					: AZURE_BLOB_VERSION;
	azure->count = count;
	return http_send(azure->http, request, answer, err);
}

int
azure_refused(const struct azure *azure, const struct http_answer *answer,
    struct err *err)
{
	if (answer->status >= 300 && answer->status < 400)
		return http_refused(azure->http, answer, err);
	return service_error_set(&azure->request, answer, err);
}
