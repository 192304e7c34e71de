/*
 * s3 - a bucket of S3 or a compatible service, configured in the environment,
 * and its answers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exporters/cloud/sign.h"
#include "exporters/cloud/xml.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/http/message.h"

static bool
is_at(const char *path, const char *wanted)
{
	return strcmp(path, wanted) == 0;
}

/* -1 if the text does not fit: a truncated id would be another id. */
static int
take(
    char *to, size_t room, struct text value, const char *what, struct err *err)
{
	if (value.bytes >= room || memchr(value.at, '\0', value.bytes) != NULL)
		return err_set(
		    err, "%s of more than %zu bytes", what, room - 1);
	memcpy(to, value.at, value.bytes);
	to[value.bytes] = '\0';
	return 0;
}

struct text
s3_etag_bare(struct text etag)
{
	if (etag.bytes >= 2 && etag.at[0] == '"' &&
	    etag.at[etag.bytes - 1] == '"') {
		etag.at++;
		etag.bytes -= 2;
	}
	return etag;
}

bool
s3_etag_md5(struct text etag, unsigned char md5[static MD5_BYTES])
{
	size_t bytes = 0;

	etag = s3_etag_bare(etag);
	return etag.bytes == 2 * MD5_BYTES &&
	       sodium_hex2bin(md5, MD5_BYTES, etag.at, etag.bytes, NULL, &bytes,
		   NULL) == 0 &&
	       bytes == MD5_BYTES;
}

/* ---- uploads ---- */

struct uploads_reading {
	struct s3_uploads *uploads;
	char key[S3_KEY_BYTES], id[S3_ID_BYTES], begun[40];
};

static int
on_upload(void *arg, const char *path, struct text value, struct err *err)
{
	struct uploads_reading *r = arg;
	struct s3_uploads *u = r->uploads;

	if (strncmp(path, "ListMultipartUploadsResult/", 27) != 0)
		return 0;
	path += 27;
	if (is_at(path, "IsTruncated"))
		u->more = text_equal(value, text_of("true"));
	else if (is_at(path, "NextKeyMarker"))
		return take(
		    u->next_key, sizeof(u->next_key), value, "a key", err);
	else if (is_at(path, "NextUploadIdMarker"))
		return take(
		    u->next_id, sizeof(u->next_id), value, "an id", err);
	else if (is_at(path, "Upload/Key"))
		return take(r->key, sizeof(r->key), value, "a key", err);
	else if (is_at(path, "Upload/UploadId"))
		return take(r->id, sizeof(r->id), value, "an id", err);
	else if (is_at(path, "Upload/Initiated"))
		return take(r->begun, sizeof(r->begun), value, "a time", err);
	else if (is_at(path, "Upload")) {
		if (r->id[0] != '\0' && is_at(r->key, u->key) &&
		    strcmp(r->begun, u->begun) >= 0) {
			strcpy(u->id, r->id);
			strcpy(u->begun, r->begun);
		}
		r->key[0] = r->id[0] = r->begun[0] = '\0';
	}
	return 0;
}

int
s3_read_uploads(struct s3_uploads *uploads, struct text body, struct err *err)
{
	struct uploads_reading r = { .uploads = uploads };

	uploads->more = false;
	uploads->next_key[0] = uploads->next_id[0] = '\0';
	return xml_read(body, on_upload, &r, err);
}

/* ---- parts ---- */

struct parts_reading {
	struct s3_parts *parts;
	uint64_t number, bytes;
	unsigned char md5[MD5_BYTES];
	bool known; /* its ETag is an MD5 */
};

static int
take_number(uint64_t *to, struct text value, struct err *err)
{
	if (number_parse_u64(value, to, NULL) != 0)
		return err_set(err, "a part number is not a number");
	return 0;
}

static int
on_part(void *arg, const char *path, struct text value, struct err *err)
{
	struct parts_reading *r = arg;

	if (strncmp(path, "ListPartsResult/", 16) != 0)
		return 0;
	path += 16;
	if (is_at(path, "IsTruncated"))
		r->parts->more = text_equal(value, text_of("true"));
	else if (is_at(path, "NextPartNumberMarker") && value.bytes > 0)
		return take_number(&r->parts->next, value, err);
	else if (is_at(path, "Part/PartNumber"))
		return take_number(&r->number, value, err);
	else if (is_at(path, "Part/Size"))
		return take_number(&r->bytes, value, err);
	else if (is_at(path, "Part/ETag"))
		r->known = s3_etag_md5(value, r->md5);
	else if (is_at(path, "Part")) {
		if (r->number == 0 || r->number > S3_PARTS_MAX)
			return err_set(err,
			    "a part number is not between 1 and %d",
			    S3_PARTS_MAX);
		r->parts->at[r->number].bytes = r->bytes;
		r->parts->at[r->number].there = r->known;
		memcpy(r->parts->at[r->number].md5, r->md5, MD5_BYTES);
		r->number = r->bytes = 0;
		r->known = false;
	}
	return 0;
}

