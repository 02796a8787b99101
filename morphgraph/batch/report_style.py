"""How a report looks, and the script that draws its charts; both stand in the page itself."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2130; --quiet: #5d6478; --line: #dfe2ea; --head: #f4f5f9;
  --accent: #6d45e0; --good: #13734d; --bad: #b3261e; --bad-paper: #fdf1ef;
  --theirs: #8a5a00; --theirs-paper: #fdf7ea; --theirs-line: #d9a441;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0e1117; --ink: #e8eaf1; --quiet: #a3abbd; --line: #2c3342; --head: #171c27;
    --accent: #a78bfa; --good: #4fc596; --bad: #ff8a80; --bad-paper: #2a1618;
    --theirs: #f0c674; --theirs-paper: #211c12; --theirs-line: #8a6a2a;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body {
  margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 84rem; background: var(--paper);
  color: var(--ink); font: 15px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .4rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
section { margin-top: 2.8rem; padding-top: 1.4rem; border-top: 1px solid var(--line); }
p { margin: .4rem 0; max-width: 52rem; }
a { color: var(--accent); }
.quiet, .note { color: var(--quiet); }
.note { font-size: .87rem; max-width: 64rem; }
.tiles, nav ul { display: flex; flex-wrap: wrap; padding: 0; list-style: none; }
.tiles { gap: .75rem; margin: 1.4rem 0; }
.tiles li {
  min-width: 8.5rem; padding: .7rem 1.1rem; background: var(--head); border: 1px solid var(--line);
  border-radius: 10px;
}
.tiles b {
  display: block; font-size: 1.45rem; line-height: 1.25; font-variant-numeric: tabular-nums;
}
.tiles span { color: var(--quiet); font-size: .87rem; }
.tiles .bad { background: var(--bad-paper); border-color: var(--bad); }
.tiles .bad b { color: var(--bad); }
nav { font-size: .93rem; margin: 1rem 0; }
nav ul { gap: .25rem 1.2rem; margin: 0; }
.wide {
  width: fit-content; max-width: 100%; overflow-x: auto; margin: .8rem 0;
  border: 1px solid var(--line);
  border-radius: 10px;
}
table { border-collapse: separate; border-spacing: 0; font-size: .9rem; }
th, td {
  padding: .38rem .8rem; text-align: left; vertical-align: top; white-space: nowrap;
  overflow-wrap: break-word;
  border-bottom: 1px solid var(--line);
}
tbody tr:last-child > * { border-bottom: 0; }
thead th { background: var(--head); font-weight: 600; vertical-align: bottom; }
thead th.spread { text-align: center; color: var(--quiet); font-weight: 500; }
thead th.spread.named { border-left: 1px solid var(--line); }
th[scope=row] { font-weight: 500; background: var(--paper); }
.wide th:first-child {
  position: sticky; left: 0; z-index: 1; box-shadow: 1px 0 var(--line);
}
.wide th.spread:first-child { position: static; box-shadow: none; }
.stays { position: sticky; z-index: 1; background: var(--paper); }
thead .stays { background: var(--head); }
.name.long { white-space: normal; min-width: 14rem; max-width: 26rem; overflow-wrap: anywhere; }
.again { color: var(--quiet); opacity: .55; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.number small {
  display: block; font-weight: 400; color: var(--quiet); font-size: .8em; line-height: 1.3;
}
.best { font-weight: 700; }
.failed { color: var(--bad); font-weight: 600; }
.none { color: var(--quiet); }
tr.block > * { border-top: 2px solid var(--line); }
tbody tr:first-child.block > * { border-top: 0; }
tbody tr:hover > * { background: var(--head); }
.chart { margin: 1rem 0; }
.theirs {
  margin: 1.2rem 0; padding: .9rem 1.1rem 1rem; background: var(--theirs-paper);
  border: 1px dashed var(--theirs-line); border-left: 5px solid var(--theirs-line);
  border-radius: 4px 10px 10px 4px;
}
.theirs h3 { margin: 0 0 .2rem; color: var(--theirs); }
.theirs table { font-style: italic; }
.theirs .wide { border-color: var(--theirs-line); }
.theirs th, .theirs td { border-color: var(--theirs-line); background: var(--theirs-paper); }
.theirs thead th { font-style: normal; }
.failures { padding: 0; list-style: none; }
.failures > li {
  margin: .6rem 0; padding: .6rem 1rem; background: var(--bad-paper);
  border-left: 4px solid var(--bad); border-radius: 4px;
}
.alarm {
  padding: .8rem 1.1rem; background: var(--bad-paper); border-left: 4px solid var(--bad);
  border-radius: 4px; font-weight: 600;
}
pre, code { font: .85rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre {
  padding: .8rem 1rem; background: var(--head); border: 1px solid var(--line); border-radius: 8px;
  overflow-x: auto; white-space: pre-wrap;
}
details { margin: .8rem 0; }
summary { cursor: pointer; font-weight: 600; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1.4rem; }
dt { color: var(--quiet); max-width: 20rem; }
dd { margin: 0; }
.signatures li { margin: .3rem 0; }
@media (max-width: 640px) { body { padding: 1rem .8rem 3rem; } dl { grid-template-columns: 1fr; } }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .modebar { display: none; }
  .wide { overflow: visible; }
}
"""

NAMES_STAY = """
(function () {
  // All that names a row stays when its table is scrolled, if that leaves room for numbers.
  const place = () => document.querySelectorAll('.wide').forEach(wide => {
    const rows = Array.from(wide.querySelectorAll('tr')).filter(row => row.querySelector('.name'));
    if (!rows.length) return;
    const names = Array.from(rows[0].querySelectorAll('.name'));
    const widths = names.map(cell => cell.offsetWidth);
    const fits = widths.reduce((a, b) => a + b, 0) < wide.clientWidth / 2;
    rows.forEach(row => {
      let left = 0;
      row.querySelectorAll('.name').forEach((cell, number) => {
        cell.classList.toggle('stays', fits);
        cell.style.left = fits || number === 0 ? left + 'px' : '';
        left += widths[number];
      });
    });
  });
  place();
  window.addEventListener('resize', place);
})();
"""

SCRIPT = """
(function () {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const charts = Array.from(document.querySelectorAll('.chart'));
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const of = name => style.getPropertyValue(name).trim();
    return {
      'font.color': of('--ink'), 'font.family': getComputedStyle(document.body).fontFamily,
      'hoverlabel.bgcolor': of('--head'), 'hoverlabel.bordercolor': of('--line'),
      'hoverlabel.font.color': of('--ink')
    };
  };
  const drawn = charts.map(place => {
    const figure = JSON.parse(place.querySelector('script').textContent);
    const div = document.createElement('div');
    place.appendChild(div);
    Object.assign(figure.layout, {
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', autosize: true
    });
    const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: [
      'select2d', 'lasso2d', 'autoScale2d'] };
    return Plotly.newPlot(div, figure.data, figure.layout, options)
      .then(() => Plotly.relayout(div, colours())).then(() => div);
  });
  const again = () => drawn.forEach(wait => wait.then(div => Plotly.relayout(div, colours())));
  dark.addEventListener('change', again);
  Promise.all(drawn).then(() => document.documentElement.setAttribute('data-drawn', 'yes'));
})();
"""
