// Whether the service is ready for traffic, for every protocol's health answer.

/** `starting` until all listeners are open, `serving`, then `draining` from the first signal to the end. */
export type HealthState = 'starting' | 'serving' | 'draining'

/** The state of the service, and the listeners to its changes. */
export class Health {
  private current: HealthState = 'starting'
  private readonly listeners: ((state: HealthState) => void)[] = []

  get state(): HealthState {
    return this.current
  }

  /** Calls back at every change, in the order of registration. */
  onChange(listener: (state: HealthState) => void): void {
    this.listeners.push(listener)
  }

  /** Moves on; never back, since what drains does not serve again. */
  become(state: 'serving' | 'draining'): void {
    if (this.current === state || this.current === 'draining') return
    this.current = state
    for (const listener of this.listeners) listener(state)
  }
}
