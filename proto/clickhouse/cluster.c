/*
 * clickhouse - which replicas there are, and in which order to ask them.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/number.h"
#include "proto/clickhouse/client_private.h"
#include "proto/clickhouse/silence.h"

enum { SQL_BYTES = 512 };

/* What one server says about itself. */
struct self {
	char cluster[CLICKHOUSE_NAME_BYTES], shard[CLICKHOUSE_NAME_BYTES],
	    replica[CLICKHOUSE_NAME_BYTES];
	uint32_t version;
	bool keeper, is_limited;
	uint8_t readonly;
};

/* "18.16.1" is 18016. */
static uint32_t
parse_version(struct text t)
{
	uint32_t part[2] = { 0 }, i = 0;

	for (uint32_t p = 0; p < 2; p++, i++)
		for (; i < t.bytes && t.at[i] >= '0' && t.at[i] <= '9'; i++)
			if (part[p] < 1000)
				part[p] =
				    part[p] * 10 + (uint32_t)(t.at[i] - '0');
	return part[0] * 1000 + (part[1] < 1000 ? part[1] : 999);
}

/* A macro may have a hyphen where a name in a statement may not. */
static bool
copy_macro(char *to, struct text value)
{
	if (value.bytes == 0 || value.bytes >= CLICKHOUSE_NAME_BYTES)
		return false;
	for (uint32_t i = 0; i < value.bytes; i++)
		if (strchr("'\"\\{}/", value.at[i]) != NULL ||
		    value.at[i] <= ' ' || value.at[i] > '~')
			return false;
	memcpy(to, value.at, value.bytes);
	to[value.bytes] = '\0';
	return true;
}

static int
read_self(const struct clickhouse_host *host, struct text answer,
    struct self *self, struct err *err)
{
	struct text line;

	*self = (struct self){ .readonly = 1 };
	while (text_next_line(&answer, &line)) {
		struct text name = text_next_cell(&line);
		char *macro =
		    text_equal(name, text_of("cluster"))   ? self->cluster
		    : text_equal(name, text_of("shard"))   ? self->shard
		    : text_equal(name, text_of("replica")) ? self->replica
							   : NULL;

		if (text_equal(name, text_of(".version")))
			self->version = parse_version(line);
		else if (text_equal(name, text_of(".keeper")))
			self->keeper = !text_equal(line, text_of("0"));
		else if (text_equal(name, text_of(".readonly")))
			self->readonly = text_equal(line, text_of("0"))   ? 0
					 : text_equal(line, text_of("2")) ? 2
									  : 1;
		else if (text_equal(name, text_of(".max_execution_time")))
			self->is_limited = !text_equal(line, text_of("0"));
		else if (macro != NULL && !copy_macro(macro, line))
			return err_set(err,
			    "%.200s:%u: the macro {%.*s} is not a name",
			    host->name, host->port, (int)name.bytes, name.at);
	}
	if (self->version == 0)
		return err_set(err, "%.200s:%u is not a ClickHouse server",
		    host->name, host->port);
	return 0;
}

/* A question what a server is, however long other questions may take. */
#define FIND_SILENCE_NS (5 * NS_PER_SECOND)

/* A question about the server itself. */
static int
ask_about(struct clickhouse *clickhouse, const struct clickhouse_host *host,
    const char *sql, struct text *answer, struct err *err)
{
	int64_t ns = clickhouse->options.timeout_ns;

	return clickhouse_ask_host(clickhouse, host, sql,
	    ns < FIND_SILENCE_NS ? ns : FIND_SILENCE_NS, answer, err);
}

static int
ask_self(struct clickhouse *clickhouse, const struct clickhouse_host *host,
    struct self *self, struct err *err)
{
	struct text answer;

	if (ask_about(clickhouse, host,
		"SELECT '.version', version() UNION ALL "
		"SELECT '.keeper', toString(count()) FROM system.tables "
		"WHERE database = 'system' AND name = 'zookeeper' UNION ALL "
		"SELECT concat('.', name), value FROM system.settings "
		"WHERE name IN ('readonly', 'max_execution_time') UNION ALL "
		"SELECT macro, substitution FROM system.macros "
		"WHERE macro IN ('cluster', 'shard', 'replica')",
		&answer, err) != 0)
		return -1;
	return read_self(host, answer, self, err);
}

