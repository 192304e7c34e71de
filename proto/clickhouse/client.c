/*
 * clickhouse - one request to one replica, and which replicas there are.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/clickhouse/exception.h"
#include "proto/http/http.h"
#include "proto/keys/secret.h"

struct clickhouse {
	struct clickhouse_options options;
	struct clickhouse_url url;
	struct http_options http_options;
	struct http *http;
	unsigned char *key;      /* the header with the password, or NULL */
	struct buffer statement; /* a statement with its format */
	unsigned exception;
	struct clickhouse_cluster cluster, found; /* found: being asked for */
};

struct clickhouse_request {
	struct clickhouse_host to;
	const char *query;    /* NULL: the body is the statement */
	const char *settings; /* "&name=value...", or "" */
	struct text body;
	int64_t silence_ns;
};

enum { ADDRESS_BYTES = 1024, QUERY_BYTES = 256 };

/* A server answers an insert when the block is on its disk. */
#define STORE_SILENCE_NS (30 * NS_PER_SECOND)
/* A statement that creates, copies or drops. */
#define RUN_SILENCE_NS (120 * NS_PER_SECOND)

/* Store a block although ZooKeeper remembers an equal one: the replica that had
 * it may be lost. */
#define EVERY_BLOCK "&insert_deduplicate=0"

/* ---- handles ---- */

static int
check_url(const struct clickhouse_options *options, struct clickhouse_url *url,
    const char *option, struct err *err)
{
	if (clickhouse_url_parse(url, options->url, err) != 0)
		return err_prefix_option(err, option);
	for (unsigned i = 0; i < url->hosts; i++)
		if (!url->tls && !options->insecure &&
		    !clickhouse_host_is_here(&url->host[i]))
			return err_set_option(err, option,
			    "others can read what goes to %.200s by plain "
			    "HTTP; use clickhouses://, or allow it with "
			    "--archive-insecure",
			    url->host[i].name);
	if (options->cacert != NULL && !url->tls)
		return err_set_option(err, "archive-cacert",
		    "only an address with clickhouses:// has certificates");
	return 0;
}

static void
set_key(struct clickhouse *clickhouse, const unsigned char *header)
{
	size_t bytes = strlen((const char *)header) + 1;

	secret_free(&clickhouse->key);
	clickhouse->key = secret_memory(bytes);
	memcpy(clickhouse->key, header, bytes);
}

static int
read_key(struct clickhouse *clickhouse, struct err *err)
{
	static const char name[] = "X-ClickHouse-Key: ";
	const char *path = clickhouse->options.password;
	struct secret secret = { 0 };

	if (path == NULL)
		return 0;
	if (secret_from_file(&secret, path, err) != 0)
		return err_prefix_option(err, "archive-password");
	secret_free(&clickhouse->key);
	clickhouse->key = secret_memory(sizeof(name) + secret.bytes);
	memcpy(clickhouse->key, name, sizeof(name));
	memcpy(clickhouse->key + sizeof(name) - 1, secret.at,
	    (size_t)secret.bytes + 1);
	secret_clear(&secret);
	return 0;
}

static struct clickhouse *
clickhouse_new(const struct clickhouse_options *options)
{
	struct clickhouse *clickhouse = memory_zero(1, sizeof(*clickhouse));

	clickhouse->options = *options;
	clickhouse->http_options = (struct http_options){
		.cacert = options->cacert,
		.once = true,
		.direct = true,
		.answer_bytes_max = CLICKHOUSE_ANSWER_BYTES_MAX,
		.stop = options->stop,
	};
	return clickhouse;
}

int
clickhouse_open(struct clickhouse **to,
    const struct clickhouse_options *options, const char *option,
    struct err *err)
{
	struct clickhouse *clickhouse = clickhouse_new(options);

	if (check_url(options, &clickhouse->url, option, err) != 0 ||
	    read_key(clickhouse, err) != 0 ||
	    http_open(&clickhouse->http, &clickhouse->http_options, err) != 0) {
		clickhouse_close(&clickhouse);
		return -1;
	}
	*to = clickhouse;
	return 0;
}

