// SPDX-License-Identifier: GPL-2.0-or-later
// Names, amounts, the state in the address, and what is sought.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { aboutObject, columnsOf, isOfObject, readMore, sortedRows, tableOf } from '../../lib/page/js/more.mjs';
import { amount, colourOf, colourWord, family, foldConsumers, isFunction, isJava, learnFamilies, percent, shortNames } from '../../lib/page/js/names.mjs';
import { IS_ENTRY, IS_MINE } from '../../lib/page/js/roles.mjs';
import { change, fromHash, INITIAL, toHash } from '../../lib/page/js/state.mjs';
import { matcher, Model } from '../../lib/page/js/model.mjs';
import { binsOf, countsOf, placeOf } from '../../lib/page/js/spread.mjs';
import { TextWidths } from '../../lib/page/js/text.mjs';
import { spentCells } from '../../lib/page/js/time.mjs';

test('names become shorter step by step', () => {
	assert.deepEqual(shortNames('java.util.HashMap.put(Ljava/lang/Object;)V', 'java-compiled'),
		['java.util.HashMap.put', 'HashMap.put', 'put']);
	assert.deepEqual(shortNames('Words$$Lambda/0x00007f12.run', 'java'), ['Words$$Lambda.run', 'run']);
	assert.deepEqual(shortNames('ns::Map<int, char>::find(int const&) const', 'native'),
		['ns::Map<int, char>::find(int const&) const', 'ns::Map::find', 'find']);
	assert.deepEqual(shortNames('operator new(unsigned long)', 'native'), ['operator new(unsigned long)', 'operator new']);
	assert.deepEqual(shortNames('void std::sort<int*>(int*, int*)', 'native'),
		['void std::sort<int*>(int*, int*)', 'std::sort', 'sort']);
	assert.deepEqual(shortNames('main', 'native'), ['main']);
	assert.deepEqual(shortNames('a.b', 'thread'), ['a.b']);
});

test('kinds of functions are those of the program', () => {
	const table = readFileSync(new URL('../../lib/trace/kinds.h', import.meta.url), 'utf8');
	const rows = [...table.matchAll(/^(?:KIND\(|FUNCTION\(\d+, )\w+, "([\w-]+)", (\w+),\s+([^)]*)\)$/gm)];
	const folded = (kind, opts) => foldConsumers({ nr: 2, name: ['', 'a.b.c'], module: ['', 'm'], detail: ['', ''],
		kind: ['', kind], pid: [0, 0], tid: [0, 0], role: [0, 0], spent: ['', ''] }, [0, 1], { threads: 'each', ways: true, without: new Set(), ...opts });

	assert.ok(rows.length > 20);
	learnFamilies(rows.map(row => row[1]), rows.map(row => row[2]));
	for (const [, kind, own, traits] of rows) {
		const is = trait => traits.split(' | ').includes(`KIND_${trait}`);
		assert.equal(family(kind), own, kind);
		assert.equal(isJava(kind), is('JAVA'), kind);
		assert.equal(isFunction(kind), !is('PLACE') && kind !== 'mark', kind);
		assert.equal(folded(kind, { fold: 'module' }).consumers.kind[1] === 'folded', is('FOLDS'), kind);
		assert.equal(folded(kind, { fold: 'function', without: new Set(['inlined']) }).to[1] === 0, is('INLINED'), kind);
	}
});

test('texts are cut by the widths of their characters, which are measured once each', () => {
	const measured = [], widths = new TextWidths(text => (measured.push(text), text === 'i' ? 3 : text === '…' ? 6 : 8));

	assert.equal(widths.of('maximize'), 54);
	assert.equal(widths.cut('maximize', 54), 'maximize');
	assert.equal(widths.cut('maximize', 53), 'maximiz…');
	assert.equal(widths.cut('maximize', 22), 'ma…');
	assert.equal(widths.cut('maximize', 21), '');
	assert.equal(widths.cut('maximize', -8), '');
	assert.equal(widths.cut('ab\ud83d\ude00xy', 37), 'ab…');
	assert.equal(new Set(measured).size, measured.length);
});

