// `sluice replay`: reads logs, decides about every request again, and prints or writes what candidates would have done.
import { ALGORITHMS } from 'sluice'
import { createHmac, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Policy } from 'sluice'
import { clientAddress } from 'sluice/http'
import { loadConfig, type Config } from '@sluice/server'
import { openLog } from '../logs/input.ts'
import { reportOf } from '../report/report.ts'
import { ProgressBar } from '../terminal/progress.ts'
import { columnsOf, print, type Streams } from '../terminal/streams.ts'
import { LimitDecider, type Decider, type LogTime } from '../replay/decider.ts'
import { configMistake } from '../terminal/config-mistake.ts'
import { Mistake, unreadable } from '../terminal/mistake.ts'
import { algorithmsOf, limitsOf, listOf, logOptions, type LogFlags } from './log-flags.ts'
import { printed } from '../replay/print.ts'
import { Replay, type ReplayOptions } from '../replay/replay.ts'
import type { ReplayResult } from '../replay/result.ts'
import { run, type RunResult } from '../replay/run.ts'
import { requestReader, ServedDecider, type LogRequest } from '../replay/served.ts'
import { summaryOf, type SummaryOptions } from '../replay/summary.ts'
import { algorithmName, rateOf } from '../terminal/words.ts'

/** The flags of the command. */
export interface ReplayFlags extends LogFlags {
  readonly policy?: string
  readonly use?: string
  readonly by?: string
  readonly try?: string
  readonly algorithm?: string
  readonly json?: boolean
  readonly html?: string
  readonly showKeys?: boolean
}

/** Replays and gives the exit code: 0, 1 for a mistake in flags, policy or log, 2 when a file cannot be read. */
export async function replayCommand(
  files: readonly string[],
  flags: ReplayFlags,
  streams: Streams,
): Promise<number> {
  const result = await replayLogs(files, flags, streams)
  if (flags.html !== undefined) await writeFile(flags.html, reportOf(result))
  if (flags.json === true) print(streams.stdout, JSON.stringify(result, undefined, 2))
  else
    for (const line of printed(result, { columns: columnsOf(streams.stdout) }))
      print(streams.stdout, line)
  if (flags.html !== undefined) print(streams.stderr, `The report is in ${flags.html}.`)
  return result.input.stopped ? 130 : 0
}

/** Replays with the deciders that the flags ask for. Rejects with {@link Mistake}. */
export async function replayLogs(
  files: readonly string[],
  flags: ReplayFlags,
  streams: Streams,
): Promise<ReplayResult> {
  const log = logOptions(flags)
  const algorithms = algorithmsOf(flags.algorithm ?? 'token-bucket')
  const by = listOf(flags.by ?? 'ip')
  const curve =
    flags.html === undefined && flags.json !== true
      ? []
      : flags.algorithm === undefined
        ? ALGORITHMS
        : algorithms
  const common = { ...log, by, addressKey, sample: curve.length > 0 }
  const summary = { curve, ...(flags.showKeys === true ? {} : { nameOf: hashedNames() }) }
  if (flags.policy !== undefined) {
    if (flags.try !== undefined)
      throw new Mistake('both --policy and --try are given; accepted: one of them')
    const served = await servedPolicy(flags.policy, flags.use)
    const options = servedOptions([served], [...log.mapping.keys()])
    return replayWith(files, { ...common, ...options }, summary, streams)
  }
  if (flags.try === undefined)
    throw new Mistake(
      'there is nothing to try; accepted: --try 10/min,30/min, or --policy sluice.yaml',
    )
  const limits = limitsOf(flags.try, algorithms)
  const deciders = (time: LogTime): readonly Decider<never>[] =>
    limits.map(
      (limit) =>
        new LimitDecider(`${rateOf(limit)} ${algorithmName(limit.algorithm)}`, limit, time),
    )
  return replayWith(files, { ...common, deciders }, summary, streams)
}

async function replayWith<T>(
  files: readonly string[],
  options: ReplayOptions<T>,
  summary: SummaryOptions,
  streams: Streams,
): Promise<ReplayResult> {
  const { replay, runResult } = await readLogs(files, options, streams)
  return summaryOf(replay, { ...summary, ...runResult })
}

/** Opens the logs, replays them to their end and shows progress. Rejects with {@link Mistake}. */
export async function readLogs<T>(
  files: readonly string[],
  options: ReplayOptions<T>,
  { stdin, stderr, signal }: Streams,
): Promise<{ readonly replay: Replay<T>; readonly runResult: RunResult }> {
  const replay = new Replay(options)
  const names = files.length === 0 ? ['-'] : files
  const inputs = await Promise.all(
    names.map((file) =>
      openLog(file, stdin).catch((error: unknown) => {
        throw unreadable(file, error)
      }),
    ),
  )
  if (names.includes('-') && stdin.isTTY === true)
    print(
      stderr,
      'Reading the log from standard input: Ctrl+D ends it, Ctrl+C stops and prints the result so far.',
    )
  const bar = new ProgressBar(stderr)
  try {
    const runResult = await run(replay, inputs, {
      signal,
      onProgress: (progress) => bar.show(progress),
    })
    return { replay, runResult }
  } finally {
    bar.end()
  }
}

/** A policy and the configuration that it is served with. */
export interface Served {
  readonly name: string
  readonly policy: Policy
  readonly config: Config
}

/** Reads a policy from its file. Rejects with {@link Mistake} that lists every mistake. */
async function servedPolicy(file: string, use?: string): Promise<Served> {
  const { config, problems } = await loadConfig(file)
  if (config === undefined) throw configMistake(problems)
  const names = config.policies.map(({ name }) => name)
  const policy =
    use === undefined && names.length === 1
      ? config.policies[0]
      : config.policies.find(({ name }) => name === use)
  if (policy === undefined)
    throw new Mistake(
      `${file} has ${use === undefined ? `${names.length} policies` : `no policy ${use}`}; accepted: --use ${names.join(', ')}`,
    )
  return { name: policy.name, policy, config }
}

/** How a replay decides by policies as they are served. */
export function servedOptions(
  served: readonly Served[],
  mapped: readonly string[],
): Pick<ReplayOptions<LogRequest>, 'deciders' | 'itemOf'> {
  return {
    deciders: (time) =>
      served.map(({ name, policy, config }) => new ServedDecider(name, policy, config, time)),
    itemOf: requestReader(served, mapped),
  }
}

const addresses = clientAddress()

/** The key that the library gives an address: an IPv6 address counts as its network. */
export function addressKey(address: string): string {
  return address.includes(':') ? (addresses.of(address).ip ?? address) : address
}

/** Names that tell clients apart within one report and say nothing about them elsewhere. */
export function hashedNames(
  secret: string = randomBytes(16).toString('hex'),
): (key: string) => string {
  return (key) => `#${createHmac('sha256', secret).update(key).digest('hex').slice(0, 10)}`
}
