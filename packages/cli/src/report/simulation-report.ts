// The report of a simulation: one HTML file that needs no network, made from the same data as the JSON.
import type { SimulationResult } from 'sluice/simulator'
import { runName, type SimulationReport } from '../simulate/simulation.ts'
import { algorithmName, count, countOf, percent, rateOf, span } from '../terminal/words.ts'
import { page } from './page.ts'
import { linear, times } from './scale.ts'
import { colourOf, MAX_SHOWN } from './shown.ts'
import { axes, edges, escaped, tooltipArea, svgDocument, steps, type Frame } from './svg.ts'
import { table, type Cell } from './tables.ts'
import { largest } from '../terminal/long-lists.ts'

const frame: Frame = { width: 1040, height: 300, left: 64, right: 16, top: 32, bottom: 44 }

/** The whole file. */
export function simulationReport(report: SimulationReport): string {
  const { name, about, verdict, runs } = report
  const [first] = runs
  const parts = [
    '<p class="over">Sluice simulate</p>',
    `<h1>${escaped(verdict)}</h1>`,
    about === '' ? '' : `<p>${escaped(about)}</p>`,
    ...(first === undefined ? [] : body(runs, first)),
    `<script type="application/json" id="data">${JSON.stringify(report).replaceAll('<', String.raw`\u003c`)}</script>`,
  ]
  return page(escaped(`Simulation: ${name}`), parts.join('\n'))
}

function body(runs: readonly SimulationResult[], first: SimulationResult): string[] {
  return [
    facts(first),
    '<h2>Runs</h2>',
    `<p class="note">Ideal: one decider without latency, on the same requests. Peak: the most units of one key in any span of ${span(first.limit.window)}. Over by: units beyond what the algorithm allows in the worst span of any length; a bucket allows its burst and its refill, a fixed window two quotas around an edge.</p>`,
    runTable(runs),
    '<h2>Allowed over time</h2>',
    '<p class="note">Grey: all requests. Lines: those that each run allowed.</p>',
    `<figure tabindex="0">${chart(runs, 'allowed')}${legend(runs)}</figure>`,
    '<h2>Refused over time</h2>',
    `<figure tabindex="0">${chart(runs, 'refused')}${legend(runs)}</figure>`,
    '<h2>Bounds</h2>',
    boundTable(runs),
    '<h2>Keys refused most</h2>',
    keyTable(runs),
  ]
}

function facts({ limit, pods, decisions, retries, keys, lasts, seed }: SimulationResult): string {
  const tiles = [
    ['Requests', count(decisions), retries > 0 ? `${count(retries)} retries` : 'no retries'],
    ['Limit', rateOf(limit), 'for each key'],
    ['Keys', count(keys.count), `${count(keys.hit)} refused at least once`],
    ['Pods', count(pods), 'decide together'],
    ['Time', span(lasts), `seed ${seed}`],
  ]
  return `<dl>${tiles.map(([name, value, more]) => `<div><dt>${name}</dt><dd>${escaped(value!)}<small>${escaped(more!)}</small></dd></div>`).join('')}</dl>`
}

function runTable(runs: readonly SimulationResult[]): string {
  const head = [
    'mode',
    'algorithm',
    'allowed',
    'refused',
    'of requests',
    'ideal',
    'peak',
    'over by',
    'calls per decision',
    'p50',
    'p99',
  ]
  const rows = runs.map((run, i): Cell[] => {
    const { mode, limit, allowed, refused, decisions, ideal, peak, excess, latency } = run
    const share = decisions === 0 ? 0 : refused / decisions
    const calls = run.storeCallsPerDecision
    const colour = i < MAX_SHOWN ? `<i class="key" style="background:${colourOf(i)}"></i>` : ''
    return [
      [colour + mode, mode],
      [algorithmName(limit.algorithm), limit.algorithm],
      [count(allowed), allowed],
      [count(refused), refused],
      [percent(share), share],
      [count(ideal), ideal],
      [count(peak), peak],
      [count(excess), excess],
      [calls.toFixed(calls < 0.1 ? 4 : 2), calls],
      [`${latency.p50.toFixed(1)} ms`, latency.p50],
      [`${latency.p99.toFixed(1)} ms`, latency.p99],
    ]
  })
  return table('What each run did', head, rows, 2)
}

