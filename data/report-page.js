/* SPDX-License-Identifier: Apache-2.0 */
/* The page itself: verdict, comparison, all parts in their order; theme and paper. */
'use strict';

/* ---- verdict ---- */

/* What keeps the figures from being trusted: the first thing on the page. */
function banner(a, i) {
	const kinds = ['LOSSY', 'INCOMPLETE'].filter(k => a.warnings.some(w => w.startsWith(k)));
	if (!a.warnings.length) return;
	main.append(el('div', { class: 'banner bad', role: 'alert' },
		el('strong', {}, badge(i), two && a.label + ': ', kinds.join(' and ') || 'Read with care'),
		el('ul', {}, a.warnings.map(w => el('li', {}, glue(w).replace(/^(LOSSY|INCOMPLETE): /, ''))))));
}

/* The time with work: something in flight, or nothing. */
function timeBar(b) {
	const all = b.busy + b.idle, words = v => `${ns(v)}, ${show.share(v / all)}`;
	return el('div', { class: 'cycle' },
		el('div', { class: 'bar', role: 'img', 'aria-label': `${b.name}: in flight for ${ns(b.busy)}, nothing for ${ns(b.idle)}` },
			el('i', { class: dirClass[b.dir], style: share(b.busy, all) }), b.idle > 0 && el('i', { class: 'c-wait', style: share(b.idle, all) })),
		legend([[dirClass[b.dir], b.name + ': in flight', words(b.busy)],
			b.idle > 0 && ['c-wait', 'nothing in flight, though there is work', words(b.idle)]]));
}

function verdict(a, i) {
	const word = { bad: 'time is lost', good: 'no serial waiting', unsure: 'no verdict' }[a.level];
	return el('article', { class: 'card verdict ' + a.level, 'aria-label': 'Verdict on ' + a.label },
		el('p', { class: 'name' }, badge(i), el('span', {}, a.label), el('span', { class: 'mark ' + a.level }, word)),
		el('h2', {}, a.verdict),
		a.why.map(w => el('p', {}, glue(w.text), w.cost && el('strong', {}, ' ', glue(w.cost)),
			w.help && el('span', { class: 'soft' }, ' ', w.help))),
		a.bars.map(timeBar),
		el('dl', { class: 'tiles' }, a.tiles.map(([title, v, kind, note]) =>
			el('div', {}, el('dt', {}, title), el('dd', { class: 'num' }, put(v, kind), note && el('small', {}, glue(note)))))),
		a.pool > 0 && a.pool < a.commands && el('p', { class: 'small soft' },
			`Pictures over time are of all ${thousands(a.commands)} commands, figures of the ${thousands(a.pool)} that have a trace id.`));
}

/* ---- two captures ---- */

function times(x) {
	if (!(x > 0)) return '';
	if (x >= .995 && x < 1.005) return 'the same';
	return x > 1 ? '\u00d7\u2009' + show.ratio(x) : '\u00f7\u2009' + show.ratio(1 / x);
}

/* One figure of all captures. */
function figure(f) {
	const most = Math.max(...f.values);
	return el('div', { class: 'cycle' },
		el('div', { class: 'small' }, f.title, el('span', { class: 'soft' }, f.better < 0 ? ', less is better' : ', more is better')),
		f.values.map((v, i) => el('div', { class: 'figure' }, badge(i),
			el('div', { class: 'bar' }, v > 0 && el('i', { class: i ? 'c-p4' : 'c-other', style: share(v, most) })),
			el('span', { class: 'small' }, number(v, f.kind), i > 0 && v !== null && f.values[0] > 0 && ' ' + times(v / f.values[0])))));
}

/* What the same object costs against the first capture. */
function faster({ op, n, ratio }) {
	const [x, low, high] = ratio, up = x > 1, of = v => show.ratio(up ? v : 1 / v);
	const sure = low === null ? 'too few for an interval' : `95 % interval ${of(up ? low : high)} to ${of(up ? high : low)}`;
	const word = low !== null && low <= 1 && high >= 1 ? 'not shown to differ' : `${of(x)} times ${up ? 'slower' : 'faster'}`;
	return el('p', {}, 'The same ', op, ' is ', el('b', { class: 'num' }, word), `: median of ${thousands(n)}, ${sure}.`);
}

