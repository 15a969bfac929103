// SPDX-License-Identifier: GPL-2.0-or-later
// difference.mjs - two sides, each of one or more runs, in one tree: every run is a metric of the page. What a side has
// is the mean of its runs, each divided as arcprof diff does it.
import { amount } from './names.mjs';

const CHANGE_STEPS = [[0.05, 0], [0.2, 1], [0.5, 2]], LAST_STEP = 3;

export class Difference {
	/* runs: [{side, metric, divisor}] of the page's description, files: of each side. */
	constructor(meta) {
		Object.assign(this, meta.difference);
		this.nrRuns = [0, 1].map(side => this.runs.filter(r => r.side === side).length);
	}

	/* of(metric): the sum of a run. */
	value(side, of) {
		return this.runs.reduce((x, r) => x + (r.side === side ? of(r.metric) / r.divisor : 0), 0) / this.nrRuns[side];
	}

	/* The same of all elements of arrays[metric]. */
	values(side, arrays) {
		const out = new Float64Array(arrays[0].length);

		for (const r of this.runs.filter(x => x.side === side))
			for (let i = 0, by = r.divisor * this.nrRuns[side], from = arrays[r.metric]; i < out.length; i++)
				out[i] += from[i] / by;
		return out;
	}

	/* By node cum, base; by function those of its profile: {cum: [side], base, self, total}. */
	of(selected) {
		const both = arrays => [0, 1].map(side => this.values(side, arrays));

		if (!selected.sides)
			selected.sides = {
				cum: both(selected.sums.cum), base: both(selected.sums.base),
				self: both(selected.profile.base), total: both(selected.profile.cum),
			};
		return selected.sides;
	}

	/* "12.3 %", "12.3 ms". */
	text(value) {
		if (!this.isShare())
			return amount(value, this.unit) + (this.normalize === 'second' ? '/s' : '');
		return `${percentText(value * 100)} %`;
	}

	isShare() {
		return this.normalize === 'total' || this.normalize === 'size';
	}

	/* What values are divided by, in words. */
	normalized() {
		return {
			size: 'scaled to runs of equal size', total: 'shares of each total', second: 'per second',
			none: 'not normalized',
		}[this.normalize];
	}

	/* With a sign in shape, too: "▲ +1.23", "▼ −1.23"; shares differ by points. */
	delta(a, b) {
		const d = b - a;

		if (d === 0)
			return '0';
		const size = this.isShare() ? percentText(Math.abs(d) * 100) : this.text(Math.abs(d));
		return d > 0 ? `▲ +${size}` : `▼ −${size}`;
	}
}

function percentText(percent) {
	return percent && percent < 0.01 ? '<0.01' : percent >= 10 ? percent.toFixed(1) : percent.toFixed(2);
}

/* How large the change is beside what there was or is, as one of seven steps: less3 .. same .. more3. */
export function changeOf(a, b) {
	const change = Math.max(a, b) > 0 ? (b - a) / Math.max(a, b) : 0, size = Math.abs(change);
	const [, step] = CHANGE_STEPS.find(([most]) => size < most) || [0, LAST_STEP];

	return step ? (change < 0 ? 'less' : 'more') + step : 'same';
}

export const CHANGES = ['less3', 'less2', 'less1', 'same', 'more1', 'more2', 'more3'];
