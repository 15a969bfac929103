// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * http.c - runs curl with the requests, and reads the answers, their status codes, and their headers.
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

enum { CURL_TIMED_OUT = 28, CURL_NOT_FOUND = 127 };

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

/* The files of one request, and those of all in a run of curl; -1: not open. */
struct transfer {
	int answer, headers, body;
};

struct run {
	const struct http_request *q;
	size_t nr;
	int config, codes, messages;
	struct transfer transfers[HTTP_MOST_REQUESTS];
};

/* A part of what curl reads from its file; control characters cannot be in a URL. */
static void put_request(struct buf *b, const struct http_request *q, const char *url,
			const struct transfer *t)
{
	const struct http_server *server = q->server;

	buf_str(b, "url = \"");
	for (; *url; url++) {
		if (*url == '"' || *url == '\\')
			buf_putc(b, '\\');
		if ((unsigned char)*url >= ' ')
			buf_putc(b, *url);
	}
	buf_fmt(b, "\"\noutput = \"/dev/fd/%d\"\ndump-header = \"/dev/fd/%d\"\n", t->answer, t->headers);
	buf_str(b, "write-out = \"%{http_code}\\n\"\nsilent\nshow-error\nnetrc-optional\ngloboff\n"
		   "connect-timeout = 10\nheader = \"Expect:\"\nheader = \"Accept: */*\"\n");
	if (t->body >= 0)
		buf_fmt(b, "data-binary = \"@/dev/fd/%d\"\nheader = \"Content-Type: %s\"\n", t->body,
			q->type ? q->type : "application/octet-stream");
	if (q->gzipped)
		buf_str(b, "header = \"Content-Encoding: gzip\"\n");
	buf_fmt(b, "max-time = %u\n", q->total_s ? q->total_s : server->total_s);
	buf_fmt(b, "speed-limit = %d\nspeed-time = %u\n", HTTP_LEAST_SPEED, server->idle_s);
}

static int write_config(const struct run *x)
{
	static const char *const none[] = { NULL };
	struct buf b = BUF_INIT, url = BUF_INIT;
	size_t i;
	int r;

	for (i = 0; i < x->nr; i++) {
		buf_reset(&url);
		put_url(&url, x->q[i].server->url, x->q[i].params ? x->q[i].params : none);
		buf_str(&b, i ? "next\n" : "");
		put_request(&b, &x->q[i], url.data, &x->transfers[i]);
	}
	r = io_write_all(x->config, b.data, b.len);
	buf_release(&b);
	buf_release(&url);
	return r;
}

static size_t max_answer(const struct http_request *q)
{
	return q->max_answer ? q->max_answer : q->server->max_answer;
}

/* Lets curl open them by their numbers. */
static bool pass_files(const struct run *x)
{
	bool ok = !fcntl(x->config, F_SETFD, 0);
	size_t i;

	for (i = 0; i < x->nr && ok; i++) {
		const struct transfer *t = &x->transfers[i];

		ok = !fcntl(t->answer, F_SETFD, 0) && !fcntl(t->headers, F_SETFD, 0) &&
		     (t->body < 0 || !fcntl(t->body, F_SETFD, 0));
	}
	return ok;
}