int
clickhouse_open_again(
    struct clickhouse **to, const struct clickhouse *of, struct err *err)
{
	struct clickhouse *clickhouse = clickhouse_new(&of->options);

	clickhouse->url = of->url;
	if (of->key != NULL)
		set_key(clickhouse, of->key);
	if (http_open(&clickhouse->http, &clickhouse->http_options, err) != 0) {
		clickhouse_close(&clickhouse);
		return -1;
	}
	*to = clickhouse;
	return 0;
}

void
clickhouse_close(struct clickhouse **to)
{
	struct clickhouse *clickhouse = *to;

	if (clickhouse == NULL)
		return;
	http_close(&clickhouse->http);
	secret_free(&clickhouse->key);
	buffer_clear(&clickhouse->statement);
	free(clickhouse);
	*to = NULL;
}

const struct clickhouse_cluster *
clickhouse_cluster(const struct clickhouse *clickhouse)
{
	return &clickhouse->cluster;
}

void
clickhouse_take_cluster(
    struct clickhouse *clickhouse, const struct clickhouse *from)
{
	clickhouse->cluster = from->cluster;
	if (from->key != NULL)
		set_key(clickhouse, from->key);
}

const char *
clickhouse_database(const struct clickhouse *clickhouse)
{
	return clickhouse->url.database;
}

unsigned
clickhouse_exception(const struct clickhouse *clickhouse)
{
	return clickhouse->exception;
}

/* ---- one request ---- */

/* -1 with the server's own words, which may repeat the password. */
static int
refuse(const struct clickhouse *clickhouse, const struct clickhouse_host *to,
    struct text exception, struct err *err)
{
	const struct http_request secrets = { .url = "",
		.headers = { (const char *)clickhouse->key } };
	char safe[HTTP_EXCERPT_BYTES];

	http_excerpt(safe, clickhouse_exception_words(exception), &secrets);
	return err_set(err, "%.200s:%u: exception %u: %s", to->name, to->port,
	    clickhouse->exception, safe);
}

static int
judge(struct clickhouse *clickhouse, const struct clickhouse_host *to,
    const struct http_answer *answer, struct err *err)
{
	struct text code =
	    http_header(clickhouse->http, "X-ClickHouse-Exception-Code");
	uint64_t number = 0;

	if (answer->status == 200 && code.bytes == 0)
		return http_is_page(clickhouse->http, answer)
			   ? http_unconfirmed(clickhouse->http, answer, err)
			   : 0;
	clickhouse->exception = clickhouse_exception_code(answer->body);
	if (clickhouse->exception == 0 && code.bytes > 0 &&
	    number_parse_u64(code, &number, NULL) == 0 &&
	    number <= CLICKHOUSE_CODE_MAX)
		clickhouse->exception = (unsigned)number;
	return clickhouse->exception != 0
		   ? refuse(clickhouse, to, answer->body, err)
		   : http_refused(clickhouse->http, answer, err);
}

static void
fill(const struct clickhouse *clickhouse,
    const struct clickhouse_request *request, char *user, size_t room,
    struct http_request *to)
{
	snprintf(user, room, "X-ClickHouse-User: %s", clickhouse->url.user);
	to->method = "POST";
	to->headers[0] = user;
	to->headers[1] = (const char *)clickhouse->key; /* or NULL: the end */
	to->body = request->body;
}

/* Send it once; 0: the server did what the statement says, and `answer`, valid
 * until the next request, is whole. */
static int
clickhouse_send(struct clickhouse *clickhouse,
    const struct clickhouse_request *request, struct text *answer,
    struct err *err)
{
	char address[ADDRESS_BYTES], query[3 * QUERY_BYTES] = "",
					       user[CLICKHOUSE_NAME_BYTES + 32];
	struct http_request to = { .url = address };
	struct http_answer got;
	int bytes;

