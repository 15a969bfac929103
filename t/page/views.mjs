// SPDX-License-Identifier: GPL-2.0-or-later
// views.mjs PAGE FOLDER [STATE]: what lists, tree, threads and tables of a page show must be what the reports say whose CSV is in
// the folder, as xprof.csv and xtree.csv, threads.csv of the event wall, and KEY.csv of each table; no table may be missing on
// either side. STATE is as in the page's address; the tables are of the whole recording. Prints how many rows were compared.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { decode, unpack } from '../../lib/page/js/data.mjs';
import { columnsOf, readMore } from '../../lib/page/js/more.mjs';
import { flatRows, Model } from '../../lib/page/js/model.mjs';
import { fullName } from '../../lib/page/js/names.mjs';
import { fromHash } from '../../lib/page/js/state.mjs';
import { pathTo } from '../../lib/page/js/tree.mjs';

const [pageFile, folder, hash = ''] = process.argv.slice(2), page = readFileSync(pageFile, 'utf8');
const element = id => new RegExp(`<script id="${id}"[^>]*>\\s*([^<]*?)\\s*</script>`).exec(page)[1];
const more = readMore(JSON.parse(element('more'))), model = new Model(decode(await unpack(element('data'))), more);
const state = { ...fromHash(hash), merge: 'each', ways: true, idle: true }, { metrics } = model.meta;

/* Rows as objects; quoted cells may have commas, quotes and ends of lines. */
function csv(name) {
	const cells = [...readFileSync(`${folder}/${name}.csv`, 'utf8').matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n)/g)], rows = [[]];

	for (const [, quoted, plain, end] of cells) {
		rows[rows.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
		if (end === '\n')
			rows.push([]);
	}
	const [head, ...rest] = rows.slice(0, -1);
	return { head, rows: rest.map(row => Object.fromEntries(row.map((cell, k) => [head[k], cell]))) };
}

/* Rows of equal numbers have no order. */
function same(what, mine, theirs) {
	assert.deepEqual(mine.map(r => r.join('\n')).sort(), theirs.map(r => r.join('\n')).sort(), what);
	console.log(`${what}: ${theirs.length} rows of ${theirs.length && theirs[0].length}`);
}

/* Of each metric, the columns of n, base and cum, where the report has them: the first source has n. */
function columns(head) {
	return model.shown.map(m => ({ m, n: [`samples:${metrics[m].name}`, 'n'].find(key => head.includes(key)), base: `base:${metrics[m].name}`,
		cum: `cum:${metrics[m].name}`, cum2: `cum_recursive:${metrics[m].name}` })).filter(c => head.includes(c.base));
}

function who(consumers, c) {
	return [fullName(consumers, c), consumers.module[c]];
}

{
	const { head, rows } = csv('xprof');

	for (const { m, n, base, cum, cum2 } of columns(head)) {
		const look = model.look({ ...state, metric: metrics[m].name }), { profile, nOf } = look;
		const mine = flatRows(look, 'self').map(c => [...who(look.consumers, c), nOf[c], profile.base[m][c], profile.cum[m][c], profile.cum2[m][c]]);
		same(`flat by ${metrics[m].name}`, mine, rows.filter(r => Number(r[cum]) || Number(r[base]))
			.map(r => [r.name, r.module, r[n], r[base], r[cum], r[cum2]]));
	}
}

{
	const { head, rows } = csv('xtree'), names = [];

	rows.forEach((r, k) => names.push([...(r.parent === '' ? [] : names[r.parent]), r.name]));
	for (const { m, n, base, cum } of columns(head)) {
		const look = model.look({ ...state, metric: metrics[m].name }), { tree, sums } = look;
		const mine = Array.from({ length: tree.nr - 1 }, (_, i) => i + 1).filter(i => sums.cum[m][i])
			.map(i => [pathTo(tree, i).map(at => fullName(look.consumers, tree.consumer[at])), look.n[i], sums.base[m][i], sums.cum[m][i]]);
		same(`tree by ${metrics[m].name}`, mine, rows.map((r, k) => [names[k], r[n], r[base], r[cum]]).filter(r => Number(r[3])));
	}
}

if (existsSync(`${folder}/threads.csv`)) {
	const { data: { consumers } } = model, running = model.spent.indexOf('running'), runnable = model.spent.indexOf('runnable');
	const mine = model.spentOfThreads(state).map(t => [consumers.name[t.consumer], consumers.pid[t.consumer], consumers.tid[t.consumer],
		t.spent[running], t.spent[runnable], t.spent.reduce((a, b) => a + b, 0) - t.spent[running] - t.spent[runnable]]);

	same('threads', mine, csv('threads').rows.filter(r => Number(r.wall_ns)).map(r => [r.name, r.pid, r.tid, r.cpu_ns, r.runnable_ns, r.blocked_ns]));
}

for (const table of hash ? [] : more.tables) {
	const { head, rows } = csv(table.key), keys = table.columns.map(([key]) => key).filter(key => head.includes(key));
	const text = x => (x === null || x === undefined ? '' : typeof x === 'boolean' ? String(Number(x)) : String(x));

	same(table.title, table.rows.map(r => keys.map(key => text(r[key]))), rows.map(r => keys.map(key => r[key])));
	for (const key of head.filter(k => rows.some(r => r[k] !== '')))
		assert.ok(keys.includes(key), `${table.title}: ${key}`);
	for (const column of columnsOf(table, () => null))
		assert.ok(table.rows.every(r => !/undefined|NaN/.test(column.cell(r))), `${table.title}: ${column.head}`);
}
for (const file of readdirSync(folder))
	assert.ok(['xprof.csv', 'xtree.csv', 'threads.csv'].includes(file) || more.tables.some(t => `${t.key}.csv` === file) ||
		!csv(file.replace('.csv', '')).rows.length, file);
