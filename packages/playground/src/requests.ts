// The requests that the settings describe: instants and keys, in order of time, and how refused callers try again.
import { arrivalsOf, type Scenario, type Traffic } from 'sluice/simulator'
import { DRAWN_COLUMNS, type Settings } from './settings.ts'

/** Requests as columns: a million of them are two arrays. */
export interface Requests {
  /** Milliseconds since the start. */
  readonly at: Float64Array
  /** The number of the key of each request. */
  readonly key: Uint32Array
  readonly keys: readonly string[]
  /** How long all of it lasts, in milliseconds. */
  readonly lasts: number
  /** The instant of the start, by the clock of the limits. */
  readonly start: number
  readonly retry: Retrying | undefined
}

/** How refused callers try again. */
export interface Retrying {
  readonly attempts: number
  readonly wait: 'fixed' | 'backoff' | 'retry-after'
  /** Milliseconds. */
  readonly first: number
  readonly jitter: boolean
}

/** The simulated time begins at the edge of a minute and of an hour. */
const START = 1_800_000_000_000

const RETRIES: Readonly<Partial<Record<Settings['traffic'], Retrying>>> = {
  storm: { attempts: 6, wait: 'fixed', first: 1000, jitter: false },
  jitter: { attempts: 6, wait: 'backoff', first: 1000, jitter: true },
  herd: { attempts: 6, wait: 'retry-after', first: 0, jitter: false },
}

/** Makes the requests. Those of a log are read elsewhere. */
export function requestsOf(settings: Settings): Requests {
  const { lasts, quota, window, seed } = settings
  const traffic = settings.traffic === 'drawn' ? drawnTraffic(settings) : [trafficOf(settings)]
  const scenario: Scenario = {
    lasts: lasts * 1000,
    limit: { quota, window: window * 1000 },
    seed,
    traffic,
  }
  const arrivals = traffic.length === 0 ? [] : arrivalsOf(scenario)
  const numbers = new Map<string, number>()
  const key = Uint32Array.from(arrivals, (arrival) => {
    const name = arrival.key.replace(/^drawn\d+/, 'client')
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    return number
  })
  return {
    at: Float64Array.from(arrivals, ({ at }) => at),
    key,
    keys: [...numbers.keys()],
    lasts: lasts * 1000,
    start: START,
    retry: RETRIES[settings.traffic],
  }
}

function trafficOf({ traffic, rate, keys, zipf, quota, window, lasts }: Settings): Traffic {
  const perSecond = rateText(rate)
  const spread = { keys, zipf }
  switch (traffic) {
    case 'steady':
      return { shape: 'steady', rate: perSecond, ...spread }
    case 'bursts':
      // On for a tenth of the window's length, at ten times the rate: the average stays.
      return {
        shape: 'bursts',
        rate: rateText(rate * 5),
        on: window * 200,
        off: window * 800,
        ...spread,
      }
    case 'edges':
      return { shape: 'edges', count: quota, spread: Math.max(1, window * 10), ...spread }
    case 'storm':
    case 'jitter':
    case 'herd': {
      const count = Math.max(1, Math.round(rate * 10))
      return { shape: 'once', count, from: lasts * 50, spread: 500, keys, zipf }
    }
    case 'crowd':
      return {
        shape: 'poisson',
        rate: perSecond,
        keys: Math.max(keys, 50),
        zipf: Math.max(zipf, 1),
      }
    case 'poisson':
    case 'drawn':
    case 'log':
      return { shape: 'poisson', rate: perSecond, ...spread }
  }
}

/** One stretch of random arrivals for each column that is not empty. */
function drawnTraffic({ drawn, rate, lasts, keys, zipf }: Settings): Traffic[] {
  const width = (lasts * 1000) / DRAWN_COLUMNS
  return drawn.flatMap((height, i): Traffic[] => {
    const perSecond = (height / 50) * rate
    if (perSecond < 0.01) return []
    const from = Math.round(i * width)
    const until = Math.round((i + 1) * width)
    // One key each: its name selects the column and is dropped afterwards.
    return [
      { name: `drawn${i}`, shape: 'poisson', rate: rateText(perSecond), from, until, keys, zipf },
    ]
  })
}

/** A rate with two digits behind the point, as whole requests in 100 s. */
function rateText(perSecond: number): string {
  return `${Math.max(1, Math.round(perSecond * 100))}/100s`
}
