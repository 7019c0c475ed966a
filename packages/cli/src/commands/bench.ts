// `sluice bench`: measures decisions with the user's own policy, on memory, on the user's own Redis, or on a service.
import { createInterface } from 'node:readline/promises'
import { loadConfig } from '@sluice/server'
import { limit as limitOf, type LimitInput, type Policy } from 'sluice'
import { attributesFor } from '../bench/attributes.ts'
import { measure, type Measured } from '../bench/load.ts'
import { modesOf, policyIn } from '../bench/modes.ts'
import { printedBench, type BenchReport } from '../bench/print.ts'
import {
  memoryTarget,
  redisTarget,
  serviceTarget,
  shownUrl,
  type RedisTarget,
  type Target,
} from '../bench/target.ts'
import { configMistake } from '../terminal/config-mistake.ts'
import { Mistake } from '../terminal/mistake.ts'
import { columnsOf, print, type Streams } from '../terminal/streams.ts'
import { countOf } from '../terminal/words.ts'

/** The flags of the command. */
export interface BenchFlags {
  readonly store?: string
  readonly service?: string
  readonly use?: string
  /** The coordination modes to measure on a Redis, with commas. */
  readonly modes?: string
  readonly seconds?: string
  readonly keys?: string
  readonly zipf?: string
  readonly concurrency?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** A minute of load is enough; a typing mistake must not cost an hour. */
const MAX_SECONDS = 60

/** Measures and returns the exit code. Rejects with {@link Mistake}. */
export async function benchCommand(
  file: string | undefined,
  flags: BenchFlags,
  streams: Streams,
): Promise<number> {
  const seconds = numberOf('--seconds', flags.seconds ?? '3', 0.1, MAX_SECONDS)
  const keys = numberOf('--keys', flags.keys ?? '1000', 1, 1_000_000, true)
  const zipf = numberOf('--zipf', flags.zipf ?? '1', 0, 10)
  const concurrency = numberOf('--concurrency', flags.concurrency ?? '64', 1, 10_000, true)
  const modes = modesOf(flags.modes)
  const policy = file === undefined ? defaultPolicy() : await policyOf(file, flags.use)
  const { signal } = streams
  const load = { seconds, next: attributesFor(policy, keys, zipf), signal }
  const results: Measured[] = []
  const run = async (target: Target, atOnce: number): Promise<void> => {
    try {
      results.push(await measure(target, { ...load, concurrency: atOnce }))
    } finally {
      await target.close()
    }
  }
  if (flags.service === undefined) await run(memoryTarget(policy), 1)
  else
    await run(
      serviceTarget(flags.service, file === undefined ? undefined : policy.name),
      concurrency,
    )
  if (flags.store !== undefined && !signal.aborted) {
    let isAllowed = false
    for (const mode of modes) {
      const policyInMode = policyIn(policy, mode)
      if (policyInMode === undefined || signal.aborted) continue
      const target = await redisTarget(flags.store, policyInMode, mode)
      isAllowed ||= await mayUseStore(target, flags, streams)
      if (!isAllowed) {
        await target.close()
        throw new Mistake('nothing was sent to the store')
      }
      await run(target, concurrency)
    }
  }
  const report: BenchReport = { policy: policy.name, keys, zipf, concurrency, results }
  if (flags.json === true) print(streams.stdout, JSON.stringify(report, undefined, 2))
  else
    for (const line of printedBench(report, columnsOf(streams.stdout))) print(streams.stdout, line)
  return signal.aborted ? 130 : 0
}

/** A store with other keys may be one that others need: the user decides. */
async function mayUseStore(
  { otherKeys }: RedisTarget,
  { store = '', yes }: BenchFlags,
  { stdin, stderr }: Streams,
): Promise<boolean> {
  if (otherKeys === 0 || yes === true) return true
  const warning = `${shownUrl(store)} holds ${countOf(otherKeys, 'key')} of others. The load may slow down its other users; the keys of the benchmark have a prefix of their own and are removed.`
  if (stdin.isTTY !== true) throw new Mistake(`${warning} Pass --yes to go on.`)
  const terminal = createInterface({ input: stdin, output: stderr as NodeJS.WriteStream })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${warning} Go on? [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

function defaultPolicy(): Policy {
  const limit = limitOf('100/min' as LimitInput)
  return { name: 'bench', rules: [{ name: 'per-key', by: ['key'], limit }] }
}

async function policyOf(file: string, use: string | undefined): Promise<Policy> {
  const { config, problems } = await loadConfig(file)
  if (config === undefined) throw configMistake(problems)
  const names = config.policies.map(({ name }) => name)
  const found = config.policies.find(({ name }) => name === (use ?? names[0]))
  if (found === undefined || (use === undefined && names.length > 1))
    throw new Mistake(`${file} has the policies ${names.join(', ')}; accepted: --use one of them`)
  return found
}

function numberOf(
  flag: string,
  text: string,
  least: number,
  most: number,
  isWhole = false,
): number {
  const value = Number(text)
  if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value
  throw new Mistake(
    `${flag} is ${text}; accepted: a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}`,
  )
}