/* ---- which servers the cluster has: the rows of system.clusters ----
 *
 * A server's macros say which cluster and which replica it is, its
 * system.clusters in which shard: an address alone proves nothing, as several
 * servers may have the same one. */

struct row {
	uint64_t shard, replica; /* from 1 */
	struct text host;
	bool local;
};

static bool
read_row(struct text line, struct row *row)
{
	struct text shard = text_next_cell(&line),
		    replica = text_next_cell(&line);

	row->host = text_next_cell(&line);
	row->local = text_equal(line, text_of("1"));
	return number_parse_u64(shard, &row->shard, NULL) == 0 &&
	       number_parse_u64(replica, &row->replica, NULL) == 0 &&
	       row->shard >= 1 && row->shard <= CLICKHOUSE_SHARDS_MAX &&
	       row->replica >= 1 && row->replica <= CLICKHOUSE_REPLICAS_MAX;
}

static void
put_row(struct clickhouse_cluster *to, const struct row *row)
{
	struct clickhouse_shard *shard = &to->shard[row->shard - 1];
	struct clickhouse_replica *replica = &shard->replica[row->replica - 1];

	if (row->shard > to->shards)
		to->shards = (unsigned)row->shard;
	if (row->replica > shard->replicas)
		shard->replicas = (unsigned)row->replica;
	if (replica->host[0] == '\0' && clickhouse_host_is_good(row->host)) {
		memcpy(replica->host, row->host.at, row->host.bytes);
		replica->host[row->host.bytes] = '\0';
	}
}

/* Note the rows of a server's configuration, and the shard that it takes for
 * its own: servers before 20 mark all replicas of their shard as local.  0:
 * none, or several, because addresses are not those of the server (127.0.1.1,
 * NAT, services). */
static int
read_rows(struct clickhouse_cluster *to, const struct clickhouse_host *host,
    struct text answer, unsigned *local, struct err *err)
{
	struct text line;
	bool several = false;

	*local = 0;
	while (text_next_line(&answer, &line)) {
		struct row row;

		if (!read_row(line, &row))
			return err_set(err,
			    "%.200s:%u: the cluster has more than %d shards of "
			    "%d replicas",
			    host->name, host->port, CLICKHOUSE_SHARDS_MAX,
			    CLICKHOUSE_REPLICAS_MAX);
		put_row(to, &row);
		several |= row.local && *local != 0 && *local != row.shard;
		if (row.local)
			*local = (unsigned)row.shard;
	}
	if (several)
		*local = 0;
	return 0;
}

/* The shard of a server: the number that is its macro, by which it finds its
 * replicas in ZooKeeper; of a macro that is a word, that of its row. */
static int
choose_shard(const struct clickhouse_cluster *cluster,
    const struct clickhouse_host *host, const char *macro, unsigned local,
    unsigned *shard, struct err *err)
{
	uint64_t number = 0;

	if (number_parse_u64(text_of(macro), &number, NULL) != 0 ||
	    number > cluster->shards)
		number = 0;
	*shard = number != 0 ? (unsigned)number : local;
	if (*shard == 0)
		return err_set(err,
		    "%.200s:%u is in no shard of the cluster '%s': its macro "
		    "{shard} (%.64s) is not the number of one, and no row of "
		    "its remote_servers has its address",
		    host->name, host->port, cluster->name, macro);
	if (local != 0 && *shard != local)
		return err_set(err,
		    "%.200s:%u has the macro {shard} %u, but is in shard %u of "
		    "the cluster '%s' by its remote_servers: both must count "
		    "shards alike, from 1",
		    host->name, host->port, *shard, local, cluster->name);
	return 0;
}

/* Every server must describe the same cluster. */
static int
compare(const struct clickhouse_cluster *first,
    const struct clickhouse_cluster *other, const struct clickhouse_host *host,
    struct err *err)
{
	bool same = first->shards == other->shards &&
		    strcmp(first->name, other->name) == 0;

	for (unsigned s = 0; s < first->shards && same; s++)
		same = first->shard[s].replicas == other->shard[s].replicas;
	if (!same)
		return err_set(err,
		    "%.200s:%u describes another cluster than the servers "
		    "before it",
		    host->name, host->port);
	return 0;
}

/* The number that this server had before, else that of its host, else the first
 * that is free. */
