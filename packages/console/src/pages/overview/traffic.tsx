// Requests over time, in all or by the rules that refuse.
import { useState } from 'preact/hooks'
import { names, sumsOf, ticks } from '../../live.ts'
import { marksOf } from '../../marks.ts'
import { Chart, type Line } from '../../parts/chart.tsx'
import type { Tick } from '../../types.ts'

const RULE_COLOURS = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6']

export function Traffic() {
  const [isLog, setLog] = useState(false)
  const [isByRule, setByRule] = useState(false)
  const list = ticks.value
  const times = list.map(({ t }) => t / 1000)
  return (
    <section class="panel" aria-labelledby="traffic">
      <div class="bar">
        <h2 id="traffic">Requests a second</h2>
        <label class="toggle">
          <input type="checkbox" checked={isByRule} onChange={() => setByRule(!isByRule)} /> refused
          by rule
        </label>
        <label class="toggle">
          <input type="checkbox" checked={isLog} onChange={() => setLog(!isLog)} /> logarithmic
        </label>
      </div>
      <Chart
        title={isByRule ? 'Refused requests a second by rule' : 'Requests a second'}
        times={times}
        lines={isByRule ? refusedByRule(list) : totals(list)}
        marks={marksOf(list)}
        log={isLog}
        height={220}
      />
    </section>
  )
}

function totals(list: readonly Tick[]): readonly Line[] {
  const sum = (index: 1 | 2 | 4) =>
    list.map(({ rules }) => rules.reduce((total, counts) => total + counts[index], 0))
  const shadow = sum(4)
  return [
    { label: 'allowed', colour: '--allowed', values: sum(1), filled: true },
    {
      label: 'refused',
      colour: '--refused',
      values: sum(2).map((value, i) => value + list[i]!.blocked),
      filled: true,
    },
    ...(shadow.some((value) => value > 0)
      ? [{ label: 'would be refused (shadow, candidate)', colour: '--shadow', values: shadow }]
      : []),
  ]
}

function refusedByRule(list: readonly Tick[]): readonly Line[] {
  return names.value
    .map(({ rule }, place) => ({ rule, place, refused: sumsOf(list, place).refused }))
    .filter(({ refused }) => refused > 0)
    .toSorted((a, b) => b.refused - a.refused)
    .slice(0, RULE_COLOURS.length)
    .map(({ rule, place }, i) => ({
      label: rule === '' ? 'no rule' : rule,
      colour: RULE_COLOURS[i]!,
      values: list.map(({ rules }) => rules.find(([index]) => index === place)?.[2] ?? 0),
    }))
}
