import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { Batcher } from './batcher.ts'

const check = { space: 's', key: 'k', limit: limit('5/min'), cost: 1 }

describe('a batch', () => {
  it.each<[string, Partial<ConstructorParameters<typeof Batcher>[0]>]>([
    ['the client throws', {}],
    ['the clock throws when its arguments are made', { serverClock: failingAt(2) }],
  ])('is settled when %s', async (_, options) => {
    const connection = {
      pauses: { total: 0 },
      run: () => {
        throw new RangeError('Maximum call stack size exceeded')
      },
    }
    const batcher = new Batcher({
      connection: connection as never,
      nameOf: (space, key) => space + key,
      timeout: 60_000,
      clock: () => 1000,
      serverClock: undefined,
      ...options,
    })
    await expect(batcher.run('take', [check])).rejects.toMatchObject({
      name: 'SluiceError',
    })
  })

  it('holds nothing of a request one of whose keys cannot be named', async () => {
    const sent: (readonly string[])[] = []
    const batcher = new Batcher({
      connection: {
        pauses: { total: 0 },
        run: ({ names }: { names: readonly string[] }) => void sent.push(names),
      } as never,
      nameOf: (space, key) => space + key.trim(),
      timeout: 60_000,
      clock: () => 1000,
      serverClock: undefined,
    })
    const wrong = { ...check, key: undefined as unknown as string }
    expect(() => batcher.run('take', [check, wrong])).toThrow(TypeError)
    expect(() => batcher.run('take', [wrong])).toThrow(TypeError)
    void batcher.run('take', [{ ...check, key: 'other' }])
    await Promise.resolve()
    expect(sent).toEqual([['sother']])
  })
})

/** A clock that fails at its n-th reading. */
function failingAt(n: number): () => number {
  let readings = 0
  return () => {
    readings += 1
    if (readings === n) throw new RangeError('no time')
    return 1000
  }
}
