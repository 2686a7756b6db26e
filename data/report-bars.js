/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures that are no lines: places on the drive, objects over time, requests, shards. */
'use strict';

/* Ticks below or above a picture that is as wide as its span. */
function xAxis(at, span, u) {
	return el('div', { class: 'ticks-x' }, at.map(v => {
		const p = 100 * v / span;
		return el('span', { class: p < 3 ? 'first' : p > 97 ? 'last' : '', style: { left: p + '%' } }, u.text(v));
	}));
}

/* ---- where on the drive ---- */

/* Counts of reads and of writes; cells are put together where so few are filled that a lonely one would not be seen. */
function grid(m) {
	const filled = m.dirs.reduce((n, cells) => n + cells.length / 2, 0), merge = filled < 400 ? 2 : 1;
	const nx = Math.ceil(m.nx / merge), ny = Math.ceil(m.ny / merge);
	const count = m.dirs.map(cells => {
		const c = new Float64Array(nx * ny);
		/* So many empty cells, then a count, and so on. */
		for (let i = 0, at = 0; i < cells.length; i += 2, at++) {
			at += cells[i];
			c[Math.floor(Math.floor(at / m.nx) / merge) * nx + Math.floor(at % m.nx / merge)] += cells[i + 1];
		}
		return c;
	});
	let most = 1;
	for (let i = 0; i < nx * ny; i++) most = Math.max(most, count[0][i] + count[1][i]);
	return { nx, ny, count, most, xstep: m.xstep * merge, ystep: m.ystep * merge };
}

/* The hue of a cell tells reads from writes, its strength how many they are. */
function paint(canvas, g) {
	const image = canvas.getContext('2d').createImageData(g.nx, g.ny), color = [0, 1].map(d => rgb(css(dirVar[d])));
	for (let i = 0; i < g.nx * g.ny; i++) {
		const r = g.count[0][i], n = r + g.count[1][i], y = Math.floor(i / g.nx);
		const to = ((g.ny - 1 - y) * g.nx + i % g.nx) * 4;
		if (!n) continue;
		for (let k = 0; k < 3; k++) image.data[to + k] = (r * color[0][k] + (n - r) * color[1][k]) / n;
		image.data[to + 3] = 255 * (g.most > 1 ? .45 + .55 * Math.log(n) / Math.log(g.most) : 1);
	}
	canvas.getContext('2d').putImageData(image, 0, 0);
}

/* Reads and writes in ten bands of the drive, for the table. */
function bands(m, g) {
	const height = g.ny * g.ystep / 10, at = b => bytesTick(m.lo + b * height, height / 4);
	const sum = (c, b) => c.slice(Math.ceil(b * g.ny / 10) * g.nx, Math.ceil((b + 1) * g.ny / 10) * g.nx).reduce((x, y) => x + y, 0);
	return {
		caption: 'Commands by place on the drive, in ten bands' + (m.device ? ', ' + m.device : ''),
		cols: [['bytes from the start', 'text'], ['reads', 'n'], ['writes', 'n']],
		rows: [...Array(10).keys()].map(b => [`${at(b)} to ${at(b + 1)}`, ...g.count.map(c => sum(c, b))]),
	};
}

