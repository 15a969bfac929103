// SPDX-License-Identifier: GPL-2.0-or-later
// main.mjs - the page: one state, and the views that show it.
import { forgetColours } from './boxes.mjs';
import { decode, unpack } from './data.mjs';
import { changeOf, CHANGES } from './difference.mjs';
import { Flame, Inverted, Sandwich, TimeOrder, TwoSides } from './graphs.mjs';
import { Lanes, swatchOf } from './lanes.mjs';
import { askServer, carryState, followPage, partOf, sameNode, waitSeconds } from './live.mjs';
import { aboutObject, columnsOf, isOfObject, readMore, sortedRows, tableOf } from './more.mjs';
import { flatRows, idleRoot, idOf, linesOf, matcher, Model } from './model.mjs';
import { amount, colourOf, colourWord, family, fullName, moduleName, percent, poolName } from './names.mjs';
import { isHeap, overview } from './overview.mjs';
import { IS_ENTRY } from './roles.mjs';
import { pngOf, svgOf } from './picture.mjs';
import { Plots } from './plots.mjs';
import { change, fromHash, toHash } from './state.mjs';
import { stanzaLines, stanzaPanel } from './stanza.mjs';
import { brokenTree } from './sums.mjs';
import { bar, element, Table } from './table.mjs';
import { HeatMap } from './time.mjs';
import { canOpen, TreeRows } from './treeview.mjs';

/* The name of its tab, and of a picture of it. */
const VIEWS = [['overview', 'Overview'], ['flame', 'Flame', 'Flame graph'], ['inverted', 'Inverted', 'Inverted flame graph'],
	['sandwich', 'Sandwich', 'Callers and callees'], ['time', 'Threads', 'Threads over the time'],
	['order', 'Time order', 'Stacks in order of time'], ['plots', 'Plots']];
const BELOW = [['flat', 'Flat'], ['tree', 'Tree'], ['source', 'Source']];
const FOLDS = [['function', 'functions'], ['line', 'lines'], ['class', 'classes'], ['package', 'packages'],
	['module', 'modules'], ['file', 'files']];
const HEAP_FOLDS = [['function', 'classes'], ['package', 'packages']];
const TREES = { dominators: 'what keeps it', containment: 'what contains it', paths: 'the shortest path' };
const LATER_MS = 50, MOST_LEGEND = 10, MOST_OTHER = 3, FIRST_OTHER = ['wall', 'lock', 'alloc'];
const KEYS = [['/', 'search: text, or /a pattern/'], ['Escape', 'back: search, zoom, brush, then the last state'],
	['arrows', 'walk in the graph, the list or the tree'], ['Enter', 'zoom to the box'], ['0', 'zoom out'],
	['1 to 7', 'the graphs, in the order of their tabs'], ['+ −', 'in order of time: less of it, more of it'],
	['f, t, s', 'flat, tree, source'],
	['d', 'dark or light'], ['?', 'this list']];

const $ = id => document.getElementById(id);