test('amounts have three digits and a unit', () => {
	assert.equal(amount(0, 'ns'), '0');
	assert.equal(amount(999, 'ns'), '999 ns');
	assert.equal(amount(1500000, 'ns'), '1.50 ms');
	assert.equal(amount(123456789012, 'ns'), '123 s');
	assert.equal(amount(950, 'samples'), '950');
	assert.equal(amount(12345, 'samples'), '12.3 k');
	assert.equal(amount(2.5e6, 'bytes'), '2.50 MB');
	assert.equal(percent(1, 1e6), '<0.01');
	assert.equal(percent(0, 5), '0.00');
});

test('tables of a heap have the columns that their rows have', () => {
	const { tables, trees, at } = readMore({ trees: ['dominators', 'containment'], at: 'object', waste: { rows: [
		{ wasted: 8, percent: 0.001, n: 1, kind: 'zeros', what: 'byte[]' }, { wasted: 9, percent: 2, n: 2, kind: 'zeros', what: 'a.B' }],
	not_shown: 3, kinds: [] }, object: { id: '0x8', fields: { rows: [] }, dominators: { rows: [] }, referrers: { rows: [] } } });
	const columns = columnsOf(tables[0], () => null);

	assert.deepEqual(trees, ['dominators', 'containment']);
	assert.equal(at, 'fields');
	assert.deepEqual(tables.map(t => [t.key, t.hidden]), [['waste', 3], ['fields', 0], ['dominators', 0], ['referrers', 0]]);
	assert.deepEqual(columns.map(c => c.head), ['wasted', '%', 'objects', 'kind', 'what']);
	assert.deepEqual(columns.map(c => c.cell(tables[0].rows[0])), ['8 B', '<0.01', '1', 'zeros', 'byte[]']);
	assert.deepEqual(sortedRows(tables[0], 'wasted').map(r => r.what), ['a.B', 'byte[]']);
	assert.deepEqual(readMore(null).tables, []);
});

test('calls are drawn in columns of 1, 2, 5, also those that nothing is in, and values have their place in them', () => {
	const rows = [{ histogram: [{ from: 5, to: 10, n: 3 }, { from: 50, to: 100, n: 1 }] }, { histogram: [{ from: 20, to: 50, n: 7 }] }];
	const bins = binsOf(rows);

	assert.deepEqual(bins, { starts: [5, 10, 20, 50], end: 100 });
	assert.deepEqual(rows.map(r => countsOf(r, bins)), [[3, 0, 0, 1], [0, 0, 7, 0]]);
	assert.deepEqual([5, 7.5, 20, 75, 100, 1000, 1].map(v => placeOf(v, bins)), [0, 0.125, 0.5, 0.875, 1, 1, 0]);
	assert.deepEqual(binsOf([{ histogram: [{ from: 0, to: 1, n: 1 }] }]), { starts: [0], end: 1 });
	assert.deepEqual(binsOf([{ histogram: [] }]).starts, []);
});

test('a page of a call trace has a table of its calls, and each function has its own', () => {
	const row = { name: 'a.B.c', n: 2, total: 3e6, self: 1e6, mean: 1.5e6, p50: 1e6, p90: 2e6, p99: 2e6, max: 2e6, open: 0, histogram: [] };
	const { calls, tables, trees } = readMore({ calls: { source: { unit: 'ns' }, rows: [row, { ...row, name: 'twice', p50: null },
		{ ...row, name: 'twice' }], not_shown: 4 } });
	const cells = columnsOf(tables[0], () => null).map(c => [c.head, c.cell(tables[0].rows[1])]);

	assert.deepEqual(trees, []);
	assert.equal(calls.of.get('a.B.c').n, 2);
	assert.equal(tables[0].hidden, 4);
	assert.deepEqual(cells.filter(([head]) => ['n', 'total', 'p50', 'max', 'function'].includes(head)),
		[['n', '2'], ['total', '3.00 ms'], ['p50', ''], ['max', '2.00 ms'], ['function', 'twice']]);
	assert.equal(calls.of.has('twice'), false);
	assert.equal(readMore(null).calls, null);
});

test('objects that the page knows can be opened', () => {
	const object = { id: '0x8', class: 'a.B', bytes: 24, retained: 2e3, fields: { rows: [{ field: 'next', value: '0x10' }] },
		dominators: { rows: [] }, referrers: { rows: [] } };
	const { details, tables } = readMore({ trees: [], at: '', details: [object, { ...object, id: '0x10' }] });

	assert.deepEqual([...details.keys()], ['0x8', '0x10']);
	assert.deepEqual(tables.map(t => t.key), ['fields', 'dominators', 'referrers']);
	assert.equal(tables.every(t => isOfObject(t.key)), true);
	assert.deepEqual(tableOf('fields', details.get('0x10')).rows, object.fields.rows);
	assert.equal(aboutObject(object), '0x8, a.B: 24 B, retains 2.00 kB');
	const asked = [];
	columnsOf(tables[0], () => null, id => (asked.push(id), null)).map(c => c.cell(tables[0].rows[0]));
	assert.deepEqual(asked, ['0x10']);
});

