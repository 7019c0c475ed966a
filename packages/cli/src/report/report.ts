// The report of a replay: one HTML file that needs no network, made from the same data as the JSON.
import type { ReplayResult } from '../replay/result.ts'
import { count, countOf, instant, percent, period, span } from '../terminal/words.ts'
import { curveChart, groupsOf } from './curve-chart.ts'
import { page } from './page.ts'
import { peaksChart } from './peaks-chart.ts'
import { colourOf, MAX_SHOWN, shownOf, type Shown } from './shown.ts'
import { escaped } from './svg.ts'
import { candidateTable, victimTable } from './tables.ts'
import { timelineChart } from './timeline-chart.ts'

/** The whole file. */
export function reportOf(result: ReplayResult): string {
  const { input, verdict } = result
  const parts = [
    '<p class="over">Sluice replay</p>',
    `<h1>${escaped(verdict)}</h1>`,
    facts(result),
    ...(input.requests === 0 ? [] : body(result)),
    caveats(result),
    data(result),
  ]
  return page(
    escaped(`Replay of ${input.files[0]?.split('/').at(-1) ?? 'a log'}`),
    parts.join('\n'),
  )
}

function body(result: ReplayResult): string[] {
  const shown = shownOf(result)
  return [
    '<h2>Candidates</h2>',
    candidateTable(result),
    '<h2>Demand and refusals</h2>',
    '<p class="note">Grey: all requests. Lines: those that each candidate would have refused.</p>',
    `<figure tabindex="0">${timelineChart(result, shown)}${legend(shown, result.candidates.length)}</figure>`,
    ...result.peaks.map(
      (peaks) =>
        `<h2>Every client’s peak within ${span(peaks.window)}</h2><p class="note">Half of the clients never made more than ${countOf(peaks.p50, 'request')} within ${span(peaks.window)}, 99% never more than ${count(peaks.p99)}; the highest peak is ${count(peaks.max)}. Clients above a dashed line are over that limit at their peak.</p><figure tabindex="0">${peaksChart(peaks, shown)}</figure>`,
    ),
    ...curves(result),
    '<h2>Clients refused most</h2>',
    victimTable(result),
  ]
}

function facts({ input, clients, by, peaks }: ReplayResult): string {
  const { from, to, requests, lines, files, formats, badLines } = input
  const bad = badLines.reduce((sum, one) => sum + one.count, 0)
  const tiles: [string, string, string][] = [
    [
      'Requests',
      count(requests),
      `of ${countOf(lines, 'line')}${bad > 0 ? `, ${count(bad)} unreadable` : ''}`,
    ],
    ['Clients', count(clients), `by ${by.join(' and ')}`],
  ]
  if (from !== null && to !== null)
    tiles.push([
      'Time',
      span(to - from),
      `${instant(from).slice(0, 16)} to ${instant(to).slice(0, 16)} UTC`,
    ])
  for (const { window, p99 } of peaks.slice(0, 1))
    tiles.push(['99% of clients peak at', `${count(p99)}/${period(window)}`, 'or less'])
  tiles.push([
    'Log',
    files.length === 1 ? (files[0]!.split('/').at(-1) ?? '') : countOf(files.length, 'file'),
    formats.join(', '),
  ])
  return `<dl>${tiles.map(([name, value, more]) => `<div><dt>${name}</dt><dd${value.length > 14 ? ' class="long"' : ''}>${escaped(value)}<small>${escaped(more)}</small></dd></div>`).join('')}</dl>`
}

function legend(shown: readonly Shown[], candidates: number): string {
  const items = shown.map(
    ({ candidate, index }) =>
      `<li><i class="key" style="background:${colourOf(index)}"></i>${escaped(candidate.name)}</li>`,
  )
  if (candidates > MAX_SHOWN) items.push(`<li>${candidates - MAX_SHOWN} more in the table</li>`)
  return `<ul class="legend">${items.join('')}</ul>`
}

function curves(result: ReplayResult): string[] {
  return result.curves.map((curve) => {
    const quotas = result.candidates.flatMap(({ limit }) =>
      limit?.window === curve.window ? [limit.quota] : [],
    )
    const keys = groupsOf(curve).map(
      ({ names }, i) =>
        `<li><i class="key" style="background:${colourOf(i)}"></i>${names.join(', ')}</li>`,
    )
    const source = curve.isExact
      ? 'Computed from all requests.'
      : `Estimated from ${countOf(curve.clients, 'client')}, one in ${curve.oneIn} (${percent(1 / curve.oneIn)}), chosen at random.`
    return `<h2>From limit to refusals</h2><p class="note">What any limit per ${period(curve.window)} would refuse, by algorithm. Dotted: the limits that were tried. The scale of shares is stretched near 0. ${source}</p><div class="pair"><figure>${curveChart(curve, 'refusedShare', quotas)}</figure><figure>${curveChart(curve, 'clientShare', quotas)}</figure></div><ul class="legend">${keys.join('')}</ul>`
  })
}

function caveats({ caveats, input, hashed }: ReplayResult): string {
  const bad = input.badLines.map(
    ({ fault, count: faults, file, line }) =>
      `${countOf(faults, 'line')} left out: ${fault}, first at ${file}:${line}.`,
  )
  const items = [
    ...caveats.map(({ message }) => message),
    ...bad,
    ...(hashed ? ['Clients are shown as hashes that mean nothing outside of this report.'] : []),
  ]
  if (items.length === 0) return ''
  return `<h2>Keep in mind</h2><ul class="caveats">${items.map((item) => `<li>${escaped(item)}</li>`).join('')}</ul>`
}

/** The result itself, for programs. A script element ends at the first `</`, whatever surrounds it. */
function data(result: ReplayResult): string {
  return `<script type="application/json" id="result">${JSON.stringify(result).replaceAll('<', '\\u003c')}</script>`
}