class Page {
	constructor(model) {
		this.model = model;
		this.state = fromHash(location.hash);
		this.sort = 'self';
		this.treeRows = new TreeRows();
		this.flame = model.difference ? new TwoSides($('flame'), $('flameB'), this) : new Flame($('flame'), this);
		this.inverted = new Inverted($('inverted'), this);
		this.sandwich = new Sandwich($('above'), $('under'), this);
		this.order = new TimeOrder($('order'), this);
		this.plots = new Plots($('plots'), this);
		this.lanes = new Lanes($('laneHead'), $('lanes'), $('states'), this);
		this.heat = new HeatMap($('heat'), (a, b) => this.brush(a, b));
		$('flameB').hidden = $('sides').hidden = !model.difference;
		this.controls();
		this.tables();
		this.shown = null;
		this.waiting = {};
		window.addEventListener('hashchange', () => this.enter(fromHash(location.hash)));
		window.addEventListener('resize', () => this.showAll());
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.showAll());
		document.addEventListener('keydown', e => this.key(e));
	}

	/* A change of the state: a new entry of the history. */
	go(changes) {
		const next = change(this.state, changes);

		if (toHash(next) === toHash(this.state))
			return;
		this.isAddressDue = true;
		if (next.shape !== this.state.shape) {	// another tree: the page begins anew
			this.state = next;
			this.writeAddress();
			location.reload();
			return;
		}
		this.enter(next);
		this.later('address', () => this.writeAddress());
	}

	/* Nobody waits for it: a browser takes as long for an entry of the history as for a small graph, and so many in a second. */
	writeAddress() {
		const hash = toHash(this.state);

		if (this.isAddressDue && hash !== (location.hash || '#'))
			history.pushState(null, '', hash === '#' ? location.pathname + location.search : hash);
		this.isAddressDue = false;
	}

	brush(from, to) {
		this.go({ from: from === null ? '' : String(from), to: to === null ? '' : String(to) });
	}

	enter(state) {
		if (state.shape !== this.state.shape)	// another tree: the page begins anew
			location.reload();
		this.state = state;
		this.show();
	}

	/* Of a recording the first answers. */
	get view() {
		return this.views.some(([view]) => view === this.state.view) ? this.state.view : this.model.hasRoles ? 'overview' : 'flame';
	}

	/* A link may be of a page that has more lists. */
	get below() {
		return this.lists().some(([below]) => below === this.state.below) ? this.state.below : 'flat';
	}

	/* Those that the page has data for. */
	get views() {
		const { model } = this, hasPlots = model.data.plots || model.sizeKey;
		const lacks = [isHeap(model) ? 'time' : '', model.isTimed ? '' : 'order', hasPlots ? '' : 'plots'];

		return this.viewsFound ??= VIEWS.filter(([view]) => !lacks.includes(view));
	}

	/* The next of what matches, by what the list shows first. */
	pickFound(step) {
		const rows = this.found ? flatRows(this.look, this.sort, this.found) : [], at = rows.indexOf(this.picked);

		if (rows.length)
			this.go({ pick: idOf(this.look.consumers, rows[at < 0 ? 0 : (at + step + rows.length) % rows.length]),
				view: this.view === 'overview' ? 'flame' : this.view });
	}

	say(text) {
		$('says').textContent = text;
	}

	controls() {
		const { model } = this, { trees } = model.more;

		this.selects = {
			metric: $('metric'), threads: $('threads'), fold: select('fold', isHeap(model) ? HEAP_FOLDS : FOLDS),
			shape: select('shape', [['', TREES[trees[0]] || ''], ...trees.slice(1).map(tree => [tree, TREES[tree]])]),
			hide: select('hide', [['', 'nothing'], ['kernel', 'kernel'], ['inlined', 'inlined'],
				['kernel,inlined', 'both']]),
			merge: select('merge', [['', 'pools as one'], ['1', 'those of a name as one'], ['each', 'each']]),
			colour: select('colour', [['', 'kind of code'], ['place', 'package, module']]),
		};
		for (const [key, control] of Object.entries(this.selects))
			control.addEventListener('change', () => this.go({ [key]: control.value }));
		for (const key of ['ways', 'idle'])
			$(key).addEventListener('change', e => this.go({ [key]: e.target.checked }));
		$('find').addEventListener('input', e => this.go({ find: e.target.value }));
		$('find').addEventListener('keydown', e => e.key === 'Enter' && this.pickFound(e.shiftKey ? -1 : 1));
		$('choose').addEventListener('click', () =>
			$('choose').setAttribute('aria-expanded', String(document.body.classList.toggle('choosing'))));
		$('theme').addEventListener('click', () => this.turnTheme());
		$('help').addEventListener('click', () => $('keys').showModal());
		$('save').addEventListener('click', () => this.savePicture('svg'));
		$('savePng').addEventListener('click', () => this.savePicture('png'));
		$('keys').append(element('h2', {}, 'Keys'), element('table', {}, element('tbody', {}, KEYS.map(([key, what]) =>
			element('tr', {}, element('th', { scope: 'row' }, key), element('td', {}, what))))),
		element('form', { method: 'dialog' }, element('button', {}, 'Close')));
		for (const id of ['hide', 'merge', 'colour'])
			$(id).parentNode.hidden = isHeap(model);
		$('colour').parentNode.hidden ||= Boolean(model.difference);
		$('shape').parentNode.hidden = trees.length < 2;
		this.choices();
	}

	/* What can be chosen, and the page's name: they depend on the data. */
	choices() {
		const { model } = this, metrics = model.shown.map(m => [model.meta.metrics[m].name, model.meta.metrics[m].name]);

		select('metric', metrics);
		select('threads', [['', 'all threads'], ...threadChoices(model)]);
		tabs($('views'), this.views, view => this.go({ view }));
		tabs($('lists'), this.lists(), below => this.go({ below }));
		$('ways').parentNode.hidden = !model.data.consumers.role.some(role => role & IS_ENTRY);
		$('idle').parentNode.hidden = !model.data.idle;
		$('metric').parentNode.hidden = metrics.length < 2;
		document.title = [programOf(model), 'arcprof'].filter(Boolean).join(' – ');
		$('program').textContent = programOf(model) || 'arcprof';
		$('command').textContent = model.meta.command || (isHeap(model) ? ['heap', model.meta.start].join(' ') : '');
		$('command').title = model.meta.head.join('\n');
	}

	/* Of objects there are no lines, but tables. */
	lists() {
		const { model } = this;

		return [...BELOW.filter(([key]) => key !== 'source' || !isHeap(model)), ...model.more.tables.map(t => [t.key, t.title])];
	}

	/* Tables beside the tree: each has a list of its own. */
	moreTables() {
		const { model } = this, pick = name => this.pickNamed(name), open = id => this.openObject(id);

		this.more ??= {};
		for (const t of model.more.tables) {
			const known = this.more[t.key] ??= this.moreTable(t);

			known.t = t;
			known.table.columns = columnsOf(t, pick, open);
			known.rest.hidden = !t.hidden;
			known.rest.textContent = `and ${t.hidden.toLocaleString('en')} more rows (--limit)`;
		}
	}

	/* rest: of the rows that the page does not have. */
	moreTable({ key, title }) {
		const place = element('div', { 'data-list': key, class: 'pane', hidden: true }), rest = element('p', { class: 'note' });
		const table = new Table(place, {
			caption: title, columns: [], isPicked: () => false, onPick() {}, onSort: sort => {
				this.more[key].sort = sort;
				this.showBelow();
			},
		}), about = isOfObject(key) ? element('p', { class: 'note' }) : null;

		$('lower').append(place);
		place.append(rest);
		if (about)
			place.prepend(about);
		return { sort: '', table, rest, about };
	}

	/* What a click on an object's number does; null: the page does not know more of it. */
	openObject(id) {
		return this.model.more.details.has(id) ? e => {
			e.preventDefault();
			this.go({ object: id, below: isOfObject(this.state.below) ? this.state.below : 'fields' });
		} : null;
	}

	/* What a click on the name of a class does; null: the tree has none of that name. */
	pickNamed(name) {
		const c = this.look ? this.look.consumers.name.indexOf(name) : -1;

		return c < 1 ? null : e => {
			e.preventDefault();
			this.go({ pick: idOf(this.look.consumers, c) });
		};
	}

	tables() {
		const pick = c => this.go({ pick: idOf(this.look.consumers, c) });

		const { difference, words } = this.model;

		this.moreTables();
		this.flat = new Table($('flat'), {
			caption: words.functions, isPicked: c => c === this.picked, onPick: pick, onOpen: c => {
				pick(c);
				this.go({ view: 'sandwich' });
			},
			onSort: key => {
				this.sort = key;
				this.showBelow();
			},
			columns: difference ? this.differenceColumns() : this.flatColumns(),
		});
		this.tree = new Table($('tree'), {
			caption: words.contexts, isPicked: row => row.node === this.row, onPick: row => this.pickRow(row),
			onOpen: row => this.toggleRow(row), onKey: (key, row) => this.treeKey(key, row), onSort() {},
			columns: difference ? this.contextColumns() : [
				{ head: words.total + ' %', className: 'number', cell: r => bar(percent(this.cum[r.node], this.total),
					this.cum[r.node] / this.total * 100) },
				{ head: words.total, className: 'number', cell: r => amount(this.cum[r.node], this.look.unit) },
				{ head: words.self + ' %', className: 'number', cell: r => percent(this.base[r.node], this.total) },
				{ head: this.model.meta.n_means, className: 'number', cell: r => this.look.n[r.node].toLocaleString('en') },
				{ head: 'context', cell: r => this.contextCell(r) },
			],
		});
		this.source = new Table($('source'), {
			caption: 'Lines', isPicked: () => false, onPick() {}, onSort() {},
			columns: [
				{ head: 'self %', className: 'number', cell: l => bar(percent(l.self, this.total), l.self / this.total * 100) },
				{ head: 'total %', className: 'number', cell: l => percent(l.total, this.total) },
				{ head: this.model.meta.n_means, className: 'number', cell: l => l.n.toLocaleString('en') },
				{ head: 'line', cell: l => (l.line === null ? l.file || 'no line is known' : `${l.file}:${l.line}`) },
			],
		});
	}

	flatColumns() {
		const { words } = this.model;
		const value = key => c => amount(this.look.profile[key][this.look.metric][c], this.look.unit);
		const part = key => c => percent(this.look.profile[key][this.look.metric][c], this.total);

		return [
			{ head: words.self + ' %', className: 'number', sort: 'self', cell: c => bar(part('base')(c), Number(part('base')(c))) },
			{ head: words.self, className: 'number', cell: value('base') },
			{ head: words.total + ' %', className: 'number', sort: 'total', title: words.totalTitle,
				cell: c => bar(part('cum')(c), Number(part('cum')(c))) },
			{ head: words.total, className: 'number', cell: value('cum') },
			{ head: words.again, className: 'number extra', sort: 'again', title: words.againTitle,
				cell: c => this.look.profile.cum2[this.look.metric][c] ? part('cum2')(c) : '' },
			...this.otherMetrics(),
			{ head: this.model.meta.n_means, className: 'number', sort: 'n',
				cell: c => this.look.nOf[c].toLocaleString('en') },
			{ head: words.function, sort: 'name', cell: c => this.nameCell(c) },
		];
	}

	/* Of two sides: A, B and the change, of a function's own and with callees. */
	differenceColumns() {
		const { difference, words } = this.model, number = (head, cell, sort, title) => ({ head, className: 'number', cell, sort, title });
		const part = (key, side) => c => difference.text(this.look.sides[key][side][c]);
		const delta = (key, marks) => c => this.changeCell(...this.look.sides[key].map(values => values[c]),
			marks && this.look.consumers.changed[c]);

		return [
			number(words.self + ' A', part('self', 0)), number(words.self + ' B', part('self', 1)),
			number('change', delta('self', true), 'self',
				`of ${words.self}, B less A` + (isHeap(this.model) ? '' : '; *: of the whole recordings, more than noise')),
			number(words.total + ' A', part('total', 0)), number(words.total + ' B', part('total', 1)),
			number('change', delta('total'), 'total', `of ${words.total}, B less A`),
			{ head: words.function, sort: 'name', cell: c => this.nameCell(c) },
		];
	}

	contextColumns() {
		const side = k => r => this.model.difference.text(this.look.sides.cum[k][r.node]), { total } = this.model.words;

		return [
			{ head: total + ' A', className: 'number', cell: side(0) },
			{ head: total + ' B', className: 'number', cell: side(1) },
			{ head: 'change', className: 'number', title: `of ${total}, B less A`,
				cell: r => this.changeCell(...this.look.sides.cum.map(cum => cum[r.node])) },
			{ head: 'context', cell: r => this.contextCell(r) },
		];
	}

	changeCell(a, b, isMarked) {
		return element('span', { class: 'change ' + changeOf(a, b) }, this.model.difference.delta(a, b) + (isMarked ? ' *' : ''));
	}

	/* A column for each of the first further metrics: all are in the menu. */
	otherMetrics() {
		const { model, look } = this, { metrics } = model.meta, rank = m => (FIRST_OTHER.includes(metrics[m].name) ? 0 : 1);
		const other = model.shown.filter(m => (look ? m !== look.metric && look.sums.cum[m][0] : m !== model.first));

		return other.sort((a, b) => rank(a) - rank(b) || a - b).slice(0, MOST_OTHER).map(m => {
			/* waits and objects are below functions, never their own */
			const isBelow = model.isBelow(m), of = isBelow ? 'cum' : 'base';
			return { head: metrics[m].name, className: 'number extra', title: isBelow ? model.words.totalTitle : model.words.itself,
				cell: c => (this.look.profile[of][m][c] ? amount(this.look.profile[of][m][c], metrics[m].unit) : '') };
		});
	}

	nameCell(c) {
		const { consumers } = this.look, module = moduleName(consumers, c), kind = consumers.kind[c];
		const detail = this.state.fold === 'line' && consumers.detail[c] ? ` (${consumers.detail[c]})` : '';

		return element('span', { title: [consumers.name[c], consumers.module[c], kind].filter(Boolean).join('\n') },
			swatchOf(this.colourOf(c)), fullName(consumers, c) + detail,
			module && family(kind) !== 'other' ? element('span', { class: 'module' }, ' ' + module) : null);
	}

	contextCell(row) {
		const cell = this.nameCell(this.look.tree.consumer[row.node]), opens = canOpen(this.look, row.node);

		cell.style.paddingLeft = row.level * 14 + 'px';
		cell.prepend(opens ? element('button', { class: 'twist', 'aria-expanded': String(this.treeRows.open.has(row.node)),
			onclick: e => {
				e.stopPropagation();
				this.toggleRow(row);
			} }, this.treeRows.open.has(row.node) ? '▾' : '▸') : element('span', { class: 'twist' }));
		return cell;
	}

	pickRow(row) {
		this.row = row.node;
		this.go({ pick: idOf(this.look.consumers, this.look.tree.consumer[row.node]) });
		this.tree.refresh();
	}

	toggleRow(row) {
		this.treeRows.toggle(row.node);
		this.showBelow();
	}

	treeKey(key, row) {
		const open = this.treeRows.open.has(row.node);

		if ((key === 'ArrowRight' && !open) || (key === 'ArrowLeft' && open) || key === 'Enter')
			this.toggleRow(row);
		else
			return false;
		return true;
	}

	/* Also what did not change: there is other room or other colours. */
	showAll() {
		forgetColours();
		this.shown = null;
		this.show();
	}

	/* How much room there is: asked before anything is changed, or the browser would have to lay out the page twice. */
	measure() {
		const list = [...document.querySelectorAll('[data-list]')].find(l => !l.hidden);

		this.width = $('graphs').clientWidth;
		this.heat.measure();
		for (const table of [this.flat, this.tree, this.source, ...Object.values(this.more).map(m => m.table)])
			table.measure(list.clientHeight);
	}

	/* The model of a trace that has grown: what was selected in the one before stays so. */
	take(model) {
		const before = this.model, look = this.look, state = carryState(this.state, before, model);
		const now = model.look(state), to = i => sameNode(look, i, now), { cursor, isFramed } = this.flame.boxes;

		Object.assign(this, { model, state, shown: null, viewsFound: null, overviewOf: null, row: this.row && to(this.row) });
		this.treeRows.move(now, state.zoom, to);
		this.heat.forget();
		this.moreTables();
		this.choices();
		history.replaceState(null, '', toHash(state) === '#' ? location.pathname + location.search : toHash(state));
		this.show();
		if (isFramed && this.view === 'flame')
			this.flame.boxes.frame(this.flame.boxes.boxes.find(box => box.first === to(cursor.first)));
	}

	/* What differs from what is shown. */
	show() {
		document.body.classList.toggle('wide', ['time', 'order', 'plots'].includes(this.view));
		this.measure();
		const { state, model, shown } = this, look = model.look(state);
		const changed = (...keys) => !shown || shown.look !== look || keys.some(key => shown.state[key] !== state[key]);

		this.look = look;
		if (state.zoom >= look.tree.nr)
			state.zoom = 0;
		this.cum = look.sums.cum[look.metric];
		this.base = look.sums.base[look.metric];
		this.total = this.cum[0];
		if (changed('pick'))
			this.picked = model.picked(look, state);
		if (changed('find'))
			this.found = matcher(look.consumers, state.find);
		this.showControls(changed);
		if (changed())
			this.showTime();
		if (changed('view', 'zoom', 'pick', 'find', 'colour'))
			this.showUpper();
		if (changed('below', 'object', 'pick', 'find') || (changed('zoom') && this.below === 'tree'))
			this.showBelow();
		if (changed('pick'))
			this.showStanza();
		if (changed())
			this.showBadge();
		this.shown = { state: { ...state }, look };
	}

	showControls(changed) {
		const { state } = this;

		for (const [key, control] of Object.entries(this.selects)) {
			const value = key === 'metric' ? this.model.meta.metrics[this.look.metric].name : state[key] || control.options[0].value;
			if (control.value !== value)
				control.value = value;
		}
		for (const key of ['ways', 'idle'])
			$(key).checked = state[key];
		if ($('find') !== document.activeElement)
			$('find').value = state.find;
		mark($('views'), this.view);
		mark($('lists'), this.below);
		if (changed('zoom'))
			this.showTrail();
		if (changed('find'))
			this.showFound();
		if (changed('colour', 'view'))
			this.showLegend();
		if (changed('view'))
			this.offerPictures();
	}

	/* The overview is text; lanes are of pixels. */
	offerPictures() {
		$('save').disabled = ['overview', 'time'].includes(this.view);
		$('savePng').disabled = this.view === 'overview';
	}

	/* Where the graph is zoomed to: each step leads back. */
	showTrail() {
		const { look, state } = this, steps = [];

		for (let i = state.zoom; i; i = look.tree.parent[i])
			steps.unshift(i);
		$('trail').replaceChildren(...[0, ...steps].flatMap((i, k) => [k ? ' › ' : '', element('a', { href: '#', onclick: e => {
			e.preventDefault();
			this.go({ zoom: i });
		} }, i ? fullName(look.consumers, look.tree.consumer[i]) : 'all')]));
	}

	showFound() {
		if (!this.found) {
			$('found').textContent = '';
			return;
		}
		const { tree } = this.look;
		let sum = 0;
		for (let i = 1; i < tree.nr;) {
			const hit = this.found(tree.consumer[i]);
			sum += hit ? this.cum[i] : 0;
			i = hit ? tree.end[i] : i + 1;
		}
		$('found').textContent = `${percent(sum, this.total)} % in what matches`;
	}

	showLegend() {
		if (this.model.difference) {
			$('legend').replaceChildren('less in B', ...CHANGES.map(c => element('i', { class: 'swatch ' + c, title: c })),
				`more in B; ${this.model.difference.normalized()}; * more than noise`);
			return;
		}
		$('legend').replaceChildren(...(isHeap(this.model) ? [] : this.legend()).map(({ colour, text, value }) =>
			element('span', {}, swatchOf(colour), value === null ? text : `${text} ${percent(value, this.total)} %`)));
	}

	/* [{colour, text, value}] of what the metric's contexts are, the most first. */
	legend() {
		if (this.view === 'time' && this.model.wall >= 0)
			return this.lanes.legend();
		const { consumers, profile, metric, tree } = this.look, sums = new Map(), idle = idleRoot(this.look), base = this.base;
		const add = (c, colour, value) => {
			const text = colourWord(consumers, c, colour), key = colour + text, known = sums.get(key);
			if (known)
				known.value += value;
			else
				sums.set(key, { colour, text, value });
		};

		for (let c = 1; c < consumers.nr; c++)
			add(c, this.colourOf(c), profile.base[metric][c]);
		for (let i = idle; idle && i < tree.end[idle]; i++)
			if (base[i]) {
				add(tree.consumer[i], this.colourOf(tree.consumer[i]), -base[i]);
				add(tree.consumer[i], 'idle', base[i]);
			}
		return [...sums.values()].filter(s => s.value > 0).sort((a, b) => b.value - a.value).slice(0, MOST_LEGEND);
	}

	/* The name of a function's colour. */
	colourOf(c) {
		const { look, state } = this, key = state.colour || 'kind';

		look.colours ??= {};
		look.colours[key] ??= [];
		return look.colours[key][c] ??= colourOf(look.consumers, c, state.colour === 'place');
	}

	showTime() {
		const source = this.model.timedSourceOf(this.look.metric);

		$('heat').hidden = source < 0;
		if (source >= 0)
			this.heat.show(this.model.data, source, this.model.ranges(this.state), this.state.from, this.state.to);
		$('brush').textContent = this.state.from === '' || source < 0 ? '' :
			`${this.timeOf(this.state.from)} to ${this.timeOf(this.state.to)}`;
	}

	timeOf(tick) {
		return amount(Number(tick) * this.model.meta.tick_ns, 'ns');
	}

	showUpper() {
		const { state } = this;

		for (const view of document.querySelectorAll('[data-view]'))
			view.hidden = view.dataset.view !== this.view;
		this.showSides();
		if (this.view === 'flame')
			this.flame.show(state);
		else if (this.view === 'inverted')
			this.inverted.show(state);
		else if (this.view === 'sandwich')
			this.sandwich.show(state);
		else if (this.view === 'time')
			this.lanes.show();
		else if (this.view === 'order')
			this.order.show(state);
		else if (this.view === 'plots')
			this.plots.show(state);
		else
			this.showOverview();
	}

	/* It follows what is selected, not what is picked in it. What takes longer comes when the rest has been seen. */
	showOverview() {
		if (this.overviewOf === this.look)
			return;
		this.overviewOf = this.look;
		const { sections, later } = overview(this.model, this.look, this.state, c => this.go(c));

		$('overview').replaceChildren(...sections);
		this.later('overview', later || (() => {}));
	}

	showSides() {
		const { difference } = this.model;

		if (difference)
			$('sides').replaceChildren(...['A', 'B'].map((name, side) => element('span', {},
				`${name}, ${difference.text(this.look.sides.cum[side][0])}: ${difference.files[side].join(', ')}`)));
	}

	showBelow() {
		const { state, look, below } = this;

		for (const list of document.querySelectorAll('[data-list]'))
			list.hidden = list.dataset.list !== below;
		if (below === 'flat' && !this.model.difference)
			this.flat.columns = this.flatColumns();
		if (below === 'flat')
			this.flat.show(flatRows(look, this.sort, this.found), this.sort);
		else if (below === 'tree')
			this.tree.show(this.treeRows.rows(look, state.zoom), null);
		else if (this.more[below])
			this.showMore(this.more[below]);
		else
			this.source.show(this.picked ? linesOf(this.model.look({ ...state, fold: 'line' }), look.consumers,
				look.consumers.name[this.picked], look.consumers.module[this.picked]) : [], null);
	}

	showMore({ t, table, sort, about }) {
		const { details, object } = this.model.more, of = isOfObject(t.key) && (details.get(this.state.object) || object);
		const shown = of ? tableOf(t.key, of) : t;

		if (about)
			about.textContent = of ? aboutObject(of) : 'No object was opened: a click on one in a list does that.';
		table.show(isOfObject(t.key) && !of ? [] : sortedRows(shown, sort), sort || t.by);
	}

	/* Lines need another tree: they come when the rest has been seen. */
	showStanza() {
		const { model, look, picked, state } = this, panel = stanzaPanel(model, look, picked, c => this.go(c));

		$('stanza').replaceChildren(...panel);
		this.later('lines', () => $('stanza').append(...stanzaLines(model, look, picked, state)));
	}

	showBadge() {
		const { look } = this;

		this.later('badge', () => {
			const bad = brokenTree(look.tree, look.sums, look.metric);
			$('badge').textContent = bad.length ? '✗ ' + bad[0] : '✓ all sums hold';
			$('badge').className = bad.length ? 'bad' : 'good';
		});
	}

	/* In place of what was to be done later under that name. */
	later(name, work) {
		clearTimeout(this.waiting[name]);
		this.waiting[name] = setTimeout(work, LATER_MS);
	}

	turnTheme() {
		const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' :
			matchMedia('(prefers-color-scheme: dark)').matches;

		document.documentElement.dataset.theme = dark ? 'light' : 'dark';
		this.showAll();
	}

	/* What a picture says of itself: whose it is, and of what. */
	pictureHead() {
		const { model, look, state } = this, metric = model.meta.metrics[look.metric].name, c = look.consumers;
		const isWall = this.view === 'time' && model.wall >= 0;
		const parts = [VIEWS.find(([view]) => view === this.view)[2] + (isWall ? '' : `, ${metric}: ${amount(this.total, look.unit)}`), model.meta.start,
			state.from === '' ? '' : `${this.timeOf(state.from)} to ${this.timeOf(state.to)}`,
			state.threads ? this.selects.threads.selectedOptions[0].textContent : '',
			model.difference ? ['A', 'B'].map((side, k) => `${side}: ${model.difference.files[k].join(', ')}`).join('; ') : '',
			state.zoom && this.view === 'flame' ? `below ${fullName(c, look.tree.consumer[state.zoom])}` : '',
			this.view === 'sandwich' ? `of ${fullName(c, this.picked)}` : ''];

		return { title: [$('program').textContent, model.meta.command].filter(Boolean).join(': '), note: parts.filter(Boolean).join(', '),
			legend: model.difference ? CHANGES.map(c => ({ colour: c, text: { less3: 'less in B', same: 'the same', more3: 'more in B' }[c] || '' })) :
				isHeap(model) ? [] : this.legend().map(({ colour, text, value }) =>
					({ colour, text: value === null ? text : `${text} ${percent(value, this.total)} %` })) };
	}

	/* What the keyboard walks in: of a difference and the sandwich the part below, or on the right. */
	get graph() {
		const { flame, inverted, sandwich, order } = this;

		return { flame: flame.boxes, inverted: inverted.boxes, sandwich: sandwich.lower, order: order.boxes }[this.view];
	}

	/* What a picture shows of the view. */
	get parts() {
		const { flame, inverted, sandwich, order, lanes } = this, { parts } = { flame, inverted, sandwich, order, time: lanes }[this.view] || { parts: [] };

		return parts;
	}

	async savePicture(kind) {
		const { plots, parts } = this, head = this.pictureHead();
		const picture = await (this.view === 'plots' ? (kind === 'svg' ? plots.toSvg() : plots.toPng()) :
			!parts.length ? null : kind === 'svg' ? svgOf(parts, head) : pngOf(parts, head));

		if (!picture)
			return;
		const url = URL.createObjectURL(kind === 'svg' ? new Blob([picture], { type: 'image/svg+xml' }) : picture);
		element('a', { href: url, download: `arcprof-${this.view}.${kind}` }).click();
		setTimeout(() => URL.revokeObjectURL(url), 1000);
	}

	key(event) {
		const inField = /^(INPUT|SELECT)$/.test(event.target.tagName);

		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || $('keys').open)
			return;
		if (/^(Arrow|Enter$| $)/.test(event.key) && [document.body, document.documentElement].includes(event.target)) {
			if (this.graph)
				this.graph.key(event);
			return;
		}
		if (event.key === 'Escape')
			this.escape(inField);
		else if (!inField && !this.letter(event.key))
			return;
		else if (inField)
			return;
		event.preventDefault();
	}

	letter(key) {
		const view = this.views[Number(key) - 1], list = { f: 'flat', t: 'tree', s: 'source' }[key];

		if (key === '/') {
			$('find').focus();
			$('find').select();
		} else if (key === '?') {
			$('keys').showModal();
		} else if (key === '0') {
			this.go(['order', 'plots'].includes(this.view) ? { from: '', to: '' } : { zoom: 0 });
		} else if (/^[+=-]$/.test(key) && this.view === 'order') {
			this.order.zoomBy(key === '-' ? 2 : 0.5);
		} else if (key === 'd') {
			this.turnTheme();
		} else if (view) {
			this.go({ view: view[0] });
		} else if (list) {
			this.go({ below: list });
		} else {
			return false;
		}
		return true;
	}

	escape(inField) {
		const { state } = this;

		if (inField)
			document.activeElement.blur();
		if (state.find)
			this.go({ find: '' });
		else if (state.zoom)
			this.go({ zoom: 0 });
		else if (state.from !== '')
			this.go({ from: '', to: '' });
		else if (!inField && history.length > 1) {
			this.writeAddress();
			history.back();
		}
	}
}

