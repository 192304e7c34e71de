/*
 * instance - the directory of one installation.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "proto/config/default_dir.h"
#include "proto/config/opt.h"
#include "proto/os/file_io.h"

static int
fits(int printed, const char *what, struct err *err)
{
	if (printed >= 0 && printed < INSTANCE_PATH_BYTES)
		return 0;
	return err_set(
	    err, "%s is longer than %d bytes", what, INSTANCE_PATH_BYTES - 1);
}

/* The value of a variable that is set and not empty. */
static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

int
instance_dir(char to[static INSTANCE_PATH_BYTES], struct err *err)
{
	return default_dir(to, opt_common_values.dir, err);
}

int
instance_path(
    char to[static INSTANCE_PATH_BYTES], const char *name, struct err *err)
{
	char dir[INSTANCE_PATH_BYTES];

	if (instance_dir(dir, err) != 0)
		return -1;
	return fits(snprintf(to, INSTANCE_PATH_BYTES, "%s/%s", dir, name),
	    "a path in the instance directory", err);
}

int
instance_endpoint(
    char to[static INSTANCE_PATH_BYTES], const char *name, struct err *err)
{
	char dir[INSTANCE_PATH_BYTES];
	size_t limit = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	int n;

	if (instance_dir(dir, err) != 0)
		return -1;
	n = snprintf(to, INSTANCE_PATH_BYTES, "ipc://%s/run/%s.ipc", dir, name);
	if (fits(n, "an endpoint", err) != 0)
		return -1;
	if (strlen(to) - strlen("ipc://") > limit)
		return err_set(err,
		    "%s: a socket path has at most %zu bytes; choose a shorter "
		    "--dir",
		    to, limit);
	return 0;
}

/* Sync the name of a directory.  A parent that may be written but not read
 * cannot be synced, which is no error. */
static int
sync_above(const char *path)
{
	char above[INSTANCE_PATH_BYTES + 4];

	snprintf(above, sizeof(above), "%s/..", path);
	return file_io_sync(above) == 0 || errno == EACCES ? 0 : -1;
}

static int
make_one(const char *path, struct err *err)
{
	if (mkdir(path, 0700) != 0)
		return errno == EEXIST
			   ? 0
			   : err_set(err, "%s: %s", path, strerror(errno));
	if (sync_above(path) == 0)
		return 0;
	err_set(err, "%s/..: %s", path, strerror(errno));
	rmdir(path); /* the next caller tries again */
	return -1;
}

int
instance_make_dir(const char *path, struct err *err)
{
	char part[INSTANCE_PATH_BYTES];
	struct stat st;

	if (path[0] == '\0')
		return err_set(err, "the path of a directory is empty");
	if (fits(snprintf(part, sizeof(part), "%s", path), path, err) != 0)
		return -1;
	for (char *p = part + 1;; p++) {
		char was = *p;

		if (was != '/' && was != '\0')
			continue;
		*p = '\0';
		if (make_one(part, err) != 0)
			return -1;
		*p = was;
		if (was == '\0')
			break;
	}
	if (stat(path, &st) != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, "%s: is not a directory", path);
	return 0;
}

/* Accept the printed name if it is valid; otherwise say what is wrong. */
static int
good_name(const char *name, int printed, const char *what, struct err *err)
{
	char shown[64];
	enum text_fault fault;

	if (printed < 0 || printed >= INSTANCE_PATH_BYTES)
		fault = TEXT_TOO_LONG;
	else
		fault = text_check_name(text_of(name));
	if (fault == TEXT_OK)
		return 0;
	return err_set(err, "%s '%s' %s", what,
	    text_quote(shown, sizeof(shown), text_of(name)),
	    text_fault_words(fault));
}

int
instance_read_partition(
    char to[static INSTANCE_PATH_BYTES], const char *word, struct err *err)
{
	char shown[64];
	char *slash;
	int n = snprintf(to, INSTANCE_PATH_BYTES, "%s", word);

	if (good_name(to, n, "partition", err) != 0)
		return -1;
	if (strchr(to, '$') != NULL)
		return 0;
	slash = strchr(to, '/');
	if (slash == NULL)
		return err_set(err,
		    "partition '%s' is not account$pool: did the shell replace "
		    "$NAME in it? Put it in single quotes, or write "
		    "account/pool",
		    text_quote(shown, sizeof(shown), text_of(word)));
	*slash = '$';
	return 0;
}

int
instance_partition(char to[static INSTANCE_PATH_BYTES], const char *option,
    const char **why, struct err *err)
{
	static const struct {
		const char *account, *pool, *why;
	} known[] = {
		{ "AZ_BATCH_ACCOUNT_NAME", "AZ_BATCH_POOL_ID", "Azure Batch" },
		{ "SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION", "Slurm" },
		{ "AWS_BATCH_CE_NAME", "AWS_BATCH_JQ_NAME", "AWS Batch" },
	};
	int n = -1;

	*why = option ? "option" : "default";
	if (option != NULL)
		return instance_read_partition(to, option, err);
	for (unsigned i = 0; n < 0 && i < sizeof(known) / sizeof(*known); i++) {
		const char *account = variable(known[i].account);
		const char *pool = variable(known[i].pool);

		if (account == NULL || pool == NULL)
			continue;
		n = snprintf(to, INSTANCE_PATH_BYTES, "%s$%s", account, pool);
		*why = known[i].why;
	}
	if (n < 0)
		n = snprintf(to, INSTANCE_PATH_BYTES, "local$default");
	return good_name(to, n, "partition", err);
}

int
instance_node(char to[static INSTANCE_PATH_BYTES], const char *option,
    const char **why, struct err *err)
{
	static const struct {
		const char *name, *why;
	} known[] = {
		{ "AZ_BATCH_NODE_ID", "Azure Batch" },
		{ "SLURMD_NODENAME", "Slurm" },
	};
	int n = -1;

	*why = option ? "option" : "host name";
	if (option != NULL)
		n = snprintf(to, INSTANCE_PATH_BYTES, "%s", option);
	for (unsigned i = 0; n < 0 && i < sizeof(known) / sizeof(*known); i++) {
		const char *node = variable(known[i].name);

		if (node == NULL)
			continue;
		n = snprintf(to, INSTANCE_PATH_BYTES, "%s", node);
		*why = known[i].why;
	}
	if (n < 0) {
		if (gethostname(to, INSTANCE_PATH_BYTES - 1) != 0)
			return err_set(err, "host name: %s", strerror(errno));
		to[INSTANCE_PATH_BYTES - 1] = '\0';
		n = (int)strlen(to);
	}
	return good_name(to, n, "node", err);
}
