// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * http.c - runs curl with the request, and reads its answer, the status code behind it, and the headers.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/quote.h"
#include "fleet/http.h"

enum { CURL_TIMED_OUT = 28, CURL_NOT_FOUND = 127, STATUS_LEN = 3 };

bool http_is_url(const char *s)
{
	return !strncmp(s, "http://", 7) || !strncmp(s, "https://", 8);
}

void http_hide_secrets(char *url)
{
	static const char key[] = "password=";
	char *host = strstr(url, "//") + 2, *at = memrchr(host, '@', strcspn(host, "/?")), *p;

	if (at && (p = memchr(host, ':', at - host)))
		memset(p + 1, '*', at - p - 1);
	for (p = strchr(url, '?'); p && (p = strstr(p, key));) {
		p += strlen(key);
		memset(p, '*', strcspn(p, "&#"));
	}
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

/* What curl reads from its file; control characters cannot be in a URL. */
static int write_config(const struct http_request *q, const char *url, int fd)
{
	const struct http_server *server = q->server;
	struct buf b = BUF_INIT;
	int r;

	buf_str(&b, "url = \"");
	for (; *url; url++) {
		if (*url == '"' || *url == '\\')
			buf_putc(&b, '\\');
		if ((unsigned char)*url >= ' ')
			buf_putc(&b, *url);
	}
	buf_str(&b, "\"\n");
	if (q->body_fd >= 0)
		buf_fmt(&b, "data-binary = \"@-\"\nheader = \"Content-Type: %s\"\n",
			q->type ? q->type : "application/octet-stream");
	if (q->gzipped)
		buf_str(&b, "header = \"Content-Encoding: gzip\"\n");
	buf_fmt(&b, "max-time = %u\n", q->total_s ? q->total_s : server->total_s);
	buf_fmt(&b, "speed-limit = %d\nspeed-time = %u\n", HTTP_LEAST_SPEED, server->idle_s);
	r = io_write_all(fd, b.data, b.len);
	buf_release(&b);
	return r;
}

enum { ANSWER, HEADERS, MESSAGES, CONFIG, NR_FILES };

static size_t max_answer(const struct http_request *q)
{
	return q->max_answer ? q->max_answer : q->server->max_answer;
}

static void run_curl(const struct http_request *q, const int *files)
{
	char config[32], headers[32];
	const char *argv[] = { "curl", "-q", "-sS", "--netrc-optional", "--connect-timeout", "10", "-g",
			       "-H", "Expect:", "-H", "Accept: */*", "-D", headers, "-w", "%{http_code}",
			       "-K", config, NULL };
	const struct rlimit limit = { max_answer(q), max_answer(q) };	/* of each of the files */

	snprintf(config, sizeof(config), "/dev/fd/%d", files[CONFIG]);
	snprintf(headers, sizeof(headers), "/dev/fd/%d", files[HEADERS]);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* so that nothing arrives once the next push has looked */
	if (setrlimit(RLIMIT_FSIZE, &limit) || fcntl(files[CONFIG], F_SETFD, 0) ||
	    fcntl(files[HEADERS], F_SETFD, 0) || (q->body_fd >= 0 && dup2(q->body_fd, STDIN_FILENO) < 0) ||
	    dup2(files[ANSWER], STDOUT_FILENO) < 0 || dup2(files[MESSAGES], STDERR_FILENO) < 0)
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

int http_refuse(struct err *e, int code, const char *url, const char *text)
{
	struct buf b = BUF_INIT;
	int host = strcspn(strstr(url, "//") + 2, "/?");
	const char *at = strstr(url, "//") + 2, *user = memrchr(at, '@', host);

	if (user) {			/* no passwords in messages */
		host -= user + 1 - at;
		at = user + 1;
	}
	quote_add_also(&b, text, strcspn(text, "\n"), "");
	err_set(e, code, "%.*s: %.180s", host, at, b.len ? b.data : "an answer without text");
	buf_release(&b);
	return -code;
}

/* ---- answers ---- */

/* Of the header's value: seconds, or a date. */
static uint64_t wait_of(const char *s, uint64_t now_s)
{
	struct tm tm = { 0 };
	uint64_t s_of_date;

	s += strspn(s, " \t");
	if (isdigit((unsigned char)*s))
		return strtoull(s, NULL, 10);
	if (!strptime(s, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		return 0;
	s_of_date = timegm(&tm);
	return (int64_t)s_of_date > (int64_t)now_s ? s_of_date - now_s : 0;
}

uint64_t http_retry_after(const char *headers, uint64_t now_s)
{
	static const char name[] = "retry-after:", answer[] = "HTTP/";
	uint64_t wait_s = 0;

	for (; *headers; headers += strcspn(headers, "\n"), headers += *headers == '\n') {
		if (!strncmp(headers, answer, strlen(answer)))
			wait_s = 0;	/* the one before was a proxy's */
		else if (!strncasecmp(headers, name, strlen(name)))
			wait_s = wait_of(headers + strlen(name), now_s);
	}
	return wait_s;
}

static int refuse_length(const struct http_request *q, struct err *e)
{
	const size_t most = max_answer(q);
	const bool small = most < 1 << 20;
	char text[64];

	snprintf(text, sizeof(text), "the answer is longer than %zu %s", most >> (small ? 10 : 20),
		 small ? "KiB" : "MiB");
	http_refuse(e, EMSGSIZE, q->server->url, text);
	if (!q->max_answer)
		err_hint(e, "--where and --since ask for less; --max-answer takes more");
	return -EMSGSIZE;
}

static int refuse_silence(const struct http_request *q, int status, const char *messages, struct err *e)
{
	http_refuse(e, EAGAIN, q->server->url, *messages ? messages : "curl was killed");
	/* else it is the connection that was not made in time */
	if (WIFEXITED(status) && WEXITSTATUS(status) == CURL_TIMED_OUT && strstr(messages, "Operation"))
		err_hint(e, "--timeout gives the server more time");
	return -EAGAIN;
}

/* The answer ends with the status code, which goes. */
static int take_answer(const struct http_request *q, int status, struct http_answer *a, const char *headers,
		       const char *messages, struct err *e)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == CURL_NOT_FOUND) {
		err_set(e, ENOENT, "curl cannot be run, which talks to the server");
		err_hint(e, "on Debian: apt-get install curl");
		return -ENOENT;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		return refuse_length(q, e);
	if (!WIFEXITED(status) || WEXITSTATUS(status) || a->body.len < STATUS_LEN)
		return refuse_silence(q, status, messages, e);
	a->body.len -= STATUS_LEN;
	a->status = atoi(a->body.data + a->body.len);
	a->body.data[a->body.len] = '\0';
	a->wait_s = http_retry_after(headers, clock_real_ns() / 1000000000);
	return 0;
}

/* Runs curl to its end; *status is how that was. */
static int run(const struct http_request *q, const int *files, int *status, struct err *e)
{
	pid_t pid = fork();

	if (pid < 0)
		return err_errno(e, "cannot start curl");
	if (!pid)
		run_curl(q, files);
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return err_errno(e, "curl");
	return 0;
}

static int open_files(const struct http_request *q, int *files, struct err *e)
{
	static const char *const none[] = { NULL };
	struct buf url = BUF_INIT;
	int i, r = 0;

	for (i = 0; i < NR_FILES; i++)
		files[i] = -1;
	for (i = 0; i < NR_FILES; i++) {
		files[i] = memfd_create("arcprof-http", MFD_CLOEXEC);
		if (files[i] < 0)
			return err_errno(e, "cannot start curl");
	}
	put_url(&url, q->server->url, q->params ? q->params : none);
	if ((r = write_config(q, url.data, files[CONFIG])))
		err_set(e, -r, "cannot start curl: %s", strerror(-r));
	buf_release(&url);
	return r;
}

int http_send(const struct http_request *q, struct http_answer *a, struct err *e)
{
	struct buf headers = BUF_INIT, messages = BUF_INIT;
	int files[NR_FILES], i, status = 0;
	int r = open_files(q, files, e);

	*a = (struct http_answer){ .status = 0 };
	if (!r)
		r = run(q, files, &status, e);
	if (!r && !(r = read_fd(files[ANSWER], &a->body, e)) && !(r = read_fd(files[HEADERS], &headers, e)) &&
	    !(r = read_fd(files[MESSAGES], &messages, e)))
		r = take_answer(q, status, a, headers.data, messages.data, e);
	for (i = 0; i < NR_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
	buf_release(&headers);
	buf_release(&messages);
	return r;
}

bool http_is_busy(int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

int http_post(const struct http_request *q, struct buf *answer, struct err *e)
{
	struct http_answer a;
	char status[32];
	int r = http_send(q, &a, e);

	if (!r && a.status != 200) {
		snprintf(status, sizeof(status), "status %d without text", a.status);
		r = http_refuse(e, http_is_busy(a.status) ? EAGAIN : EPROTO, q->server->url,
				a.body.len ? a.body.data : status);
	}
	buf_release(answer);
	*answer = a.body;
	return r;
}

int http_query(const struct http_request *q, const char *sql, struct buf *answer, struct err *e)
{
	struct http_request with_body = *q;
	int fd = memfd_create("statement", MFD_CLOEXEC), r;

	if (fd < 0)
		return err_errno(e, "statement");
	r = io_write_all(fd, sql, strlen(sql));
	if (r)
		r = err_set(e, -r, "the statement cannot be stored");
	lseek(fd, 0, SEEK_SET);
	with_body.body_fd = fd;
	if (!r)
		r = http_post(&with_body, answer, e);
	close(fd);
	return r;
}

int http_ask_number(const struct http_server *server, const char *sql, uint64_t *number, struct err *e)
{
	const struct http_request q = { .server = server, .total_s = server->question_s,
					.max_answer = HTTP_SHORT_ANSWER };
	struct buf answer = BUF_INIT;
	char *end;
	int r = http_query(&q, sql, &answer, e);

	if (!r) {
		*number = strtoull(answer.data, &end, 10);
		if (end == answer.data || (*end && *end != '\n'))
			r = err_set(e, EPROTO, "the server's answer is not a number: %.60s", answer.data);
	}
	buf_release(&answer);
	return r;
}