/* The program of the command, of Java its class or archive; of a recording that has no command, its processes. */
function programOf({ meta, data, tree }) {
	const [word, ...args] = (meta.command || '').split(' '), names = new Set(), base = path => path.slice(path.lastIndexOf('/') + 1);
	const of = args.findIndex((arg, k) => !arg.startsWith('-') && !/^(-cp|-classpath|--class-path|-p|--module-path)$/.test(args[k - 1]));

	for (let i = 1; i < tree.nr; i = tree.end[i])
		if (data.consumers.kind[data.consumer[i]] === 'process')
			names.add(data.consumers.name[data.consumer[i]]);
	if (word && base(word) === 'java' && of >= 0)
		return base(args[of]);
	return word ? base(word) : [...names].slice(0, 3).join(', ');
}

/* Pools, then threads: those of a pool have numbers of several nodes. */
function threadChoices(model) {
	const { consumers } = model.data, pools = new Map(), threads = model.threads(model.first);

	for (const t of threads) {
		const key = poolName(consumers.name[t.consumer]);
		pools.set(key, [...(pools.get(key) || []), t.node]);
	}
	return [...[...pools].filter(([, nodes]) => nodes.length > 1).map(([name, nodes]) =>
		[nodes.sort((a, b) => a - b).join(','), `${name}: ${nodes.length} threads`]),
	...threads.map(t => [String(t.node), fullName(consumers, t.consumer)])];
}

