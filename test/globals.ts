// Runs with every test file whose worker goes on to other files: a file that leaves a global function replaced fails.
import { afterAll, vi } from 'vitest'

const GLOBALS: readonly (readonly [owner: string, names: readonly string[]])[] = [
  ['globalThis', ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate']],
  ['globalThis', ['queueMicrotask', 'fetch', 'Date']],
  ['Date', ['now']],
  ['performance', ['now']],
  ['console', ['log', 'warn', 'error']],
]

/** Under one name for all files of the worker: the first of them finds everything untouched. */
const ORIGINALS = Symbol.for('sluice.test.originals')
const worker = globalThis as { [ORIGINALS]?: Record<string, unknown> }
const originals = (worker[ORIGINALS] ??= read())

afterAll(() => {
  // A spy on a fake timer, forgotten here, would put the fake back when a later file restores all mocks.
  vi.restoreAllMocks()
  const replaced = Object.entries(read()).filter(([name, value]) => value !== originals[name])
  if (replaced.length === 0) return
  throw new Error(`this file leaves replaced: ${replaced.map(([name]) => name).join(', ')}`)
})

function read(): Record<string, unknown> {
  return Object.fromEntries(
    GLOBALS.flatMap(([owner, names]) =>
      names.map((name) => [`${owner}.${name}`, Reflect.get(Reflect.get(globalThis, owner), name)]),
    ),
  )
}
