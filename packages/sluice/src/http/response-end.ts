// Notifies a guard when a response of fetch is over.
import type { Admission } from './admission.ts'
import { leaveWhenRead } from './leave-when-closed.ts'
import type { RequestGuard } from './request-guard.ts'

/**
 * The same response. `answered` is called at once, or, if requests hold units until they are over, when its body has been
 * read, was cancelled or has failed. A client that has left had no answer.
 */
export function onResponseEnd<Q extends object, S>(
  guard: RequestGuard<Q, S>,
  admission: Admission,
  { signal, method }: Pick<Request, 'signal' | 'method'>,
  response: Response,
  answered: () => void,
): Response {
  if (signal.aborted) {
    guard.unanswered(admission)
    return response
  }
  // Runtimes do not read the body of an answer to HEAD, and an upgrade has none.
  if (!guard.holds || method === 'HEAD' || response.status < 200) {
    answered()
    return response
  }
  let isOver = false
  const leave = (): void => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', leave)
    answered()
  }
  signal.addEventListener('abort', leave, { once: true })
  return leaveWhenRead({ leave }, response)
}
