// `npm run faults`: runs the scenarios at full length, a few side by side, and prints one table.
import { broken, type Slack } from './judge.ts'
import { runScenario } from './lab.ts'
import { clientKinds } from './orders.ts'
import { compilePods } from './pods.ts'
import { type Row, tableOf } from './report.ts'
import type { Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

const SIDE_BY_SIDE = 2
const slack: Slack = 1

const words = process.argv.slice(2)
const all: readonly Scenario[] = Object.values(scenarios).flat()
const chosen = all.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
)
const say = (line: string): void => void process.stderr.write(`${line}\n`)
const rows = new Map<Scenario, Row[]>()
const pods = await compilePods()
let problems = 0
let done = 0

async function run(scenario: Scenario): Promise<void> {
  try {
    const outcome = await runScenario(scenario, pods, { length: 'full', seed: 1 })
    say(`${++done} of ${chosen.length}: ${scenario.name}`)
    const made = clientKinds.map((client) => ({
      scenario: scenario.name,
      client,
      figures: outcome[client],
    }))
    rows.set(scenario, made)
    for (const { client, figures } of made) {
      for (const problem of [...broken(scenario, figures, slack), ...figures.errorTexts]) {
        problems += 1
        say(`  ${client}: ${problem}`)
      }
    }
  } catch (error) {
    problems += 1
    say(`${++done} of ${chosen.length}: ${scenario.name} did not run: ${String(error)}`)
  }
}

/** Those that keep the machine busy come last, one by one: next to another, the lab itself would be the fault. */
async function runAll(): Promise<void> {
  const waiting = chosen.filter(({ isAlone }) => isAlone !== true)
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next)
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  for (const scenario of chosen) if (scenario.isAlone === true) await run(scenario)
}

try {
  await runAll()
} finally {
  pods.remove()
}
console.log(tableOf(chosen.flatMap((scenario) => rows.get(scenario) ?? [])))
console.log(problems === 0 ? 'all figures kept' : `${problems} figures not kept`)
process.exitCode = problems > 0 ? 1 : 0
