// `npm run coordination`: runs the scenarios with 8 processes, leased, synced and strict in turns, and prints one table.
import { markdownTable } from '../../bench/lib/table.mjs'
import { compileProgram } from '../compile.ts'
import { measure, type Measured } from './measure.ts'
import type { Missed, Mode } from './orders.ts'
import { scenarios } from './scenarios.ts'

const words = process.argv.slice(2)
const chosen = scenarios.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
)
const plan = { life: 1000, interval: 100, demand: 0.5 }
const hot = { burst: 500, rate: 2 }
const each = { burst: 50, rate: 0.2 }
const size = { members: 8, length: 6000 }

const HEAD =
  'scenario,used leased,used strict,bound,used synced,bound synced,admitted leased,admitted strict,share of strict,at least,synced of strict,from leases,missed leased,missed strict,calls leased,calls strict'

function rowOf(
  name: string,
  share: number | undefined,
  leased: Measured,
  synced: Measured,
  strict: Measured,
): string[] {
  return [
    name,
    leased.used.toFixed(1),
    strict.used.toFixed(1),
    `${leased.bound}`,
    synced.used.toFixed(1),
    synced.bound.toFixed(1),
    `${leased.admitted}`,
    `${strict.admitted}`,
    percent(rateOf(leased), rateOf(strict)),
    share === undefined ? '-' : percent(share, 1),
    percent(rateOf(synced), rateOf(strict)),
    percent(leased.leased, leased.admitted),
    missedOf(leased),
    missedOf(strict),
    `${leased.calls}`,
    `${strict.calls}`,
  ]
}

/** What was admitted of the requests that were sent: a busy machine sends fewer. */
function rateOf({ admitted, ideal }: Measured): number {
  return admitted / ideal
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`
}

function missedOf({ missed }: Measured): string {
  const sum = (what: keyof Missed): number => missed.reduce((all, one) => all + one[what], 0)
  return `${sum('refused')} / ${sum('undecided')} / ${sum('unsent')}`
}

const program = await compileProgram('test/coordination/member.ts')
const rows: string[][] = []
let broken = 0
try {
  for (const scenario of chosen) {
    const { name, isBursty, isOffAndOn = false, keys, share } = scenario
    const bucket = keys === 1 ? hot : each
    const run = (mode: Mode): Promise<Measured> =>
      measure(program, scenario, { ...plan, mode, isBursty, isOffAndOn, keys, bucket }, size)
    const [leased, synced, strict] = [await run('leased'), await run('synced'), await run('strict')]
    if ([leased, synced, strict].some(({ used, bound }) => used > bound)) broken += 1
    if (share !== undefined && rateOf(leased) < share * rateOf(strict)) broken += 1
    rows.push(rowOf(name, share, leased, synced, strict))
    process.stderr.write(`${rows.length} of ${chosen.length}: ${name}\n`)
  }
} finally {
  program.remove()
}
console.log('Used: the most that any span of length T admitted above rate * T.')
console.log(
  'Bound: the burst, and 1 ms of the rate, since the clock of the store shows milliseconds.',
)
console.log(
  'Share: admitted of what one bucket admits of the same requests. Missed: refused / not decided by the store / not sent.\n',
)
console.log(markdownTable(HEAD.split(','), rows))
if (broken > 0) console.error(`\n${broken} figures are not kept.`)
process.exitCode = broken > 0 ? 1 : 0
