/* SPDX-License-Identifier: Apache-2.0 */
/* Line charts: queue depth and throughput over time, distribution of latencies. */
'use strict';

/*
 * One dygraph.  o.rows [[x, y...]...]; o.names and o.colors (CSS variables) of the ys; o.x(v, i) and o.y(v): words for
 * the line below, which tells the values under the pointer; o.tick, o.ytick: words for ticks; o.zoom(window): the reader
 * has zoomed.  Returns its elements.
 */
function lines(id, o) {
	const box = el('div', o.zoom ? { class: 'plot', role: 'group', tabindex: '0', 'aria-label': o.label + ': plus and minus zoom, arrows move, 0 shows all' } :
		{ class: 'plot', role: 'img', 'aria-label': o.label });
	const values = el('p', { class: 'values', 'aria-hidden': 'true' });
	const colors = () => o.colors.map(css);
	const dash = name => el('i', { style: { background: css(o.colors[o.names.indexOf(name)]) } });
	const label = text => v => ({ v, label: text(v) });
	let g = null;

	function rest() {
		values.replaceChildren(...o.names.flatMap(n => [dash(n), n]));
		if (o.zoom) values.append(el('span', { class: 'hint' }, ' \u2003drag to zoom, double-click to go back; keys + \u2212 \u2190 \u2192 0'));
	}
	function tell(x, points) {
		values.replaceChildren(el('b', { class: 'num' }, o.x(x, points[0].idx), ' '),
			...points.flatMap(p => [dash(p.name), p.name + ' ', el('b', { class: 'num' }, o.y(p.yval))]));
	}
	/* What dragging does, with the keyboard. */
	function key(e) {
		const [a, b] = g.xAxisRange(), all = [o.window[0], Math.max(o.window[1], b)], w = b - a, most = all[1] - all[0];
		const by = { '+': [w / 4, -w / 4], '=': [w / 4, -w / 4], '-': [-w / 2, w / 2], ArrowLeft: [-w / 4, -w / 4], ArrowRight: [w / 4, w / 4] }[e.key];
		if (e.ctrlKey || e.metaKey || e.altKey || !(by || e.key === '0')) return;
		e.preventDefault();
		const wide = by ? Math.min(Math.max(w + by[1] - by[0], most / 1000), most) : o.window[1] - o.window[0];
		const from = by ? Math.min(Math.max(a + by[0], all[0]), all[1] - wide) : o.window[0];
		g.updateOptions({ dateWindow: [from, from + wide] });
		o.zoom([from, from + wide]);
	}
	const chart = {
		id,
		open() {
			if (o.zoom) box.addEventListener('keydown', key);
			g = new Dygraph(box, o.rows, {
				labels: ['x', ...o.names], colors: colors(), axisLineColor: css('--soft'), gridLineColor: css('--line'),
				gridLineWidth: 0.6, stepPlot: true, fillGraph: true, fillAlpha: 0.18, strokeWidth: 1.6, legend: 'never',
				series: o.series || {}, dateWindow: o.window, valueRange: [0, o.top], highlightCircleSize: 3,
				xlabel: o.xlabel, ylabel: o.ylabel, xLabelHeight: 16, yLabelWidth: 16, rightGap: 14,
				interactionModel: o.zoom ? Dygraph.defaultInteractionModel : {},
				axes: {
					x: { logscale: !!o.log, ticker: (a, b, px) => (o.log ? logTicks : ticks)(a, b, px / 65).map(label(o.tick)) },
					y: { axisLabelWidth: 52, ticker: (a, b, px) => ticks(a, b, px / 40, o.kind).map(label(o.ytick)) },
				},
				highlightCallback: (e, x, points) => tell(x, points),
				unhighlightCallback: rest,
				zoomCallback: (a, b) => o.zoom && o.zoom([a, b]),
				underlayCallback: o.under,
			});
			rest();
		},
		redraw() {
			rest();
			if (g) g.updateOptions({ colors: colors(), axisLineColor: css('--soft'), gridLineColor: css('--line') });
		},
		resize: () => g && g.resize(),
		drawn: () => pixels(box.querySelector('canvas'), colors()),
		zoom: w => g.updateOptions({ dateWindow: w }),
		replace: (rows, most) => g.updateOptions({ file: rows, valueRange: [0, most] }),
	};
	charts.push(chart);
	return [box, values];
}
const newest = () => charts[charts.length - 1];
const headroom = v => v > 0 ? v * 1.08 : 1;

/* ---- over time ---- */

const timeCharts = [];
let together = false; /* one time scale for all captures */
const spanOf = a => a.depth ? a.depth.span : a.rate ? a.rate.span : 1;

function overTime(name, a, i, o) {
	const u = timeUnit(spanOf(a));
	const zoom = w => timeCharts.forEach(t => (together || t.arm === i) && t.chart.zoom(w));
	const out = lines(name + '-' + i, {
		xlabel: `time since the first command (${u.unit})`, tick: u.text, window: [0, spanOf(a)], x: ns, zoom,
		label: `${o.ylabel} over time, ${a.label}`, ...o,
	});
	timeCharts.push({ arm: i, chart: newest() });
	return out;
}

