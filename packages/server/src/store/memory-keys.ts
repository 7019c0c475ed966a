// Lists keys of the store in this process, place after place, a few slots at a time.
import type { MemoryStore } from 'sluice'
import type { KeyPlace, KeySource, Look } from './key-source.ts'

/** Slots in one look: what they hold is worked out in about a millisecond. */
const LOOKS = 200

/** Looks through a memory store. `at` is the number of the place and of the slot in it. */
export function memoryKeys(store: MemoryStore): KeySource {
  return {
    start: '0.0',
    look<P extends KeyPlace>(places: readonly P[], at: string): Look<P> | undefined {
      const match = /^(\d{1,9})\.(\d{1,9})$/.exec(at)
      if (match === null) return undefined
      const index = Number(match[1])
      const place = places[index]
      if (place === undefined) return { found: [], looked: 0, next: undefined }
      const { keys, next } = store.keysOf(place.space, Number(match[2]), LOOKS)
      const isLast = index + 1 >= places.length
      return {
        found: keys.map((key) => ({ place, key, name: key })),
        looked: keys.length,
        next: next !== undefined ? `${index}.${next}` : isLast ? undefined : `${index + 1}.0`,
      }
    },
  }
}
