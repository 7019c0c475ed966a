// `sluice diff`: what changes between two policy files, in words, and for whom in a log.
import { loadConfig, type Config } from '@sluice/server'
import { changesBetween, type Change } from '../diff/changes.ts'
import { effectOf, type Effect, type AffectedClient } from '../diff/effect.ts'
import { fitted } from '../terminal/fitted.ts'
import { configMistake } from '../terminal/config-mistake.ts'
import { Mistake } from '../terminal/mistake.ts'
import { print, type Streams } from '../terminal/streams.ts'
import { count, countOf, percent } from '../terminal/words.ts'
import { listOf, logOptions, type LogFlags } from './log-flags.ts'
import { addressKey, hashedNames, readLogs, servedOptions } from './replay.ts'
import { largest } from '../terminal/long-lists.ts'

/** The flags of the command. */
export interface DiffFlags extends LogFlags {
  readonly against?: readonly string[]
  readonly use?: string
  readonly by?: string
  readonly json?: boolean
  readonly showKeys?: boolean
}

/** What the command found. */
export interface DiffResult {
  readonly changes: readonly Change[]
  /** Only with a log. */
  readonly effect: Effect | null
  /** True when Ctrl+C ended the reading of the log. */
  readonly stopped: boolean
}

/** Compares and gives the exit code: 0, 1 for mistakes, 2 when a file cannot be read. */
export async function diffCommand(
  before: string,
  after: string,
  flags: DiffFlags,
  streams: Streams,
): Promise<number> {
  const result = await diffOf(before, after, flags, streams)
  if (flags.json === true) print(streams.stdout, JSON.stringify(result, undefined, 2))
  else for (const line of diffLines(result, flags.showKeys === true)) print(streams.stdout, line)
  if (result.stopped) print(streams.stderr, 'Stopped before the end of the log.')
  return result.stopped ? 130 : 0
}

async function diffOf(
  before: string,
  after: string,
  flags: DiffFlags,
  streams: Streams,
): Promise<DiffResult> {
  const [old, now] = await Promise.all([before, after].map(configOf))
  const changes = changesBetween(old!, now!)
  const { against = [] } = flags
  if (against.length === 0) return { changes, effect: null, stopped: false }
  const name = policyName(old!, now!, flags.use)
  const served = [old!, now!].map((config, i) => ({
    name: `${name} (${i === 0 ? 'old' : 'new'})`,
    policy: config.policies.find((policy) => policy.name === name)!,
    config,
  }))
  const log = logOptions(flags)
  const options = {
    ...log,
    by: listOf(flags.by ?? 'ip'),
    addressKey,
    ...servedOptions(served, [...log.mapping.keys()]),
  }
  const { replay, runResult } = await readLogs(against, options, streams)
  const nameOf = flags.showKeys === true ? (key: string) => key : hashedNames()
  return { changes, effect: effectOf(replay, nameOf), stopped: runResult.stopped }
}

async function configOf(file: string): Promise<Config> {
  const { config, problems } = await loadConfig(file)
  if (config === undefined) throw configMistake(problems)
  return config
}

function policyName(before: Config, after: Config, use: string | undefined): string {
  const both = after.policies
    .map(({ name }) => name)
    .filter((name) => before.policies.some((policy) => policy.name === name))
  if (use === undefined && both.length === 1) return both[0]!
  if (use !== undefined && both.includes(use)) return use
  if (both.length === 0)
    throw new Mistake('the two files have no policy of the same name to compare on the log')
  throw new Mistake(
    `${use === undefined ? `both files have ${both.length} policies` : `not both files have the policy ${use}`}; accepted: --use ${both.join(', ')}`,
  )
}

/** The result as lines for people. */
function diffLines({ changes, effect }: DiffResult, showsKeys: boolean): readonly string[] {
  const lines: string[] = []
  if (changes.length === 0) lines.push('Nothing changes in what is limited.')
  let place: string | undefined
  for (const { policy, rule, direction, message } of changes) {
    const here =
      policy === undefined
        ? 'service'
        : `policy ${policy}${rule === undefined ? '' : `, rule ${rule}`}`
    if (here !== place) lines.push(here)
    place = here
    lines.push(`  ${message}${direction === 'other' ? '' : ` [${direction}]`}`)
  }
  return effect === null ? lines : [...lines, '', ...effectLines(effect, showsKeys)]
}

function effectLines(effect: Effect, showsKeys: boolean): string[] {
  const { requests, clients, before, after, newlyRefused, freed } = effect
  const share = (value: number): string => percent(requests === 0 ? 0 : value / requests)
  const lines = [
    `On ${countOf(requests, 'request')} of ${countOf(clients, 'client')}: refused before ${count(before)} (${share(before)}), now ${count(after)} (${share(after)}).`,
    `Newly refused: ${countOf(newlyRefused, 'client')}. Freed: ${countOf(freed, 'client')}.`,
    ...touchedLines('refused more', effect.worse),
    ...touchedLines('refused less', effect.better),
  ]
  if (!showsKeys && effect.worse.length + effect.better.length > 0)
    lines.push('', 'Clients are shown as hashes; --show-keys shows who they are.')
  return lines
}

function touchedLines(title: string, touched: readonly AffectedClient[]): string[] {
  if (touched.length === 0) return []
  const width = Math.min(
    40,
    largest(
      touched.map(({ client }) => client.length),
      title.length,
    ),
  )
  const head = ['requests', 'before', 'now'].map((one) => one.padStart(10)).join('')
  return [
    '',
    `  ${fitted(title.toUpperCase(), width)}${head}`,
    ...touched.map(
      ({ client, requests, before, after }) =>
        `  ${fitted(client, width)}${[requests, before, after].map((one) => count(one).padStart(10)).join('')}`,
    ),
  ]
}
