// Traps of `replaces`, over all files of one domain: a name that no limit has, and limits that switch each other off.
import type { FileTrap, FileWarning } from './notes.ts'
import { flattened, type PlacedDescriptor, type PlacedRateLimit } from './traps.ts'

/** The descriptors of a domain that are in one file. */
export interface DomainPart {
  readonly file: string
  readonly descriptors: readonly PlacedDescriptor[]
}

interface PlacedLimit {
  readonly file: string
  readonly path: string
  readonly rateLimit: PlacedRateLimit
}

/** The traps of `replaces` in one domain. */
export function replacesWarnings(parts: readonly DomainPart[]): readonly FileWarning[] {
  const limits = parts.flatMap(({ file, descriptors }) =>
    flattened(descriptors).flatMap(({ path, rateLimit }): PlacedLimit[] =>
      rateLimit === undefined ? [] : [{ file, path, rateLimit }],
    ),
  )
  return [...unknownNames(limits), ...circles(limits)]
}

function unknownNames(limits: readonly PlacedLimit[]): readonly FileWarning[] {
  const names = new Set(limits.map(({ rateLimit }) => rateLimit.name))
  return limits.flatMap((one) =>
    one.rateLimit.replaces
      .filter((name) => !names.has(name))
      .map((name) =>
        warningAt(one, 'replaces-nothing', `replaces "${name}", which is the name of no limit`),
      ),
  )
}

/** Limits that replace each other, directly or around others; each circle is reported at its first limit. */
function circles(limits: readonly PlacedLimit[]): readonly FileWarning[] {
  const replaced = new Map<string, readonly string[]>()
  for (const { rateLimit } of limits) {
    const { name = '', replaces } = rateLimit
    if (name !== '') replaced.set(name, [...(replaced.get(name) ?? []), ...replaces])
  }
  const reported = new Set<string>()
  return limits.flatMap((one) => {
    const { name = '', replaces } = one.rateLimit
    if (replaces.length === 0 || reported.has(name)) return []
    const circle = [...replacedFrom(name, replaced)].filter((other) =>
      replacedFrom(other, replaced).has(name),
    )
    if (!circle.includes(name)) return []
    for (const other of circle) reported.add(other)
    const others = circle.filter((other) => other !== name).join(' and ')
    const message = `${name} and ${others} replace each other, so a request that matches them is under none of these limits; remove one of the replaces`
    return [warningAt(one, 'replaces-each-other', message)]
  })
}

/** The names that a limit replaces, and those that these replace, and so on. */
function replacedFrom(
  name: string,
  replaced: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const met = new Set(replaced.get(name))
  // A set grows while it is walked.
  for (const one of met) for (const further of replaced.get(one) ?? []) met.add(further)
  return met
}

function warningAt(
  { file, path, rateLimit }: PlacedLimit,
  code: FileTrap,
  message: string,
): FileWarning {
  return { code, file, ...rateLimit.place, path, message: `${path}: ${message}` }
}
