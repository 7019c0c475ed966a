// Blocks and overrides of a service of several workers without Redis: the primary process keeps them for all.
import type { Millis } from 'sluice'
import type { Control, ControlStore, NewControl } from '../controls/control.ts'
import { LocalControlStore } from '../controls/local-control-store.ts'
import type { Asker, Questions } from './questions.ts'

/** Kept in the primary process; each state has a number, so that a worker hears of every change once. */
export class SharedControls {
  private readonly store = new LocalControlStore()
  private version = 0
  private controls: readonly Control[] = []

  async read(version: number): Promise<Questions['controls']['answer']> {
    const changed = await this.store.read()
    if (changed !== undefined) {
      this.controls = changed
      this.version++
    }
    return version === this.version ? undefined : { version: this.version, controls: this.controls }
  }

  put(control: NewControl, duration: Millis | null): Promise<boolean> {
    return this.store.put(control, duration)
  }

  remove(id: string): Promise<boolean> {
    return this.store.remove(id)
  }
}

/** A worker's view of them. */
export class AskedControls implements ControlStore {
  private readonly asker: Asker
  private version = 0

  constructor(asker: Asker) {
    this.asker = asker
  }

  async read(): Promise<readonly Control[] | undefined> {
    const state = await this.asker.ask('controls', { version: this.version })
    if (state === undefined) return undefined
    this.version = state.version
    return state.controls
  }

  put(control: NewControl, duration: Millis | null): Promise<boolean> {
    return this.asker.ask('put', { control, duration })
  }

  remove(id: string): Promise<boolean> {
    return this.asker.ask('remove', { control: id })
  }
}
