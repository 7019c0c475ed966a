// Asks the service: JSON in, JSON out, and one kind of error.

/** An error response of the service, with its message. */
class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Called when the service no longer knows this session. */
let onSignedOut: () => void = () => {}

/** Sets what happens when the session has ended. */
export function whenSignedOut(action: () => void): void {
  onSignedOut = action
}

/** Asks by GET, or by POST when there is a body. */
export async function ask<T>(path: string, body?: unknown): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'sluice-console': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch {
    throw new ApiError(0, 'unreachable', 'The service cannot be reached.')
  }
  const text = await response.text()
  let answer: unknown
  try {
    answer = text === '' ? {} : JSON.parse(text)
  } catch {
    throw new ApiError(
      response.status,
      'unreadable',
      'The service gave an answer that is not JSON.',
    )
  }
  if (response.ok) return answer as T
  if (response.status === 401) onSignedOut()
  const { code = 'failed', detail = response.statusText } = answer as Record<string, string>
  throw new ApiError(response.status, code, detail)
}

/** Asks the admin API. */
export function admin<T>(path: string, body?: unknown): Promise<T> {
  return ask(`/v1/admin/${path}`, body)
}
