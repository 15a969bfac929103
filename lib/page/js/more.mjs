// SPDX-License-Identifier: GPL-2.0-or-later
// more.mjs - the tables that a page has beside its tree: of a heap, those of "arcprof heap report"; of a call trace, its calls;
// and rows of reports as they are, of those that say so (page_title).
import { amount } from './names.mjs';
import { binsOf, readCalls, smallPlot } from './spread.mjs';
import { element } from './table.mjs';

const SUMMARY_ROWS = 10;

/*
 * Of a cell: how it is shown. A class or a function can be picked, and an object that the page knows be opened; a measure is
 * in the unit of the table's source.
 */
const TEXT = 0, NUMBER = 1, BYTES = 2, PERCENT = 3, CLASS = 4, OBJECT = 5, MEASURE = 6, PLOT = 7, TIME = 8, PART = 9, ID = 10;

const TABLES = {
	histogram: { title: 'Histogram', rows: 'classes', by: 'bytes', columns: [
		['n', 'objects', NUMBER], ['bytes', 'bytes', BYTES], ['percent', '%', PERCENT], ['class', 'class', CLASS]] },
	loaders: { title: 'Loaders', rows: 'loaders', by: 'bytes', columns: [
		['classes', 'classes', NUMBER], ['n', 'objects', NUMBER], ['bytes', 'bytes', BYTES], ['percent', '%', PERCENT],
		['retained', 'retained', BYTES], ['id', 'object', OBJECT], ['class', 'loader', CLASS], ['name', 'name', TEXT]] },
	waste: { title: 'Waste', rows: 'rows', by: 'wasted', columns: [
		['wasted', 'wasted', BYTES], ['percent', '%', PERCENT], ['n', 'objects', NUMBER], ['kind', 'kind', TEXT],
		['slots', 'slots', NUMBER], ['unused', 'unused', NUMBER], ['what', 'what', CLASS]] },
	objects: { title: 'Objects', rows: 'rows', by: 'retained', columns: [
		['retained', 'retained', BYTES], ['bytes', 'bytes', BYTES], ['id', 'object', OBJECT], ['length', 'length', NUMBER],
		['class', 'class', CLASS], ['text', 'text', TEXT]] },
	calls: { title: 'Calls', rows: 'rows', by: 'total', columns: [
		['n', 'n', NUMBER], ['total', 'total', MEASURE], ['self', 'self', MEASURE], ['mean', 'mean', MEASURE],
		['p50', 'p50', MEASURE], ['p90', 'p90', MEASURE], ['p99', 'p99', MEASURE], ['max', 'max', MEASURE],
		['open', 'open', NUMBER], ['histogram', 'how long', PLOT], ['name', 'function', CLASS]] },
	fields: { title: 'Contents', rows: 'rows', columns: [
		['field', 'field', TEXT], ['value', 'value', OBJECT], ['retained', 'retained', BYTES], ['class', 'class', CLASS]] },
	dominators: { title: 'Kept by', rows: 'rows', columns: [
		['retained', 'retained', BYTES], ['id', 'object', OBJECT], ['class', 'class', CLASS]] },
	referrers: { title: 'Referrers', rows: 'rows', columns: [
		['retained', 'retained', BYTES], ['id', 'object', OBJECT], ['by', 'by', TEXT]] },
};

/* What is wasted, by kind. */
const KINDS = { texts: 'equal texts of Strings', arrays: 'equal arrays', zeros: 'arrays of zeros', empty: 'arrays of length 0',
	slots: 'empty slots of arrays', boxes: 'equal boxed numbers' };

/*
 * {trees, at, object, details, calls, summary: what "report --summary" says, or null, tables: [{key, title, by, data, columns, rows, hidden}]}: by is what rows are sorted by;
 * details: a Map of objects by id; calls: of spread.mjs. more: as the page has it, or null.
 */
export function readMore(more) {
	const tables = [], details = new Map((more && more.details || []).map(o => [o.id, o]));

	for (const key of Object.keys(TABLES).filter(k => more && more[k]))
		tables.push(table(key, more[key], TABLES[key].title));
	for (const t of more && more.tables || [])
		tables.push(reportTable(t));
	const calls = readCalls(more);
	if (!more)
		return { trees: [], at: '', object: null, details, calls, tables, summary: null };
	if (more.object)
		details.set(more.object.id, more.object);
	const [first] = details.values(), object = more.object || null;
	for (const key of OF_OBJECT)
		if (first)
			tables.push(tableOf(key, object || first));
	return { trees: more.trees || [], at: more.at === 'object' ? 'fields' : more.at, object, details, calls, tables,
		summary: more.summary || null };
}

/* The tables that show one object. */
const OF_OBJECT = ['fields', 'dominators', 'referrers'];

export function isOfObject(key) {
	return OF_OBJECT.includes(key);
}