function map(a, i) {
	const m = a.lba;
	if (!m) return none('No command of this capture has a place on the drive.');
	const g = grid(m), span = g.nx * g.xstep, height = g.ny * g.ystep, u = timeUnit(span);
	const ys = ticks(m.lo, m.lo + height, 6, 'bytes'), ystep = ys.length > 1 ? ys[1] - ys[0] : height;
	const canvas = el('canvas', { width: g.nx, height: g.ny, role: 'img', 'aria-label': `Place on the drive over time, ${a.label}` });
	const values = el('p', { class: 'values', 'aria-hidden': 'true' });
	const rest = () => values.replaceChildren(
		`A cell is ${ns(g.xstep)} by ${show.bytes(g.ystep)}; the fullest holds ${thousands(g.most)} command${g.most === 1 ? '' : 's'}.`);
	canvas.addEventListener('mousemove', e => {
		const r = canvas.getBoundingClientRect(), x = Math.floor((e.clientX - r.left) / r.width * g.nx);
		const y = g.ny - 1 - Math.floor((e.clientY - r.top) / r.height * g.ny);
		const words = g.count.map((c, d) => c[y * g.nx + x] > 0 && `${thousands(c[y * g.nx + x])} ${dirName[d]}`);
		values.replaceChildren(number(x * g.xstep, 'ns'), ' at ', number(m.lo + y * g.ystep, 'bytes'), ': ',
			words.filter(Boolean).join(', ') || 'nothing');
	});
	canvas.addEventListener('mouseleave', rest);
	rest();
	const redraw = () => paint(canvas, g);
	charts.push({ id: 'lba-' + i, open: redraw, redraw, resize() {}, drawn: () => pixels(canvas, [0, 1].map(d => css(dirVar[d]))) });
	return [
		m.devices > 1 && el('p', { class: 'small soft' }, `${m.device} only, which has most of the commands of ${m.devices} devices.`),
		m.no_place > 0 && el('p', { class: 'small soft' }, `${thousands(m.no_place)} commands have no place.`),
		el('div', { class: 'map' },
			el('div', { class: 'ticks-y' }, ys.map(v => el('span', { style: { bottom: 100 * (v - m.lo) / height + '%' } }, bytesTick(v, ystep)))),
			canvas, xAxis(ticks(0, span, 7), span, u), el('div', { class: 'axis-name' }, `time since the first command (${u.unit})`)),
		values, table(bands(m, g), NUMBERS),
	];
}

/* ---- objects ---- */

/* On paper there are no more lines than these. */
const PAPER_LINES = 60;
/* The end of a key tells objects apart. */
const tail = key => [...key].length > 16 ? '\u2026' + [...key].slice(-14).join('') : key;
const place = (from, to, span) => ({ left: 100 * from / span + '%', width: 100 * Math.max(to - from, 0) / span + '%' });

function objectLine(r, k, span) {
	const far = k >= PAPER_LINES ? ' beyond' : '', all = place(r.begin, r.end, span);
	const tip = `${r.op} ${r.key}\n${ns(r.begin)} + ${ns(r.end - r.begin)}, ${show.bytes(r.bytes)}, ${r.cmds} commands` +
		(r.error ? '\n' + r.error : '');
	return [
		el('div', { class: 'who' + far + (r.error ? ' fail' : ''), title: tip }, r.error ? '\u2717 ' : '', `${r.op} ${tail(r.key)}`),
		el('div', { class: 'row' + far, title: tip }, el('i', { class: r.error ? 'c-bad' : 'c-wait', style: all }),
			r.first !== null && el('i', { class: dirClass[r.dir], style: place(r.first, r.last, span) })),
	];
}

function slowest(rows) {
	return {
		caption: 'The slowest of those drawn',
		cols: [['', 'text'], ['begin', 'ns'], ['took', 'ns'], ['bytes', 'bytes'], ['commands', 'n'], ['error', 'text']],
		rows: [...rows].sort((p, q) => q.end - q.begin - (p.end - p.begin)).slice(0, 20)
			.map(r => [`${r.op} ${r.key}`, r.begin, r.end - r.begin, r.bytes, r.cmds, r.error || '']),
	};
}

