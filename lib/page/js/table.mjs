// SPDX-License-Identifier: GPL-2.0-or-later
// table.mjs - long tables of which the rows in sight exist: a real <table>, so that it can be read aloud and copied.

const LINE = 22, MORE = 12;

/* An element with its attributes and children; text is text, never markup. */
export function element(name, attributes = {}, ...contents) {
	const e = document.createElement(name);

	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith('on'))
			e.addEventListener(key.slice(2), value);
		else if (value === true)
			e.setAttribute(key, '');
		else if (value !== false && value !== null && value !== undefined)
			e.setAttribute(key, value);
	}
	for (const c of contents.flat())
		if (c !== null && c !== undefined)
			e.append(c);
	return e;
}

/*
 * columns: [{head, title, className, cell(row): text or element, sort: key or null}]. onSort(key), onPick(row),
 * isPicked(row), onOpen(row).
 */
export class Table {
	constructor(place, { columns, caption, isPicked, onPick, onOpen, onSort, onKey }) {
		Object.assign(this, { place, columns, isPicked, onPick, onOpen, onSort, onKey });
		this.rows = [];
		this.head = element('thead');
		this.body = element('tbody');
		this.above = element('tbody', { 'aria-hidden': 'true' }, element('tr', {}, element('td')));
		this.below = element('tbody', { 'aria-hidden': 'true' }, element('tr', {}, element('td')));
		this.table = element('table', { class: 'long', tabindex: 0 }, element('caption', {}, caption), this.head, this.above,
			this.body, this.below);
		place.replaceChildren(this.table);
		this.measure(0);
		place.addEventListener('scroll', () => {
			this.measure(place.clientHeight);
			this.fill();
		});
		this.table.addEventListener('keydown', e => this.key(e));
	}

	/* height: of what is in sight. */
	measure(height) {
		this.height = height;
		this.top = this.place.scrollTop;
	}

	show(rows, sort) {
		this.rows = rows;
		this.sort = sort;
		this.head.replaceChildren(element('tr', {}, this.columns.map(c => this.heading(c))));
		this.table.setAttribute('aria-rowcount', rows.length + 1);
		this.begin = -1;
		this.fill();
	}

	heading(column) {
		const sorted = column.sort && column.sort === this.sort;

		if (!column.sort)
			return element('th', { scope: 'col', class: column.className, title: column.title }, column.head);
		return element('th', { scope: 'col', class: column.className, title: column.title,
			'aria-sort': sorted ? 'descending' : null },
		element('button', { onclick: () => this.onSort(column.sort) }, column.head + (sorted ? ' ▾' : '')));
	}

	/* The rows that can be seen, and some around them. */
	fill() {
		const begin = Math.max(0, Math.min(Math.floor(this.top / LINE), this.rows.length) - MORE);
		const end = Math.min(this.rows.length, Math.ceil((this.top + (this.height || 400)) / LINE) + MORE);

		if (begin === this.begin && end === this.end)
			return;
		this.begin = begin;
		this.end = end;
		this.above.firstChild.firstChild.style.height = begin * LINE + 'px';
		this.below.firstChild.firstChild.style.height = (this.rows.length - end) * LINE + 'px';
		this.body.replaceChildren(...this.rows.slice(begin, end).map((row, k) => this.row(row, begin + k)));
	}

	row(row, index) {
		const picked = this.isPicked(row);

		return element('tr', {
			'aria-rowindex': index + 2, 'aria-selected': picked ? 'true' : null, class: picked ? 'picked' : null,
			onclick: () => this.onPick(row), ondblclick: () => this.onOpen && this.onOpen(row),
		}, this.columns.map(c => element('td', { class: c.className }, c.cell(row))));
	}

	refresh() {
		this.begin = -1;
		this.fill();
	}

	scrollTo(index) {
		const top = index * LINE, { scrollTop, clientHeight } = this.place;

		if (top < scrollTop || top + 2 * LINE > scrollTop + clientHeight)
			this.place.scrollTop = Math.max(0, top - clientHeight / 2);
	}

	key(event) {
		const at = this.rows.findIndex(row => this.isPicked(row));
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];

		if (this.onKey && at >= 0 && this.onKey(event.key, this.rows[at])) {
			event.preventDefault();
		} else if (step && this.rows.length) {
			const next = Math.min(Math.max(at + step, 0), this.rows.length - 1);
			this.onPick(this.rows[next]);
			this.scrollTo(next);
			event.preventDefault();
		}
	}
}

/* A share as a bar behind its number. */
export function bar(text, percent) {
	const cell = element('span', { class: 'bar' }, text);

	cell.style.setProperty('--share', Math.min(100, percent) + '%');
	return cell;
}