function againstTables(p, names) {
	const head = [names[0], names[p.arm]], plain = t => t.replace(/_/g, ' '), of = names.length > 2 ? letter(p.arm) + ': ' : '';
	return [
		table({
			caption: `Work of ${head[1]} and of ${head[0]}`, kinds: p.work.map(w => w.kind),
			cols: [['', 'text'], ...head.map(h => [h, 'n']), ['change', 'change'], ['equal', 'text']],
			rows: p.work.map(({ title, values: [a, b], differs }) =>
				[title, a, b, [a ? b / a - 1 : null, 'change'], [differs ? 'no' : 'yes', 'text']]),
		}, of + 'the work of both'),
		p.pairs.length > 0 && table({
			caption: 'Each object against itself: medians, and their 95 % intervals',
			cols: [['', 'text'], ['n', 'n'], ['faster', 'n'], ['slower', 'n'], ['ratio', 'ratio'], ['from', 'ratio'], ['to', 'ratio'],
				['difference', 'ns'], ['from', 'ns'], ['to', 'ns']],
			rows: p.pairs.map(r => [r.op, r.n, r.faster, r.slower, ...r.ratio, ...r.delta]),
		}, of + 'each object against itself'),
		p.ratios.length > 0 && table({
			caption: 'Ratios, with both their parts',
			cols: [['', 'text'], ['is', 'text'], ...head.flatMap(h => [[h, 'ratio'], ['parts', 'text']]), ['change', 'ratio']],
			rows: p.ratios.map(r => {
				const [a, b] = r.values, value = v => v[0] / v[1], both = v => `${thousands(v[0])} / ${thousands(v[1])}`;
				return [plain(r.name), plain(r.parts), value(a), both(a), value(b), both(b), value(b) / value(a)];
			}),
		}, of + 'ratios'),
	];
}

function compare() {
	const c = data.compare, names = data.arms.map(titled);
	section('compare', 'A/B', 'Side by side', `Each capture is held against the first, ${data.arms[0].label}.`,
		c.against.map(p => el('div', { class: 'panel' },
			el('p', {}, badge(p.arm),
				el('span', { class: 'mark ' + (p.comparable ? 'good' : 'bad') }, p.comparable ? 'equal work' : 'not equal work'),
				' ', glue(p.text)),
			p.pairs.map(faster))),
		el('div', { class: 'arms figures' + two }, c.figures.map(figure)),
		c.against.map(p => againstTables(p, names)));
}

/* ---- all of it ---- */

function account() {
	const cols = kind => [['', 'text'], ...data.arms.map((a, i) => [two ? titled(a, i) : '', kind])];
	const lossy = data.arms.some(a => a.warnings.length);
	section('account', 'Losses', 'What was recorded, and what was lost',
		lossy ? 'Events are missing or damaged: see the top of the page.' : 'Nothing is known to be missing.',
		table({
			caption: 'Every event of the recording is in this account', cols: cols('n'), kinds: data.account.numbers.map(r => r.kind),
			rows: data.account.numbers.map(r => [r.title, ...r.values]),
		}),
		data.arms.map((a, i) => a.tables.failures && [two && el('p', { class: 'name' }, titled(a, i)), table(a.tables.failures)]),
		table({ caption: 'The capture', cols: cols('text'), rows: data.account.words })).classList.add('long');
}