static void run_curl(const struct run *x)
{
	char config[32];
	const char *argv[] = { "curl", "-q", "--fail-early", "-K", config, NULL };
	struct rlimit limit = { 0 };	/* of each of the files */
	size_t i;

	for (i = 0; i < x->nr; i++)
		limit.rlim_cur = limit.rlim_max = MAX((size_t)limit.rlim_max, max_answer(&x->q[i]));
	snprintf(config, sizeof(config), "/dev/fd/%d", x->config);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* so that nothing arrives once the next push has looked */
	if (setrlimit(RLIMIT_FSIZE, &limit) || !pass_files(x) || dup2(x->codes, STDOUT_FILENO) < 0 ||
	    dup2(x->messages, STDERR_FILENO) < 0)
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

/* Parse the header's value: seconds, or a date. */
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

/*
 * Codes have a line for each request that curl has made. It stops at one that fails, whose line is the last,
 * unless it was killed.
 */
static size_t nr_answered(const char *codes, int status)
{
	size_t nr = 0;

	for (; (codes = strchr(codes, '\n')); codes++)
		nr++;
	return WIFEXITED(status) && WEXITSTATUS(status) && nr ? nr - 1 : nr;
}

static int take_answer(const struct transfer *t, const char *code, struct http_answer *a, struct err *e)
{
	struct buf headers = BUF_INIT;
	int r = read_fd(t->answer, &a->body, e);

	if (!r)
		r = read_fd(t->headers, &headers, e);
	if (!r) {
		a->status = atoi(code);
		a->wait_s = http_retry_after(headers.data, clock_real_ns() / 1000000000);
	}
	buf_release(&headers);
	return r;
}

static int take_answers(const struct run *x, int status, const char *codes, const char *messages,
			struct http_answer *a, struct err *e)
{
	size_t nr = MIN(nr_answered(codes, status), x->nr), i;
	int r = 0;

	if (WIFEXITED(status) && WEXITSTATUS(status) == CURL_NOT_FOUND) {
		err_set(e, ENOENT, "curl cannot be run, which talks to the server");
		err_hint(e, "on Debian: apt-get install curl");
		return -ENOENT;
	}
	for (i = 0; i < nr && !r; i++) {
		r = take_answer(&x->transfers[i], codes, &a[i], e);
		codes = strchr(codes, '\n') + 1;
	}
	if (r || nr == x->nr)
		return r;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		return refuse_length(&x->q[nr], e);
	return refuse_silence(&x->q[nr], status, messages, e);
}

/* Runs curl to its end; *status is how that was. */
static int start_curl(const struct run *x, int *status, struct err *e)
{
	pid_t pid = fork();

	if (pid < 0)
		return err_errno(e, "cannot start curl");
	if (!pid)
		run_curl(x);
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return err_errno(e, "curl");
	return 0;
}

static int new_file(int *fd, struct err *e)
{
	*fd = memfd_create("arcprof-http", MFD_CLOEXEC);
	return *fd < 0 ? err_errno(e, "cannot start curl") : 0;
}

static int open_transfer(struct transfer *t, const struct http_request *q, struct err *e)
{
	int r = new_file(&t->answer, e);

	if (!r)
		r = new_file(&t->headers, e);
	if (r || !q->text) {
		t->body = q->text ? -1 : q->body_fd;
		return r;
	}
	r = new_file(&t->body, e);
	if (!r && (r = io_write_all(t->body, q->text, strlen(q->text))))
		err_set(e, -r, "the request cannot be stored: %s", strerror(-r));
	return r;
}

static int open_run(struct run *x, struct err *e)
{
	size_t i;
	int r;

	x->config = x->codes = x->messages = -1;
	for (i = 0; i < x->nr; i++)
		x->transfers[i] = (struct transfer){ -1, -1, -1 };
	r = new_file(&x->config, e);
	if (!r)
		r = new_file(&x->codes, e);
	if (!r)
		r = new_file(&x->messages, e);
	for (i = 0; i < x->nr && !r; i++)
		r = open_transfer(&x->transfers[i], &x->q[i], e);
	if (!r && (r = write_config(x)))
		err_set(e, -r, "cannot start curl: %s", strerror(-r));
	return r;
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void close_run(const struct run *x)
{
	size_t i;

	close_file(x->config);
	close_file(x->codes);
	close_file(x->messages);
	for (i = 0; i < x->nr; i++) {
		close_file(x->transfers[i].answer);
		close_file(x->transfers[i].headers);
		if (x->q[i].text)
			close_file(x->transfers[i].body);
	}
}

int http_send_all(const struct http_request *q, struct http_answer *a, size_t nr, struct err *e)
{
	struct buf codes = BUF_INIT, messages = BUF_INIT;
	struct run x = { .q = q, .nr = nr };
	int status = 0;
	int r = open_run(&x, e);

	memset(a, 0, nr * sizeof(*a));
	if (!r)
		r = start_curl(&x, &status, e);
	if (!r && !(r = read_fd(x.codes, &codes, e)) && !(r = read_fd(x.messages, &messages, e)))
		r = take_answers(&x, status, codes.data, messages.data, a, e);
	close_run(&x);
	buf_release(&codes);
	buf_release(&messages);
	return r;
}

int http_send(const struct http_request *q, struct http_answer *a, struct err *e)
{
	return http_send_all(q, a, 1, e);
}

bool http_is_busy(int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

int http_accept(const struct http_request *q, const struct http_answer *a, struct err *e)
{
	char status[32];

	if (a->status == 200)
		return 0;
	snprintf(status, sizeof(status), "status %d without text", a->status);
	return http_refuse(e, http_is_busy(a->status) ? EAGAIN : EPROTO, q->server->url,
			   a->body.len ? a->body.data : status);
}

static int post(const struct http_request *q, struct buf *answer, struct err *e)
{
	struct http_answer a;
	int r = http_send(q, &a, e);

	if (!r)
		r = http_accept(q, &a, e);
	buf_release(answer);
	*answer = a.body;
	return r;
}

int http_query(const struct http_request *q, const char *sql, struct buf *answer, struct err *e)
{
	struct http_request with_text = *q;

	with_text.text = sql;
	return post(&with_text, answer, e);
}

int http_take_number(const struct http_answer *a, uint64_t *number, struct err *e)
{
	char *end;

	*number = strtoull(a->body.data, &end, 10);
	if (end == a->body.data || (*end && *end != '\n'))
		return err_set(e, EPROTO, "the server's answer is not a number: %.60s", a->body.data);
	return 0;
}

int http_ask_number(const struct http_server *server, const char *sql, uint64_t *number, struct err *e)
{
	const struct http_request q = { .server = server, .text = sql, .total_s = server->question_s,
					.max_answer = HTTP_SHORT_ANSWER };
	struct http_answer a;
	int r = http_send(&q, &a, e);

	if (!r)
		r = http_accept(&q, &a, e);
	if (!r)
		r = http_take_number(&a, number, e);
	buf_release(&a.body);
	return r;
}