function boundTable(runs: readonly SimulationResult[]): string {
  const rows = runs.flatMap((run) =>
    run.bounds.map(({ about, units, measured, holds }): Cell[] => [
      [escaped(runName(run, runs)), runName(run, runs)],
      [escaped(about), about],
      [holds ? 'holds' : 'broken', holds ? 1 : 0],
      [count(measured), measured],
      [count(units), units],
    ]),
  )
  if (rows.length === 0) return '<p>These runs promise no bound.</p>'
  const head = ['run', 'counts of', 'bound', 'over by', 'at most']
  return table('What each run promises beyond the limit, and what it did', head, rows, 3)
}

function keyTable(runs: readonly SimulationResult[]): string {
  const rows = runs.flatMap((run) =>
    run.keys.worst.map(({ key, refused, requests, longestRefused }): Cell[] => [
      [`<code>${escaped(key)}</code>`, key],
      [escaped(runName(run, runs)), runName(run, runs)],
      [count(refused), refused],
      [count(requests), requests],
      [longestRefused === 0 ? '–' : span(longestRefused), longestRefused],
    ]),
  )
  if (rows.length === 0) return '<p>No key was refused.</p>'
  const head = ['key', 'run', 'refused', 'requests', 'longest refused']
  return table('The keys refused most', head, rows, 2)
}

function legend(runs: readonly SimulationResult[]): string {
  const items = runs
    .slice(0, MAX_SHOWN)
    .map(
      (run, i) =>
        `<li><i class="key" style="background:${colourOf(i)}"></i>${escaped(runName(run, runs))}</li>`,
    )
  if (runs.length > MAX_SHOWN) items.push(`<li>${runs.length - MAX_SHOWN} more in the table</li>`)
  return `<ul class="legend">${items.join('')}</ul>`
}

function chart(runs: readonly SimulationResult[], what: 'allowed' | 'refused'): string {
  const { step, demand } = runs[0]!.timeline
  const end = demand.length * step
  const { x: xs, y: ys } = edges(frame)
  const shown = runs.slice(0, MAX_SHOWN)
  const values = shown.map(({ timeline }) => timeline[what])
  const x = times(0, end, xs)
  const y = linear(largest([...demand, ...values.flat()], 0), ys)
  const outline = (counts: readonly number[]): string =>
    steps(
      counts.map((value, i) => [x(i * step), y(value)] as const),
      x(end),
    )
  const lines = values.map(
    (counts, i) => `<path class="line thin" style="stroke:${colourOf(i)}" d="${outline(counts)}"/>`,
  )
  const hits = demand.map((value, i) => {
    const rows = shown.map(
      (run, j) => `${runName(run, runs)}: ${count(values[j]![i] ?? 0)} ${what}`,
    )
    const tip = [`after ${span(i * step)}, ${span(step)}`, countOf(value, 'request'), ...rows]
    return tooltipArea(x(i * step), x((i + 1) * step) - x(i * step), frame, tip.join('\n'))
  })
  const grey = `<path class="demand" d="${outline(demand)}V${ys[0]}H${xs[0]}Z"/>`
  const drawn = [
    axes(
      frame,
      { scale: x, label: (tick) => (tick === 0 ? '0' : span(tick)), title: 'time since the start' },
      { scale: y, label: count, title: `requests in ${span(step)}` },
    ),
    grey,
    ...lines,
    ...hits,
  ]
  return svgDocument(frame, `Requests over time, and those that each run ${what}`, drawn.join(''))
}
