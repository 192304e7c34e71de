/*
 * md5 - checksum with which storage services verify an upload.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/md5.h"

#include <openssl/evp.h>
#include <sodium.h>

static EVP_MD_CTX *
context_of(struct md5 *md5)
{
	return (EVP_MD_CTX *)md5;
}

int
md5_open(struct md5 **md5, struct err *err)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	if (context != NULL &&
	    EVP_DigestInit_ex(context, EVP_md5(), NULL) == 1) {
		*md5 = (struct md5 *)context;
		return 0;
	}
	EVP_MD_CTX_free(context);
	return err_set(err, "OpenSSL on this machine has no MD5, which the "
			    "service requires to verify uploads");
}

void
md5_add(struct md5 *md5, struct text bytes)
{
	EVP_DigestUpdate(context_of(md5), bytes.at, bytes.bytes);
}

void
md5_end(struct md5 *md5, unsigned char to[static MD5_BYTES])
{
	EVP_DigestFinal_ex(context_of(md5), to, NULL);
	EVP_DigestInit_ex(context_of(md5), EVP_md5(), NULL);
}

void
md5_close(struct md5 **md5)
{
	EVP_MD_CTX_free(context_of(*md5));
	*md5 = NULL;
}

void
md5_base64(
    char to[static MD5_BASE64_BYTES], const unsigned char sum[static MD5_BYTES])
{
	sodium_bin2base64(to, MD5_BASE64_BYTES, sum, MD5_BYTES,
	    sodium_base64_VARIANT_ORIGINAL);
}

void
md5_hex(
    char to[static MD5_HEX_BYTES], const unsigned char sum[static MD5_BYTES])
{
	sodium_bin2hex(to, MD5_HEX_BYTES, sum, MD5_BYTES);
}
