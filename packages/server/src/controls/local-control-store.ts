// Blocks and overrides in this process, for a service whose counts are here as well; lost when it ends.
import { systemClock, type Clock, type Millis } from 'sluice'
import { MOST_CONTROLS, type Control, type ControlStore, type NewControl } from './control.ts'

/** Keeps them in this process. */
export class LocalControlStore implements ControlStore {
  private readonly clock: Clock
  private readonly controls = new Map<string, Control>()
  private changed = false

  constructor(clock: Clock = systemClock) {
    this.clock = clock
  }

  async read(): Promise<readonly Control[] | undefined> {
    if (!this.changed) return undefined
    this.changed = false
    return this.holding()
  }

  async put(control: NewControl, duration: Millis | null): Promise<boolean> {
    const isNew = !this.controls.has(control.id)
    const mayBeFull = isNew && this.controls.size >= MOST_CONTROLS
    if (mayBeFull && this.holding().length >= MOST_CONTROLS) return false
    const since = this.clock()
    const until = duration === null ? null : since + duration
    this.controls.set(control.id, { ...control, since, until } as Control)
    this.changed = true
    return true
  }

  async remove(id: string): Promise<boolean> {
    const isThere = this.controls.delete(id)
    if (isThere) this.changed = true
    return isThere
  }

  /** What has not ended; the rest is forgotten. */
  private holding(): readonly Control[] {
    const now = this.clock()
    for (const { id, until } of this.controls.values())
      if (until !== null && until <= now) this.controls.delete(id)
    return [...this.controls.values()]
  }
}