static struct clickhouse_replica *
find_place(struct clickhouse *clickhouse, unsigned number,
    const struct clickhouse_host *host, const struct self *self)
{
	const struct clickhouse_shard *before =
	    &clickhouse->cluster.shard[number];
	struct clickhouse_shard *shard = &clickhouse->found.shard[number];
	struct clickhouse_replica *place = NULL;

	for (unsigned r = shard->replicas; r-- > 0;) {
		struct clickhouse_replica *replica = &shard->replica[r];

		if (!replica->up &&
		    (place == NULL || strcmp(replica->host, host->name) == 0 ||
			strcmp(place->host, host->name) != 0))
			place = replica;
	}
	for (unsigned r = 0; r < shard->replicas; r++)
		if (!shard->replica[r].up && before->replica[r].up &&
		    strcmp(before->replica[r].name, self->replica) == 0)
			place = &shard->replica[r];
	return place;
}

static int
put_self(struct clickhouse *clickhouse, unsigned number,
    const struct clickhouse_host *host, const struct self *self,
    struct err *err)
{
	struct clickhouse_cluster *to = &clickhouse->found;
	struct clickhouse_shard *shard = &to->shard[number];
	struct clickhouse_replica *replica;

	for (unsigned r = 0; r < shard->replicas; r++)
		if (shard->replica[r].up &&
		    strcmp(shard->replica[r].name, self->replica) == 0)
			return 0; /* the same server by another address */
	replica = find_place(clickhouse, number, host, self);
	if (replica == NULL)
		return err_set(err,
		    "%.200s:%u is one server more than shard %u of the cluster "
		    "'%s' has",
		    host->name, host->port, number + 1, to->name);
	memcpy(replica->name, self->replica, sizeof(replica->name));
	memcpy(replica->host, host->name, sizeof(replica->host));
	replica->port = host->port;
	replica->version = self->version;
	replica->readonly = self->readonly;
	replica->is_limited = self->is_limited;
	replica->up = true;
	if (to->version == 0 || self->version < to->version)
		to->version = self->version;
	return 0;
}

/* ---- servers ---- */

static int
find_single(struct clickhouse *clickhouse, const struct clickhouse_host *host,
    const struct self *self, struct err *err)
{
	struct clickhouse_cluster *found = &clickhouse->found;

	if (clickhouse->url.hosts > 1)
		return err_set(err,
		    "%.200s:%u has no macro {cluster}, so it is not known "
		    "which "
		    "replicas there are",
		    host->name, host->port);
	found->shards = found->shard[0].replicas = 1;
	return put_self(clickhouse, 0, host, self, err);
}

static int
find_member(struct clickhouse *clickhouse, const struct clickhouse_host *host,
    const struct self *self, struct err *err)
{
	struct clickhouse_cluster *found = &clickhouse->found,
				  own = { .shards = 0 };
	char sql[SQL_BYTES];
	struct text answer;
	unsigned local, shard;

	if (!self->keeper || self->shard[0] == '\0' || self->replica[0] == '\0')
		return err_set(err,
		    "%.200s:%u has the macro {cluster} but no %s: give it "
		    "these, or for an archive of one server without copies "
		    "remove its macro {cluster}",
		    host->name, host->port,
		    !self->keeper ? "ZooKeeper in its configuration"
				  : "macros {shard} and {replica}");
	snprintf(own.name, sizeof(own.name), "%s", self->cluster);
	snprintf(sql, sizeof(sql),
	    "SELECT shard_num, replica_num, host_name, is_local "
	    "FROM system.clusters WHERE cluster = '%s' "
	    "ORDER BY shard_num, replica_num",
	    self->cluster);
	if (ask_about(clickhouse, host, sql, &answer, err) != 0 ||
	    read_rows(&own, host, answer, &local, err) != 0 ||
	    choose_shard(&own, host, self->shard, local, &shard, err) != 0)
		return -1;
	own.keeper = true;
	if (found->shards == 0)
		*found = own;
	else if (compare(found, &own, host, err) != 0)
		return -1;
	return put_self(clickhouse, shard - 1, host, self, err);
}

/* Returns 1 if the server answers, 0 if not, -1 if its answer cannot be
 * used. */
static int
find_server(struct clickhouse *clickhouse, const struct clickhouse_host *host,
    struct err *err)
{
	struct self self;

	if (ask_self(clickhouse, host, &self, err) != 0)
		return 0;
	if ((self.cluster[0] == '\0'
		    ? find_single(clickhouse, host, &self, err)
		    : find_member(clickhouse, host, &self, err)) != 0)
		return -1;
	return 1;
}