int
s3_read_parts(struct s3_parts *parts, struct text body, struct err *err)
{
	struct parts_reading r = { .parts = parts };
	uint64_t before = parts->next;

	parts->more = false;
	if (xml_read(body, on_part, &r, err) != 0)
		return -1;
	/* Repeating the same marker would request the same page forever. */
	if (parts->more && parts->next <= before)
		return err_set(err,
		    "protocol error: the list of parts repeats the same page");
	return 0;
}

/* ---- other answers ---- */

static int
on_id(void *arg, const char *path, struct text value, struct err *err)
{
	if (!is_at(path, "InitiateMultipartUploadResult/UploadId"))
		return 0;
	return take(arg, S3_ID_BYTES, value, "an id", err);
}

int
s3_read_id(char id[static S3_ID_BYTES], struct text body, struct err *err)
{
	id[0] = '\0';
	if (xml_read(body, on_id, id, err) != 0)
		return -1;
	return id[0] != '\0' ? 0 : err_set(err, "the answer has no upload id");
}

static int
on_whole(void *arg, const char *path, struct text value, struct err *err)
{
	if (!is_at(path, "CompleteMultipartUploadResult/ETag"))
		return 0;
	return take(arg, 128, value, "an ETag", err);
}

int
s3_read_whole(char etag[static 128], struct text body, struct err *err)
{
	struct service_error service_error;

	etag[0] = '\0';
	if (body.bytes == 0)
		return 0;
	service_error_read(&service_error, body);
	if (service_error.code[0] != '\0') {
		char code[200], message[600];

		return err_set(err, "%s: %s",
		    text_quote(code, sizeof(code), text_of(service_error.code)),
		    text_quote(message, 300, text_of(service_error.message)));
	}
	return xml_read(body, on_whole, etag, err);
}

char *
s3_whole_list(const struct s3_put *put, uint32_t count, size_t *bytes)
{
	size_t room = 64 + (size_t)count * (64 + 6 * S3_ETAG_BYTES), used;
	char *body = memory_alloc(room), etag[6 * S3_ETAG_BYTES];

	used = (size_t)snprintf(body, room, "<CompleteMultipartUpload>");
	for (uint32_t i = 1; i <= count; i++) {
		xml_escape(etag, sizeof(etag), text_of(put[i].etag));
		used += (size_t)snprintf(body + used, room - used,
		    "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>",
		    i, etag);
	}
	used += (size_t)snprintf(
	    body + used, room - used, "</CompleteMultipartUpload>");
	*bytes = used;
	return body;
}

int
s3_whole_etag(char to[static S3_WHOLE_BYTES], const struct s3_put *put,
    uint32_t count, struct err *err)
{
	unsigned char sum[MD5_BYTES];
	char hex[MD5_HEX_BYTES];
	struct md5 *md5;

	if (md5_open(&md5, err) != 0)
		return -1;
	for (uint32_t i = 1; i <= count; i++)
		md5_add(
		    md5, (struct text){ (const char *)put[i].md5, MD5_BYTES });
	md5_end(md5, sum);
	md5_close(&md5);
	md5_hex(hex, sum);
	snprintf(to, S3_WHOLE_BYTES, "%s-%u", hex, count);
	return 0;
}

enum { DATE_BYTES = 16, DAY_BYTES = 8, SUM_BYTES = crypto_hash_sha256_BYTES };

static void
put(crypto_hash_sha256_state *sum, struct text t)
{
	crypto_hash_sha256_update(sum, (const unsigned char *)t.at, t.bytes);
}

static void
put_string(crypto_hash_sha256_state *sum, const char *string)
{
	put(sum, text_of(string));
}

/* Collapse consecutive blanks in a value. */
static void
put_value(crypto_hash_sha256_state *sum, struct text value)
{
	for (uint32_t i = 0; i < value.bytes; i++)
		if (value.at[i] != ' ' || value.at[i + 1] != ' ')
			put(sum, (struct text){ value.at + i, 1 });
}

