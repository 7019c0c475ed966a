// Answers that the caller may stop waiting for.

/**
 * The answer, or a rejection with the signal's reason as soon as it is aborted. The call itself goes on: what
 * it charges stays charged.
 */
export function abortable<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) {
      answer.catch(() => {})
      return stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    const settle = (): void => signal.removeEventListener('abort', stop)
    answer.then(
      (value) => {
        settle()
        resolve(value)
      },
      (error: unknown) => {
        settle()
        reject(error as Error)
      },
    )
  })
}
