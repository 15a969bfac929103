// SPDX-License-Identifier: GPL-2.0-or-later
// overview.mjs - the first answers in words: what was measured, what is missing, what is largest.
import { answerSections, noteLine } from './answers.mjs';
import { amount, family, FAMILY_WORDS, fullName, isFunction, percent } from './names.mjs';
import { objectSection, summary } from './more.mjs';
import { flatRows, idOf } from './model.mjs';
import { element } from './table.mjs';

const MOST = 10;

export function isHeap(model) {
	return model.meta.n_means === 'objects';
}

/* The first answers, then the rest; later: what fills in what takes longer, or null. */
export function overview(model, look, state, go) {
	const answers = model.hasRoles ? answerSections(model, look, state, go) : { sections: model.difference ? [] : [
		element('section', {}, element('h2', {}, model.words.byItself), topTable(look, go, 'self')),
		element('section', {}, element('h2', {}, model.words.mostWithCallees), topTable(look, go, 'total')),
	], later: null };

	return { later: answers.later, sections: [
		...answers.sections,
		element('section', {}, element('h2', {}, 'What stands out'), element('ul', {}, notes(model, look, state))),
		element('section', {}, element('h2', {}, 'What was measured'),
			...model.meta.head.map(line => element('p', {}, line)), facts(model)),
		model.more.object ? objectSection(model.more.object) : null,
		...model.more.tables.map(t => summary(t, key => go({ below: key }))),
		element('section', {}, element('h2', {}, 'Threads'), threadTable(model, look, state, go)),
	].filter(Boolean) };
}

/* What the report says is of the whole recording; the rest is of what is selected. */
function notes(model, look, state) {
	const { summary } = model.more, all = summary ? summary.notes : [], isPart = state.from !== '' || state.threads !== '';
	const found = (model.difference ? changesFound(model, look) : findings(model, look)).map(f => element('li', {}, f));

	return [...all.map(noteLine), ...found, isPart && all.length + (summary.locks || []).length ?
		element('li', { class: 'where' }, 'Locks and what has a command are of the whole recording.') : null].filter(Boolean);
}

function facts(model) {
	const { meta } = model, rows = [['Command', meta.command], ['Host', meta.host], ['Machine', meta.machine],
		[isHeap(model) ? 'Taken' : 'Begun', meta.start], ['Contexts', (meta.nr_nodes - 1).toLocaleString('en')]].filter(([, text]) => text);

	return element('table', { class: 'facts' }, element('tbody', {}, rows.map(([what, text]) =>
		element('tr', {}, element('th', { scope: 'row' }, what), element('td', {}, text)))));
}

/* One sentence each; only what is so. */
export function findings(model, look) {
	const { metric: m, consumers, profile, tree, sums } = look, total = sums.cum[m][0], out = [];
	const metric = model.meta.metrics[m].name;

	if (!total)
		return ['The selection has nothing of ' + metric + '.'];
	const flat = flatRows(look, 'self').filter(c => isFunction(consumers.kind[c]) && consumers.name[c] !== '[arcprof]');
	if (flat.length)
		out.push(`${fullName(consumers, flat[0])} ${model.words.uses}: ${percent(profile.base[m][flat[0]], total)} %` +
			` of ${metric}.`);
	const half = nrForHalf(flat.map(c => profile.base[m][c]), total);
	if (half > 0)
		out.push(`${half} of ${flat.length} ${model.words.many} make half of it.`);
	if (!isHeap(model))
		out.push(byFamily(look, total));
	const recursive = flat.filter(c => profile.cum2[m][c] > total / 20);
	if (recursive.length && !isHeap(model))
		out.push(`${fullName(consumers, recursive[0])} calls itself; its sums count every outermost call once.`);
	let marked = 0;
	for (let i = 1; i < tree.nr; i++)
		if (consumers.kind[tree.consumer[i]] === 'mark')
			marked += sums.base[m][i];
	if (marked > total / 100)
		out.push(`${percent(marked, total)} % is in stacks that are not complete.`);
	return out;
}

/* The largest changes of what functions use themselves. */
function changesFound({ difference }, look) {
	const { self, cum } = look.sides, text = difference.text.bind(difference);
	const flat = flatRows(look, 'self').filter(c => isFunction(look.consumers.kind[c]) && self[0][c] !== self[1][c]);
	const out = flat.slice(0, MOST).map(c => `${fullName(look.consumers, c)}: itself ${text(self[0][c])} in A, ` +
		`${text(self[1][c])} in B, ${difference.delta(self[0][c], self[1][c])}`);

	out.unshift(`In all: ${text(cum[0][0])} in A, ${text(cum[1][0])} in B.`);
	return out;
}

/* How many of the values, the largest first, make half of the total; 0: all of them do not. */
function nrForHalf(values, total) {
	let sum = 0;

	return values.findIndex(v => (sum += v) >= total / 2) + 1;
}

function byFamily(look, total) {
	const sums = {};

	for (let c = 1; c < look.consumers.nr; c++) {
		const word = FAMILY_WORDS[family(look.consumers.kind[c])];
		sums[word] = (sums[word] || 0) + look.profile.base[look.metric][c];
	}
	const parts = Object.entries(sums).filter(([, v]) => v > total / 200).sort((a, b) => b[1] - a[1]);
	return 'By kind of code: ' + parts.map(([word, v]) => `${word} ${percent(v, total)} %`).join(', ') + '.';
}

function topTable(look, go, key) {
	const m = look.metric, total = look.sums.cum[m][0], values = key === 'self' ? look.profile.base[m] : look.profile.cum[m];
	const rows = flatRows(look, key).filter(c => isFunction(look.consumers.kind[c])).slice(0, MOST);

	return element('table', { class: 'rows' }, element('tbody', {}, rows.map(c => element('tr', {},
		element('td', { class: 'number' }, percent(values[c], total) + ' %'),
		element('td', { class: 'number' }, amount(values[c], look.unit)),
		element('td', {}, element('a', { href: '#', onclick: e => {
			e.preventDefault();
			go({ pick: idOf(look.consumers, c), view: 'flame' });
		} }, fullName(look.consumers, c)))))));
}

function threadTable(model, look, state, go) {
	const threads = model.threads(look.metric, model.valuesIn(state)).filter(t => t.sum), total = threads.reduce((x, t) => x + t.sum, 0);

	return element('table', { class: 'rows' }, element('tbody', {}, threads.slice(0, MOST).map(t => element('tr', {},
		element('td', { class: 'number' }, percent(t.sum, total) + ' %'),
		element('td', { class: 'number' }, amount(t.sum, look.unit)),
		element('td', {}, element('a', { href: '#', onclick: e => {
			e.preventDefault();
			go({ threads: String(t.node), view: 'flame' });
		} }, fullName(model.data.consumers, t.consumer)))))));
}
