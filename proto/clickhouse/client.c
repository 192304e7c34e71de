/*
 * clickhouse - one request to one replica.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/client_private.h"

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
#include "proto/clickhouse/silence.h"
#include "proto/http/http.h"
#include "proto/keys/secret.h"

struct clickhouse_request {
	struct clickhouse_host to;
	const char *query;    /* NULL: the body is the statement */
	const char *settings; /* "&name=value...", or "" */
	struct text body;
	int64_t silence_ns;
};

enum { ADDRESS_BYTES = 1024, QUERY_BYTES = 256, SETTINGS_BYTES = 192 };

/* A failure that comes sooner costs nobody time. */
#define SOON_NS NS_PER_SECOND
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

int
clickhouse_read_key(struct clickhouse *clickhouse, struct err *err)
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
	    clickhouse_read_key(clickhouse, err) != 0 ||
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

/* What the server's own words do not say. */
static const char *
advice(unsigned exception)
{
	switch (exception) {
	case 225: /* NO_ZOOKEEPER */
	case 999: /* KEEPER_EXCEPTION */
		return "ZooKeeper does not serve it: see whether it runs; ";
	case 242: /* TABLE_IS_READ_ONLY */
		return "a table is read-only: see whether its ZooKeeper runs; ";
	default: return "";
	}
}

/* -1 with the server's own words, which may repeat the password. */
static int
refuse(const struct clickhouse *clickhouse, const struct clickhouse_host *to,
    struct text exception, struct err *err)
{
	const struct http_request secrets = { .url = "",
		.headers = { (const char *)clickhouse->key } };
	char safe[HTTP_EXCERPT_BYTES];

	http_excerpt(safe, clickhouse_exception_words(exception), &secrets);
	return err_set(err, "%.200s:%u: %sexception %u: %s", to->name, to->port,
	    advice(clickhouse->exception), clickhouse->exception, safe);
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

static int
send_once(struct clickhouse *clickhouse, const struct clickhouse_host *host,
    const struct http_request *request, struct http_answer *answer,
    struct err *err)
{
	int64_t began_ns = clock_monotonic_ns(), now_ns;
	int rc = http_send(clickhouse->http, request, answer, err);

	now_ns = clock_monotonic_ns();
	if (rc == 0)
		silence_end(host);
	else if (err->code != ERR_INTERRUPTED && now_ns - began_ns >= SOON_NS)
		silence_begin(host, now_ns);
	return rc;
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
	if (send_once(clickhouse, &request->to, &to, &got, err) != 0)
		return -1;
	*answer = got.body;
	return judge(clickhouse, &request->to, &got, err);
}

static int
ask_for_lines(struct clickhouse *clickhouse,
    const struct clickhouse_request *request, struct text *answer,
    struct err *err)
{
	const struct clickhouse_host *host = &request->to;
	struct text exception;

	if (clickhouse_send(clickhouse, request, answer, err) != 0)
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

int
clickhouse_ask_host(struct clickhouse *clickhouse,
    const struct clickhouse_host *host, const char *sql, int64_t silence_ns,
    struct text *answer, struct err *err)
{
	const struct clickhouse_request request = { .to = *host,
		.settings = "",
		.body = text_of(sql),
		.silence_ns = silence_ns };

	return ask_for_lines(clickhouse, &request, answer, err);
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

/* Settings by which a server ends a question that nobody waits for.  It would
 * not look whether the connection is closed before it writes the answer. */
static void
put_settings(char *to, size_t room, const struct clickhouse_replica *replica,
    int64_t timeout_ns)
{
	size_t bytes = 0;

	to[0] = '\0';
	if (replica->readonly == 1)
		return;
	/* Nor may it refuse what it guesses to take longer. */
	if (!replica->is_limited)
		bytes = (size_t)snprintf(to, room,
		    "&max_execution_time=%" PRId64
		    "&timeout_before_checking_execution_speed=0",
		    timeout_ns / NS_PER_SECOND + 1);
	/* By this setting versions 19.13 to 19.17 answer nothing. */
	if (replica->version >= CLICKHOUSE_VERSION_NEW)
		snprintf(to + bytes, room - bytes,
		    "%s&cancel_http_readonly_queries_on_client_close=1",
		    replica->readonly == 0 ? "&readonly=2" : "");
}

/* Fill in where a question goes, and how. */
static int
put_question(const struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, char settings[static SETTINGS_BYTES],
    struct clickhouse_request *request, struct err *err)
{
	const struct clickhouse_replica *to =
	    replica_of(clickhouse, shard, replica, &request->to, err);

	if (to == NULL)
		return -1;
	request->silence_ns = clickhouse->options.timeout_ns;
	put_settings(settings, SETTINGS_BYTES, to, request->silence_ns);
	request->settings = settings;
	return 0;
}

int
clickhouse_ask(struct clickhouse *clickhouse, unsigned shard, unsigned replica,
    const char *sql, struct text *answer, struct err *err)
{
	struct clickhouse_request request = { .body = text_of(sql) };
	char settings[SETTINGS_BYTES];

	*answer = (struct text){ NULL, 0 };
	if (put_question(clickhouse, shard, replica, settings, &request, err) !=
	    0)
		return -1;
	return ask_for_lines(clickhouse, &request, answer, err);
}

int
clickhouse_ask_native(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, const char *sql, struct text *answer, struct err *err)
{
	struct clickhouse_request request = { .query = NULL };
	char settings[SETTINGS_BYTES];

	*answer = (struct text){ NULL, 0 };
	if (put_question(clickhouse, shard, replica, settings, &request, err) !=
	    0)
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
