// SPDX-License-Identifier: GPL-2.0-or-later
// How a page follows a trace that grows: what it asks, and where it finds again what was shown.
import assert from 'node:assert/strict';
import test from 'node:test';
import { carryState, followPage, partOf, sameNode } from '../../lib/page/js/live.mjs';
import { INITIAL } from '../../lib/page/js/state.mjs';
import { makeTree, pathTo } from '../../lib/page/js/tree.mjs';
import { TreeRows } from '../../lib/page/js/treeview.mjs';

/* As much of a Model as is asked for. paths: 'a/b/c', with those above each before it; tickNs: how long a tick is. */
function modelOf(paths, tickNs) {
	const names = ['', ...new Set(paths.map(path => path.split('/').pop()))], nr = names.length, none = new Array(nr).fill('');
	const parent = Int32Array.from(['', ...paths], path => paths.indexOf(path.split('/').slice(0, -1).join('/')) + 1);
	const consumer = Uint32Array.from(['', ...paths], path => names.indexOf(path.split('/').pop()));
	const consumers = { nr, name: names, module: none, detail: none, pid: none, tid: none }, tree = makeTree(parent, consumer, nr);

	return { tree, data: { consumers }, meta: { tick_ns: tickNs, ticks: 1000 }, folded: () => ({ tree, consumers, key: 'k' }), consumers };
}

const BEFORE = modelOf(['t', 't/main', 't/main/f', 't/main/g', 'u', 'u/main'], 1000);
const NOW = modelOf(['s', 's/main', 't', 't/init', 't/main', 't/main/e', 't/main/g', 't/main/g/h', 'u', 'u/main'], 2000);

function nameOf(model, node) {
	return pathTo(model.tree, node).map(i => model.consumers.name[model.tree.consumer[i]]).join('/');
}

test('what is selected is the same contexts and the same time in data that have grown', () => {
	const state = { ...INITIAL, view: 'flame', below: 'tree', pick: 'g', find: 'x', zoom: 4, threads: '1,5', from: '101', to: '203' };
	const next = carryState(state, BEFORE, NOW);

	assert.equal(nameOf(BEFORE, 4), 't/main/g');
	assert.equal(nameOf(NOW, next.zoom), 't/main/g');
	assert.deepEqual(next.threads.split(',').map(i => nameOf(NOW, Number(i))), ['t', 'u']);
	assert.deepEqual([next.from, next.to], ['50', '102']);
	for (const key of ['view', 'below', 'pick', 'find'])
		assert.equal(next[key], state[key]);
	/* what is gone is what was around it, and a thread that is gone is none */
	assert.equal(nameOf(NOW, carryState({ ...state, zoom: 3 }, BEFORE, NOW).zoom), 't/main');
	assert.equal(carryState({ ...state, threads: '1,5' }, BEFORE, modelOf(['u'], 1000)).threads, '1');
	assert.equal(carryState(INITIAL, BEFORE, NOW).from, '');
	assert.equal(sameNode(BEFORE, 3, NOW), 0);
});

test('rows of the tree stay open', () => {
	const rows = new TreeRows(), look = model => ({ tree: model.tree, key: 'k', metric: 0, sums: { cum: [new Float64Array(model.tree.nr).fill(1)] } });

	rows.rows(look(BEFORE), 0);
	rows.open = new Set([1, 2, 5]);
	rows.move(look(NOW), 0, i => sameNode(BEFORE, i, NOW));
	assert.deepEqual(rows.rows(look(NOW), 0).map(({ node, level }) => [nameOf(NOW, node), level]),
		[['s', 0], ['t', 0], ['t/init', 1], ['t/main', 1], ['t/main/e', 2], ['t/main/g', 2], ['u', 0], ['u/main', 1]]);
});

/* What followPage() does with these answers. */
async function follow(...answers) {
	const done = [];

	await followPage({
		ask: async (method, tag) => {
			done.push(`${method} ${tag}`);
			const { status, tag: of, seconds, text } = answers.shift() || assert.fail('too many requests');
			if (!status)
				throw new Error('no server');
			return { status, tag: of, seconds, text: async () => text };
		},
		wait: async seconds => done.push(seconds), take: async text => done.push(text), say: text => done.push(text),
	});
	assert.deepEqual(answers, []);
	return done;
}

test('the page is asked for while it is made anew, and taken when it has changed', async () => {
	const live = '● live', over = 'no longer live';

	assert.deepEqual(await follow({ status: 200, seconds: 0 }), ['HEAD ']);
	assert.deepEqual(await follow({ status: 0 }), ['HEAD ']);
	assert.deepEqual(await follow({ status: 200, seconds: 5, tag: 'a' }, { status: 200, seconds: 5, tag: 'b', text: 'B' },
		{ status: 304, seconds: 3, tag: 'b' }, { status: 200, seconds: 0, tag: 'c', text: 'C' }),
	['HEAD ', live, 5, 'GET ', 'B', live, 5, 'GET b', live, 3, 'GET b', 'C', over]);
	assert.deepEqual(await follow({ status: 200, seconds: 5, tag: 'a' }, { status: 0 }), ['HEAD ', live, 5, 'GET ', over]);
	assert.equal(partOf('<a>\n<script id="data" type="x">\n  AB==\n</script>\n<script id="more">1</script>', 'data'), 'AB==');
});
