/*
 * import_azure_table - downloads the rows of an Azure table to a file.
 *
 * It runs poolscope-fetch, from the directory of this program: cloud services
 * belong to the exporters.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/cascade.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/import/formats/lines.h"
#include "agents/import/json_member.h"
#include "proto/os/file_io.h"

enum { PATH_BYTES = 4096, OPERAND_BYTES = 128 };

/* The path of poolscope-fetch, next to this program. */
static int
find_program(char to[static PATH_BYTES], struct err *err)
{
	ssize_t n = readlink("/proc/self/exe", to, PATH_BYTES - 1);
	char *slash;

	if (n < 0)
		return err_set(err, "/proc/self/exe: %s; is /proc mounted?",
		    strerror(errno));
	to[n] = '\0';
	slash = strrchr(to, '/');
	if (slash == NULL || (size_t)(slash - to) + 32 > PATH_BYTES)
		return err_set(
		    err, "cannot determine the directory of this program");
	strcpy(slash + 1, "poolscope-fetch");
	return 0;
}

/* Its exit status, or -1. */
static int
run(const char *program, char *const argv[], int out, struct err *err)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	pid_t child;
	int rc, status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(
	    &actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	rc = posix_spawn(&child, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		return err_set(err, "%.300s: %s", program, strerror(rc));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(
			    err, "%.300s: %s", program, strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* poolscope-fetch reports its errors on standard error. */
static int
fetch(const char *table, const char *partition, bool quiet, struct err *err)
{
	char program[PATH_BYTES], operand[OPERAND_BYTES];
	char pool[PATH_BYTES], name[] = "poolscope-fetch", q[] = "--quiet";
	char end[] = "--";
	char *argv[] = { name, pool, end, operand, NULL, NULL };
	int fd, status;

	if ((size_t)snprintf(operand, sizeof(operand), "azure-table:%s",
		table) >= sizeof(operand) ||
	    (size_t)snprintf(pool, sizeof(pool), "--partition=%s", partition) >=
		sizeof(pool))
		return err_set(err, "the name of the table or the partition is "
				    "too long");
	if (quiet) {
		argv[2] = q;
		argv[3] = end;
		argv[4] = operand;
	}
	if (find_program(program, err) != 0)
		return -1;
	fd = file_io_nameless(err);
	if (fd < 0)
		return -1;
	status = run(program, argv, fd, err);
	if (status == 0)
		return fd;
	close(fd);
	return status < 0
		   ? -1
		   : err_set(err, "download of %s failed; nothing is imported",
			 operand);
}

/* The service has one row of each PartitionKey and RowKey, and may replace its
 * other members: they make the uuid of the event. */
static int
parse(struct import_row *row, struct text line, struct err *err)
{
	static const char words[] = "poolscope azure-table";
	static const char end[] = "";
	crypto_generichash_state state;
	struct text key;

	if (import_cascade_parse(row, line, err) != 0 ||
	    json_member_text(&row->object, "RowKey", &key, err) != 0)
		return -1;
	crypto_generichash_init(&state, NULL, 0, sizeof(row->uuid));
	crypto_generichash_update(
	    &state, (const unsigned char *)words, sizeof(words));
	crypto_generichash_update(&state,
	    (const unsigned char *)row->partition.at, row->partition.bytes);
	crypto_generichash_update(
	    &state, (const unsigned char *)end, sizeof(end));
	crypto_generichash_update(
	    &state, (const unsigned char *)key.at, key.bytes);
	crypto_generichash_final(&state, row->uuid, sizeof(row->uuid));
	row->record.key =
	    (struct text){ (const char *)row->uuid, sizeof(row->uuid) };
	return 0;
}

static int
open_rows(struct import_source *source, const char *path,
    const struct import_format_options *options, struct err *err)
{
	return import_lines_open(
	    source, IMPORT_CASCADE, parse, path, options, err);
}

const struct import_format import_format_azure_table = {
	.word = "azure-table",
	.operands = " NAME",
	.summary = "the events of a table of an Azure storage account",
	.options = "",
	.kind = IMPORT_CASCADE, /* its rows are the same */
	.rows = "events",
	.bad_rows = "bad lines",
	.without_partition = "tables",
	.fetch = fetch,
	.open = open_rows,
};