function build() {
	const some = f => data.arms.some(f), byId = id => document.getElementById(id);
	document.title = 'kvio report: ' + data.arms.map(a => a.label).join(', ');
	byId('percentiles').textContent = data.percentiles;
	byId('subject').textContent = data.arms.map((a, i) => titled(a, i) + (a.subject ? ': ' + a.subject : '')).join(' \u2003 ');
	data.arms.forEach(banner);
	main.append(el('div', { class: 'verdicts' + two, id: 'verdict' }, data.arms.map(verdict)));
	byId('nav').append(el('a', { href: '#verdict' }, 'Verdict'));
	if (data.left_out)
		main.append(el('p', { class: 'soft' }, `The first ${data.arms.length} captures; ${data.left_out} more are in the text report only.`));
	if (two) compare();
	depth();
	throughput();
	if (some(a => a.commands)) latency();
	if (some(a => a.lba))
		section('lba', 'Drive', 'Where on the drive',
			'Commands by place and time; the stronger the color, the more of them. A line is sequential, a cloud is random.',
			legend([['c-read', 'reads'], ['c-write', 'writes']]), panels(map));
	if (some(a => a.objects.total))
		section('objects', 'Objects', 'Objects', 'One line an operation of the application, in the order they began. ' +
			'The solid part is from its first command to its last completion.',
			legend([['c-read', 'load: device commands'], ['c-write', 'store: device commands'], ['c-wait', 'host only'],
				some(a => a.objects.rows.some(r => r[9])) && ['c-bad', 'failed']]),
			panels(objects)).classList.add('long');
	if (some(a => a.requests))
		section('requests', 'Requests', 'Where did my request go',
			'The time of the serving engine\u2019s requests, split by what happened in it. What is not explained is shown, too.',
			legend(parts), panels(requests));
	if (some(a => a.barrier))
		section('barrier', 'Shards', 'Waiting for the last shard', 'A chunk can be used when all of its shards are there.',
			legend(causes), panels(barrier));
	if (some(a => a.programs))
		section('layers', 'Bytes', 'Where the bytes went',
			'What the program moved by calls and requests, what the page cache, the block layer and the device moved for it, ' +
			'and what caused the commands where that is certain.',
			legend([['c-read', 'read'], ['c-write', 'written']]), panels(layers)).classList.add('long');
	if (some(a => a.programs && a.programs.syscalls))
		section('calls', 'Calls', 'System calls', 'Each call from entry to exit, by name, and the files with most bytes.',
			panels(callTables)).classList.add('long');
	if (some(a => a.programs && a.programs.uring))
		section('uring', 'io_uring', 'io_uring requests', 'Each request from submission to completion, by operation.',
			panels(uringTable)).classList.add('long');
	if (some(a => a.faults))
		section('faults', 'Faults', 'Page faults and read amplification',
			'Faults on mapped files; what came in from the device beside what was used of it, and beside what was useful.',
			panels(faultTables)).classList.add('long');
	if (some(a => a.containers))
		section('containers', 'Containers', 'Programs of containers',
			'The number that the host has for a program, which all other parts use, and the one that it has in its container.',
			panels(containerTable)).classList.add('long');
	account();
}

const isDark = () => document.documentElement.dataset.theme === 'dark';
function theme(dark) {
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	document.getElementById('theme').setAttribute('aria-pressed', String(dark));
	charts.forEach(c => c.redraw());
}
/* What scrolls has a place in the tab order, and nothing else that cannot be used. */
function reach() {
	for (const e of document.querySelectorAll('.wide, .scroll'))
		if (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight) e.tabIndex = 0;
		else e.removeAttribute('tabindex');
}
function resize() {
	charts.forEach(c => c.resize());
	reach();
}

function start() {
	const wish = matchMedia('(prefers-color-scheme: dark)');
	let width = innerWidth, before = false;

	theme(wish.matches);
	build();
	charts.forEach(c => c.open());
	reach();
	document.addEventListener('toggle', reach, true);
	wish.addEventListener('change', e => theme(e.matches));
	document.getElementById('theme').addEventListener('click', () => theme(!isDark()));
	addEventListener('resize', () => {
		if (innerWidth !== width) resize();
		width = innerWidth;
	});
	/* Paper is light, and as wide as it is. */
	addEventListener('beforeprint', () => {
		before = isDark();
		document.body.classList.add('paper');
		theme(false);
		resize();
	});
	addEventListener('afterprint', () => {
		document.body.classList.remove('paper');
		theme(before);
		resize();
	});
	/* For tests: how much of each picture is there. */
	if (location.hash === '#selftest')
		document.documentElement.dataset.drawn = charts.map(c => c.id + '=' + c.drawn()).join(' ');
}
start();
