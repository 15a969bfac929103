// SPDX-License-Identifier: GPL-2.0-or-later
// stanza.mjs - the panel of one function: who calls it, what it uses, what it calls; each name leads on.
import { changeOf } from './difference.mjs';
import { amount, colourOf, fullName, isFunction, moduleName, percent, shortNames } from './names.mjs';
import { swatchOf } from './lanes.mjs';
import { largePlot } from './spread.mjs';
import { brokenLaws } from './sums.mjs';
import { idOf, linesOf, pathsTo } from './model.mjs';
import { bar, element } from './table.mjs';

const MOST_ROWS = 40, MOST_PATHS = 5, MOST_STEPS = 8, MOST_LINES = 60;

/* go(changes) changes the state of the page. */
export function stanzaPanel(model, look, consumer, go) {
	const total = look.sums.cum[look.metric][0];
	const panel = { look, consumer, go, total, difference: model.difference, words: model.words };

	if (!consumer)
		return [element('p', { class: 'none' }, 'Nothing is in this selection.')];
	const s = model.stanza(look, consumer);
	return [
		...section(panel, model.words.calledBy, s.parents),
		selfCard(panel, s),
		...largePlot(model.more.calls, fullName(look.consumers, consumer)),
		...section(panel, model.words.calls, s.children),
		...(s.rnodes ? recursion(panel, s) : []),
		...paths(panel),
	].filter(Boolean);
}

function value(panel, number) {
	return amount(number, panel.look.unit);
}

function link(panel, consumer, text) {
	const { look, go } = panel;

	if (!consumer)
		return element('span', {}, '[root]');
	return element('a', {
		href: '#', title: fullName(look.consumers, consumer),
		onclick: e => {
			e.preventDefault();
			go({ pick: idOf(look.consumers, consumer) });
		},
	}, text || fullName(look.consumers, consumer));
}

function section(panel, title, rows) {
	const { look, total } = panel, m = look.metric;
	const size = panel.difference ? r => Math.max(...sidesOf(panel, r.cum)) : r => r.cum[m];
	const sorted = rows.filter(r => size(r) > 0 || look.countsCalls).sort((a, b) => size(b) - size(a));

	if (!sorted.length)
		return [];
	const cells = sorted.slice(0, MOST_ROWS).map(r => element('tr', {},
		...(panel.difference ? sideCells(panel, r.cum) : [
			element('td', { class: 'number' }, bar(percent(r.cum[m], total) + ' %', r.cum[m] / total * 100)),
			element('td', { class: 'number' }, value(panel, r.cum[m])),
		]),
		element('td', {}, swatch(look, r.consumer), link(panel, r.consumer))));
	return [
		element('table', { class: 'rows' }, element('caption', {}, title, element('span', { class: 'count' }, sorted.length)),
			element('tbody', {}, cells)),
		sorted.length > MOST_ROWS ? element('p', { class: 'note' }, `and ${sorted.length - MOST_ROWS} more`) : null,
	];
}

/* What the sides of a difference have of sums, which are by metric. */
function sidesOf({ difference }, sums) {
	return [0, 1].map(side => difference.value(side, m => sums[m]));
}

function sideCells(panel, sums) {
	const { difference } = panel, [a, b] = sidesOf(panel, sums);

	return [element('td', { class: 'number' }, difference.text(a)), element('td', { class: 'number' }, difference.text(b)),
		element('td', { class: 'number' }, element('span', { class: 'change ' + changeOf(a, b) }, difference.delta(a, b)))];
}

/* What a function has, in words. */
function amounts(panel, s) {
	const { look, difference, total, words: w } = panel, m = look.metric, own = s.self.base.map((base, k) => base + s.rself.base[k]);
	const sides = (sums, what) => {
		const [a, b] = sidesOf(panel, sums);
		return element('p', {}, `${what}: A ${difference.text(a)}, B ${difference.text(b)}, `,
			element('b', { class: 'change ' + changeOf(a, b) }, difference.delta(a, b)));
	};

	if (difference)
		return [sides(s.self.cum, w.withCallees), sides(own, w.itself)];
	return [element('p', {}, element('b', {}, percent(s.self.cum[m], total) + ' %'),
		` ${w.withCallees} (${value(panel, s.self.cum[m])}), `, element('b', {}, percent(own[m], total) + ' %'),
		` ${w.itself} (${value(panel, own[m])})`)];
}

