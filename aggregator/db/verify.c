/*
 * db_verify - check every page of an environment.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/snapshot.h"

#include <inttypes.h>
#include <stdio.h>

enum { KEY_SHOWN = 24, SENTENCE_BYTES = 512 };

struct verify {
	struct db *db;
	const char *table;
	int64_t wrong;
	void (*report)(void *arg, const char *sentence);
	void *arg;
};

/* Keys are bytes: print what is text as it is, the rest in hexadecimal. */
static void
print_key(char to[static 4 * KEY_SHOWN + 8], struct text key)
{
	uint32_t shown = key.bytes < KEY_SHOWN ? key.bytes : KEY_SHOWN;
	char *at = to;

	for (uint32_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)key.at[i];

		if (c > ' ' && c < 0x7f && c != '\\')
			*at++ = (char)c;
		else
			at += sprintf(at, "\\x%02x", c);
	}
	sprintf(at, "%s", shown < key.bytes ? "..." : "");
}

static void
on_damage(void *arg, const struct snapshot_damage *damage)
{
	struct verify *verify = arg;
	char from[4 * KEY_SHOWN + 8] = "the first",
				  to[4 * KEY_SHOWN + 8] = "the last";
	char sentence[SENTENCE_BYTES];

	verify->wrong++;
	db_damage_list_add(verify->db->shared->damage,
	    db_damage_page_id(verify->table, damage->page), false);
	if (verify->report == NULL)
		return;
	if (damage->from.bytes > 0)
		print_key(from, damage->from);
	if (damage->to.bytes > 0)
		print_key(to, damage->to);
	snprintf(sentence, sizeof(sentence),
	    "%s: page %" PRIu64 " of table %s %s: keys from %s to %s",
	    verify->db->path, damage->page, verify->table,
	    damage->is_doubtful
		? "has keys out of place or does not list all of its rows"
		: "is damaged",
	    from, to);
	verify->report(verify->arg, sentence);
}

/* A page that is an older version of itself, within the keys of its parent, is
 * a good page: its table has other rows than LMDB has counted. */
static void
check_table(struct verify *verify, const struct snapshot *snapshot,
    const struct page_tree *tree)
{
	char sentence[SENTENCE_BYTES];
	int64_t wrong = verify->wrong;
	uint64_t rows = snapshot_walk(snapshot, tree, on_damage, verify);

	if (verify->wrong > wrong || rows == tree->rows)
		return;
	verify->wrong++;
	snprintf(sentence, sizeof(sentence),
	    "%s: table %s has %" PRIu64 " rows and should have %" PRIu64
	    ": the disk has lost a write, and the table has an older page; "
	    "restore a backup (poolscope-admin restore)",
	    verify->db->path, verify->table, rows, tree->rows);
	if (verify->report != NULL)
		verify->report(verify->arg, sentence);
}

static void
check_free_list(struct verify *verify, const struct snapshot *snapshot)
{
	char sentence[SENTENCE_BYTES];

	if (snapshot_free_list(snapshot, 0, NULL))
		return;
	verify->wrong++;
	snprintf(sentence, sizeof(sentence),
	    "%s: the list of free pages is damaged: no row is lost, but "
	    "nothing can be written",
	    verify->db->path);
	if (verify->report != NULL)
		verify->report(verify->arg, sentence);
}

int64_t
db_verify_pages(struct db *db, void (*report)(void *arg, const char *sentence),
    void *arg, struct err *err)
{
	struct verify verify = { .db = db, .report = report, .arg = arg };
	struct db_env *env = db->shared;
	struct snapshot snapshot;
	struct page_tree tree;
	MDB_txn *txn;
	int rc = db_env_begin(env, false, &txn, &snapshot);

	if (rc != 0)
		return db_env_refuse(db->path, "verify", rc, err);
	db_damage_list_clear(env->damage);
	for (uint32_t i = 0; i < env->tables; i++) {
		verify.table = env->names[i];
		if (snapshot_tree(&snapshot, verify.table, &tree))
			check_table(&verify, &snapshot, &tree);
	}
	check_free_list(&verify, &snapshot);
	db_env_end_read(env, txn);
	return verify.wrong;
}
