// SPDX-License-Identifier: GPL-2.0-or-later
// plots.mjs PAGE CALLS.json [FUNCTION SVG]: the plots of a page must have the calls of "report --calls --format json", and what the
// time of the function's went to must be what "report --calls=FUNCTION --format svg" draws. Prints how many calls were compared.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { decode, unpack } from '../../lib/page/js/data.mjs';

const [pageFile, callsFile, name, svgFile] = process.argv.slice(2);
const text = /<script id="data"[^>]*>\s*([^\s<]*)/.exec(readFileSync(pageFile, 'utf8'))[1];
const { plots } = decode(await unpack(text)), { rows } = JSON.parse(readFileSync(callsFile, 'utf8'));
const whole = rows.filter(r => r.total !== null), sum = (list, of) => list.reduce((x, s) => x + of(s), 0);
let compared = 0;

assert.deepEqual(plots.functions, whole.slice(0, 50).map(r => r.name));
plots.functions.forEach((_, k) => {
	const { cells, bins } = plots.of(k), row = whole[k];

	for (const list of [cells, bins]) {
		assert.equal(sum(list, s => s.n), row.n - row.open);
		assert.equal(sum(list, s => s.sum), row.total);
		assert.equal(list.reduce((x, s) => Math.max(x, s.max), 0), row.max);
	}
	assert.deepEqual(bins.filter(b => b.n).map(b => b.n), row.histogram.map(b => b.n));
	compared += row.n;
});
if (svgFile) {
	const titles = [...readFileSync(svgFile, 'utf8').matchAll(/<title>.* and more: (\d+) calls(.*)<\/title>/g)].map(([, n, shares]) => [Number(n), shares]);
	const words = b => ['CPU', 'GC', 'lock', 'I/O', 'off CPU'].map(part => [part, b.parts[plots.parts.indexOf(part)]])
		.filter(([, ns]) => ns).map(([part, ns]) => `, ${part} ${(ns / b.sum * 100).toFixed(1)} %`).join('');

	assert.deepEqual(plots.of(plots.functions.indexOf(name)).bins.filter(b => b.n).map(b => [b.n, words(b)]), titles);
	assert.ok(titles.some(([, shares]) => shares.includes('off CPU')));
}
console.log(`${compared} calls compared`);