function swatch(look, consumer) {
	return swatchOf(consumer ? colourOf(look.consumers, consumer, false) : 'other');
}

function selfCard(panel, s) {
	const { look, consumer } = panel, m = look.metric, c = look.consumers;
	const bad = brokenLaws(s, m), contexts = `${s.nodes + s.rnodes} context${s.nodes + s.rnodes === 1 ? '' : 's'}`;
	const n = look.nOf[consumer];
	const where = [c.kind[consumer], moduleName(c, consumer), c.detail[consumer]].filter(Boolean).join(' · ');

	return element('div', { class: 'self', id: 'self' },
		element('h2', {}, fullName(c, consumer)),
		element('p', { class: 'where' }, where),
		...amounts(panel, s),
		element('p', { class: 'where' }, panel.difference ? contexts : `${contexts}, ${panel.words.n(n.toLocaleString('en'))}`),
		element('p', { class: bad.length ? 'bad' : 'good' }, bad.length ? '✗ ' + bad.join('; ') :
			'✓ ' + panel.words.addUp),
		element('p', { class: 'actions' },
			element('button', { onclick: () => panel.go({ view: 'sandwich' }) }, 'Sandwich'),
			element('button', { onclick: () => panel.go({ find: c.name[consumer] }) }, 'Find in graph'),
			panel.words.function === 'function' ? element('button', { onclick: () => panel.go({ below: 'source' }) },
				'Source') : null));
}

/* What it does below itself: cum counts each outermost context once, so these are beside it, not in it. */
function recursion(panel, s) {
	const m = panel.look.metric;

	return [
		element('h3', {}, panel.words.againBelow),
		element('p', { class: 'note' }, `${s.rnodes} contexts, ${value(panel, s.rself.cum[m])} ${panel.words.withCallees}, which the sum above ` +
			'has already'),
		...section(panel, panel.words.againBy, s.rparents),
		...section(panel, panel.words.callsThere, s.rchildren),
	];
}

function paths(panel) {
	const { look, consumer } = panel, found = isFunction(look.consumers.kind[consumer]) ?
		pathsTo(look, consumer, MOST_PATHS) : [];

	if (!found.length)
		return [];
	return [element('h3', {}, panel.words.reachedBy), element('ul', { class: 'paths' }, found.map(p => element('li', {},
		element('b', {}, (p.share < 0.005 ? '<1' : Math.round(p.share * 100)) + ' % '), ...steps(panel, p),
		element('a', { href: '#', class: 'show', onclick: e => {
			e.preventDefault();
			panel.go({ view: 'flame', zoom: look.tree.parent[p.node] || p.node });
		} }, 'show'))))];
}

function steps(panel, { path }) {
	const { look } = panel, out = [], functions = path.filter(c => isFunction(look.consumers.kind[c]));
	const threads = path.filter(c => look.consumers.kind[c] === 'thread');

	functions.slice(0, MOST_STEPS).forEach(c => {
		const names = shortNames(look.consumers.name[c], look.consumers.kind[c]);
		out.push('← ', link(panel, c, names[Math.min(1, names.length - 1)]), ' ');
	});
	if (functions.length > MOST_STEPS)
		out.push(`← ${functions.length - MOST_STEPS} more `);
	if (threads.length)
		out.push('in ', link(panel, threads[0]), ' ');
	return out;
}

/* The function's lines, where the trace has them. */
export function stanzaLines(model, look, consumer, state) {
	const c = look.consumers, total = look.sums.cum[look.metric][0];

	if (state.fold !== 'function' || !isFunction(c.kind[consumer]) || !model.hasLines)
		return [];
	const found = linesOf(model.look({ ...state, fold: 'line' }), c, c.name[consumer], c.module[consumer])
		.filter(l => l.line !== null);
	if (!found.length)
		return [];
	return [element('table', { class: 'rows lines' }, element('caption', {}, found[0].file),
		element('tbody', {}, found.slice(0, MOST_LINES).map(l => element('tr', {},
			element('td', { class: 'number' }, bar(percent(l.self, total) + ' %', l.self / total * 100)),
			element('td', { class: 'number' }, percent(l.total, total) + ' %'),
			element('td', {}, `line ${l.line}`)))))];
}
