// Reads a scenario from YAML or JSON, and makes one run for each algorithm and mode that it compares.
import { parse, YAMLParseError } from 'yaml'
import {
  ALGORITHMS,
  limit as limitOf,
  SluiceError,
  type AlgorithmName,
  type LimitInput,
} from 'sluice'
import { MODE_NAMES, type ModeName, type Scenario } from 'sluice/simulator'
import { Mistake } from '../terminal/mistake.ts'

/** What a scenario compares: each algorithm with each mode. */
interface Compared {
  readonly algorithms: readonly AlgorithmName[]
  readonly modes: readonly ModeName[]
}

/** What the flags say instead of the file. */
export interface ScenarioFlags {
  readonly algorithm?: string
  readonly mode?: string
  readonly pods?: string
  readonly seed?: string
}

/** A file that has been read: the scenario of each run. */
export interface ScenarioFile {
  readonly name: string
  readonly about: string
  readonly runs: readonly Scenario[]
}

/** Reads the text of a file. Throws {@link Mistake} for what is wrong with it, except inside of a scenario. */
export function readScenarioFile(file: string, text: string, flags: ScenarioFlags): ScenarioFile {
  const document = parsed(file, text)
  const { compare, ...given } = document as unknown as Scenario & { readonly compare?: unknown }
  const scenario: Scenario = {
    ...given,
    ...(flags.pods !== undefined && { pods: wholeNumberOf('--pods', flags.pods) }),
    ...(flags.seed !== undefined && { seed: wholeNumberOf('--seed', flags.seed) }),
  }
  const own = limitIn(file, scenario.limit)
  const { algorithms, modes } = comparedIn(file, compare)
  const chosen: Compared = {
    algorithms: namesOf('--algorithm', flags.algorithm, ALGORITHMS) ??
      algorithms ?? [own.algorithm],
    modes: namesOf('--mode', flags.mode, MODE_NAMES) ?? modes ?? [scenario.mode ?? 'strict'],
  }
  const runs = chosen.modes.flatMap((mode) =>
    chosen.algorithms.map((algorithm) => ({
      ...scenario,
      mode,
      limit: limitWith(own, algorithm),
    })),
  )
  return { name: scenario.name ?? file, about: scenario.about ?? '', runs }
}

function parsed(file: string, text: string): Record<string, unknown> {
  let document: unknown
  try {
    document = parse(text)
  } catch (error) {
    if (error instanceof YAMLParseError) throw new Mistake(`${file}: ${error.message}`)
    throw error
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new Mistake(`${file}: accepted: a scenario with lasts, limit and traffic`)
  return document as Record<string, unknown>
}

function limitIn(file: string, input: unknown): ReturnType<typeof limitOf> {
  try {
    return limitOf(input as LimitInput)
  } catch (error) {
    if (error instanceof SluiceError) throw new Mistake(`${file}: ${error.message}`)
    throw error
  }
}

/** The same numbers under another algorithm; one that knows no burst has none. */
function limitWith(limit: ReturnType<typeof limitOf>, algorithm: AlgorithmName): LimitInput {
  if (limit.algorithm === algorithm) return limit
  const { quota, window, burst } = limit
  try {
    return limitOf({ algorithm, quota, window, burst })
  } catch {
    return limitOf({ algorithm, quota, window })
  }
}

function comparedIn(file: string, compare: unknown): Partial<Compared> {
  if (compare === undefined) return {}
  if (typeof compare !== 'object' || compare === null)
    throw new Mistake(`${file}: compare; accepted: algorithms and modes, each a list or all`)
  const { algorithms, modes, ...others } = compare as Record<string, unknown>
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined)
    throw new Mistake(`${file}: compare.${unknown}; accepted: algorithms, modes`)
  const text = (value: unknown): string | undefined =>
    Array.isArray(value) ? value.join(',') : (value as string | undefined)
  return {
    ...withName('algorithms', namesOf(`${file}: compare.algorithms`, text(algorithms), ALGORITHMS)),
    ...withName('modes', namesOf(`${file}: compare.modes`, text(modes), MODE_NAMES)),
  }
}

function withName<K extends string, T>(name: K, value: T | undefined): { readonly [_ in K]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [_ in K]?: T }
}

function namesOf<T extends string>(
  what: string,
  text: string | undefined,
  accepted: readonly T[],
): readonly T[] | undefined {
  if (text === undefined) return undefined
  if (text === 'all') return accepted
  const names = text.split(',').map((name) => name.trim() as T)
  const wrong = names.find((name) => !accepted.includes(name))
  if (wrong !== undefined)
    throw new Mistake(`${what} has ${wrong}; accepted: ${accepted.join(', ')}, or all`)
  return names
}

function wholeNumberOf(flag: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Mistake(`${flag} is ${text}; accepted: a whole number`)
  return value
}
