// The loop of a polite client: hold back, send, judge, wait, send again.
import type { Answer, Errand, Manners } from './manners.ts'
import { sleep } from './timers.ts'

/** How one kind of client sends a request. */
export interface Sending<R> {
  /** Sends; the last attempt is said to be so. */
  readonly send: (isLast: boolean) => Promise<R>
  readonly answerOf: (reply: R) => Answer
  /** Begins to let go of a reply that nobody will read; returns what ends it at the latest. */
  readonly discard?: (reply: R) => () => void
}

/** Sends a request until the answer is one to give to the caller. Rejects as soon as the signal is aborted. */
export async function retrying<R>(
  manners: Manners,
  errand: Errand,
  { send, answerOf, discard }: Sending<R>,
  signal?: AbortSignal | null,
): Promise<R> {
  const { timers } = manners
  const journey = manners.begin(errand)
  for (;;) {
    // While it waited, the server may have told others to stay away for longer.
    for (let hold = manners.holdFor(journey); hold > 0; hold = manners.holdFor(journey))
      await sleep(timers, hold, signal)
    journey.attempt += 1
    const reply = await send(journey.attempt >= manners.attempts)
    const wait = manners.judge(journey, answerOf(reply))
    if (wait === undefined) return reply
    const release = discard?.(reply)
    await sleep(timers, wait, signal).finally(release)
  }
}
