'use strict';
(() => {
const SVG = 'http://www.w3.org/2000/svg';
const all = (what, where) => [...(where || document).querySelectorAll(what)];
const make = (tag, text, where) => {
  const x = document.createElement(tag);
  x.textContent = text;
  if (where) where.append(x);
  return x;
};
const draw = (tag, attributes, where) => {
  const x = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) x.setAttribute(name, value);
  where.append(x);
  return x;
};

// What the page was made from, to save.
const holder = document.getElementById('data');
const data = holder ? JSON.parse(holder.textContent) : {};
const course = data.course || {series: [], fine: []};
for (const link of all('a[download]')) {
  link.href = URL.createObjectURL(new Blob([holder.textContent], {type: 'application/json'}));
  link.hidden = false;
}

// What is folded opens when it is linked to, and on paper.
const unfold = () => {
  let x = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const target = x; x; x = x.parentElement)
    if (x.tagName === 'DETAILS' && !x.open) { x.open = true; target.scrollIntoView(); }
};
addEventListener('hashchange', unfold);
unfold();
let folded = [];
addEventListener('beforeprint', () => {
  folded = all('details:not([open])');
  for (const x of folded) x.open = true;
});
addEventListener('afterprint', () => { for (const x of folded) x.open = false; });

// Tables: sorted by a column, and by what their rows say.
const UNITS = {ns: 1e-9, us: 1e-6, '\u00b5s': 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400, B: 1,
  K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40, P: 2 ** 50, E: 2 ** 60};
const number = text => {
  if (/^\s*(-|none|)\s*$/.test(text)) return -Infinity;
  if (/\d:\d/.test(text)) return NaN;
  let sum = NaN, rest = text.replace(/,/g, '').trim();
  for (let m; (m = /^([-+]?[\d.]+)\s*(ns|us|\u00b5s|ms|s|m|h|d|[KMGTPE]i?B|B)?/.exec(rest));) {
    sum = (sum || 0) + m[1] * (m[2] ? UNITS[m[2]] || UNITS[m[2][0]] : 1);
    rest = rest.slice(m[0].length);
  }
  return sum;
};
for (const table of all('table')) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0], rows = [...body.rows];
  if (rows.length < 2 || rows.some(r => r.cells.length !== heads.length || !r.cells[0].textContent))
    continue;
  heads.forEach((head, column) => {
    const text = head.textContent;
    if (!text || all('svg', rows[0].cells[column]).length) return;
    head.textContent = '';
    make('button', text, head).addEventListener('click', () => {
      const up = head.ariaSort === 'descending';
      const keys = new Map(rows.map(r => {
        const said = r.cells[column].textContent;
        return [r, [number(said), said]];
      }));
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = up ? 'ascending' : 'descending';
      const order = (a, b) => {
        const [x, s] = keys.get(a), [y, t] = keys.get(b);
        const by = x === y || isNaN(x) || isNaN(y) ? s.localeCompare(t) : x - y;
        return up ? by : -by;
      };
      body.append(...[...rows].sort(order));
    });
  });
  if (rows.length < 20) continue;
  const filter = document.createElement('input');
  filter.type = 'search';
  filter.placeholder = 'Filter ' + rows.length + ' rows';
  filter.setAttribute('aria-label', 'Rows that hold');
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase();
    for (const r of rows) r.hidden = !r.textContent.toLowerCase().includes(words);
  });
  table.parentElement.before(filter);
}

// Charts over time share one cursor, and say what was at that time.
const rate = (v, bytes) => {
  if (v === null) return 'not known';
  if (!bytes) return v.toPrecision(4) * 1 + ' obj/s';
  let k = 0;
  for (; v >= 1024 && k < 5; k++) v /= 1024;
  return v.toPrecision(4) * 1 + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][k] + '/s';
};
const time = ms => ms === null ? '-' : ms < 1 ? (ms * 1e3).toPrecision(3) * 1 + 'us'
  : ms < 1e3 ? ms.toPrecision(3) * 1 + 'ms' : (ms / 1e3).toPrecision(4) * 1 + 's';
