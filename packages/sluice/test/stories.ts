// The stories behind spec/algorithms: which limits are asked what, and when. The answers are the oracle's.
import { algorithmOf } from '../src/algorithms/table.ts'
import type { AlgorithmName } from '../src/limit/limit.ts'
import { common } from './stories-common.ts'
import { comeBack, DAY, refund, HOUR, peek, T, take, untilReset, type Story } from './story.ts'

/** Numbers at the edge of what is exact: quota times window just below 2^52. */
const large: readonly Story[] = [
  {
    name: 'the largest quota of a second',
    limit: { quota: 4_503_599_627_370, window: 1000 },
    steps: [
      take(T + 1, 4_503_599_627_369),
      take(T + 1, 1),
      take(T + 2, 4_503_599_627),
      take(T + 3, 4_503_599_628),
      take(T + 3, 4_503_599_627_370),
      ...comeBack(4_503_599_627_370),
      take(T + 5000, Number.MAX_SAFE_INTEGER),
      refund(T + 5000, 4_503_599_627_370, T + 5000),
      ...untilReset(4_503_599_627_370),
    ],
  },
  {
    name: 'the largest quota of four hundred days',
    limit: { quota: 130_312, window: 400 * DAY },
    steps: [
      take(T, 130_311),
      take(T + 1, 1),
      take(T + 2, 1),
      ...comeBack(1),
      take(T + 300 * DAY, 97_000),
      ...comeBack(97_000),
      ...untilReset(130_312),
    ],
  },
]

/** The largest numbers of an algorithm that stores every request, at most 10,000 of them. */
const largeLog: readonly Story[] = [
  {
    name: 'the largest quota, and a window of fourteen years',
    limit: { quota: 10_000, window: 450_359_962_737 },
    steps: [take(T, 9999), take(T + 1, 1), take(T + 2, 2), ...comeBack(2), ...untilReset(10_000)],
  },
]

/** Bursts that differ from the quota. */
const bursts: readonly Story[] = [
  {
    name: 'a burst above the quota',
    limit: { quota: 2, window: 1000, burst: 10 },
    steps: [
      take(T, 10),
      take(T, 1),
      ...comeBack(1),
      take(T + 2250, 4),
      ...comeBack(4),
      take(T + 60_000, 11),
      take(T + 60_000, 10),
      ...untilReset(10),
    ],
  },
  {
    name: 'a burst below the quota',
    limit: { quota: 100, window: 60_000, burst: 3 },
    steps: [
      take(T, 4),
      take(T, 3),
      take(T + 599, 1),
      take(T + 600, 1),
      take(T + 601, 2),
      ...comeBack(2),
      take(T + 60_000, 3),
      ...untilReset(3),
    ],
  },
  {
    name: 'a burst of one',
    limit: { quota: 10, window: 1000, burst: 1 },
    steps: [take(50), take(50), take(149), take(150), take(250, 2), take(249), ...comeBack()],
  },
  {
    name: 'a slow bucket outlives its window',
    limit: { quota: 1, window: 1000, burst: 3600 },
    steps: [
      take(T, 3600),
      take(T + 1000, 2, 'one unit came back, not all of them'),
      take(T + 1000, 1),
      take(T + HOUR - 1, 3600),
      ...untilReset(3600),
    ],
  },
  {
    name: 'units handed back after part of them has drained',
    limit: { quota: 3, window: 1000, burst: 6 },
    steps: [
      take(T, 6),
      refund(T + 500, 2, T, 'half a unit is still out'),
      take(T + 500, 2),
      take(T + 500, 1),
      refund(T + 500, 6, T, 'four and a half are still out'),
      peek(T + 500, 6),
      refund(T + 800, 6, T + 500),
      peek(T + 800, 6),
    ],
  },
  {
    name: 'the clock is set back under a large burst',
    limit: { quota: 1, window: 1000, burst: 5 },
    steps: [
      take(T + 50_000, 4),
      take(T + 49_000, 1, 'one window back: time stands still'),
      take(T + 49_000, 1),
      take(T + 48_999, 1, 'further back: the state moves, and stays shut no longer than it was'),
      ...comeBack(1),
      ...untilReset(5),
    ],
  },
]