	clickhouse->exception = 0;
	*answer = (struct text){ NULL, 0 };
	if (clickhouse->options.stop != NULL &&
	    atomic_load(clickhouse->options.stop))
		return err_set_code(err, ERR_INTERRUPTED, "interrupted");
	if (request->query != NULL &&
	    http_encode(query, sizeof(query), text_of(request->query), "") == 0)
		return err_set(err, "the statement is too long");
	/* A server that waits for the end of the statement answers with a
	 * status that holds for all of it. */
	bytes = snprintf(address, sizeof(address),
	    "%s://%s:%u/?wait_end_of_query=1%s%s%s",
	    clickhouse->url.tls ? "https" : "http", request->to.name,
	    request->to.port, request->settings,
	    query[0] != '\0' ? "&query=" : "", query);
	if (bytes >= (int)sizeof(address))
		return err_set(err, "the statement is too long");
	fill(clickhouse, request, user, sizeof(user), &to);
	clickhouse->http_options.silence_ns = request->silence_ns;
	if (http_send(clickhouse->http, &to, &got, err) != 0)
		return -1;
	*answer = got.body;
	return judge(clickhouse, &request->to, &got, err);
}

/* Ask a question of a server; the answer is TabSeparated. */
static int
clickhouse_ask_host(struct clickhouse *clickhouse,
    const struct clickhouse_host *host, const char *sql, struct text *answer,
    struct err *err)
{
	struct clickhouse_request request = { .to = *host,
		.settings = "",
		.body = text_of(sql),
		.silence_ns = clickhouse->options.timeout_ns };
	struct text exception;

	if (clickhouse_send(clickhouse, &request, answer, err) != 0)
		return -1;
	exception = clickhouse_exception_at_end(*answer);
	if (exception.bytes == 0 &&
	    (answer->bytes == 0 || answer->at[answer->bytes - 1] == '\n'))
		return 0;
	clickhouse->exception = clickhouse_exception_code(exception);
	if (exception.bytes == 0)
		return err_set(err, "%.200s:%u: the answer ends within a line",
		    host->name, host->port);
	return refuse(clickhouse, host, exception, err);
}

/* ---- for a replica ---- */

static const struct clickhouse_replica *
replica_of(const struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, struct clickhouse_host *host, struct err *err)
{
	const struct clickhouse_cluster *cluster = &clickhouse->cluster;
	const struct clickhouse_replica *to;

	if (shard >= cluster->shards ||
	    replica >= cluster->shard[shard].replicas) {
		err_set(err, "the cluster has no replica %u of shard %u",
		    replica + 1, shard + 1);
		return NULL;
	}
	to = &cluster->shard[shard].replica[replica];
	if (!to->up) {
		err_set(err, "replica %u of shard %u (%.200s) does not answer",
		    replica + 1, shard + 1, to->host);
		return NULL;
	}
	snprintf(host->name, sizeof(host->name), "%s", to->host);
	host->port = to->port;
	return to;
}

int
clickhouse_insert(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, const char *table, struct text native_block,
    struct err *err)
{
	char query[QUERY_BYTES];
	struct clickhouse_request request = { .query = query,
		.settings = "",
		.body = native_block,
		.silence_ns = STORE_SILENCE_NS };
	const struct clickhouse_replica *to =
	    replica_of(clickhouse, shard, replica, &request.to, err);
	struct text answer;

	if (to == NULL)
		return -1;
	if (!clickhouse_name_is_good(text_of(table)))
		return err_set(err, "the table has no good name");
	snprintf(query, sizeof(query), "INSERT INTO %s.%s FORMAT Native",
	    clickhouse->url.database, table);
	/* An asynchronous insert would be answered before it is stored. */
	request.settings = to->version >= CLICKHOUSE_VERSION_NEW ? EVERY_BLOCK
			       "&async_insert=0"
								 : EVERY_BLOCK;
	return clickhouse_send(clickhouse, &request, &answer, err);
}

