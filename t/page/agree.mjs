// SPDX-License-Identifier: GPL-2.0-or-later
// agree.mjs PAGE XARC.json [STATE]: every stanza of the report must be in the page's model, with the same numbers, and no
// other. STATE is as in the page's address: "#from=10&to=20", "#shape=containment". Prints how many numbers were compared; the status is 1 and
// what differs is on stderr when one does.
import { readFileSync } from 'node:fs';
import { decode, unpack } from '../../lib/page/js/data.mjs';
import { readMore } from '../../lib/page/js/more.mjs';
import { Model } from '../../lib/page/js/model.mjs';
import { brokenTree } from '../../lib/page/js/sums.mjs';
import { fromHash } from '../../lib/page/js/state.mjs';

const [pageFile, jsonFile, hash = ''] = process.argv.slice(2);
const page = readFileSync(pageFile, 'utf8'), report = JSON.parse(readFileSync(jsonFile, 'utf8'));
const element = id => new RegExp(`<script id="${id}"[^>]*>\\s*([^<]*?)\\s*</script>`).exec(page)[1];
/* Reports fold no pools nor ways in, and have idle threads among the others. */
const asked = fromHash(hash), state = { ...asked, merge: asked.merge || 'each', ways: true, idle: true }, more = readMore(JSON.parse(element('more')));
const model = new Model(decode(await unpack(element(more.trees.indexOf(state.shape) > 0 ? 'other' : 'data'))), more, state.shape);
const look = model.look(state);
const { consumers } = look;
const metrics = report.metrics.map(m => model.meta.metrics.findIndex(x => x.name === m.name));
let compared = 0, different = 0;

function differ(what, mine, theirs) {
	if (different++ < 10)
		console.error(`${what}: page ${mine}, report ${theirs}`);
}

function same(what, mine, theirs) {
	compared++;
	if (mine !== theirs)
		differ(what, mine, theirs);
}

function keyOf(x) {
	return [x.name, x.module || '', x.pid || 0, x.tid || 0].join('\n');
}

function keyOfConsumer(c) {
	return keyOf(c ? { name: consumers.name[c], module: consumers.module[c], pid: consumers.pid[c], tid: consumers.tid[c] } :
		{ name: '[root]' });
}

function sums(what, mine, theirs) {
	if (!theirs)
		return;
	same(`${what}: n`, mine.n, theirs.n);
	metrics.forEach((m, k) => {
		if (m < 0)	// what calibration took away is of reports alone
			return;
		same(`${what}: base ${report.metrics[k].name}`, mine.base[m], theirs.base[k]);
		same(`${what}: cum ${report.metrics[k].name}`, mine.cum[m], theirs.cum[k]);
	});
}

/* Rows of a report name the other end by its stanza. */
function rows(what, mine, theirs) {
	const known = new Map(mine.map(r => [keyOfConsumer(r.consumer), r]));

	same(`${what}: rows`, mine.length, theirs.length);
	for (const row of theirs) {
		const key = keyOf(row.index === null ? { name: '[root]' } : report.stanzas[row.index]), found = known.get(key);
		if (found)
			sums(`${what}: ${row.name}`, found, row);
		else
			differ(what, 'nothing', row.name);
	}
}

const byKey = new Map();
for (let c = 1; c < consumers.nr; c++)
	byKey.set(keyOfConsumer(c), c);
let live = 0;
for (let c = 1; c < consumers.nr; c++)
	live += model.stanza(look, c).nodes > 0;
same('stanzas', live, report.stanzas.length);
for (const theirs of report.stanzas) {
	const c = byKey.get(keyOf(theirs));
	if (!c) {
		differ('stanza', 'nothing', theirs.name);
		continue;
	}
	const mine = model.stanza(look, c);
	sums(theirs.name, mine.self, theirs.self);
	sums(theirs.name + ' again', mine.rself, theirs.rself);
	for (const kind of ['parents', 'children', 'rparents', 'rchildren'])
		rows(`${theirs.name} ${kind}`, mine[kind], theirs[kind]);
}
for (const m of metrics.filter(x => x >= 0))
	for (const law of brokenTree(look.tree, look.sums, m))
		differ('law', law, 'none');
console.log(`${compared} numbers compared, ${different} differ`);
process.exit(different ? 1 : 0);
