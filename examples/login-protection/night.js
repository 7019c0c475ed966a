// The night of a credential-stuffing attack, against three strategies, in simulated time.
// After `npm run build`, `node examples/login-protection/night.js` prints the table.
import { pathToFileURL } from 'node:url'
import { fakeClock } from 'sluice/testing'
import { attackers, ATTEMPTS, employees, OFFICE, SECONDS } from './people.js'
import { strategies } from './strategies.js'

/** Milliseconds that a password check takes. */
const HASHING = 250
const AFTERNOON = 8 * 60 * 60 * 1000

/** @typedef {{ strategy: string, attackReached: number, attackShare: number, accountsLost: number, employeesRefused: number }} Row */

/** Lives through the night with one strategy. @param {string} strategy @returns {Row} */
export function night(strategy) {
  const make = strategies[strategy]
  if (make === undefined) throw new Error(`there is no strategy named ${strategy}`)
  const clock = fakeClock(1_800_000_000_000)
  const mayTry = make(clock)
  // Somebody has logged in from the office in the afternoon.
  mayTry({ ip: OFFICE, account: 'employee-0' })?.(true)
  clock.advance(AFTERNOON)

  let attackReached = 0
  let accountsLost = 0
  /** @type {Set<number>} */
  const refused = new Set()
  /** Passwords that are being checked, the oldest first. @type {{ at: number, tell: () => void }[]} */
  const checking = []
  let now = 0
  const until = (/** @type {number} */ at) => {
    clock.advance(at - now)
    now = at
  }
  const tellUntil = (/** @type {number} */ at) => {
    for (let next = checking[0]; next !== undefined && next.at <= at; next = checking[0]) {
      until(next.at)
      next.tell()
      checking.shift()
    }
  }
  const attempts = [...attackers(), ...employees()].toSorted((a, b) => a.at - b.at)
  for (const { at, isRight, employee, ...who } of attempts) {
    tellUntil(at)
    until(at)
    const told = mayTry(who)
    if (told === null) {
      if (employee !== null) refused.add(employee)
      continue
    }
    checking.push({ at: at + HASHING, tell: () => told(isRight) })
    if (employee !== null) continue
    attackReached += 1
    if (isRight) accountsLost += 1
  }
  return {
    strategy,
    attackReached,
    attackShare: attackReached / ATTEMPTS,
    accountsLost,
    employeesRefused: refused.size,
  }
}

/** The table of all strategies. @param {readonly Row[]} rows */
export function table(rows) {
  const lines = rows.map(
    ({ strategy, attackReached, attackShare, accountsLost, employeesRefused }) =>
      `| ${strategy} | ${attackReached} (${(100 * attackShare).toFixed(1)} %) | ${accountsLost} | ${employeesRefused} of 500 |`,
  )
  return [
    '| strategy | attempts that reach the password check | accounts lost | employees refused |',
    '| --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(`${ATTEMPTS} attempts in ${SECONDS} s from 2000 addresses, 500 employees at one\n`)
  console.log(table(Object.keys(strategies).map(night)))
}
