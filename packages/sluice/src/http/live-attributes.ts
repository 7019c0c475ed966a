// Which attributes a guard reads beside those of the rules: what blocks and overrides ask for that are set while the limiter runs.
import type { DecidedBy, LiveCondition } from '../limiter/policy-behind.ts'

const NONE: ReadonlySet<string> = new Set()

/**
 * Makes a reader, and makes it anew whenever blocks or overrides ask for other attributes. `make` receives the names that
 * they read, null for any; `onConditions` receives those that are new.
 */
export function followControls<Q, T>(
  { conditions, blockedBy }: Pick<DecidedBy, 'conditions' | 'blockedBy'>,
  make: (names: ReadonlySet<string> | null) => (request: Q) => T,
  onConditions: (conditions: readonly LiveCondition[]) => void,
): (request: Q) => T {
  if (conditions === undefined && blockedBy === undefined) return make(NONE)
  let known = conditions?.()
  let read = blockedBy?.()
  let reader = make(namesOf(known, read))
  if (known !== undefined && known.length > 0) onConditions(known)
  return (request) => {
    const asked = conditions?.()
    const wanted = blockedBy?.()
    if (asked !== known || wanted !== read) {
      const before = known ?? []
      known = asked
      read = wanted
      reader = make(namesOf(asked, wanted))
      onConditions((asked ?? []).filter(({ when }) => !before.some((one) => one.when === when)))
    }
    return reader(request)
  }
}

function namesOf(
  conditions: readonly LiveCondition[] = [],
  read: ReadonlySet<string> | null = NONE,
): ReadonlySet<string> | null {
  if (read === null) return null
  return new Set([...read, ...conditions.flatMap(({ when }) => Object.keys(when))])
}
