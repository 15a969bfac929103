// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * http.c - runs curl with the request, and reads its answer and the status code behind it.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/quote.h"
#include "fleet/http.h"

enum { CURL_NOT_FOUND = 127, STATUS_LEN = 3 };

bool http_is_url(const char *s)
{
	return !strncmp(s, "http://", 7) || !strncmp(s, "https://", 8);
}

static void put_encoded(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (isalnum((unsigned char)*s) || strchr("-_.~", *s))
			buf_putc(b, *s);
		else
			buf_fmt(b, "%%%02X", (unsigned char)*s);
	}
}

/* The URL with the parameters behind those it has. */
static void put_url(struct buf *b, const char *url, const char *const *params)
{
	const char *value;
	char joint = strchr(url, '?') ? '&' : '?';

	buf_str(b, url);
	if (joint == '?' && !strchr(strstr(url, "//") + 2, '/'))
		buf_putc(b, '/');
	for (; *params; params++, joint = '&') {
		value = strchr(*params, '=');
		buf_fmt(b, "%c%.*s=", joint, (int)(value - *params), *params);
		put_encoded(b, value + 1);
	}
}

static void run_curl(const char *url, int in, int out, int log, bool gzipped)
{
	const char *argv[] = { "curl", "-q", "-sS", "--netrc-optional", "--connect-timeout", "10", "-g",
			       "-H", "Expect:", "-H", "Content-Type: application/octet-stream",
			       "-H", gzipped ? "Content-Encoding: gzip" : "Accept: */*",
			       "--data-binary", "@-", "-w", "%{http_code}", "--", url, NULL };

	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* so that nothing arrives once the next push has looked */
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(CURL_NOT_FOUND);
	execvp(argv[0], (char *const *)argv);
	_exit(CURL_NOT_FOUND);
}

static int read_fd(int fd, struct buf *b, struct err *e)
{
	off_t len = lseek(fd, 0, SEEK_END);
	ssize_t n;

	buf_reset(b);
	buf_str(b, "");
	while (len > 0 && (off_t)b->len < len) {
		n = pread(fd, buf_room(b, len - b->len), len - b->len, b->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(e, "the answer");
		b->len += n;
		b->data[b->len] = '\0';
	}
	return 0;
}

/* The first line of what a server or curl said, as far as a message has room. */
static int refuse(struct err *e, int code, const char *url, const char *text)
{
	struct buf b = BUF_INIT;
	int host = strcspn(strstr(url, "//") + 2, "/?");
	const char *at = strstr(url, "//") + 2, *user = memchr(at, '@', host);

	if (user) {			/* no passwords in messages */
		host -= user + 1 - at;
		at = user + 1;
	}
	quote_add_also(&b, text, strcspn(text, "\n"), "");
	err_set(e, code, "%.*s: %.180s", host, at, b.len ? b.data : "an answer without text");
	buf_release(&b);
	return -code;
}

/* The answer ends with the status code, which goes. */
static int judge(int status, const char *url, struct buf *answer, const struct buf *log, struct err *e)
{
	int code;

	if (WIFEXITED(status) && WEXITSTATUS(status) == CURL_NOT_FOUND) {
		err_set(e, ENOENT, "curl cannot be run, which talks to the server");
		err_hint(e, "on Debian: apt-get install curl");
		return -ENOENT;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) || answer->len < STATUS_LEN)
		return refuse(e, EAGAIN, url, log->len ? log->data : "curl was killed");
	answer->len -= STATUS_LEN;
	code = atoi(answer->data + answer->len);
	answer->data[answer->len] = '\0';
	if (code == 502 || code == 503 || code == 504)
		return refuse(e, EAGAIN, url, answer->data);
	return code == 200 ? 0 : refuse(e, EPROTO, url, answer->data);
}

int http_post(const char *url, const char *const *params, int body_fd, bool gzipped, struct buf *answer,
	      struct err *e)
{
	int out = memfd_create("answer", MFD_CLOEXEC), log = memfd_create("messages", MFD_CLOEXEC);
	struct buf whole = BUF_INIT, said = BUF_INIT;
	pid_t pid;
	int r = 0, status = 0;

	put_url(&whole, url, params);
	pid = out < 0 || log < 0 ? -1 : fork();
	if (pid < 0)
		r = err_errno(e, "cannot start curl");
	else if (!pid)
		run_curl(whole.data, body_fd, out, log, gzipped);
	while (!r && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			r = err_errno(e, "curl");
	if (!r && !(r = read_fd(out, answer, e)) && !(r = read_fd(log, &said, e)))
		r = judge(status, url, answer, &said, e);
	if (out >= 0)
		close(out);
	if (log >= 0)
		close(log);
	buf_release(&whole);
	buf_release(&said);
	return r;
}

int http_query(const char *url, const char *const *params, const char *sql, struct buf *answer,
	       struct err *e)
{
	int fd = memfd_create("statement", MFD_CLOEXEC), r;

	if (fd < 0)
		return err_errno(e, "statement");
	r = io_write_all(fd, sql, strlen(sql));
	if (r)
		r = err_set(e, -r, "the statement cannot be stored");
	lseek(fd, 0, SEEK_SET);
	if (!r)
		r = http_post(url, params, fd, false, answer, e);
	close(fd);
	return r;
}
