// Opens the store of blocks and overrides that goes with a store of counts, and applies overrides to the policies.
import type { Millis, Policy } from 'sluice'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Log } from '../log/log.ts'
import type { OpenStore } from '../store/open-store.ts'
import type { Control, ControlStore, LiveOverride } from './control.ts'
import { LiveControls } from './live-controls.ts'
import { LocalControlStore } from './local-control-store.ts'
import { overlaid, type Overlaid } from './overlay.ts'
import { RedisControlStore } from './redis-control-store.ts'

/** What operators have set, and what follows from it. */
export class ServiceControls {
  readonly live: LiveControls
  private overrides: readonly LiveOverride[] = []
  private last: Overlaid = { policies: [], idle: new Map() }
  /** Called when the overrides must be applied to the policies again. */
  onChange: () => void = () => {}

  constructor(
    store: ControlStore,
    metrics: MetricRegistry,
    log: Log,
    ipv6Prefix: number,
    timeout?: Millis,
  ) {
    const onOverrides = (overrides: readonly LiveOverride[]): void => {
      this.overrides = overrides
      this.onChange()
    }
    this.live = new LiveControls({
      store,
      log,
      onOverrides,
      ipv6Prefix,
      ...(timeout !== undefined && { timeout }),
    })
    metrics
      .gauge('sluice_blocks', 'Blocks in force.', [], 'max')
      .with()
      .readFrom(() => this.live.listBlocks().length)
    metrics
      .gauge(
        'sluice_live_overrides',
        'Overrides that operators have set, idle ones too.',
        [],
        'max',
      )
      .with()
      .readFrom(() => this.live.listOverrides().length)
  }

  /** Why some overrides are not in force, by their ids. */
  get idle(): ReadonlyMap<string, string> {
    return this.last.idle
  }

  /** The policies with the overrides over them. */
  adjust(policies: readonly Policy[]): readonly Policy[] {
    this.last = overlaid(policies, this.overrides)
    return this.last.policies
  }
}

/**
 * In Redis for every service whose counts are there, since another instance may set something. Without Redis only
 * where this process has an admin API itself.
 */
export function openControls(
  { redis }: OpenStore,
  hasAdmin: boolean,
  ipv6Prefix: number,
  metrics: MetricRegistry,
  log: Log,
): ServiceControls | undefined {
  if (redis !== undefined) {
    const { client, prefix, timeout } = redis
    const onRestored = (controls: readonly Control[]): void => {
      const blocks = controls.filter(({ kind }) => kind === 'block').length
      log.warn(
        { code: 'controls-written-back', blocks, overrides: controls.length - blocks },
        'Redis had lost blocks and overrides, as after a restart without its data; they were written back',
      )
    }
    const store = new RedisControlStore(client, prefix, { onRestored })
    return new ServiceControls(store, metrics, log, ipv6Prefix, timeout)
  }
  return hasAdmin
    ? new ServiceControls(new LocalControlStore(), metrics, log, ipv6Prefix)
    : undefined
}
