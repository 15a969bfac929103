// SPDX-License-Identifier: GPL-2.0-or-later
/* u-secrets.c - what is masked of arguments, and what is left. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/secrets.h"
#include "unit.h"

static const char *masked(const char *arg, const char *before)
{
	static char *said;
	struct buf b = BUF_INIT;

	secrets_add(&b, arg, before);
	free(said);
	said = xstrdup(b.data ? b.data : "");
	buf_release(&b);
	return said;
}

TEST(secrets_are_masked_by_the_names_of_their_options)
{
	CHECK_STR(masked("-Ddb.password=a&b,c;d=e", NULL), "-Ddb.password=***");
	CHECK_STR(masked("--api-key=x", NULL), "--api-key=***");
	CHECK_STR(masked("GITHUB_TOKEN=x", NULL), "GITHUB_TOKEN=***");
	CHECK_STR(masked("-javaagent:a.jar=host=h,Secret=x", NULL), "-javaagent:a.jar=host=h,Secret=***");
	CHECK_STR(masked("hunter2", "--password"), "***");
	CHECK_STR(masked("--verbose", "--password"), "--verbose");
	CHECK_STR(masked("password", NULL), "password");
	CHECK_STR(masked("-Dpassword=", NULL), "-Dpassword=");
	CHECK_STR(masked("x", "--password=y"), "x");
}

TEST(secrets_are_masked_in_addresses)
{
	CHECK_STR(masked("https://me:pw@host/a?b=c", NULL), "https://me:***@host/a?b=c");
	CHECK_STR(masked("https://host:8123/?user=me&password=pw&x=y", NULL),
		  "https://host:8123/?user=me&password=***&x=y");
	CHECK_STR(masked("jdbc:h2:mem:a;PASSWORD=pw;USER=sa", NULL), "jdbc:h2:mem:a;PASSWORD=***;USER=sa");
	CHECK_STR(masked("-Durl=jdbc:mysql://me:p@h/d?password=pw", NULL),
		  "-Durl=jdbc:mysql://me:***@h/d?password=***");
	CHECK_STR(masked("jdbc:oracle:thin:me/pw@host:1521:x", NULL), "jdbc:oracle:thin:me/***@host:1521:x");
	CHECK_STR(masked("-Dtoken=https://a:b@c/", NULL), "-Dtoken=***");
	CHECK_STR(masked("https://host:8123/a@b", NULL), "https://host:8123/a@b");
}

TEST(secrets_what_has_none_stays)
{
	CHECK_STR(masked("-Xmx4g", NULL), "-Xmx4g");
	CHECK_STR(masked("a=b", "-cp"), "a=b");
	CHECK_STR(masked("", "--token"), "***");
	CHECK_STR(masked("==", NULL), "==");
}