static void
put_query(
    crypto_hash_sha256_state *sum, const struct sign_pair *query, int count)
{
	for (int i = 0; i < count; i++) {
		if (i > 0)
			put_string(sum, "&");
		put(sum, query[i].name);
		put_string(sum, "=");
		put(sum, query[i].value);
	}
}

/* Write "a;b;c", the names of all headers.  Returns the length, or `room` if
 * they do not fit. */
static size_t
name_headers(
    char *to, size_t room, const struct sign_pair *headers, uint32_t count)
{
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (used + headers[i].name.bytes + 2 > room)
			return room;
		if (i > 0)
			to[used++] = ';';
		for (uint32_t k = 0; k < headers[i].name.bytes; k++)
			to[used++] = sign_lower(headers[i].name.at[k]);
	}
	to[used] = '\0';
	return used;
}

/* Insert the host, which is not among the request's headers, in sorted
 * order. */
static void
add_host(struct sign_pair *headers, uint32_t *count, struct text host)
{
	uint32_t at = *count;

	for (; at > 0; at--) {
		char first = sign_lower(headers[at - 1].name.at[0]);

		if (first < 'h')
			break;
		headers[at] = headers[at - 1];
	}
	headers[at] = (struct sign_pair){ text_of("host"), host };
	(*count)++;
}

/* The hash of the canonical request. */
static int
sum_request(unsigned char to[static SUM_BYTES],
    const struct http_request *request, const struct http_address *address,
    const struct sign_pair *headers, uint32_t count, const char *names,
    struct err *err)
{
	struct sign_pair query[SIGN_QUERY_MAX];
	int parameters = sign_query(query, text_of(address->query));
	crypto_hash_sha256_state sum;

	if (parameters < 0)
		return err_set(err, "a request has more than %d parameters",
		    SIGN_QUERY_MAX);
	crypto_hash_sha256_init(&sum);
	put_string(&sum, request->method);
	put_string(&sum, "\n");
	put(&sum, text_of(address->path));
	put_string(&sum, "\n");
	put_query(&sum, query, parameters);
	put_string(&sum, "\n");
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < headers[i].name.bytes; k++) {
			char c = sign_lower(headers[i].name.at[k]);

			put(&sum, (struct text){ &c, 1 });
		}
		put_string(&sum, ":");
		put_value(&sum, headers[i].value);
		put_string(&sum, "\n");
	}
	put_string(&sum, "\n");
	put_string(&sum, names);
	put_string(&sum, "\n");
	put(&sum, sign_find(headers, count, "x-amz-content-sha256"));
	crypto_hash_sha256_final(&sum, to);
	return 0;
}

static void
hmac(unsigned char to[static SUM_BYTES], const void *key, size_t key_bytes,
    struct text t)
{
	crypto_auth_hmacsha256_state state;

	crypto_auth_hmacsha256_init(&state, key, key_bytes);
	crypto_auth_hmacsha256_update(
	    &state, (const unsigned char *)t.at, t.bytes);
	crypto_auth_hmacsha256_final(&state, to);
	sodium_memzero(&state, sizeof(state));
}

/* The key for a day, a region and a service: four HMAC rounds from the
 * secret. */
static int
make_key(unsigned char key[static SUM_BYTES], const struct sign_s3 *who,
    struct text day, struct err *err)
{
	unsigned char first[4 + 1024];

	if (who->secret.bytes > sizeof(first) - 4)
		return err_set(err, "the secret key is longer than %zu bytes",
		    sizeof(first) - 4);
	memcpy(first, "AWS4", 4);
	memcpy(first + 4, who->secret.at, who->secret.bytes);
	hmac(key, first, 4 + who->secret.bytes, day);
	sodium_memzero(first, sizeof(first));
	hmac(key, key, SUM_BYTES, text_of(who->region));
	hmac(key, key, SUM_BYTES, text_of("s3"));
	hmac(key, key, SUM_BYTES, text_of("aws4_request"));
	return 0;
}

/* The host as the request has it: with its port unless that is the default. */
static struct text
name_host(
    char to[static NAME_BYTES_MAX + 1], const struct http_address *address)
{
	int bytes = snprintf(to, NAME_BYTES_MAX + 1, "%s%s%s", address->host,
	    address->port != NULL ? ":" : "",
	    address->port != NULL ? address->port : "");

	return bytes <= NAME_BYTES_MAX ? text_of(to) : text_of(NULL);
}

