// Where "now" comes from, for stores with a clock of their own.

/**
 * A duration or an instant in whole milliseconds.
 *
 * @example
 * ```ts
 * const wait: Millis = 1500 // a second and a half
 * ```
 */
export type Millis = number

/**
 * The present instant in whole milliseconds since the epoch. Never steps backwards for its reader.
 *
 * @example
 * ```ts
 * const clock: Clock = () => 1_800_000_000_000
 * const store = memoryStore({ clock })
 * ```
 */
export type Clock = () => Millis

const ORIGIN = performance.timeOrigin

/**
 * Milliseconds since the epoch that cannot be set back: the wall time at which the process began,
 * carried on by the monotonic clock. A change of the system's time does not move it.
 *
 * @example
 * ```ts
 * const now = systemClock() // milliseconds since the epoch
 * ```
 */
export const systemClock: Clock = () => Math.floor(ORIGIN + performance.now())

/** {@link systemClock} with parts of a millisecond, for durations that must not be off by one. */
export const preciseClock: () => number = () => ORIGIN + performance.now()

/** Readings of one millisecond after which a reading may be shared. */
const BUSY_READINGS = 256
/** Decisions that may share one reading. */
const MAX_SHARED = 64

/**
 * A clock that is read once for many decisions while the event loop is kept busy by them.
 *
 * Reading the time is most of what a decision on a hot key costs. After 256 readings within one
 * millisecond a reading is shared: by at most 64 decisions, and never beyond the synchronous run
 * that made it, so an idle process never sees an old time and a long loop still sees time pass.
 * A microtask ends the run; callbacks that were queued before it, Node's next ticks among them,
 * belong to the run.
 */
export function sharedClock(read: Clock = systemClock): Clock {
  let now = read()
  let readings = 0
  let sharesLeft = 0
  let isEndQueued = false
  let readingsToSkip = 0

  const endOfRun = (): void => {
    isEndQueued = false
    // A run this short gains nothing by sharing and pays for the microtask: the next readings are not shared.
    if (sharesLeft > MAX_SHARED - 8) readingsToSkip = BUSY_READINGS
    sharesLeft = 0
  }

  const refresh = (): Millis => {
    const time = read()
    if (time !== now) {
      // Once shared, a new millisecond within the same run does not start the count again; several do, as
      // decisions so far apart gain nothing by sharing.
      if (!isEndQueued || time - now > 1) readings = 0
      now = time
    } else if (readings < BUSY_READINGS) {
      readings += 1
    }
    if (readings >= BUSY_READINGS && --readingsToSkip < 0) {
      sharesLeft = MAX_SHARED - 1
      if (!isEndQueued) {
        isEndQueued = true
        queueMicrotask(endOfRun)
      }
    }
    return now
  }

  return () => {
    if (sharesLeft === 0) return refresh()
    sharesLeft -= 1
    return now
  }
}
