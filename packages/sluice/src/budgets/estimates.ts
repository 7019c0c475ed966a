// What a request will probably cost: the 95th percentile of the last actual costs, in constant memory.

/** Costs that are remembered for each name. */
const REMEMBERED = 100
/** Names at most; the one that was used least recently makes room. */
const MAX_NAMES = 1000
const PERCENTILE = 0.95

/** The last costs of one name, the oldest overwritten first. */
interface Recent {
  readonly costs: number[]
  next: number
}

/** The last actual costs by rule and, where it is known, by model. */
export class Estimates {
  private readonly byName = new Map<string, Recent>()
  /** The name that was noted last: mostly the next one too. */
  private last: string | undefined
  private lastRule: string | undefined
  private lastModel: string | undefined
  private lastName = ''

  /** Remembers what a request really cost. */
  note(rule: string, model: string | undefined, cost: number): void {
    const name = this.nameOf(rule, model)
    const recent = this.byName.get(name) ?? { costs: [], next: 0 }
    recent.costs[recent.next] = cost
    recent.next = (recent.next + 1) % REMEMBERED
    if (name === this.last) return
    this.last = name
    // Set again, so that the first name of the map is the one that was used least recently.
    this.byName.delete(name)
    this.byName.set(name, recent)
    if (this.byName.size > MAX_NAMES) this.byName.delete(this.byName.keys().next().value!)
  }

  /** The smallest cost that 95 of 100 remembered ones do not exceed; undefined while none is known. */
  of(rule: string, model: string | undefined): number | undefined {
    const costs = this.byName.get(this.nameOf(rule, model))?.costs
    if (costs === undefined) return undefined
    return costs.toSorted((a, b) => a - b)[Math.ceil(costs.length * PERCENTILE) - 1]
  }

  /** Of the same rule and model the same string: the hash of a new one costs more than to find it. */
  private nameOf(rule: string, model: string | undefined): string {
    if (rule === this.lastRule && model === this.lastModel) return this.lastName
    this.lastRule = rule
    this.lastModel = model
    this.lastName = `${rule}\n${model ?? ''}`
    return this.lastName
  }
}