int
clickhouse_ask(struct clickhouse *clickhouse, unsigned shard, unsigned replica,
    const char *sql, struct text *answer, struct err *err)
{
	struct clickhouse_host host;

	*answer = (struct text){ NULL, 0 };
	if (replica_of(clickhouse, shard, replica, &host, err) == NULL)
		return -1;
	return clickhouse_ask_host(clickhouse, &host, sql, answer, err);
}

int
clickhouse_ask_native(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, const char *sql, struct text *answer, struct err *err)
{
	struct clickhouse_request request = { .settings = "",
		.silence_ns = clickhouse->options.timeout_ns };

	*answer = (struct text){ NULL, 0 };
	if (replica_of(clickhouse, shard, replica, &request.to, err) == NULL)
		return -1;
	clickhouse->statement.bytes = 0;
	buffer_put_text(&clickhouse->statement, text_of(sql));
	buffer_put_text(&clickhouse->statement, text_of(" FORMAT Native"));
	request.body = buffer_text(&clickhouse->statement);
	return clickhouse_send(clickhouse, &request, answer, err);
}

int
clickhouse_run(struct clickhouse *clickhouse, unsigned shard, unsigned replica,
    const char *sql, struct err *err)
{
	struct clickhouse_request request = { .settings = EVERY_BLOCK,
		.body = text_of(sql),
		.silence_ns = RUN_SILENCE_NS };
	struct text answer;

	if (replica_of(clickhouse, shard, replica, &request.to, err) == NULL)
		return -1;
	return clickhouse_send(clickhouse, &request, &answer, err);
}

enum { SQL_BYTES = 512 };

/* What one server says about itself. */
struct self {
	char cluster[CLICKHOUSE_NAME_BYTES], shard[CLICKHOUSE_NAME_BYTES],
	    replica[CLICKHOUSE_NAME_BYTES];
	uint32_t version;
	bool keeper;
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

	*self = (struct self){ .version = 0 };
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

static int
ask_self(struct clickhouse *clickhouse, const struct clickhouse_host *host,
    struct self *self, struct err *err)
{
	struct text answer;

	if (clickhouse_ask_host(clickhouse, host,
		"SELECT '.version', version() UNION ALL "
		"SELECT '.keeper', toString(count()) FROM system.tables "
		"WHERE database = 'system' AND name = 'zookeeper' UNION ALL "
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
		return err_set(err, "%.200s:%u is in a cluster but has no %s",
		    host->name, host->port,
		    !self->keeper ? "ZooKeeper"
				  : "macros {shard} and {replica}");
	snprintf(own.name, sizeof(own.name), "%s", self->cluster);
	snprintf(sql, sizeof(sql),
	    "SELECT shard_num, replica_num, host_name, is_local "
	    "FROM system.clusters WHERE cluster = '%s' "
	    "ORDER BY shard_num, replica_num",
	    self->cluster);
	if (clickhouse_ask_host(clickhouse, host, sql, &answer, err) != 0 ||
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
find_others(struct clickhouse *clickhouse, struct err *err)
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
			    (!clickhouse->url.tls &&
				!clickhouse->options.insecure &&
				!clickhouse_host_is_here(&host)))
				continue;
			if (find_server(clickhouse, &host, &ignored) < 0)
				return err_set(err, "%s", ignored.text);
		}
	return 0;
}

int
clickhouse_find(struct clickhouse *clickhouse, struct err *err)
{
	struct err why = { 0 };
	unsigned answers = 0;

	/* It may have been replaced.  While it cannot be read, the old one may
	 * do. */
	(void)read_key(clickhouse, &why);
	memset(&clickhouse->found, 0, sizeof(clickhouse->found));
	for (unsigned i = 0; i < clickhouse->url.hosts; i++) {
		int rc =
		    find_server(clickhouse, &clickhouse->url.host[i], &why);

		if (rc < 0)
			return err_set(err, "%s", why.text);
		answers += (unsigned)rc;
	}
	if (answers == 0)
		return err_set_code(err, why.code, "%s", why.text);
	if (clickhouse->found.keeper && find_others(clickhouse, err) != 0)
		return -1;
	clickhouse->cluster = clickhouse->found;
	return 0;
}