/** The stories of each algorithm alone, the worked example of its page first. */
const own: Readonly<Record<AlgorithmName, readonly Story[]>> = {
  'token-bucket': [
    {
      name: 'worked example',
      limit: { quota: 4, window: 1000, burst: 8 },
      steps: [take(0, 6), take(100, 3), take(250, 3), take(300, 8), take(300, 9)],
    },
  ],
  gcra: [
    {
      name: 'worked example',
      limit: { quota: 2, window: 1000, burst: 4 },
      steps: [take(0, 4), take(100, 1), take(500, 1), take(600, 2), take(600, 5)],
    },
  ],
  'leaky-bucket': [
    {
      name: 'worked example',
      limit: { quota: 5, window: 1000, burst: 3 },
      steps: [take(0), take(0), take(0), take(0), take(150), take(200)],
    },
    {
      name: 'each request is held until the work in front of it has drained',
      limit: { quota: 3, window: 1000, burst: 6 },
      steps: [
        peek(T, 2, 'nothing in front'),
        take(T, 2),
        peek(T, 2),
        take(T, 1),
        take(T + 334, 3),
        take(T + 334, 1),
        take(T + 2000, 1),
        take(T + 5000, 2, 'idle time is not saved up'),
        take(T + 5000, 2),
        take(T + 5001, 2),
        take(T + 5001, 1),
      ],
    },
    {
      name: 'held requests and a clock that goes back',
      limit: { quota: 2, window: 1000, burst: 4 },
      steps: [take(T + 1000, 2), take(T + 400, 1), take(T + 400, 1), peek(T + 400, 1)],
    },
  ],
  'fixed-window': [
    {
      name: 'worked example',
      limit: { quota: 5, window: 10_000 },
      steps: [take(12_000, 3), take(15_000, 2), take(18_000, 1), take(18_000, 6), take(20_000, 1)],
    },
    {
      name: 'twice the quota across an edge',
      limit: { quota: 3, window: 1000 },
      steps: [take(T + 999, 3), take(T + 999), take(T + 1000, 3), take(T + 1000), take(T + 1999)],
    },
  ],
  'sliding-window': [
    {
      name: 'worked example',
      limit: { quota: 60, window: 60_000 },
      steps: [
        take(1000, 42),
        take(61_000, 18),
        peek(75_000, 10),
        take(75_000, 11),
        ...comeBack(11),
      ],
    },
    {
      name: 'the previous window blocks, then the current one',
      limit: { quota: 10, window: 1000 },
      steps: [
        take(900, 10),
        take(1000, 1),
        ...comeBack(1),
        take(1500, 4),
        take(1500, 6),
        ...comeBack(6),
        take(2400, 10),
        ...comeBack(10),
      ],
    },
    {
      name: 'the clock goes back within a window, and the estimate is above the quota',
      limit: { quota: 10, window: 1000 },
      steps: [
        take(T + 999, 10),
        take(T + 1900, 9),
        take(T + 1100, 0, 'allowed although eighteen of ten are in use'),
        peek(T + 1100, 0),
        take(T + 1100, 1),
        ...comeBack(1),
        take(T + 1500, 1, 'in the window before'),
        ...untilReset(10),
      ],
    },
    {
      name: 'silent for a whole window and yet refused',
      limit: { quota: 10, window: 1000 },
      steps: [
        take(T, 10, 'everything at once, in the first millisecond'),
        take(T + 1000, 1, 'one window later'),
        ...comeBack(1),
      ],
    },
    {
      name: 'nineteen of ten in less than a window',
      limit: { quota: 10, window: 1000 },
      steps: [
        take(T + 999, 10),
        ...[100, 200, 300, 400, 500, 600, 700, 800, 900].map((e) => take(T + 1000 + e)),
        take(T + 1998),
        take(T + 1999),
        take(T + 2000),
      ],
    },
  ],
  'sliding-log': [
    {
      name: 'worked example',
      limit: { quota: 3, window: 10_000 },
      steps: [
        take(1000),
        take(4000),
        take(4000),
        take(6000, 1),
        take(6000, 2),
        take(11_000),
        take(11_000),
      ],
    },
    {
      name: 'units handed back come from their instant, then from older ones',
      limit: { quota: 6, window: 1000 },
      steps: [
        take(T, 2),
        take(T + 100, 2),
        take(T + 200, 2),
        refund(T + 300, 1, T + 100),
        peek(T + 300, 2),
        refund(T + 300, 3, T + 100, 'one of that instant, two older ones'),
        peek(T + 300, 5),
        refund(T + 300, 1, T + 150, 'nothing that old is left'),
        peek(T + 300, 5),
        ...untilReset(6),
      ],
    },
    {
      name: 'weights die one by one',
      limit: { quota: 10, window: 1000 },
      steps: [
        take(T, 1),
        take(T + 10, 5),
        take(T + 20, 4),
        take(T + 30, 1),
        take(T + 30, 2),
        take(T + 30, 7),
        take(T + 1000, 1),
        take(T + 1010, 6),
        take(T + 1010, 5),
        take(T + 1020, 4),
      ],
    },
  ],
}

/** All stories of one algorithm. */
export function storiesOf(algorithm: AlgorithmName): readonly Story[] {
  const { hasBurst, maxQuota } = algorithmOf({ algorithm })
  return [
    ...own[algorithm],
    ...common,
    ...(hasBurst ? bursts : []),
    ...(maxQuota === Infinity ? large : largeLog),
  ]
}
