// Traps in files of descriptors: what is allowed, but rarely meant.
import type { DescriptorConfig, RateLimitConfig } from '../descriptors/domain-config.ts'
import { isPrefix } from '../descriptors/tree.ts'
import type { Place } from './node.ts'
import type { Notes } from './notes.ts'
import { reportTexts } from './text-traps.ts'

/** A limit and where it is written. */
export interface PlacedRateLimit extends RateLimitConfig {
  readonly place: Place
  /** Whether `requests_per_unit` is there at all. */
  readonly hasRequests: boolean
  readonly replaces: readonly string[]
}

/** A descriptor and where it is written. */
export interface PlacedDescriptor extends DescriptorConfig {
  readonly place: Place
  /** The path as people write it. */
  readonly path: string
  readonly rateLimit?: PlacedRateLimit
  readonly descriptors: readonly PlacedDescriptor[]
}

/** Notes every trap of a domain. */
export function reportTraps(descriptors: readonly PlacedDescriptor[], notes: Notes): void {
  const all = flattened(descriptors)
  for (const descriptor of all) reportOne(descriptor, notes)
  reportSiblings(descriptors, notes)
  for (const { descriptors } of all) reportSiblings(descriptors, notes)
}

/** Descriptors and all below them, in the file's order. */
export function flattened(descriptors: readonly PlacedDescriptor[]): readonly PlacedDescriptor[] {
  return descriptors.flatMap((descriptor) => [descriptor, ...flattened(descriptor.descriptors)])
}

function reportOne(descriptor: PlacedDescriptor, notes: Notes): void {
  const { place, path, value = '', rateLimit } = descriptor
  const warn = (code: Parameters<Notes['warn']>[0], message: string): void =>
    notes.warn(code, rateLimit?.place ?? place, path, message)
  if (value.slice(0, -1).includes('*'))
    warn(
      'star-inside',
      `${path}: only a * at the end stands for more; the one inside stands for itself`,
    )
  reportTexts(descriptor, notes)
  if (descriptor.shareThreshold === true && !isPrefix(value))
    warn('share-without-prefix', `${path}: share_threshold needs a value with a * at the end`)
  if (rateLimit === undefined) {
    if (descriptor.shadowMode === true || descriptor.quotaMode === true)
      warn(
        'mode-without-limit',
        `${path}: shadow_mode and quota_mode mean nothing without a rate_limit`,
      )
    if (descriptor.descriptors.length === 0)
      warn(
        'no-limit',
        `${path}: there is no rate_limit and nothing below, so what matches is not limited`,
      )
    return
  }
  if (descriptor.descriptors.length > 0)
    warn(
      'depth-mismatch',
      `${path}: this limit applies to descriptors that end here, not to longer ones`,
    )
  if (rateLimit.unlimited === true && rateLimit.hasRequests)
    warn('unlimited-with-limit', `${path}: requests_per_unit means nothing where unlimited is true`)
  if (rateLimit.unlimited !== true && rateLimit.requestsPerUnit === 0)
    warn(
      'blocks-all',
      `${path}: ${rateLimit.hasRequests ? 'requests_per_unit is 0' : 'there is no requests_per_unit'}, so every request is refused`,
    )
}

function reportSiblings(descriptors: readonly PlacedDescriptor[], notes: Notes): void {
  for (const [i, descriptor] of descriptors.entries()) {
    const { key, value = '', place, path } = descriptor
    if (value === '') {
      if (descriptors.some((other) => other.key === key && other.value === '*'))
        notes.warn(
          'prefix-never-reached',
          place,
          path,
          `${path}: the same key with the value * matches all of it; remove one of the two`,
        )
      continue
    }
    const before = descriptors.slice(0, i).filter((other) => other.key === key)
    if (isPrefix(value)) {
      const wider = before.find(
        (other) => isPrefix(other.value ?? '') && value.startsWith(other.value!.slice(0, -1)),
      )
      if (wider !== undefined)
        notes.warn(
          'prefix-never-reached',
          place,
          path,
          `${path}: ${wider.path} comes first and matches all of it`,
        )
    }
    const general = descriptors.find((other) => other.key === key && (other.value ?? '') === '')
    const lost = general?.descriptors.filter(
      (inner) =>
        !descriptor.descriptors.some(
          (own) => own.key === inner.key && (own.value ?? inner.value) === inner.value,
        ),
    )
    if (lost !== undefined && lost.length > 0)
      notes.warn(
        'hidden-by-value',
        place,
        path,
        `${path}: requests with this value never reach ${lost.map((inner) => inner.path).join('; ')}`,
      )
  }
}