test('the address holds the state, and a broken one is no harm', () => {
	const state = { ...INITIAL, view: 'inverted', pick: 'a&b=c\n/x y', find: '#é', merge: 'each', idle: true, zoom: 17 };
	assert.deepEqual(fromHash(toHash(state)), state);
	assert.deepEqual(fromHash(''), INITIAL);
	assert.deepEqual(fromHash('#zoom=-3&nothing=1&find=%E0%A4%A&&=&__proto__=1'), INITIAL);
	assert.equal(change({ ...INITIAL, zoom: 5 }, { fold: 'class' }).zoom, 0);
	assert.equal(change({ ...INITIAL, zoom: 5 }, { metric: 'wall' }).zoom, 5);
});

test('what is folded together has one name, and the kind with most weight', () => {
	const consumers = {
		nr: 6, name: ['', 'a.B.x', 'a.B.x', 'a.C.y', 'read', 'w'], module: ['', '', '', '', '/lib/libc.so', ''],
		detail: ['', 'B.java:1', 'B.java:2', '', '', ''], kind: ['', 'java-inlined', 'java-c2', 'java-c1', 'kernel', 'thread'],
		pid: [0, 0, 0, 0, 0, 7], tid: [0, 0, 0, 0, 0, 8], role: new Array(6).fill(0), spent: new Array(6).fill(''),
	};
	const fold = (options, weight = [0, 1, 2, 1, 1, 1]) =>
		foldConsumers(consumers, weight, { fold: 'function', threads: 'each', ways: true, without: new Set(), ...options });
	assert.deepEqual([...fold({}).to], [0, 1, 1, 2, 3, 4]);
	assert.equal(fold({}).consumers.kind[1], 'java-c2');
	assert.equal(fold({}, [0, 3, 2, 1, 1, 1]).consumers.kind[1], 'java-inlined');
	assert.deepEqual([...fold({ fold: 'line' }).to], [0, 1, 2, 3, 4, 5]);
	assert.deepEqual(fold({ fold: 'package' }).consumers.name, ['', 'a', 'libc.so', 'w']);
	assert.deepEqual(fold({ fold: 'class' }).consumers.name, ['', 'a.B', 'a.C', 'libc.so', 'w']);
	assert.deepEqual([...fold({ without: new Set(['kernel', 'inlined']) }).to], [0, 0, 1, 2, 0, 3]);
	assert.equal(fold({ threads: 'name' }).consumers.tid[4], 0);
});

test('a search is text, or a pattern between slashes', () => {
	const consumers = { name: ['', 'Foo.bar', 'x<script>', 'a(b'] };
	const found = text => [1, 2, 3].filter(matcher(consumers, text));
	assert.deepEqual(found('foo'), [1]);
	assert.deepEqual(found('('), [3]);
	assert.deepEqual(found('/^x|^f/'), [1, 2]);
	assert.deepEqual(found('/('), []);
	assert.equal(matcher(consumers, ''), null);
});

test('rows of a report are a list with the columns that they have, numbers in the units that the names end with', () => {
	const row = { class: 'a.B', kind: 'enter', pid: 12345, slow: 1200, miss_percent: null, wait_ns: 3e6, held_bytes: 2e3, util_percent: 5, share: 0.98765, of: ['x'] };
	const { tables } = readMore({ calls: null, tables: [{ key: 'locks', title: 'Locks', rows: 'locks',
		data: { report: 'locks', tallies: [{ n: 1 }], locks: [row, { ...row, class: 'c.D', slow: 7 }], not_shown: 2 } }] });
	const picked = [], cells = columnsOf(tables[0], name => (picked.push(name), null)).map(c => [c.head, c.cell(tables[0].rows[0]), c.sort]);

	assert.deepEqual([tables[0].key, tables[0].title, tables[0].hidden, tables[0].rows.length], ['locks', 'Locks', 2, 2]);
	assert.deepEqual(cells, [['class', 'a.B', null], ['kind', 'enter', null], ['pid', '12345', 'pid'], ['slow', '1,200', 'slow'],
		['wait', '3.00 ms', 'wait_ns'], ['held bytes', '2.00 kB', 'held_bytes'], ['util %', '5.00', 'util_percent'], ['share %', '98.77', 'share']]);
	assert.deepEqual(picked, ['a.B']);
	assert.equal(readMore({ tables: [] }).tables.length, 0);
});

