// SPDX-License-Identifier: GPL-2.0-or-later
// page-bench.js - put behind a page's own program by page.sh: uses the page as a person does, and writes what each
// step took to the console.
'use strict';

const wait = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));

function took(work) {
	const begin = performance.now();

	work();
	return performance.now() - begin;
}

function quantile(times, share) {
	return times.sort((a, b) => a - b)[Math.min(Math.floor(times.length * share), times.length - 1)];
}

/* Contexts to zoom to: of everything, those that are wide enough to click. */
function wideContexts(page, nr) {
	const out = [];

	for (let i = 1; i < page.look.tree.nr && out.length < nr; i++)
		if (page.cum[i] > page.total / 500)
			out.push(i);
	return out;
}

/* How often functions of canvases are called from now on, by name: {count, stop()}. */
function countCalls(...names) {
	const of = CanvasRenderingContext2D.prototype, own = names.map(name => of[name]), count = {};

	names.forEach((name, k) => {
		count[name] = 0;
		of[name] = function (...args) {
			count[name]++;
			return own[k].apply(this, args);
		};
	});
	return { count, stop: () => names.forEach((name, k) => (of[name] = own[k])) };
}

/* What zooms do, which does not depend on how busy the machine is: each as many as 95 % of them have at most. */
function zoomWork(page, zooms) {
	const boxes = [], calls = { fillRect: [], fillText: [], measureText: [] };

	for (const zoom of zooms) {
		const { count, stop } = countCalls(...Object.keys(calls));
		page.go({ zoom });
		stop();
		boxes.push(page.flame.boxes.boxes.length);
		for (const name of Object.keys(calls))
			calls[name].push(count[name]);
	}
	return Object.entries({ boxes, rectangles: calls.fillRect, names: calls.fillText, measured: calls.measureText })
		.map(([what, each]) => [what, quantile(each, 0.95)]);
}

async function bench() {
	while (!window.arcprof)
		await wait();
	await wait();
	const report = (name, ms) => console.log(`bench: ${name}: ${ms.toFixed(1)}`);
	report('first frame', performance.now());
	for (const { name, startTime } of performance.getEntriesByType('mark'))
		report(`mark ${name}`, startTime);
	const page = window.arcprof, { ticks } = page.model.meta, zooms = [], brushes = [];
	while (!document.getElementById('badge').textContent)
		await wait();
	report('badge', performance.now());
	page.go({ view: 'flame' });
	await wait();
	const wide = wideContexts(page, 60);
	for (const zoom of wide) {
		zooms.push(took(() => page.go({ zoom })));
		await wait();
	}
	report('zoom, p95', quantile(zooms, 0.95));
	report('zoom, median', quantile(zooms, 0.5));
	page.go({ zoom: 0 });
	for (const [what, nr] of zoomWork(page, wide.filter((_, k) => k % 3 === 0)))
		report(`zoom's ${what}`, nr);
	page.go({ zoom: 0 });
	for (let k = 1; k <= 20; k++) {
		const from = String(Math.floor(ticks / 4)), to = String(Math.floor(ticks / 4 + k * ticks / 60));
		brushes.push(took(() => page.go({ from, to })));
		await wait();
	}
	report('brush, median', quantile(brushes, 0.5));
	report('brush, p95', quantile(brushes, 0.95));
	page.go({ from: '', to: '' });
	for (const view of ['inverted', 'sandwich', 'time', 'order', 'overview'])
		report(view, took(() => page.go({ view })));
	page.go({ view: 'flame' });
	for (const below of ['tree', 'source'])
		report(below, took(() => page.go({ below })));
	page.go({ below: 'flat' });
	for (const fold of ['module', 'class', 'line'])
		report(`fold by ${fold}`, took(() => page.go({ fold })));
	page.go({ fold: 'function' });
	report('search', took(() => page.go({ find: 'func' })));
	console.log('bench: done');
}

bench();
