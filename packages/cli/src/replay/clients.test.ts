import { describe, expect, it } from 'vitest'
import { Clients, UNTRACKED } from './clients.ts'

describe('clients', () => {
  it('have one number each, by bytes or by string', () => {
    const clients = new Clients()
    const keys = Array.from({ length: 5000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
    const ids = keys.map((key) => clients.idOf(key))
    expect(new Set(ids).size).toBe(5000)
    const bytes = new TextEncoder().encode(keys.join(' '))
    let from = 0
    for (const [i, key] of keys.entries()) {
      expect(clients.idOfBytes(bytes, from, from + key.length)).toBe(ids[i])
      expect(clients.key(ids[i]!)).toBe(key)
      from += key.length + 1
    }
  })

  it('are one where spellings mean the same', () => {
    const clients = new Clients((key) => key.toLowerCase())
    const ids = ['Ann', 'ANN', 'ann', 'Bob', 'ann', 'Ann'].map((key) => clients.idOf(key))
    expect(ids).toEqual([0, 0, 0, 1, 0, 0])
    expect([clients.key(0), clients.key(1), clients.size]).toEqual(['ann', 'bob', 2])
  })

  it('beyond the most are not tracked', () => {
    const clients = new Clients(undefined, 2)
    expect(['a', 'b', 'c', 'a'].map((key) => clients.idOf(key))).toEqual([0, 1, UNTRACKED, 0])
  })

  it('may have long names of any script', () => {
    const clients = new Clients()
    const long = 'é日'.repeat(3000)
    expect([clients.idOf(long), clients.idOf(`${long}x`), clients.idOf(long)]).toEqual([0, 1, 0])
    expect(clients.key(0)).toBe(long)
  })
})