static int
sign_address(const struct sign_s3 *who, const struct http_request *request,
    const struct http_address *address,
    char header[static SIGN_S3_HEADER_BYTES], struct err *err)
{
	struct sign_pair headers[HTTP_HEADERS_MAX + 1];
	char host[NAME_BYTES_MAX + 1];
	uint32_t count = sign_headers(headers, request);
	char names[1024], hex[2 * SUM_BYTES + 1], text[512];
	unsigned char sum[SUM_BYTES], key[SUM_BYTES];
	struct text date = sign_find(headers, count, "x-amz-date");
	int bytes;

	add_host(headers, &count, name_host(host, address));
	if (date.bytes != DATE_BYTES ||
	    name_headers(names, sizeof(names), headers, count) == sizeof(names))
		return err_set(err, "cannot sign the request: its date is "
				    "invalid, or it has too many headers");
	if (sum_request(sum, request, address, headers, count, names, err) !=
		0 ||
	    make_key(key, who, (struct text){ date.at, DAY_BYTES }, err) != 0)
		return -1;
	sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum));
	bytes = snprintf(text, sizeof(text),
	    "AWS4-HMAC-SHA256\n%.*s\n%.*s/%s/s3/aws4_request\n%s", DATE_BYTES,
	    date.at, DAY_BYTES, date.at, who->region, hex);
	if (bytes < 0 || (size_t)bytes >= sizeof(text))
		return err_set(err, "the region's name is too long");
	hmac(sum, key, sizeof(key), (struct text){ text, (uint32_t)bytes });
	sodium_memzero(key, sizeof(key));
	sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum));
	bytes = snprintf(header, SIGN_S3_HEADER_BYTES,
	    "Authorization: AWS4-HMAC-SHA256 "
	    "Credential=%.*s/%.*s/%s/s3/aws4_request,SignedHeaders=%s,"
	    "Signature=%s",
	    (int)who->id.bytes, who->id.at, DAY_BYTES, date.at, who->region,
	    names, hex);
	return bytes > 0 && bytes < SIGN_S3_HEADER_BYTES
		   ? 0
		   : err_set(err, "the access key is too long");
}

int
sign_s3(const struct sign_s3 *who, const struct http_request *request,
    char header[static SIGN_S3_HEADER_BYTES], struct err *err)
{
	struct http_address address;
	int rc = http_address_open(&address, request->url, err);

	if (rc == 0)
		rc = sign_address(who, request, &address, header, err);
	http_address_close(&address);
	return rc;
}

/* The first variable that is set, or NULL. */
static const char *
get_either(const char *one, const char *other)
{
	const char *value = getenv(one);

	if (value == NULL || *value == '\0')
		value = getenv(other);
	return value != NULL && *value != '\0' ? value : NULL;
}

static int
take_secrets(struct s3 *s3, struct err *err)
{
	bool has_id, has_secret, has_token;

	if (secret_from_environment(
		&s3->id, "AWS_ACCESS_KEY_ID", &has_id, err) != 0 ||
	    secret_from_environment(
		&s3->secret, "AWS_SECRET_ACCESS_KEY", &has_secret, err) != 0 ||
	    secret_from_environment(
		&s3->token, "AWS_SESSION_TOKEN", &has_token, err) != 0)
		return -1;
	if (!has_id || !has_secret)
		return err_set(err,
		    "no access key: set AWS_ACCESS_KEY_ID and "
		    "AWS_SECRET_ACCESS_KEY (or AWS_SECRET_ACCESS_KEY_FILE)");
	if (has_token && s3->token.bytes > S3_TOKEN_BYTES_MAX)
		return err_set(err, "AWS_SESSION_TOKEN is longer than %d bytes",
		    S3_TOKEN_BYTES_MAX);
	return 0;
}

static int
take_region(struct s3 *s3, struct err *err)
{
	const char *region = get_either("AWS_REGION", "AWS_DEFAULT_REGION");

	if (region == NULL)
		region = "us-east-1";
	if (strlen(region) >= sizeof(s3->region) ||
	    strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") !=
		strlen(region))
		return err_set(err, "AWS_REGION contains other characters than "
				    "lower-case letters, digits and hyphens");
	snprintf(s3->region, sizeof(s3->region), "%s", region);
	return 0;
}