/* name, kind, role of each consumer, from 1 on. */
function made(rows) {
	const column = (k, none) => [none, ...rows.map(r => (r[k] === undefined ? none : r[k]))], nr = rows.length + 1;

	return { nr, name: column(0, ''), kind: column(1, ''), role: column(2, 0), spent: column(3, ''), module: new Array(nr).fill(''),
		detail: new Array(nr).fill(''), pid: new Array(nr).fill(7), tid: Array.from({ length: nr }, (_, c) => c) };
}

test('what leads into the program is one, threads whose names differ by numbers are a pool', () => {
	const consumers = made([['http-1', 'thread'], ['http-12', 'thread'], ['main', 'thread'], ['lone-1', 'thread'],
		['start_thread', 'native', IS_ENTRY], ['java.lang.Thread.run', 'java', IS_ENTRY], ['a.B.c', 'java', IS_MINE]]);
	const fold = (threads, ways) => foldConsumers(consumers, new Array(8).fill(1), { fold: 'function', threads, ways, without: new Set() });
	const pool = fold('pool', false);

	assert.deepEqual(pool.consumers.name, ['', 'http-*', 'main', 'lone-1', '[thread entry]', 'a.B.c']);
	assert.deepEqual([...pool.to], [0, 1, 1, 2, 3, 4, 4, 5]);
	assert.equal(pool.consumers.tid[1], 0);
	assert.equal(pool.merge, 4);	// one above the other, too
	assert.equal(fold('each', true).consumers.nr, 8);
	assert.equal(fold('each', true).merge, 0);
});

test('colours say what a wait is for, and where folded code belongs', () => {
	const consumers = made([['[futex]', 'reason', 0, 'lock'], ['[read: file]', 'reason', 0, 'I/O'], ['com.x', 'folded'], ['com.x.A.f', 'java'],
		['com.x.B.g', 'java'], ['[thread entry]', 'folded'], ['libc.so.6', 'folded']]);
	const of = (c, byPlace = false) => colourOf(consumers, c, byPlace);

	assert.deepEqual([of(1), of(2), of(6)], ['lock', 'io', 'stub']);
	assert.equal(colourWord(consumers, 2, 'io'), 'I/O');
	assert.match(of(3), /^hue\d+$/);
	assert.equal(of(4, true), of(3));
	assert.equal(of(5, true), of(3));
	assert.equal(colourWord(consumers, 5, of(5, true)), 'com.x');
});

test('lanes show shares where times of a thread overlap, and never more than there is room', () => {
	const drawn = [], context = { fillRect: (x, y, w, h) => drawn.push([x, y, h]) }, paint = cells => spentCells([cells], ['', 'on', 'ready'], 10);

	paint([null, [5, 10], [2.5, 30]])(context, {}, 2, 100);
	assert.deepEqual(drawn, [[0, 50, 50], [0, 25, 25], [1, 75, 25], [1, 0, 75]]);
});

test('without lines a tree by lines is that of functions', () => {
	const model = detail => new Model({ parent: Int32Array.of(0, 0), consumer: Uint16Array.of(0, 1), n: Uint32Array.of(0, 3), base: [Float64Array.of(0, 3)],
		consumers: { nr: 2, name: ['', 'f'], module: ['', 'm'], detail: ['', detail], kind: ['', 'native'], pid: [0, 0], tid: [0, 0], changed: null,
			role: [0, 0], spent: ['', ''] }, idle: null, samples: [null],
		meta: { metrics: [{ name: 'cpu', unit: '', shown: true }], sources: [], n_means: 'samples' } });
	const plain = model(''), lined = model('f.c:1'), of = (m, fold) => m.folded({ ...INITIAL, fold });

	assert.equal(of(plain, 'line'), of(plain, 'function'));
	assert.notEqual(of(lined, 'line'), of(lined, 'function'));
	assert.equal(of(lined, 'line').consumers.detail[1], 'f.c:1');
});