static bool
is_in_url(const struct clickhouse_url *url, const struct clickhouse_host *host)
{
	for (unsigned i = 0; i < url->hosts; i++)
		if (url->host[i].port == host->port &&
		    strcasecmp(url->host[i].name, host->name) == 0)
			return true;
	return false;
}

/* Ask the servers that the address does not name; what they are is what they
 * say, not where they stand. */
static int
find_others(struct clickhouse *clickhouse, bool silent, int64_t began_ns,
    struct err *err)
{
	struct clickhouse_cluster *found = &clickhouse->found;
	struct clickhouse_host host = { .port = clickhouse->url.host[0].port };
	struct err ignored = { 0 };

	for (unsigned s = 0; s < found->shards; s++)
		for (unsigned r = 0; r < found->shard[s].replicas; r++) {
			struct clickhouse_replica *to =
			    &found->shard[s].replica[r];

			snprintf(host.name, sizeof(host.name), "%s", to->host);
			if (to->up || host.name[0] == '\0' ||
			    is_in_url(&clickhouse->url, &host) ||
			    silence_is(&host, began_ns) != silent ||
			    (!clickhouse->url.tls &&
				!clickhouse->options.insecure &&
				!clickhouse_host_is_here(&host)))
				continue;
			if (find_server(clickhouse, &host, &ignored) < 0)
				return err_set(err, "%s", ignored.text);
		}
	return 0;
}

/* Ask those that were silent when it began, or those that were not.  -1: an
 * answer cannot be used. */
static int
find_all(struct clickhouse *clickhouse, bool silent, int64_t began_ns,
    unsigned *answers, struct err *why)
{
	for (unsigned i = 0; i < clickhouse->url.hosts; i++) {
		const struct clickhouse_host *host = &clickhouse->url.host[i];
		int rc;

		if (silence_is(host, began_ns) != silent)
			continue;
		rc = find_server(clickhouse, host, why);
		if (rc < 0)
			return -1;
		*answers += (unsigned)rc;
	}
	return clickhouse->found.keeper
		   ? find_others(clickhouse, silent, began_ns, why)
		   : 0;
}

/* Has each shard as many replicas as its user needs? */
static bool
is_enough(const struct clickhouse *clickhouse)
{
	const struct clickhouse_cluster *found = &clickhouse->found;

	for (unsigned s = 0; s < found->shards; s++) {
		const struct clickhouse_shard *shard = &found->shard[s];
		unsigned up = 0;

		for (unsigned r = 0; r < shard->replicas; r++)
			up += shard->replica[r].up;
		if (up < clickhouse->options.enough && up < shard->replicas)
			return false;
	}
	return found->shards > 0;
}

int
clickhouse_find(struct clickhouse *clickhouse, struct err *err)
{
	int64_t began_ns = clock_monotonic_ns();
	struct err why = { 0 };
	unsigned answers = 0;

	/* It may have been replaced.  While it cannot be read, the old one may
	 * do. */
	(void)clickhouse_read_key(clickhouse, &why);
	memset(&clickhouse->found, 0, sizeof(clickhouse->found));
	if (find_all(clickhouse, false, began_ns, &answers, &why) != 0 ||
	    (!is_enough(clickhouse) &&
		find_all(clickhouse, true, began_ns, &answers, &why) != 0))
		return err_set(err, "%s", why.text);
	if (answers == 0)
		return err_set_code(err, why.code, "%s", why.text);
	clickhouse->cluster = clickhouse->found;
	return 0;
}

unsigned
clickhouse_order(const struct clickhouse *clickhouse, unsigned shard,
    unsigned first, unsigned order[static CLICKHOUSE_REPLICAS_MAX])
{
	const struct clickhouse_shard *of = &clickhouse->cluster.shard[shard];
	unsigned count = 0, awake = 0, last[CLICKHOUSE_REPLICAS_MAX];
	int64_t now_ns = clock_monotonic_ns();

	for (unsigned i = 0; i < of->replicas; i++) {
		unsigned r = (first + i) % of->replicas;
		struct clickhouse_host host = { .port = of->replica[r].port };

		memcpy(host.name, of->replica[r].host, sizeof(host.name));
		if (silence_is(&host, now_ns))
			last[count++] = r;
		else
			order[awake++] = r;
	}
	memcpy(&order[awake], last, count * sizeof(*last));
	return awake;
}