// The area that a drawing's axes enclose: [left, top, bottom, right].
const area = svg => {
  const own = svg.dataset;
  if (own.left) return ['left', 'top', 'bottom', 'right'].map(side => +own[side]);
  const border = /^M([\d.]+),([\d.]+) L\1,([\d.]+) L([\d.]+),\3 /;
  const found = all('path', svg).map(p => border.exec(p.getAttribute('d'))).filter(m => m);
  return found.length && [+found[0][1], Math.min(...found.map(m => m[2])), Math.max(...found.map(m => m[3])), +found[0][4]];
};
const reading = make('div', '', document.body);
reading.className = 'reading';
reading.hidden = true;
// Calls `say` with how far from left to right the pointer is, and shows the words that it returns; `leave` when it is gone.
// A tap does the same, and so do the arrow keys; `press` takes other keys.
const follow = (svg, [left, top, bottom, right], say, leave, press) => {
  const line = draw('line', {class: 'cursor', y1: top, y2: bottom}, svg);
  const hide = () => { reading.hidden = true; leave(); };
  let part = .5;
  const tell = (x, y) => {
    if (part < 0 || part > 1) return hide();
    reading.textContent = say(part).join('\n');
    reading.hidden = false;
    const room = document.documentElement.clientWidth - reading.offsetWidth - 8;
    reading.style.left = Math.max(4, Math.min(room, x + 14)) + 'px';
    reading.style.top = y + 14 + 'px';
  };
  const move = e => {
    const box = svg.getBoundingClientRect(), width = svg.viewBox.baseVal.width;
    part = ((e.clientX - box.left) / box.width * width - left) / (right - left);
    tell(e.clientX, e.clientY);
  };
  svg.addEventListener('pointermove', move);
  svg.addEventListener('pointerdown', move);
  svg.addEventListener('pointerleave', e => { if (e.pointerType !== 'touch') hide(); });
  svg.addEventListener('blur', hide);
  svg.tabIndex = 0;
  svg.addEventListener('keydown', e => {
    const by = {ArrowLeft: -.01, ArrowRight: .01}[e.key];
    if (!by && !(press && press(e.key, part))) return;
    e.preventDefault();
    const box = svg.getBoundingClientRect();
    part = Math.max(0, Math.min(1, part + (by || 0)));
    tell(box.left + (left + part * (right - left)) / svg.viewBox.baseVal.width * box.width, Math.max(0, box.top) + 40);
  });
  return part => {
    line.setAttribute('x1', left + part * (right - left));
    line.setAttribute('x2', left + part * (right - left));
    line.classList.toggle('on', part >= 0 && part <= 1);
  };
};
const charts = [];
const show = ms => {
  for (const c of charts) c.move(ms === null ? -1 : (ms - c.shown.from) / (c.shown.to - c.shown.from));
};
const at = (s, ms) => Math.max(0, Math.min(s.throughput.length - 1, Math.floor((ms - s.start_ms) / s.bin_ms)));
const latency = (s, k) => 'median ' + time(s.p50_ms[k]) + ', p99 ' + time(s.p99_ms[k]);
const first = course.series[0];
const dated = first && new Date(first.start_ms).getUTCDate() !== new Date(first.end_ms - 1).getUTCDate();
const clock = (ms, n) => new Date(ms).toISOString().replace('T', ' ').slice(dated ? 5 : 11, 11 + (n || 12));
// What is known of the k-th series: the shorter bins where a part of the time is shown.
const known = (k, shown) => (shown.part && course.fine[k]) || course.series[k];
const say = (n, ms, shown) => {
  const s = known(n, shown), k = at(s, ms), words = [clock(s.start_ms + k * s.bin_ms) + ' ' + s.op,
    rate(s.throughput[k], s.unit === 'bytes/s')];
  // Durations of different operations are no one distribution.
  if (s.p50_ms.some(v => v !== null)) words.push(latency(s, k));
  else for (let i = 1; n === 0 && i < course.series.length; i++) {
    const o = known(i, shown);
    if (o.p50_ms.length) words.push(o.op + ' ' + latency(o, at(o, ms)));
  }
  if (s.failed[k]) words.push(s.failed[k] + ' failed');
  if (s.in_flight[k] !== null) words.push(s.in_flight[k].toPrecision(3) * 1 + ' in flight');
  return words;
};
for (const svg of all('figure svg')) {
  const n = +svg.closest('figure').dataset.series, s = course.series[n];
  if (!s || !(svg.dataset.left || all('text', svg).some(t => /^\s*(seconds|minutes|hours|days)\b/.test(t.textContent))))
    continue;
  const inside = area(svg), shown = {from: s.start_ms, to: s.end_ms, part: false};
  if (!inside) continue;
  charts.push({svg, inside, shown, move: follow(svg, inside, part => {
    const ms = shown.from + part * (shown.to - shown.from);
    show(ms);
    return say(n, ms, shown);
  }, () => show(null), (key, part) => zoomBy(key, shown.from + part * (shown.to - shown.from)))});
}

