// A way back from the server that can be closed: what it has done is heard of later.
import type { IoredisLike } from '../../src/redis/index.ts'

export interface HeldAnswers {
  /** A client whose answers pass only while they are not held. */
  readonly client: IoredisLike
  /** Holds every answer from now on. */
  hold(): void
  /** Lets all answers pass, those held before first. */
  release(): void
}

/** Wraps a client. */
export function holdAnswers(inner: IoredisLike): HeldAnswers {
  let gate: Promise<void> = Promise.resolve()
  let open = (): void => {}
  const late = async (answer: Promise<unknown>): Promise<unknown> => {
    const value = await answer
    await gate
    return value
  }
  return {
    client: {
      evalsha: (...args) => late(inner.evalsha(...args)),
      eval: (...args) => late(inner.eval(...args)),
    },
    hold() {
      gate = new Promise((resolve) => (open = resolve))
    },
    release: () => open(),
  }
}