function objects(a, i) {
	const rows = a.objects.rows.map(([op, dir, key, begin, end, first, last, bytes, cmds, error]) =>
		({ op, dir, key, begin, end, first, last, bytes, cmds, error }));
	if (!rows.length) return none('No operation of the application is in this capture.');
	const span = Math.max(...rows.map(r => r.end), 1), u = timeUnit(span), at = ticks(0, span, 6);
	const box = el('div', { class: 'gantt' }, rows.map((r, k) => objectLine(r, k, span)));
	box.style.setProperty('--grid', 100 * (at.length > 1 ? at[1] : span) / span + '%');
	const left = a.objects.total - rows.length;
	return [
		el('p', { class: 'small soft' }, left > 0 ?
			`The first ${thousands(rows.length)} of ${thousands(a.objects.total)} operations; ${thousands(left)} later ones are left out.` :
			`All ${thousands(a.objects.total)} operations.`),
		el('div', { class: 'gantt-axis' }, el('span', { class: 'axis-name' }, `time (${u.unit})`), xAxis(at, span, u)),
		el('div', { class: 'scroll', role: 'region', 'aria-label': `Operations over time, ${a.label}` }, bars('objects-' + i, box)),
		rows.length > PAPER_LINES && el('p', { class: 'small soft onpaper' }, `On paper only the first ${PAPER_LINES}.`),
		table(slowest(rows), NUMBERS), a.tables.objects && table(a.tables.objects, 'All operations, by kind'),
		a.errors.length > 0 && el('details', {}, el('summary', {}, 'What went wrong'), el('ul', {}, a.errors.map(e => el('li', {}, e))),
			a.errors_left > 0 && el('p', {}, `and ${thousands(a.errors_left)} more texts`)),
	];
}

/* ---- requests ---- */

const parts = [['c-p4', 'wait before the first command'], ['c-p5', 'gaps between submissions'], ['c-p1', 'device at work'],
	['c-p3', 'tail after the last completion'], ['c-idle', 'not explained']];

function requests(a, i) {
	const q = a.requests;
	if (!q) return none('No request of a serving engine is in this capture.');
	const words = (p, all) => p.map((v, k) => v > 0 && `${parts[k][1]} ${show.share(v / all)}`).filter(Boolean).join(', ');
	const box = el('div', {}, q.ops.map(([name, n, all, ...p]) => el('div', { class: 'cycle' },
		el('div', { class: 'small' }, el('b', {}, name), ` \u00d7${thousands(n)}, `, number(all / n, 'ns'), ' each on average'),
		stacked(p, parts, all), el('div', { class: 'small soft' }, words(p, all)))));
	return [
		bars('requests-' + i, box),
		q.shared > 0 && el('p', { class: 'small soft' },
			`${thousands(q.shared)} of them overlap another request: their parts hold that one\u2019s IO as well.`),
		table({
			caption: q.total > q.rows.length ? `The slowest ${q.rows.length} of ${thousands(q.total)} requests` : 'Every request, the slowest first',
			cols: [['request', 'text'], ['id', 'text'], ['took', 'ns'], ...parts.map(p => [p[1], 'ns']), ['objects', 'n'], ['bytes', 'bytes']],
			rows: q.rows,
		}, NUMBERS),
	];
}

/* ---- shards ---- */

const causes = [['c-p4', 'it began later'], ['c-p5', 'longer before its first command'], ['c-p1', 'its commands took longer'],
	['c-p3', 'longer between and behind its commands']];

function barrier(a, i) {
	const b = a.barrier;
	if (!b) return none('No chunk of this capture is moved by several shards.');
	/* Where the last shard was quicker a cause is negative: it has no length, but a line in the table. */
	const later = b.cause_ns.map(v => Math.max(v, 0));
	return [
		el('p', {}, `The last of ${b.shards} shards is ready `, number(b.p50, 'ns'), ` after the first (median of ${thousands(b.n)} chunks), p99 `,
			number(b.p99, 'ns'), '.', b.partial > 0 && ` ${thousands(b.partial)} chunks of some shards only are left out.`),
		el('div', { class: 'cycle' }, el('div', { class: 'small soft' }, 'why the last one was later'),
			bars('barrier-' + i, stacked(later, causes, later.reduce((x, y) => x + y, 0) || 1))),
		table({
			caption: 'Why the last shard was later; negative where it was quicker',
			cols: [['cause', 'text'], ['main cause of so many chunks', 'n'], ['of the wait', 'ns'], ['share', 'change']],
			rows: causes.map((c, k) => [c[1], b.cause_n[k], b.cause_ns[k], b.sum ? b.cause_ns[k] / b.sum : null]),
		}, NUMBERS),
		table({
			caption: 'How often a shard was the last one, and why',
			cols: [['shard', 'text'], ['chunks', 'n'], ['last', 'n'], ...causes.map(c => [c[1], 'n'])], rows: b.rows,
		}, 'Shard by shard'),
	];
}
