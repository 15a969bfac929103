// SPDX-License-Identifier: GPL-2.0-or-later
// Stands in for "arcprof view --serve" of a trace that grows: serves the first page, then the second, which is the last.
// usage: growing.mjs first.html second.html; prints its port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const pages = process.argv.slice(2).map(path => readFileSync(path));
let nr = 0;

const server = createServer((request, answer) => {
	const at = request.method === 'GET' ? Math.min(nr++, 1) : 0, page = pages[at];

	if (request.url !== '/')
		answer.writeHead(404).end();
	else
		answer.writeHead(200, { 'Content-Type': 'text/html', ETag: `"${at}"`, ...(at ? {} : { 'Arcprof-Live': '1' }) }).end(page);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
