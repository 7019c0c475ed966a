// Blocks and overrides as the API shows them: with the time that is left, and without our clock.
import type { Block, LiveOverride } from '../controls/control.ts'

/** A block as data. */
export function blockShown(block: Block): object {
  const { policy, attributes, since, until, note, by } = block
  return { policy, attributes, since: instant(since), until: instant(until), note, by }
}

/** A block in words: who set it, until when, and why. */
export function blockText({ by, until, note }: Block): string {
  return `refused: blocked by ${by} until ${instant(until)}${note === '' ? '' : `: ${note}`}`
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

function instant(millis: number): string {
  return new Date(millis).toISOString()
}
