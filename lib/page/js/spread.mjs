// SPDX-License-Identifier: GPL-2.0-or-later
// spread.mjs - how long single calls took, drawn: of each function a small histogram, of the one that is picked a large one.
import { amount, percent } from './names.mjs';
import { element } from './table.mjs';

const QUANTILES = ['p50', 'p90', 'p99', 'max'];

/* Steps of 1, 2, 5: [1, 2, 5, 10, ...] from the first to the last; 0 comes before 1. Ends of bins are among them. */
function columnStarts(from, to) {
	const all = [0];

	for (let v = 1; v <= to; v *= 10)
		all.push(v, 2 * v, 5 * v);
	return all.filter(v => v >= from && v < to);
}

/* Where the columns of some histograms begin; their last one ends at end. */
export function binsOf(rows) {
	const bins = rows.flatMap(r => r.histogram), from = Math.min(...bins.map(b => b.from));
	const end = Math.max(...bins.map(b => (b.to === null ? b.from * 2 : b.to)));

	return bins.length ? { starts: columnStarts(from, end), end } : { starts: [], end: 0 };
}

/* How many calls are in each column. */
export function countsOf(row, { starts }) {
	const n = new Map(row.histogram.map(b => [b.from, b.n]));

	return starts.map(from => n.get(from) || 0);
}

/* From the left edge, 0 to 1, where a value is; its column is as wide as all others. */
export function placeOf(value, { starts, end }) {
	const at = starts.findLastIndex(from => from <= value), to = at + 1 < starts.length ? starts[at + 1] : end;

	return at < 0 ? 0 : Math.min(1, (at + (value - starts[at]) / (to - starts[at])) / starts.length);
}

function plotColumns(row, bins, unit) {
	const counts = countsOf(row, bins), most = Math.max(...counts), sum = counts.reduce((a, b) => a + b, 0);

	return counts.map((n, i) => {
		const to = i + 1 < counts.length ? bins.starts[i + 1] : bins.end, column = element('i', {
			title: `${amount(bins.starts[i], unit)} to ${amount(to, unit)}: ${n.toLocaleString('en')} calls, ${percent(n, sum)} %` });

		column.style.setProperty('--high', n ? Math.max(n / most * 100, 6) + '%' : '0');
		return column;
	});
}

function quantileWords(row, unit) {
	return QUANTILES.filter(q => row[q] !== null).map(q => `${q} ${amount(row[q], unit)}`).join(', ');
}

/* A cell of the table of calls, in which all rows have the same columns. */
export function smallPlot(row, bins, unit) {
	return row.histogram.length ? element('span', { class: 'spread', role: 'img', 'aria-label': quantileWords(row, unit) },
		plotColumns(row, bins, unit)) : '';
}

/* The functions of a page that have calls, by name; those of two modules with one name are not told apart. */
export function readCalls(more) {
	if (!more || !more.calls)
		return null;
	const { rows, source } = more.calls, nr = new Map();

	for (const { name } of rows)
		nr.set(name, (nr.get(name) || 0) + 1);
	return { unit: source.unit, of: new Map(rows.filter(r => nr.get(r.name) === 1).map(r => [r.name, r])) };
}

/* For the panel of a function: its own columns, with marks where the quantiles are. */
export function largePlot(calls, name) {
	const row = calls && calls.of.get(name);

	if (!row || !row.histogram.length)
		return [];
	const { unit } = calls, bins = binsOf([row]), marks = QUANTILES.map(q => {
		const mark = element('b', { title: `${q} ${amount(row[q], unit)}` });
		mark.style.setProperty('--at', placeOf(row[q], bins) * 100 + '%');
		return mark;
	});
	return [
		element('h3', {}, 'How long its calls took'),
		element('div', { class: 'spread large', role: 'img', 'aria-label': quantileWords(row, unit) }, plotColumns(row, bins, unit), marks),
		element('p', { class: 'where ends' }, element('span', {}, amount(bins.starts[0], unit)),
			element('span', {}, amount(bins.end, unit))),
		element('p', { class: 'where' }, `${row.n.toLocaleString('en')} calls, mean ${amount(row.mean, unit)}: ${quantileWords(row, unit)}`),
	];
}
