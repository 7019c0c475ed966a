// Numbers the kinds of checks on one connection, so that space and limit travel once and not with each request.
import type { Check, Limit } from 'sluice'
import type { Kind } from './owner-wire.ts'

/** Beyond this many, numbering begins again: callers that bring limits of their own must not fill the memory. */
const MOST_KINDS = 4096

interface Numbered extends Kind {
  readonly number: number
}

/** The kinds that the other side of one connection knows, or will with the next message. */
export class Kinds {
  private readonly bySpace = new Map<string, Numbered[]>()
  private size = 0
  /** Those that the next message must tell, and the number of the first of them. */
  untold: Kind[] = []
  firstUntold = 0

  /** The number of a check's kind; a new one is to be told. */
  numberOf({ space, limit, shadow, countRefused }: Check): number {
    const known = this.bySpace.get(space)
    if (known !== undefined) {
      for (const kind of known) {
        if (kind.shadow === shadow && kind.countRefused === countRefused && same(kind.limit, limit))
          return kind.number
      }
    }
    const kind: Kind = {
      space,
      limit,
      ...(shadow !== undefined && { shadow }),
      ...(countRefused !== undefined && { countRefused }),
    }
    const number = this.size++
    if (known === undefined) this.bySpace.set(space, [{ ...kind, number }])
    else known.push({ ...kind, number })
    this.untold.push(kind)
    return number
  }

  /** The untold ones have been told. Only now may numbers begin again: those of a message belong together. */
  told(): void {
    this.untold = []
    if (this.size >= MOST_KINDS) {
      this.bySpace.clear()
      this.size = 0
    }
    this.firstUntold = this.size
  }
}

function same(a: Limit, b: Limit): boolean {
  return (
    a === b ||
    (a.quota === b.quota &&
      a.burst === b.burst &&
      a.window === b.window &&
      a.algorithm === b.algorithm)
  )
}
