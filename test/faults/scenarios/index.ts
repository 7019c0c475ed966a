// All scenarios of the fault lab.
import type { Scenario } from '../scenario.ts'
import { clocks } from './clocks.ts'
import { damaged } from './damaged.ts'
import { leased } from './leased.ts'
import { unreachable } from './unreachable.ts'
import { minutes } from './minutes.ts'
import { processes } from './process.ts'
import { silent } from './silent.ts'
import { slow } from './slow.ts'
import { topology } from './topology.ts'
import { unable } from './unable.ts'

export const scenarios = {
  unreachable,
  slow,
  silent,
  minutes,
  unable,
  damaged,
  topology,
  clocks,
  processes,
  leased,
} as const satisfies Record<string, readonly Scenario[]>
