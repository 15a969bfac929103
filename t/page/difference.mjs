// SPDX-License-Identifier: GPL-2.0-or-later
// difference.mjs PAGE DIFF.json: every row of arcprof diff --format json must be in the page of the same difference, with
// the same values of both sides. Prints how many rows were compared; the status is 1 when one differs or there is none.
import { readFileSync } from 'node:fs';
import { decode, unpack } from '../../lib/page/js/data.mjs';
import { Model } from '../../lib/page/js/model.mjs';
import { fromHash } from '../../lib/page/js/state.mjs';

const [pageFile, jsonFile] = process.argv.slice(2), report = JSON.parse(readFileSync(jsonFile, 'utf8'));
const [, base64] = /<script id="data"[^>]*>\s*([A-Za-z0-9+/=]*)\s*<\/script>/.exec(readFileSync(pageFile, 'utf8'));
const model = new Model(decode(await unpack(base64))), look = model.look(fromHash('#merge=each')), { consumers, sides, tree } = look;
let compared = 0, different = 0;

/* Of the report, which has nine digits. */
function near(a, b) {
	return Math.abs(a - b) <= 5.1e-9 * Math.max(Math.abs(a), Math.abs(b), 1e-300) || Math.abs(a - b) < 1e-15;
}

function same(what, mine, row) {
	compared++;
	if (mine && near(mine[0], row.a) && near(mine[1], row.b) && Math.abs(mine[1] - mine[0] - row.delta) < 1e-9)
		return;
	differ(what, mine, `${row.a}, ${row.b}`);
}

function differ(what, mine, theirs) {
	if (different++ < 10)
		console.error(`${what}: page ${mine}, report ${theirs}`);
}

/* A process and its thread often have one name. */
const roots = ['process', 'thread'];
const keyOf = ({ name, module, kind }) => [name, module || '', roots.includes(kind) ? kind : ''].join('\n');
const key = c => keyOf(c ? { name: consumers.name[c], module: consumers.module[c], kind: consumers.kind[c] } :
	{ name: '[root]' });
const byKey = new Map(Array.from({ length: consumers.nr - 1 }, (_, i) => [key(i + 1), i + 1]));

function functions() {
	const values = report.of === 'cum' ? sides.total : sides.self;

	for (const row of report.rows) {
		const c = byKey.get(keyOf(row));
		same(row.name, c && values.map(v => v[c]), row);
		if (report.of === 'base' && Boolean(consumers.changed[c]) !== Boolean(row.changed))
			differ(`${row.name}: changed`, consumers.changed[c], row.changed);
	}
}

function contexts() {
	const at = new Map([[null, 0]]), nodes = new Map();

	for (let i = 1; i < tree.nr; i++)
		nodes.set(tree.parent[i] + '\n' + key(tree.consumer[i]), i);
	for (const row of report.rows) {
		const node = nodes.get(at.get(row.parent) + '\n' + keyOf(row));
		at.set(row.id, node);
		same(row.name, node && sides.cum.map(v => v[node]), row);
	}
}

/* The page leaves out that a root is one. */
function arcs() {
	const rows = { parent: 'parents', child: 'children', rparent: 'rparents', rchild: 'rchildren' };
	const names = new Map(report.rows.filter(r => /^r?self$/.test(r.row)).map(r => [r.stanza, keyOf(r)]));

	for (const row of report.rows.filter(r => r.name !== '[root]' || r.row !== 'parent')) {
		const s = model.stanza(look, byKey.get(names.get(row.stanza)));
		const mine = row.row === 'self' ? s.self : row.row === 'rself' ? s.rself :
			s[rows[row.row]].find(r => key(r.consumer) === keyOf(row));
		same(`${row.stanza} ${row.row} ${row.name}`,
			mine && [0, 1].map(side => model.difference.value(side, m => mine[report.of][m])), row);
	}
}

({ xprof: functions, xtree: contexts, xarc: arcs })[report.view]();
console.log(`${compared} rows compared, ${different} differ`);
process.exit(different || !compared ? 1 : 0);
