// Measures the table of added CPU: the contenders of one framework stand ready in processes of their own and take turns.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { interleaved } from '../lib/rounds.mjs'
import { median } from '../lib/statistics.mjs'
import { figure } from '../lib/table.mjs'

/** @typedef {import('./contenders.mjs').Contender} Contender */
/** @typedef {'memory' | 'memory, dual-stack' | 'memory, cold' | 'Redis'} Setting */
/** @typedef {{ framework: string, contender: string, setting: Setting, micros: number[] }} SpeedResult CPU µs per request, one number for each turn */
/** @typedef {{ turns: number, warmUp: number, millis: number, starts: number, redis: string }} Plan `millis`: CPU time of one turn of the bare framework; `starts`: processes for the cold figures */

/** Requests that show how quick a framework is. */
const PROBE = 500
/** Requests of a turn at least: in a shorter one, a single garbage collection is more than what is measured. */
const LEAST = 2000
/** The first requests of a process: what a short measurement, or a process that has just begun, pays. */
const COLD = 1000

/**
 * @param {readonly Contender[]} contenders
 * @param {Plan} plan
 * @param {(line: string) => void} progress
 * @returns {Promise<SpeedResult[]>}
 */
export async function measureSpeed(contenders, plan, progress) {
  const results = []
  for (const framework of new Set(contenders.map(({ framework }) => framework))) {
    const its = contenders.filter((one) => one.framework === framework)
    const limiting = its.filter(({ kind }) => kind !== 'floor')
    results.push(
      ...(await takeTurns(its, ['memory', 'memory, dual-stack'], plan, progress)),
      ...(await takeTurns(limiting, ['Redis'], plan, progress)),
      ...(plan.starts === 0 ? [] : await measureCold(its, plan, progress)),
    )
  }
  return results
}

/**
 * Each contender in processes that have just begun.
 * @param {readonly Contender[]} contenders of one framework
 * @param {Plan} plan
 * @param {(line: string) => void} progress
 */
async function measureCold(contenders, { starts }, progress) {
  const results = contenders.map(({ framework, name }) => {
    return /** @type {SpeedResult} */ ({
      framework,
      contender: name,
      setting: 'memory, cold',
      micros: [],
    })
  })
  for (const { round, cell: result } of interleaved(results, starts)) {
    const { framework, contender } = result
    const cell = await start({ framework, name: contender, warmUp: 0 })
    result.micros[round] = await cell.run(COLD, false)
    cell.stop()
  }
  const figures = results.map(({ contender, micros }) => `${contender} ${figure(median(micros))}`)
  progress(`${contenders[0]?.framework}, cold: ${figures.join(', ')} µs`)
  return results
}

/**
 * @param {readonly Contender[]} contenders of one framework
 * @param {readonly Setting[]} settings
 * @param {Plan} plan
 * @param {(line: string) => void} progress
 */
async function takeTurns(contenders, settings, { turns, millis, warmUp, redis }, progress) {
  const isRedis = settings.includes('Redis')
  const share = isRedis ? 4 : 1
  const cells = await Promise.all(
    contenders.map(({ framework, name }) =>
      start({ framework, name, warmUp: warmUp / share, ...(isRedis ? { redis } : {}) }),
    ),
  )
  // As many requests a turn for all, whether the framework is quick or slow.
  const first = (await cells[0]?.run(PROBE, false)) ?? 1
  const requests = Math.ceil(Math.max((millis * 1000) / first, LEAST))
  const results = []
  for (const setting of settings) {
    const measured = contenders.map(({ framework, name }, i) => ({
      cell: /** @type {Cell} */ (cells[i]),
      result: /** @type {SpeedResult} */ ({ framework, contender: name, setting, micros: [] }),
    }))
    for (const { round, cell } of interleaved(measured, turns))
      cell.result.micros[round] = await cell.cell.run(requests, setting === 'memory, dual-stack')
    results.push(...measured.map(({ result }) => result))
    progress(
      `${contenders[0]?.framework}, ${setting}: ${measured
        .map(({ result }) => `${result.contender} ${figure(median(result.micros))}`)
        .join(', ')} µs`,
    )
  }
  for (const cell of cells) cell.stop()
  return results
}

/** @typedef {{ run(requests: number, dual: boolean): Promise<number>, stop(): void }} Cell */

/** @param {import('./cell.mjs').CellInput} input @returns {Promise<Cell>} */
async function start(input) {
  const child = fork(fileURLToPath(new URL('./cell.mjs', import.meta.url)), [JSON.stringify(input)])
  await once(child, 'message')
  return {
    async run(requests, dual) {
      child.send({ requests, dual })
      const [{ micros }] = await once(child, 'message')
      return micros
    },
    stop: () => child.disconnect(),
  }
}
