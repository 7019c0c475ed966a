// The changes that operators make, each as a question that says what it will do.
import { admin } from './api.ts'
import { askFirst } from './parts/dialog.tsx'
import type { Attributes, Block, Override } from './types.ts'
import { keyWords, shown } from './words.ts'

/** A key of a policy. */
export interface Subject {
  readonly policy: string
  readonly attributes: Attributes
}

type After = () => void

/** What the service finds suspicious in a block or an override. */
interface Warned {
  readonly warnings?: readonly string[]
}

/** Asks before a key is blocked. */
export function askBlock({ policy, attributes }: Subject, after: After = () => {}): void {
  askFirst({
    title: 'Block',
    effect: `Every request of ${keyWords(attributes)} under ${shown(policy)} is refused until the block ends, whatever its counts say.`,
    button: 'Block',
    isDangerous: true,
    fields: [
      {
        name: 'for',
        label: 'For how long',
        value: '1h',
        hint: 'such as 10min, 1h, 7d; at most 30d',
      },
      { name: 'note', label: 'Note', value: '', hint: 'why; others see it' },
    ],
    act: async (values) => {
      const body = { policy, attributes, for: values['for'], note: values['note'] }
      const { warnings } = await admin<Warned>('block', body)
      after()
      return {
        warnings,
        said: `Blocked for ${values['for']}.`,
        undo: () => admin('unblock', { policy, attributes }).then(after),
      }
    },
  })
}

/** Asks before a block ends. */
export function askUnblock(
  { policy, attributes, until, note }: Block,
  after: After = () => {},
): void {
  const named = policy === null ? {} : { policy }
  askFirst({
    title: 'Unblock',
    effect: `Requests of ${keyWords(attributes)} are counted again, as all others are.`,
    button: 'Unblock',
    act: async () => {
      await admin('unblock', { ...named, attributes })
      after()
      return {
        said: 'Unblocked.',
        undo: () =>
          admin('block', { ...named, attributes, for: timeLeft(until), note }).then(after),
      }
    },
  })
}

/** Asks before units are handed back. */
export function askGrant(
  { policy, attributes }: Subject,
  rule: string | undefined,
  units: number,
  after: After = () => {},
): void {
  askFirst({
    title: 'Grant units',
    effect: `Hands units back to ${keyWords(attributes)}${rule === undefined ? '' : ` under ${shown(rule)}`}, never above its limit. It may go on at once. This cannot be undone.`,
    button: 'Grant',
    fields: [{ name: 'units', label: 'Units', value: String(units) }],
    act: async (values) => {
      const body = { policy, attributes, units: Number(values['units']) }
      await admin('grant', rule === undefined ? body : { ...body, rule })
      after()
      return { said: `Granted ${values['units']} units.` }
    },
  })
}

/** Asks before counts are forgotten. */
export function askReset({ policy, attributes }: Subject, after: After = () => {}): void {
  askFirst({
    title: 'Reset',
    effect: `Forgets the counts of ${keyWords(attributes)} under every rule of ${shown(policy)}. It has its full quota again. This cannot be undone.`,
    button: 'Reset',
    isDangerous: true,
    act: async () => {
      await admin('reset', { policy, attributes })
      after()
      return { said: 'The counts are forgotten.' }
    },
  })
}

/** Asks before a key gets a limit of its own. */
export function askOverride(
  { policy, attributes }: Subject,
  rule: string,
  after: After = () => {},
): void {
  askFirst({
    title: 'Override the limit',
    effect: `${keyWords(attributes)} gets a limit of its own under ${shown(rule)}, beside the file, until it ends.`,
    button: 'Override',
    fields: [
      { name: 'limit', label: 'Limit', value: '', hint: 'such as 100/min, or unlimited' },
      { name: 'for', label: 'For how long', value: '1d', hint: 'such as 1h, 7d; at most 30d' },
      { name: 'note', label: 'Note', value: '', hint: 'why; others see it' },
    ],
    act: async (values) => {
      const named = { policy, rule, when: attributes }
      const { limit, note } = values
      const body = { ...named, limit, for: values['for'], note }
      const { warnings } = await admin<Warned>('set-override', body)
      after()
      return {
        warnings,
        said: `The limit is ${limit} for ${values['for']}.`,
        undo: () => admin('remove-override', named).then(after),
      }
    },
  })
}

/** Asks before an override ends. */
export function askRemoveOverride(override: Override, after: After = () => {}): void {
  const { policy, rule, when, limit, until, note } = override
  const named = { policy, rule, when }
  askFirst({
    title: 'Remove the override',
    effect: `The limit of the file applies again under ${shown(rule)}.`,
    button: 'Remove',
    act: async () => {
      await admin('remove-override', named)
      after()
      const length = until === null ? {} : { for: timeLeft(until) }
      return {
        said: 'The override is removed.',
        undo: () => admin('set-override', { ...named, limit, ...length, note }).then(after),
      }
    },
  })
}

/** What is left of a block or an override, as a duration of the API. */
function timeLeft(until: string): string {
  return `${Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1000))}s`
}