function select(id, choices) {
	const control = $(id);

	control.replaceChildren(...choices.map(([value, text]) => element('option', { value }, text)));
	return control;
}

function tabs(place, list, onPick) {
	place.replaceChildren(...list.map(([key, text]) => element('button', { role: 'tab', 'data-key': key, onclick: () => onPick(key) },
		text)));
	delete place.dataset.marked;
}

/* On a narrow screen not all tabs are in sight. */
function mark(place, key) {
	if (place.dataset.marked === key)
		return;
	place.dataset.marked = key;
	for (const tab of place.querySelectorAll('[role=tab]')) {
		tab.setAttribute('aria-selected', String(tab.dataset.key === key));
		if (tab.dataset.key === key)
			tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}
}

/* part(id): the text of an element of the page. */
async function makeModel(part) {
	const more = readMore(JSON.parse(part('more')));

	if (more.at && location.hash.length < 2)
		history.replaceState(null, '', toHash(change(fromHash(''), { below: more.at })));
	const { shape } = fromHash(location.hash), other = more.trees.indexOf(shape) > 0;
	return new Model(decode(await unpack(part(other ? 'other' : 'data'))), more, other ? shape : '');
}

async function start() {
	try {
		const page = new Page(await makeModel(id => $(id).textContent.trim()));

		for (const id of ['data', 'other', 'more'])
			$(id).remove();
		document.body.classList.remove('loading');
		page.show();
		performance.mark('shown');
		window.arcprof = page;		// for tests, and for the console
		if (location.protocol.startsWith('http'))
			followPage({ ask: askServer, wait: waitSeconds, say: text => $('live').textContent = text,
				take: async text => page.take(await makeModel(id => partOf(text, id))) });
	} catch (error) {
		document.body.classList.remove('loading');
		document.body.textContent = `This page cannot be shown: ${error.message}`;
		throw error;
	}
}

if (typeof document !== 'undefined')
	start();
