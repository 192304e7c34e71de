/*
 * jwt - signed tokens, judged by the openssl command and Python's base64.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/google_credentials.h"

#include <unistd.h>

#include "tests/unit/check.h"

static char dir[] = "/tmp/jwt.XXXXXX";

static void
run(const char *command)
{
	char line[2000];

	snprintf(line, sizeof(line), "cd %s && %s", dir, command);
	if (system(line) != 0)
		fail_msg("%s", line);
}

static int
make_keys(void **state)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	run("{ openssl genrsa -out rsa.pem 2048 && "
	    "openssl rsa -in rsa.pem -pubout -out public.pem && "
	    "openssl genrsa -out short.pem 1024 && "
	    "openssl ecparam -name prime256v1 -genkey -noout -out ec.pem && "
	    "openssl rsa -in rsa.pem -aes128 -passout pass:abcd "
	    "-out locked.pem; } 2>log");
	return 0;
}

static int
remove_keys(void **state)
{
	run("rm -f *.pem token log header claims input signature");
	return rmdir(dir);
}

static struct text
read_text(char *to, size_t room, const char *name)
{
	char path[100];
	FILE *file;
	size_t bytes;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	assert_non_null(file);
	bytes = fread(to, 1, room, file);
	fclose(file);
	return (struct text){ to, (uint32_t)bytes };
}

static void
a_signature_is_one_for_openssl(void **state)
{
	static const char claims[] =
	    "{\"iss\": \"a@b.example\", \"n\": \"\xC3\xA4?>~\"}";
	struct err err = { 0 };
	char key[4096], path[100];
	char *token;
	FILE *file;

	token = jwt_sign(read_text(key, sizeof(key), "rsa.pem"),
	    text_of("key-1"), text_of(claims), &err);
	assert_string_equal(err.text, "");
	assert_non_null(token);
	assert_null(strpbrk(token, "=+/"));
	snprintf(path, sizeof(path), "%s/token", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(token, file);
	fclose(file);
	free(token);
	run("python3 -c 'import base64\n"
	    "h, c, s = open(\"token\").read().split(\".\")\n"
	    "d = lambda t: base64.urlsafe_b64decode(t + \"=\" * (-len(t) % "
	    "4))\n"
	    "open(\"header\", \"wb\").write(d(h))\n"
	    "open(\"claims\", \"wb\").write(d(c))\n"
	    "open(\"signature\", \"wb\").write(d(s))\n"
	    "open(\"input\", \"w\").write(h + \".\" + c)'");
	run("openssl dgst -sha256 -verify public.pem -signature signature "
	    "input >log");
	assert_true(
	    text_equal(read_text(key, sizeof(key), "claims"), text_of(claims)));
	assert_true(text_equal(read_text(key, sizeof(key), "header"),
	    text_of("{\"alg\": \"RS256\", \"typ\": \"JWT\", "
		    "\"kid\": \"key-1\"}")));
}

static void
assert_refused(struct text pem, const char *why)
{
	struct err err = { 0 };

	assert_null(jwt_sign(pem, text_of(""), text_of("{}"), &err));
	assert_non_null(strstr(err.text, why));
}

static void
what_cannot_sign_is_refused_and_nobody_is_asked_for_a_password(void **state)
{
	char pem[8192];
	struct text key;

	assert_refused(text_of(""), "not a PEM key");
	assert_refused(
	    text_of("-----BEGIN PRIVATE KEY-----\n"), "not a PEM key");
	assert_refused(
	    read_text(pem, sizeof(pem), "public.pem"), "not a PEM key");
	assert_refused(
	    read_text(pem, sizeof(pem), "locked.pem"), "not a PEM key");
	assert_refused(
	    read_text(pem, sizeof(pem), "short.pem"), "not an RSA key of");
	assert_refused(
	    read_text(pem, sizeof(pem), "ec.pem"), "not an RSA key of");
	key = read_text(pem, sizeof(pem), "rsa.pem");
	key.bytes /= 2;
	assert_refused(key, "not a PEM key");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signature_is_one_for_openssl),
		cmocka_unit_test(
		    what_cannot_sign_is_refused_and_nobody_is_asked_for_a_password),
	};

	return cmocka_run_group_tests(tests, make_keys, remove_keys);
}