// Dragging over a chart, or + and - around the cursor, shows a part of the time in all charts, with the shorter bins that
// the page has. The address names the part.
let zoomBy = () => false;
const digit = (least, digits) => {
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return power * (digits.find(d => d * power >= least * .9999) || 10);
};
const clockStep = ms => ms < 500 ? digit(ms, [1, 2, 5])
  : 1e3 * ([1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200].find(s => s * 1e3 >= ms) || 86400);
// Draws a panel's series anew, and its axis where they go beyond it.
const drawPanel = (panel, shown, x, [left, , , right]) => {
  let [top, height, least, most, isLog, unit, isCount] = panel.dataset.axis.split(' ').map(Number);
  const lines = all('[data-column]', panel).map(path => {
    const s = known(+path.dataset.series, shown), v = s[path.dataset.column], bins = [];
    for (let k = at(s, shown.from); k <= at(s, shown.to) && k < v.length; k++)
      bins.push([s.start_ms + k * s.bin_ms, k + 1 < v.length ? s.start_ms + (k + 1) * s.bin_ms : s.end_ms,
        v[k] === null ? null : v[k] / unit]);
    return {path, bins};
  });
  const values = lines.flatMap(l => l.bins.map(b => b[2])).filter(v => v !== null && (v > 0 || !isLog));
  if (!values.length) return;
  const greatest = Math.max(...values), smallest = Math.min(...values);
  const y = v => top + height * (1 - Math.max(0, Math.min(1, isLog ? Math.log(v / least) / Math.log(most / least) : (v - least) / (most - least))));
  if (greatest > most || smallest < least || (isCount && lines.length)) {
    most = isLog ? greatest * 1.15 : isCount ? greatest || 1 : Math.max(most, greatest * 1.05);
    least = isLog ? Math.min(least, smallest / 1.15) : 0;
    const ticks = panel.querySelector('.ticks'), at = [];
    if (isLog) {
      for (let p = 10 ** Math.floor(Math.log10(least)); p <= most; p *= 10)
        for (const d of height / Math.log10(most / least) >= 47 ? [1, 2, 5] : [1])
          if (d * p >= least && d * p <= most) at.push([d * p, time(d * p * unit)]);
    } else {
      const room = digit(most * 16 / height, [1, 2, 2.5, 5]), power = 10 ** Math.floor(Math.log10(most));
      // At least one tick above 0.
      const step = Math.max(isCount, room > most ? power * Math.floor(most / power) : room);
      for (let i = 0; i * step <= most * 1.0001; i++)
        at.push([i * step, most >= 1e4 && i ? +(i * step / 1e3).toPrecision(4) + 'k' : +(i * step).toPrecision(4)]);
    }
    ticks.replaceChildren();
    for (const [v, text] of at) {
      draw('path', {class: 'grid', d: `M${left} ${y(v)}H${right}`}, ticks);
      draw('text', {class: 'end', x: left - 6, y: y(v) + 4}, ticks).textContent = text;
    }
  }
  for (const {path, bins} of lines) {
    const bars = path.classList.value[0] === 'b';
    let d = '', pen = false;
    for (const [from, to, v] of bins) {
      if (v === null || (bars && !v)) pen = false;
      else if (bars) d += `M${x(from)} ${y(0)}H${Math.max(x(to), x(from) + 1)}V${y(v)}H${x(from)}z`;
      else { d += (pen ? 'V' : `M${x(from)} `) + y(v) + 'H' + x(to); pen = true; }
    }
    path.setAttribute('d', d);
  }
};
const drawClock = (axis, x, [left, , bottom, right], shown, width) => {
  const step = clockStep((shown.to - shown.from) / (right - left) * (dated ? 124 : 88));
  for (let ms = Math.ceil(shown.from / step) * step; ms < shown.to; ms += step) {
    draw('path', {class: 'grid', d: `M${x(ms)} ${bottom}v4`}, axis);
    if (x(ms) > left && x(ms) + 40 < width)
      draw('text', {class: 'mid', x: x(ms), y: bottom + 16}, axis).textContent = clock(ms, step < 1e3 ? 12 : step < 6e4 ? 8 : 5);
  }
};
// A picture of gnuplot is stretched: what its axes enclose, without words and with another axis of time.
const enlarge = (svg, id, [left, top, bottom, right], shown) => {
  const {width, height} = svg.viewBox.baseVal, span = shown.to - shown.from;
  const x = ms => left + (ms - shown.from) / span * (right - left), by = (first.end_ms - first.start_ms) / span;
  for (const text of all('text', svg)) {
    const at = /,([\d.]+)\)/.exec((text.closest('[transform]') || svg).getAttribute('transform'));
    if ((at && at[1] > bottom) || /^\s*([\d-]+ )?\d\d:\d\d/.test(text.textContent)) text.remove();
  }
  const lines = [...svg.children].filter(c => c.matches('g')).map(c => c.cloneNode(true)), part = draw('g', {class: 'part'}, svg);
  draw('rect', {x: left, y: top, width: right - left, height: bottom - top}, draw('clipPath', {id}, part));
  draw('rect', {x: left, y: top, width: right - left, height: bottom - top}, part);
  draw('rect', {x: 0, y: bottom + 1, width, height: height - bottom}, part);
  const inner = draw('g', {transform: `matrix(${by} 0 0 1 ${x(first.start_ms) - by * left} 0)`}, draw('g', {'clip-path': `url(#${id})`}, part));
  inner.append(...lines);
  for (const text of all('text, title', inner)) text.remove();
  drawClock(part, x, [left, top, bottom, right], shown, width);
};
const drawPart = ({svg, inside, shown, whole}) => {
  const [left, top, bottom, right] = inside, span = shown.to - shown.from, cursor = svg.querySelector('.cursor');
  svg.replaceChildren(...whole.map(x => x.cloneNode(true)), cursor);
  const id = 'part' + charts.findIndex(c => c.svg === svg);
  if (!shown.part) return;
  if (!svg.dataset.left) return enlarge(svg, id, inside, shown);
  const s = first, x = ms => left + (ms - shown.from) / span * (right - left);
  const stretch = (s.end_ms - s.start_ms) / span;
  draw('rect', {x: left, y: 0, width: right - left, height: bottom}, draw('clipPath', {id}, svg));
  for (const group of all('.time', svg)) {
    group.setAttribute('clip-path', `url(#${id})`);
    for (const path of group.children)
      if (path.matches('.band.s1, .band.s3')) path.remove(); // shorter bins are drawn instead
      else if (!path.dataset.column) path.setAttribute('transform', `matrix(${stretch} 0 0 1 ${x(s.start_ms) - stretch * left} 0)`);
  }
  for (const panel of all('.panel', svg)) drawPanel(panel, shown, x, inside);
  for (const mark of all('a', svg)) {
    const cx = +mark.querySelector('circle').getAttribute('cx');
    const to = x(s.start_ms) + stretch * (cx - left);
    mark.setAttribute('transform', `translate(${to - cx} 0)`);
    if (to < left || to > right) mark.remove();
  }
  svg.querySelector('.clock').replaceChildren();
  drawClock(svg.querySelector('.clock'), x, inside, shown, svg.viewBox.baseVal.width);
  const bins = all('[data-column]', svg).map(path => known(+path.dataset.series, shown).bin_ms).sort((a, b) => a - b);
  svg.querySelector('.bins').textContent = `${clock(shown.from)} to ${clock(shown.to)}; bins of ${time(bins[0])}` +
    (bins[bins.length - 1] > bins[0] ? ' to ' + time(bins[bins.length - 1]) : '');
};
const timeline = document.getElementById('timeline');
if (timeline && charts.length && (course.fine[0] || first.throughput.length > 40)) {
  const least = 4 * (course.fine[0] || first).bin_ms, span = first.end_ms - first.start_ms;
  const words = make('span', 'Drag over a part of the time, or press + and -, to enlarge it. ', timeline.querySelector('small'));
  const back = make('button', 'Show all of the time', timeline.querySelector('small'));
  const showPart = (from, to) => {
    from = Math.max(first.start_ms, from);
    to = Math.min(first.end_ms, to);
    const part = to - from < span;
    for (const c of charts) {
      Object.assign(c.shown, {from, to, part});
      drawPart(c);
    }
    show(null);
    reading.hidden = true;
    words.hidden = part;
    back.hidden = !part;
    if (part || location.hash.startsWith('#from='))
      history.replaceState(null, '', part ? `#from=${from.toFixed(3)}&to=${to.toFixed(3)}` : '#timeline');
  };
  const around = (middle, length) => showPart(middle - Math.max(length, least) / 2, middle + Math.max(length, least) / 2);
  const open = () => {
    const [, from, to] = /^#from=([\d.]+)&to=([\d.]+)$/.exec(location.hash) || [];
    if (+from < +to) showPart(+from, +to);
  };
  back.type = 'button';
  back.hidden = true;
  back.addEventListener('click', () => showPart(first.start_ms, first.end_ms));
  addEventListener('keydown', e => { if (e.key === 'Escape' && !back.hidden) back.click(); });
  zoomBy = (key, ms) => {
    const {from, to} = charts[0].shown;
    if (key !== '+' && key !== '-') return false;
    around(ms, (to - from) * (key === '+' ? .5 : 2));
    return true;
  };
  for (const c of charts) {
    const {svg, inside: [left, top, bottom, right], shown} = c;
    c.whole = [...svg.childNodes].filter(x => !x.classList.contains('cursor')).map(x => x.cloneNode(true));
    let began = null, box = null;
    const px = e => {
      const r = svg.getBoundingClientRect();
      return Math.max(left, Math.min(right, (e.clientX - r.left) / r.width * svg.viewBox.baseVal.width));
    };
    const ms = x => shown.from + (x - left) / (right - left) * (shown.to - shown.from);
    svg.addEventListener('pointerdown', e => {
      if (e.button || e.target.closest('a')) return;
      began = px(e);
      svg.setPointerCapture(e.pointerId);
      if (e.pointerType !== 'touch') e.preventDefault();
    });
    svg.addEventListener('pointermove', e => {
      if (began === null) return;
      box = box || draw('rect', {class: 'dragged', y: top, height: bottom - top}, svg);
      box.setAttribute('x', Math.min(began, px(e)));
      box.setAttribute('width', Math.abs(px(e) - began));
    });
    const end = e => {
      const [from, to] = [began, px(e)].sort((a, b) => a - b), dragged = began !== null && to - from > 5 && e.type === 'pointerup';
      began = null;
      if (box) box.remove();
      box = null;
      if (dragged) around((ms(from) + ms(to)) / 2, ms(to) - ms(from));
    };
    svg.addEventListener('pointerup', end);
    svg.addEventListener('pointercancel', end);
  }
  addEventListener('hashchange', open);
  open();
}

