// SPDX-License-Identifier: GPL-2.0-or-later
// answers.mjs PAGE SUMMARY.json [STATE]: the page's first answers must be those of "arcprof report --summary", number by number.
// STATE is as in the page's address. Prints how many rows were compared; the status is 1 and what differs is on stderr when one
// does.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { answersOf, stacksOf } from '../../lib/page/js/answers.mjs';
import { decode, unpack } from '../../lib/page/js/data.mjs';
import { readMore } from '../../lib/page/js/more.mjs';
import { Model } from '../../lib/page/js/model.mjs';
import { fullName } from '../../lib/page/js/names.mjs';
import { fromHash } from '../../lib/page/js/state.mjs';

const [pageFile, jsonFile, hash = ''] = process.argv.slice(2);
const page = readFileSync(pageFile, 'utf8'), report = JSON.parse(readFileSync(jsonFile, 'utf8'));
const element = id => new RegExp(`<script id="${id}"[^>]*>\\s*([^<]*?)\\s*</script>`).exec(page)[1];
const state = fromHash(hash), more = readMore(JSON.parse(element('more'))), model = new Model(decode(await unpack(element('data'))), more);
const found = answersOf(model, model.look(state), state), { consumers } = model.functions;
const name = c => (c ? fullName(consumers, c) : model.meta.n_means === 'calls' ? '[outside of the calls]' : '[no function]');
let rows = 0;

/* Those of equal numbers have no order, and which of them are the last is chance; by: which number that is. */
function same(what, mine, theirs, by) {
	const last = by === undefined || !theirs.length ? -1 : theirs[theirs.length - 1][by];
	const sorted = list => list.filter(r => !(r[by] <= last)).map(r => JSON.stringify(r)).sort();

	rows += theirs.length;
	assert.equal(mine.length, theirs.length, what);
	assert.deepEqual(sorted(mine), sorted(theirs), what);
	if (by !== undefined)
		assert.deepEqual(mine.map(r => r[by]), theirs.map(r => r[by]), what);
}

/* Of calls with samples beside them the report has the samples alone. */
const ofCalls = model.meta.n_means === 'calls' && report.stacks && report.stacks.length && report.stacks[0].metric !==
	(found.time && model.meta.metrics[found.time.metric].name);
if (found.time && !ofCalls) {
	const of = key => (report[key] || []).map(r => [r.metric, r.self, r.mine, r.name]);
	const metric = model.meta.metrics[found.time.metric].name, mine = list => list.map(r => [metric, r.self, r.mine, name(r.where)]);
	same('mine', mine(found.time.mine.slice(0, 8)), of('mine'), 2);
	same('functions', mine(found.time.all.slice(0, found.time.mine.length ? 5 : 8)), of('functions'), 1);
	same('stacks', stacksOf(model, state, found.time.metric).map(s => [s.value, s.path.map(c => consumers.name[c])]),
		report.stacks.map(s => [s.self, s.frames]), 0);
}
if (report.waits || found.waits) {
	same('waits', found.waits.rows.map(r => [r.self, consumers.name[r.what], name(r.where)]), report.waits.map(r => [r.wait, r.reason, r.name]), 0);
	assert.deepEqual([found.waits.idle, found.waits.idleThreads], [report.idle.wait, report.idle.threads]);
}
if (report.allocations)
	same('allocations', found.objects.rows.map(r => [r.self, name(r.where), consumers.name[r.what]]),
		report.allocations.map(r => [r.allocated, r.name, r.class]), 0);
if (!hash) {
	same('locks', more.summary.locks || [], report.locks || []);
	same('notes', more.summary.notes, report.notes);
}
console.log(`${rows} rows compared`);
assert.ok(rows);
