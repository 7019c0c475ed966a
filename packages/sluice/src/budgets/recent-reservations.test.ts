import { describe, expect, it } from 'vitest'
import { newHoldId } from './reservation-id.ts'
import { RecentReservations } from './recent-reservations.ts'

describe('what is known of reservations', () => {
  it('is found by the whole id, until it is deleted or pushed out', () => {
    const recent = new RecentReservations<{ id: string; units: number }>()
    const first = { id: 'abcdef', units: 1 }
    const other = { id: 'abcxyz', units: 2 }
    recent.set(first)
    expect([recent.get('abcdef'), recent.get('abcxyz'), recent.get('')]).toEqual([
      first,
      undefined,
      undefined,
    ])
    recent.set(other)
    expect([recent.get('abcdef'), recent.get('abcxyz')]).toEqual([undefined, other])
    recent.delete(first)
    expect(recent.get('abcxyz')).toBe(other)
    recent.delete(other)
    expect(recent.get('abcxyz')).toBe(undefined)
  })

  it('is found for nearly all of a hundred new ids', () => {
    const recent = new RecentReservations<{ id: string }>()
    const ids = Array.from({ length: 100 }, newHoldId)
    for (const id of ids) recent.set({ id })
    expect(ids.filter((id) => recent.get(id) !== undefined).length).toBeGreaterThan(85)
  })
})