// A chart is saved as it is seen, with its style, its colours, and the marks that all charts share.
for (const figure of all('figure:has(figcaption):has(svg)')) {
  const save = make('button', 'Save as SVG', figure.querySelector('figcaption'));
  save.type = 'button';
  save.addEventListener('click', () => {
    const copy = all('svg', figure).find(s => s.checkVisibility()).cloneNode(true), {width, height} = copy.viewBox.baseVal;
    if (!copy.querySelector('defs')) copy.prepend(...all('figure defs').slice(0, 1).map(x => x.cloneNode(true)));
    draw('style', {}, copy).textContent = document.querySelector('style').textContent;
    for (const [name, value] of Object.entries({width, height, style: 'background:var(--card);font-family:sans-serif'}))
      copy.setAttribute(name, value);
    const colours = getComputedStyle(document.documentElement), link = make('a', '');
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)
      .replace(/var\((--[\w-]+)\)/g, (_, name) => colours.getPropertyValue(name))], {type: 'image/svg+xml'}));
    link.download = figure.id + '.svg';
    link.click();
  });
}

// Percentiles: what the share of the requests under the pointer took at most.
for (const figure of all('figure[data-readings]')) {
  const {steps, right, ...lines} = JSON.parse(figure.dataset.readings), moves = [];
  const move = part => { for (const m of moves) m(part); };
  for (const svg of all('svg', figure)) {
    const inside = area(svg);
    if (!inside) continue;
    moves.push(follow(svg, inside, part => {
      const k = Math.round(part * right * steps), nines = k / steps;
      move(nines / right);
      const words = [(100 - 10 ** (2 - nines)).toFixed(Math.max(1, Math.ceil(nines) - 1)) + ' % took at most'];
      for (const [name, line] of Object.entries(lines)) {
        const i = Math.min(k, line.length - 1), [ms, lo, hi] = line[i];
        words.push(name + ' ' + time(ms) + (hi === undefined ? '' : ' (95 % CI ' + time(lo) + ' to ' + time(hi) + ')') +
          (i < k ? ', the slowest' : ''));
      }
      return words;
    }, () => move(-1)));
  }
}
})();