/* Other objects may have what this one does not: all columns stay. */
export function tableOf(key, object) {
	return { ...table(key, object[key], TABLES[key].title), columns: TABLES[key].columns };
}

/* "0x7ff00, a.B: 24 B, retains 1.2 kB". */
export function aboutObject(object) {
	return `${object.id}, ${object.class}: ${amount(object.bytes, 'bytes')}, retains ${amount(object.retained, 'bytes')}`;
}

function table(key, data, title) {
	const rows = data[TABLES[key].rows];
	/* what no row has needs no column */
	const columns = TABLES[key].columns.filter(([member]) => rows.some(r => r[member] !== undefined && r[member] !== null));

	return { key, title, by: TABLES[key].by || '', data, rows, columns, hidden: data.not_shown || 0 };
}

/* What members of JSON are, by the ends of their names: reports name units so. */
const ENDS = [[/_ns$/, TIME], [/(^|_)bytes$/, BYTES], [/_percent$/, PERCENT], [/^share$/, PART], [/(^|_)[pt]?id$/, ID], [/^(class|function)$/, CLASS]];

/* Rows of a report, in its order. */
function reportTable({ key, title, rows: array, data }) {
	const rows = data[array], members = new Set(rows.flatMap(r => Object.keys(r)));
	const columns = [...members].filter(m => rows.some(r => r[m] !== null && typeof r[m] !== 'object')).map(m => {
		const end = ENDS.find(([name]) => name.test(m)), isNumber = rows.some(r => typeof r[m] === 'number');

		return [m, m.replace(/_(ns|percent)$|^share$/, s => ({ _ns: '', _percent: ' %', share: 'share %' }[s])).replaceAll('_', ' '),
			end ? end[1] : isNumber ? NUMBER : TEXT];
	});

	return { key, title, by: '', data, rows, columns, hidden: data.not_shown || 0 };
}

function percentCell(value) {
	return value && value < 0.01 ? '<0.01' : value.toFixed(2);
}

function cellText(kind, value, unit) {
	if (value === undefined || value === null)
		return '';
	return kind === PART ? percentCell(value * 100) : kind === NUMBER ? value.toLocaleString('en') : kind === BYTES ? amount(value, 'bytes') :
		kind === MEASURE ? amount(value, unit) : kind === TIME ? amount(value, 'ns') : kind === PERCENT ? percentCell(value) : String(value);
}

function isText(kind) {
	return [TEXT, CLASS, OBJECT, PLOT].includes(kind);
}

/* For Table: sorts by any number. pick(name) and open(id) are what a click on a class or an object does, or null. */
export function columnsOf(t, pick, open) {
	const { unit } = t.data.source || {}, bins = t.key === 'calls' ? binsOf(t.rows) : null;

	return t.columns.map(([key, head, kind]) => ({
		head, sort: isText(kind) ? null : key, className: isText(kind) ? 'text' : 'number',
		cell: row => {
			if (kind === PLOT)
				return smallPlot(row, bins, unit);
			const text = cellText(kind, row[key], unit), does = { [CLASS]: pick, [OBJECT]: open }[kind], c = does && text ? does(text) : null;
			return c ? element('a', { href: '#', onclick: c }, text) : text;
		},
	}));
}

export function sortedRows(t, key) {
	return key ? t.rows.slice().sort((a, b) => (b[key] || 0) - (a[key] || 0)) : t.rows;
}

/* The object that was asked for. */
export function objectSection(object) {
	return element('section', {}, element('h2', {}, `Object ${object.id}`), element('p', {}, aboutObject(object)),
	object.text ? element('p', {}, object.text) : null);
}

/* In the overview: of the largest rows what matters. */
export function summary(t, show) {
	const rows = t.key === 'waste' ? t.data.kinds.filter(k => k.wasted).sort((a, b) => b.wasted - a.wasted).map(k => [k.wasted, KINDS[k.kind]]) :
		t.key === 'loaders' ? t.rows.map(r => [r.bytes, [r.class, r.name].filter(Boolean).join(' ')]) :
			t.key === 'objects' ? t.rows.map(r => [r.retained, [r.class, r.text].filter(Boolean).join(' ')]) : [];
	const heads = { waste: 'Waste', loaders: 'Objects by class loader', objects: 'Objects that retain most' };

	if (!heads[t.key] || !rows.length)
		return null;
	return element('section', {}, element('h2', {}, element('a', { href: '#', onclick: e => {
		e.preventDefault();
		show(t.key);
	} }, heads[t.key])), element('table', { class: 'rows' }, element('tbody', {}, rows.slice(0, SUMMARY_ROWS).map(([bytes, what]) =>
		element('tr', {}, element('td', { class: 'number' }, amount(bytes, 'bytes')), element('td', {}, what))))));
}
