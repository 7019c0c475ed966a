// Every fault of the lab, through every client, at the length that its figures need. Counts are judged as they are;
// times only so far that nothing hangs: `npm run faults` judges them.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isLong } from '../length.ts'
import { clientKinds } from './orders.ts'
import { broken, type Slack } from './judge.ts'
import { type Outcome, runScenario } from './lab.ts'
import { compilePods, type Pods } from './pods.ts'
import { type Row, tableOf } from './report.ts'
import type { Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

// The scenarios mostly wait. Two tests, one for each client, share a scenario; up to three wait for their turn.
vi.setConfig({ maxConcurrency: 10 })
const slack: Slack = 20
const seed = 1
const rows: Row[] = []
let pods: Pods
beforeAll(async () => {
  pods = await compilePods()
}, 60_000)
afterAll(() => {
  pods.remove()
  console.log(tableOf(rows))
})

// The longest come last in the table and first here.
let turn: Promise<unknown> = Promise.resolve()

/** Runs a scenario, but never two of those that keep the machine busy. */
function run(scenario: Scenario): Promise<Outcome> {
  const start = (): Promise<Outcome> => runScenario(scenario, pods, { length: 'test', seed })
  if (scenario.isAlone !== true) return start()
  const outcome = turn.then(start)
  turn = outcome.catch(() => {})
  return outcome
}

describe.concurrent.each(Object.entries(scenarios).toReversed())('%s', (_, all) => {
  const chosen = (all as readonly Scenario[]).filter(({ isExtra }) => isLong || isExtra !== true)
  describe.each(chosen)('$name', (scenario) => {
    let outcome: Promise<Outcome> | undefined
    // Much of it may be the wait for the turn of one that must be alone.
    test.each(clientKinds)('through %s', { timeout: 600_000 }, async (client) => {
      outcome ??= run(scenario)
      const figures = (await outcome)[client]
      rows.push({ scenario: scenario.name, client, figures })
      expect([broken(scenario, figures, slack), figures.errorTexts]).toEqual([[], []])
    })
  })
})
