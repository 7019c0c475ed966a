// Requests over time, in all or by the rules that refuse.
import { useState } from 'preact/hooks'
import { names, sumsOf, ticks } from '../../live.ts'
import { marksOf } from '../../marks.ts'
import { Chart, type Line } from '../../parts/chart.tsx'
import type { Tick } from '../../types.ts'
import { shown } from '../../words.ts'

const RULE_COLOURS = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6']

const VIEWS = [
  ['all', 'all requests'],
  ['refused', 'refused by rule'],
  ['allowed', 'allowed by rule'],
] as const
type View = (typeof VIEWS)[number][0]
const TITLES: Readonly<Record<View, string>> = {
  all: 'Requests a second',
  refused: 'Refused requests a second by rule',
  allowed: 'Allowed requests a second by rule',
}

export function Traffic() {
  const [isLog, setLog] = useState(false)
  const [view, setView] = useState<View>('all')
  const list = ticks.value
  return (
    <section class="panel" aria-labelledby="traffic">
      <div class="bar">
        <h2 id="traffic">Requests a second</h2>
        <fieldset class="segments" aria-label="What is drawn">
          {VIEWS.map(([name, label]) => (
            <label key={name}>
              <input
                type="radio"
                name="traffic"
                checked={view === name}
                onChange={() => setView(name)}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <label class="toggle">
          <input type="checkbox" checked={isLog} onChange={() => setLog(!isLog)} /> logarithmic
        </label>
      </div>
      <Chart
        title={TITLES[view]}
        times={list.map(({ t }) => t / 1000)}
        lines={view === 'all' ? totals(list) : byRule(list, view)}
        marks={marksOf(list)}
        log={isLog}
        height={240}
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
      ? [{ label: 'would be refused (on trial)', colour: '--shadow', values: shadow }]
      : []),
  ]
}

/** The rules that allowed or refused most, each as a line. */
function byRule(list: readonly Tick[], which: 'allowed' | 'refused'): readonly Line[] {
  return names.value
    .map(({ rule }, place) => ({ rule, place, sum: sumsOf(list, place)[which] }))
    .filter(({ sum }) => sum > 0)
    .toSorted((a, b) => b.sum - a.sum)
    .slice(0, RULE_COLOURS.length)
    .map(({ rule, place }, i) => ({
      label: rule === '' ? 'no rule' : shown(rule),
      colour: RULE_COLOURS[i]!,
      values: list.map(
        ({ rules }) => rules.find(([index]) => index === place)?.[which === 'allowed' ? 1 : 2] ?? 0,
      ),
    }))
}
