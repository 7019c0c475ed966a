// Which request bodies can be sent a second time.

const REPLAYABLE = new Set([
  'ArrayBuffer',
  'SharedArrayBuffer',
  'Blob',
  'File',
  'FormData',
  'URLSearchParams',
])

/** True for no body and for bodies that hold all their bytes; false for streams. */
export function isReplayable(body: unknown): boolean {
  if (body === undefined || body === null || typeof body === 'string') return true
  // The package form-data names its streams FormData.
  if (typeof body === 'object' && 'pipe' in body) return false
  // By name, not by class: bodies may come from another realm or library.
  return (
    ArrayBuffer.isView(body) || REPLAYABLE.has(Object.prototype.toString.call(body).slice(8, -1))
  )
}
