/*
 * secret - reads keys and passwords from places that others cannot read.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/secret.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/confine.h"

unsigned char *
secret_memory(size_t bytes)
{
	if (sodium_init() < 0)
		abort(); /* without random numbers nothing here works */
	confine_memory();
	return memory_must(sodium_malloc(bytes));
}

void
secret_free(unsigned char **at)
{
	sodium_free(*at); /* sodium_free zeroes it */
	*at = NULL;
}

void
secret_clear(struct secret *secret)
{
	secret_free(&secret->at);
	secret->bytes = 0;
}

/* Remove the newline that editors leave at the end of a file. */
static void
end_secret(struct secret *secret, size_t bytes)
{
	if (bytes > 0 && secret->at[bytes - 1] == '\n')
		bytes--;
	if (bytes > 0 && secret->at[bytes - 1] == '\r')
		bytes--;
	secret->at[bytes] = '\0';
	secret->bytes = (uint32_t)bytes;
}

static int
fill(struct secret *secret, int fd, const char *path, struct err *err)
{
	ssize_t bytes = trusted_file_read(fd, secret->at, SECRET_BYTES_MAX + 1);

	if (bytes < 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	if (bytes > SECRET_BYTES_MAX)
		return err_set(err,
		    "%.300s is longer than the %d bytes of a secret", path,
		    SECRET_BYTES_MAX);
	if (memchr(secret->at, '\0', (size_t)bytes) != NULL)
		return err_set(err, "%.300s contains a NUL byte", path);
	end_secret(secret, (size_t)bytes);
	if (secret->bytes == 0)
		return err_set(err, "%.300s is empty", path);
	return 0;
}

int
secret_from_file_of(struct secret *secret, const char *path,
    enum trusted_file kind, struct err *err)
{
	int fd = trusted_file_open(path, kind, NULL, err);
	int rc;

	*secret = (struct secret){ NULL, 0 };
	if (fd < 0)
		return -1;
	secret->at = secret_memory(SECRET_BYTES_MAX + 1);
	rc = fill(secret, fd, path, err);
	close(fd);
	if (rc != 0)
		secret_clear(secret);
	return rc;
}

int
secret_from_file(struct secret *secret, const char *path, struct err *err)
{
	return secret_from_file_of(secret, path, TRUSTED_FILE_SECRET, err);
}

static const char *
get_variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

int
secret_from_environment(
    struct secret *secret, const char *name, bool *found, struct err *err)
{
	char file[128];
	const char *value = get_variable(name);
	size_t bytes;

	*secret = (struct secret){ NULL, 0 };
	*found = false;
	if (value == NULL) {
		snprintf(file, sizeof(file), "%s_FILE", name);
		value = get_variable(file);
		if (value == NULL)
			return 0;
		if (secret_from_file(secret, value, err) != 0)
			return err_prefix(err, "%s", file);
		*found = true;
		return 0;
	}
	bytes = strlen(value);
	if (bytes > SECRET_BYTES_MAX)
		return err_set(err,
		    "%s is longer than the %d bytes of a secret", name,
		    SECRET_BYTES_MAX);
	secret->at = secret_memory(SECRET_BYTES_MAX + 1);
	memcpy(secret->at, value, bytes);
	end_secret(secret, bytes);
	*found = secret->bytes > 0;
	if (!*found)
		secret_clear(secret);
	return 0;
}

/* Prepend `front`. */
static int
put_before(struct secret *secret, const char *front, struct err *err)
{
	size_t bytes = strlen(front);

	if (secret->bytes + bytes > SECRET_BYTES_MAX)
		return err_set(err,
		    "a secret is longer than the limit of %d bytes",
		    SECRET_BYTES_MAX);
	memmove(secret->at + bytes, secret->at, secret->bytes + 1);
	memcpy(secret->at, front, bytes);
	secret->bytes += (uint32_t)bytes;
	return 0;
}

int
secret_authorization(
    struct secret *secret, const char *name, const char *kind, struct err *err)
{
	char front[64];
	bool found;

	if (secret_from_environment(secret, name, &found, err) != 0)
		return -1;
	snprintf(front, sizeof(front), "Authorization: %s ", kind);
	return found ? put_before(secret, front, err) : 0;
}
