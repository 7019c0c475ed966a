import { describe, expect, it } from 'vitest'
import { ClientSample } from './client-sample.ts'

describe('a sample of clients', () => {
  it('holds all times while they fit', () => {
    const sample = new ClientSample(100)
    for (let i = 0; i < 90; i++) sample.add(i, i % 3)
    const tracks = sample.tracks(() => 30)
    expect(sample.every).toBe(1)
    expect(tracks.map(({ times }) => times.length)).toEqual([30, 30, 30])
    expect([...tracks[1]!.times.subarray(0, 3)]).toEqual([1, 4, 7])
  })

  it('holds all times of fewer clients when they do not', () => {
    const sample = new ClientSample(1000)
    for (let i = 0; i < 20_000; i++) sample.add(i, i % 1000)
    const tracks = sample.tracks(() => 20)
    expect(sample.every).toBeGreaterThanOrEqual(16)
    expect(tracks.length).toBeGreaterThan(10)
    for (const { times } of tracks) {
      expect(times).toHaveLength(20)
      expect(times).toEqual(times.toSorted())
    }
  })
})
