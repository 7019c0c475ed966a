// Blocks and overrides as the API shows them: with the time that is left, and without our clock.
import type { Block, LiveOverride } from '../controls/control.ts'
import { visible } from '../log/client-text.ts'
import type { NamedKey } from '../observe/keys.ts'

/** A block as data. */
export function blockShown(block: Block): object {
  const { policy, attributes, since, until, note, by } = block
  return { policy, attributes, since: instant(since), until: instant(until), note, by }
}

/** A block in words: who set it, until when, and why. */
export function blockText({ by, until, note }: Block): string {
  return `refused: blocked by ${by} until ${instant(until)}${note === '' ? '' : `: ${note}`}`
}

/** What a block is about, such as `user=42 in policy api`. */
export function blockName({ attributes, policy }: Block): string {
  return `${nameText(attributes)}${policy === null ? '' : ` in policy ${visible(policy)}`}`
}

/** An override as data; `idle` says why it is not in force. */
export function overrideShown(override: LiveOverride, idle: ReadonlyMap<string, string>): object {
  const { id, policy, rule, when, limit, since, until, note, by } = override
  return {
    policy,
    rule,
    when,
    limit,
    since: instant(since),
    until: until === null ? null : instant(until),
    note,
    by,
    idle: idle.get(id) ?? null,
  }
}

/** Attributes as `user=42 route=/a`; names from requests cannot break a line or steer a terminal. */
export function nameText(attributes: NamedKey): string {
  const pairs = Object.entries(attributes).map(
    ([name, value]) => `${visible(name)}=${visible(value)}`,
  )
  return pairs.length === 0 ? 'all requests' : pairs.join(' ')
}

function instant(millis: number): string {
  return new Date(millis).toISOString()
}
