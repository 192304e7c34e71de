/*
 * jwt - signed JSON Web Tokens.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/google/jwt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "proto/base/memory.h"
#include "proto/json/json.h"

/* Four characters for each three bytes, and the NUL of EVP_EncodeBlock. */
static size_t
room_for(size_t bytes)
{
	return (bytes + 2) / 3 * 4 + 1;
}

/* base64url without padding (RFC 4648, section 5). */
static size_t
encode(char *to, const void *bytes, size_t count)
{
	size_t length =
	    (size_t)EVP_EncodeBlock((unsigned char *)to, bytes, (int)count);

	while (length > 0 && to[length - 1] == '=')
		length--;
	for (size_t i = 0; i < length; i++)
		if (to[i] == '+' || to[i] == '/')
			to[i] = to[i] == '+' ? '-' : '_';
	to[length] = '\0';
	return length;
}

/* Reject a key with a password: nobody can be asked for it. */
static int
no_password(char *to, int bytes, int writing, void *arg)
{
	(void)to;
	(void)bytes;
	(void)writing;
	(void)arg;
	return -1;
}

static EVP_PKEY *
read_key(struct text pem, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(pem.at, (int)pem.bytes);
	EVP_PKEY *key = NULL;

	if (bio != NULL)
		key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
	BIO_free(bio);
	ERR_clear_error();
	if (key == NULL) {
		err_set(
		    err, "the private key is not a PEM key without a password");
		return NULL;
	}
	if (EVP_PKEY_base_id(key) == EVP_PKEY_RSA &&
	    EVP_PKEY_bits(key) >= JWT_KEY_BITS_MIN &&
	    EVP_PKEY_bits(key) <= JWT_KEY_BITS_MAX)
		return key;
	err_set(err, "the private key is not an RSA key of %d to %d bits",
	    JWT_KEY_BITS_MIN, JWT_KEY_BITS_MAX);
	EVP_PKEY_free(key);
	return NULL;
}

/* The header as JSON; returns a new text. */
static char *
make_header(struct text key_id)
{
	struct json_memory json;

	json_memory_begin(&json, JSON_STRICT);
	json_begin_object(&json.to);
	json_add_string(&json.to, "alg", "RS256");
	json_add_string(&json.to, "typ", "JWT");
	if (key_id.bytes > 0) {
		json_add_text(&json.to, "kid", key_id);
	}
	json_end_object(&json.to);
	json_memory_end(&json);
	return json.text;
}

/* The signed text: both parts, with room for the signature. */
static char *
make_input(struct text key_id, struct text claims, size_t room, size_t *length)
{
	char *header = make_header(key_id);
	char *token = memory_alloc(room_for(strlen(header)) +
				   room_for(claims.bytes) + room_for(room) + 2);

	*length = encode(token, header, strlen(header));
	token[(*length)++] = '.';
	*length += encode(token + *length, claims.at, claims.bytes);
	free(header);
	return token;
}

static int
sign(EVP_PKEY *key, unsigned char *to, size_t *bytes, const char *input,
    size_t length)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	int ok;

	ok = context != NULL &&
	     EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
	     EVP_DigestSign(
		 context, to, bytes, (const unsigned char *)input, length) == 1;
	EVP_MD_CTX_free(context);
	ERR_clear_error();
	return ok ? 0 : -1;
}

char *
jwt_sign(
    struct text pem, struct text key_id, struct text claims, struct err *err)
{
	unsigned char signature[JWT_KEY_BITS_MAX / 8];
	size_t bytes = sizeof(signature), length;
	EVP_PKEY *key = read_key(pem, err);
	char *token;

	if (key == NULL)
		return NULL;
	token = make_input(key_id, claims, bytes, &length);
	if (sign(key, signature, &bytes, token, length) != 0) {
		free(token);
		token = NULL;
		err_set(err, "cannot sign with the private key");
	} else {
		token[length++] = '.';
		encode(token + length, signature, bytes);
	}
	EVP_PKEY_free(key);
	return token;
}