/* Rows of series in steps; the last step is drawn to its end. */
function rowsOf(step, span, series) {
	const last = series[0].length - 1;
	return [...series[0].keys(), last].map((k, at) => [at > last ? Math.max(span, last * step) : k * step, ...series.map(s => s[k])]);
}

function scaleSwitch() {
	if (data.arms.filter(a => a.depth || a.rate).length < 2) return '';
	const b = el('button', { type: 'button', 'aria-pressed': 'false' }, 'Same time scale');
	const longest = Math.max(...data.arms.map(spanOf));
	b.addEventListener('click', () => {
		together = !together;
		b.setAttribute('aria-pressed', together);
		timeCharts.forEach(t => t.chart.zoom([0, together ? longest : spanOf(data.arms[t.arm])]));
	});
	return el('div', { class: 'hint' }, b);
}

function depth() {
	const most = Math.max(...data.arms.map(a => a.depth ? Math.max(...a.depth.max) : 0));
	const text = 'Commands in flight at one time. A flat line at 1 is an application that waits for each command.';
	if (!most) return;
	section('depth', 'Queue depth', 'Queue depth', text, scaleSwitch(), panels((a, i) => {
		const d = a.depth;
		if (!d) return none('No command of this capture has a known duration.');
		const dirs = [0, 1].filter(k => d[dirName[k]].some(v => v > 0));
		const series = dirs.length ? dirs.map(k => d[dirName[k]]) : [d.mean];
		return [
			overTime('depth', a, i, {
				rows: rowsOf(d.step, d.span, [d.max, ...series]),
				names: ['at most', ...(dirs.length ? dirs.map(k => dirName[k] + ', average') : ['average'])],
				colors: ['--other', ...(dirs.length ? dirs.map(k => dirVar[k]) : ['--p3'])],
				series: { 'at most': { strokeWidth: 0.6, fillGraph: false } },
				top: headroom(most), kind: 'whole', ylabel: 'commands in flight', ytick: String, y: v => v.toFixed(2),
			}),
			table({ ...a.tables.depth, rows: a.tables.depth.rows.map(([title, v, kind]) => [title, [v, kind]]) }, NUMBERS),
			a.tables.gaps && table(a.tables.gaps, 'Gaps between submissions'),
		];
	}));
}

/* least, percentiles, most and mean of a series */
function summary(v) {
	const s = [...v].sort((a, b) => a - b), at = q => s[Math.max(0, Math.ceil(q * s.length) - 1)];
	return [s[0], at(.5), at(.95), at(.99), s[s.length - 1], s.reduce((a, b) => a + b, 0) / s.length];
}

function throughput() {
	const dirs = a => a.rate ? [0, 1].filter(k => a.rate[dirName[k]].some(v => v > 0)) : [];
	const most = Math.max(...data.arms.flatMap(a => dirs(a).map(k => Math.max(...a.rate[dirName[k]]))), 0);
	const [per, unit] = most >= 2e9 ? [1e9, 'GB/s'] : most >= 2e6 ? [1e6, 'MB/s'] : most >= 2e3 ? [1e3, 'kB/s'] : [1, 'B/s'];
	const text = 'Bytes of commands without an error, by the time of their completion.';
	if (!most) return;
	section('throughput', 'Throughput', 'Throughput', text, panels((a, i) => {
		const r = a.rate, shown = dirs(a);
		if (!shown.length) return none('No command of this capture has completed.');
		return [
			overTime('throughput', a, i, {
				rows: rowsOf(r.step, r.span, shown.map(k => r[dirName[k]])),
				names: shown.map(k => dirName[k]), colors: shown.map(k => dirVar[k]),
				top: headroom(most), ylabel: unit, ytick: v => String(+(v / per).toPrecision(4)), y: show.rate,
			}),
			table({
				caption: `Throughput, in ${thousands(r.reads.length)} steps of ${ns(r.step)}`,
				cols: [['', 'text'], ...['least', 'p50', 'p95', 'p99', 'most', 'mean'].map(t => [t, 'rate'])],
				rows: shown.map(k => [dirName[k], ...summary(r[dirName[k]])]),
			}, NUMBERS),
		];
	}));
}

/* ---- latency ---- */

let cumulative = false;

/*
 * The data's buckets are sixteenths of powers of two, and linear between these.  Put together as here they are nearly as
 * wide as one another on the axis.
 */
const QUARTERS = [0, 3, 7, 11, 16];

