// SPDX-License-Identifier: GPL-2.0-or-later
// means.mjs PAGE SVG KEY: the means of a page against a label must be those that "report --xprof --by-label=KEY --format svg" draws,
// and so must the lines through them. Prints them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { decode, unpack } from '../../lib/page/js/data.mjs';
import { fitOf, meansOf } from '../../lib/page/js/means.mjs';
import { Model } from '../../lib/page/js/model.mjs';
import { amount, fullName } from '../../lib/page/js/names.mjs';
import { fromHash } from '../../lib/page/js/state.mjs';

const [pageFile, svgFile, key] = process.argv.slice(2);
const text = /<script id="data"[^>]*>\s*([^\s<]*)/.exec(readFileSync(pageFile, 'utf8'))[1], svg = readFileSync(svgFile, 'utf8');
const model = new Model(decode(await unpack(text))), look = model.look(fromHash('')), means = meansOf(look, key);
const drawn = [...svg.matchAll(/<title>(.*)<\/title>/g)].map(m => m[1]), mine = [];

assert.equal(model.sizeKey, key);
for (const [c, points] of means)
	for (const p of points)
		mine.push(`${fullName(look.consumers, c)}, ${key}=${p.size}: ${p.n} calls, mean ` +
			amount(Math.floor(p.cum / p.n), look.unit).replace('µ', 'u'));
assert.ok(drawn.length);
assert.deepEqual(drawn.filter(t => !mine.includes(t)), []);
for (const [c, points] of means) {
	const fit = fitOf(points), slope = new RegExp(`>${fullName(look.consumers, c)}: .* [+-] ([0-9.e+-]+) ns`).exec(svg);
	if (slope && fit)
		assert.ok(Math.abs(Number(slope[1]) / Math.abs(fit.slope) - 1) < 0.01, `${slope[1]}, ${fit.slope}`);
}
console.log(drawn.join('\n'));