/* The certificate does not cover a bucket name with a dot as a host name. */
static int
take_endpoint(struct s3 *s3, struct text bucket, struct err *err)
{
	const char *endpoint =
	    get_either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
	bool dotted = memchr(bucket.at, '.', bucket.bytes) != NULL;
	int length = endpoint != NULL ? (int)strlen(endpoint) : 0, n;

	while (length > 0 && endpoint[length - 1] == '/')
		length--;
	if (endpoint != NULL)
		n = snprintf(s3->base, sizeof(s3->base), "%.*s/%.*s", length,
		    endpoint, (int)bucket.bytes, bucket.at);
	else if (dotted)
		n = snprintf(s3->base, sizeof(s3->base),
		    "https://s3.%s.amazonaws.com/%.*s", s3->region,
		    (int)bucket.bytes, bucket.at);
	else
		n = snprintf(s3->base, sizeof(s3->base),
		    "https://%.*s.s3.%s.amazonaws.com", (int)bucket.bytes,
		    bucket.at, s3->region);
	if (n < 0 || (size_t)n >= sizeof(s3->base))
		return err_set(err, "AWS_ENDPOINT_URL is longer than %zu bytes",
		    sizeof(s3->base) - 80);
	if (strpbrk(s3->base, "?#") != NULL)
		return err_set(err, "AWS_ENDPOINT_URL contains a query");
	return endpoint == NULL || http_check_url(s3->base, err) == 0
		   ? 0
		   : err_prefix(err, "AWS_ENDPOINT_URL");
}

int
s3_open(struct s3 *s3, struct text bucket, const struct http_options *how,
    struct err *err)
{
	if (take_secrets(s3, err) != 0 || take_region(s3, err) != 0 ||
	    take_endpoint(s3, bucket, err) != 0)
		return -1;
	return http_open(&s3->http, how, err);
}

void
s3_close(struct s3 *s3)
{
	struct secret *const secrets[] = { &s3->id, &s3->secret, &s3->token };

	http_close(&s3->http);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		if (secrets[i]->at != NULL)
			secret_clear(secrets[i]);
}

/* The hash of the body. */
static void
make_sum(struct s3 *s3, struct text body)
{
	unsigned char sum[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(sum) + 1];

	crypto_hash_sha256(sum, (const unsigned char *)body.at, body.bytes);
	snprintf(s3->sum, sizeof(s3->sum), "x-amz-content-sha256: %s",
	    sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum)));
}

/* The date, and the authorization. */
static int
sign(void *arg, struct err *err)
{
	struct s3 *s3 = arg;
	const struct sign_s3 who = {
		.id = secret_text(&s3->id),
		.secret = secret_text(&s3->secret),
		.region = s3->region,
	};
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(s3->date, sizeof(s3->date), "x-amz-date: %Y%m%dT%H%M%SZ", &tm);
	s3->request.headers[s3->count] = NULL; /* not part of the signature */
	if (sign_s3(&who, &s3->request, s3->header, err) != 0)
		return -1;
	s3->request.headers[s3->count] = s3->header;
	return 0;
}

int
s3_send(struct s3 *s3, const char *method, const char *path,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err)
{
	struct http_request *request = &s3->request;
	char token[S3_TOKEN_BYTES_MAX + 32];
	uint32_t count = 0;
	int n = snprintf(s3->url, sizeof(s3->url), "%s%s", s3->base, path);

	if (n < 0 || (size_t)n >= sizeof(s3->url))
		return err_set(
		    err, "the address is longer than %d bytes", S3_URL_BYTES);
	make_sum(s3, body);
	*request = (struct http_request){ .method = method,
		.url = s3->url,
		.body = body,
		.sign = sign,
		.sign_arg = s3 };
	for (; headers[count] != NULL; count++)
		request->headers[count] = headers[count];
	request->headers[count++] = s3->date;
	request->headers[count++] = s3->sum;
	if (s3->token.at != NULL) {
		snprintf(token, sizeof(token), "x-amz-security-token: %s",
		    (const char *)s3->token.at);
		request->headers[count++] = token;
	}
	s3->count = count;
	n = http_send(s3->http, request, answer, err);
	s3->lost = n != 0;
	if (n == 0 && (answer->status < 200 || answer->status > 299))
		n = answer->status < 400
			? http_refused(s3->http, answer, err)
			: service_error_set(request, answer, err);
	sodium_memzero(token, sizeof(token));
	return n;
}