/* The quarter of an octave that v lies in: its number, and where those begin. */
function quarter(v) {
	const octave = Math.floor(Math.log2(Math.max(v, .5))), k = Math.floor((Math.max(v, .5) / Math.pow(2, octave) - 1) * 16 + 1e-6);
	return octave * 4 + QUARTERS.findIndex((q, i) => k >= q && k < QUARTERS[i + 1]);
}
const quarterBegin = q => Math.pow(2, Math.floor(q / 4)) * (1 + QUARTERS[q - 4 * Math.floor(q / 4)] / 16);

function buckets(l) {
	const dirs = l.dirs.filter(d => d.n), first = quarter(l.edge[0]), n = quarter(l.edge[l.edge.length - 2]) - first + 1;
	const edge = [...Array(n + 1).keys()].map(k => quarterBegin(first + k));
	const count = dirs.map(d => {
		const c = Array(n).fill(0);
		d.count.forEach((v, k) => { c[quarter(l.edge[k]) - first] += v; });
		return c;
	});
	return { edge, dirs, share: count.map((c, i) => c.map(v => 100 * v / dirs[i].n)) };
}

function latencyRows(b) {
	const sum = b.dirs.map(() => 0), n = b.edge.length - 1;
	const rows = b.edge.slice(0, n).map((v, k) => [v, ...b.share.map((s, i) => {
		sum[i] += s[k];
		return cumulative ? sum[i] : s[k];
	})]);
	return [[b.edge[0] / 1.1, ...b.dirs.map(() => 0)], ...rows, [b.edge[n], ...b.dirs.map(() => cumulative ? 100 : 0)]];
}

/* Draws a line at p50 and at p99 of each direction, with its value beside it. */
function percentileMarks(dirs) {
	return (ctx, area, g) => {
		const [lo, hi] = g.xAxisRange(), right = area.x + area.w, texts = [];
		ctx.save();
		ctx.font = '11px system-ui, sans-serif';
		dirs.forEach((d, row) => ['p50', 'p99'].forEach((name, k) => {
			const x = area.x + area.w * Math.log(d[name] / lo) / Math.log(hi / lo), text = name + ' ' + ns(d[name]);
			const w = ctx.measureText(text).width, color = css(dirVar[d.dir]);
			if (!(x >= area.x && x <= right)) return;
			ctx.strokeStyle = color;
			ctx.setLineDash(k ? [2, 3] : [5, 3]);
			ctx.beginPath();
			ctx.moveTo(x, area.y);
			ctx.lineTo(x, area.y + area.h);
			ctx.stroke();
			texts.push([text, x + w + 6 > right ? x - w - 4 : x + 4, area.y + 11 + 14 * (row * 2 + k), w, color]);
		}));
		for (const [text, x, y, w, color] of texts) {
			ctx.fillStyle = css('--card');
			ctx.fillRect(x - 2, y - 10, w + 4, 13);
			ctx.fillStyle = color;
			ctx.fillText(text, x, y);
		}
		ctx.restore();
	};
}

function latency() {
	const all = data.arms.map(a => a.lat && buckets(a.lat)), known = all.filter(Boolean), mine = [];
	const lo = Math.min(...known.map(b => b.edge[0])), hi = Math.max(...known.map(b => b.edge[b.edge.length - 1]));
	/* A narrow range has no tick. */
	const window = hi < lo * 3 ? [lo / 1.6, hi * 1.6] : [lo / 1.1, hi];
	const most = () => headroom(cumulative ? 100 : Math.max(...known.flatMap(b => b.share.flat())));
	const body = panels((a, i) => {
		const b = all[i];
		if (!b) return none('No command of this capture has a known latency.');
		const out = lines('latency-' + i, {
			rows: latencyRows(b), names: b.dirs.map(d => dirName[d.dir]), colors: b.dirs.map(d => dirVar[d.dir]),
			log: true, window, top: most(), under: percentileMarks(b.dirs), label: 'Distribution of latencies, ' + a.label,
			xlabel: 'latency, logarithmic', tick: v => trim(ns(v)), x: (v, k) => k && b.edge[k] ? `${ns(v)} to ${ns(b.edge[k])}` : ns(v),
			ylabel: 'share of commands (%)', ytick: v => String(+v.toFixed(2)), y: v => v.toFixed(2) + '\u00a0%',
		});
		mine.push([newest(), b]);
		return [out, table(a.tables.latency, NUMBERS)];
	});
	const choose = ['Distribution', 'Cumulative'].map((t, k) => el('button', { type: 'button', 'aria-pressed': String(!k) }, t));
	choose.forEach((button, k) => button.addEventListener('click', () => {
		cumulative = k === 1;
		choose.forEach((c, j) => c.setAttribute('aria-pressed', String(j === k)));
		mine.forEach(([chart, b]) => chart.replace(latencyRows(b), most()));
	}));
	section('latency', 'Latency', 'How long a command takes',
		'From the driver to the completion. Share of the reads or writes that took so long; dashed lines mark p50 and p99.',
		known.length > 0 && el('div', { class: 'switch', role: 'group', 'aria-label': 'Kind of picture' }, choose), body);
}
