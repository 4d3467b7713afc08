"""The look of the backtest's page: one style sheet, light and dark, from 320 px up."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --page: #fbfbfa; --card: #ffffff; --ink: #1b1e23; --soft: #5b6068; --line: #e3e5e8;
  --ours: #1f5fd6; --work: #d5e2fa; --other: #6d747e; --otherwork: #e6e8eb; --late: #b8430f; --hover: #1b1e2314; }
@media (prefers-color-scheme: dark) { :root { --page: #121417; --card: #1a1d21; --ink: #eceef0; --soft: #a3a9b2;
  --line: #30353b; --ours: #79a9ff; --work: #24385c; --other: #a1a8b2; --otherwork: #2b3037; --late: #ff935f;
  --hover: #ffffff1f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1.25rem 1rem 3rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .2rem; } h3 { font-size: 1rem; margin: 0; }
p { margin: .2rem 0; } .soft { color: var(--soft); font-size: .875rem; } .warn { color: var(--late); }
.num { font-variant-numeric: tabular-nums; white-space: nowrap; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem;
  min-width: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1rem 0; }
.tiles b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.bars { display: grid; gap: .55rem; margin-top: .6rem; }
.bar { display: grid; grid-template-columns: 15rem 1fr 15.5rem; gap: .1rem .9rem; align-items: center; }
.bar .track { height: .85rem; } .bar .fill { height: 100%; border-radius: .2rem; min-width: 2px; }
.bar.is-ours .name { font-weight: 700; } .bar .num { text-align: right; }
.fill { background: var(--other); } .is-ours .fill { background: var(--ours); }
.is-late .fill { background: repeating-linear-gradient(135deg, var(--late) 0 5px, transparent 5px 8px);
  border: 1px solid var(--late); }
.is-reference .fill { background: none; border: 1.5px dashed var(--other); }
.is-cut .fill { border-right: 0; border-radius: .2rem 0 0 .2rem;
  mask-image: linear-gradient(90deg, #000 82%, transparent); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: 1rem;
  margin-top: .8rem; }
.wide { grid-column: 1 / -1; }
.head { display: flex; justify-content: space-between; gap: .8rem; align-items: baseline; }
figure { margin: .7rem 0 0; } figcaption { color: var(--soft); font-size: .8rem; margin-left: 2.9rem; }
.plot { position: relative; height: 5.2rem; margin-left: 2.9rem; } .wide .plot { height: 9rem; }
.plot svg { display: block; width: 100%; height: 100%; overflow: hidden; }
.ys span { position: absolute; right: calc(100% + .4rem); transform: translateY(50%); }
.ys, .xs { color: var(--soft); font-size: .75rem; line-height: 1; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.xs { position: relative; height: 1.1rem; margin: .35rem 0 0 2.9rem; }
.xs span { position: absolute; transform: translateX(-50%); } .xs span:first-child { transform: none; }
.xs span.last { transform: translateX(-100%); }
polyline, line { fill: none; stroke-width: 1.6; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.grid { stroke: var(--line); stroke-width: 1; } .work { fill: var(--otherwork); } .edge { stroke: var(--other); }
.wait { fill: var(--other); stroke: var(--other); } .over { fill: var(--late); stroke: var(--late); }
.wait, .over { stroke-width: .7; vector-effect: non-scaling-stroke; }
.ours .work { fill: var(--work); } .ours .edge { stroke: var(--ours); } .ours .wait { fill: var(--ours);
  stroke: var(--ours); }
.target { stroke: var(--ink); stroke-dasharray: 5 4; stroke-width: 1.2; }
.hover { fill: transparent; } .hover:hover { fill: var(--hover); }
.scroll { overflow-x: auto; margin-top: .6rem; } table { border-collapse: separate; border-spacing: 0; width: 100%;
  font-size: .875rem; }
table { font-variant-numeric: tabular-nums; } th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; } tr.is-ours td { font-weight: 700; } .is-late td:nth-child(2) { color: var(--late); }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--card);
  white-space: normal; min-width: 8.5rem; }
ul { margin: .3rem 0; padding-left: 1.1rem; }
@media (max-width: 46rem) { .bar { grid-template-columns: minmax(0, 1fr) auto; }
  .bar .track { grid-column: 1 / -1; grid-row: 2; }
  .bar { font-size: .85rem; column-gap: .5rem; } .bar .soft { font-size: inherit; } .tiles b { font-size: 1.25rem; }
  .tiles { grid-template-columns: 1fr 1fr; } .wide .plot { height: 7rem; } }
@media print { .card { break-inside: avoid; } }
"""
