import { describe, expect, it } from 'vitest'
import { acceptedNames, closestName } from './suggest.ts'

describe('closestName', () => {
  it.each<[wrong: string, names: string[], name: string | undefined]>([
    ['limt', ['name', 'by', 'limit'], 'limit'],
    ['limits', ['name', 'by', 'limit'], 'limit'],
    ['Rules', ['name', 'rules'], 'rules'],
    ['onstorefailure', ['shadow', 'onStoreFailure'], 'onStoreFailure'],
    ['bye', ['by', 'limit'], 'by'],
    ['naem', ['name', 'rules'], 'name'],
    ['window', ['quota', 'burst'], undefined],
    ['xy', ['by'], 'by'],
    ['q', ['by'], undefined],
    ['warn', ['refuse', 'mark'], undefined],
    ['marc', ['refuse', 'mark'], 'mark'],
    ['', ['by'], undefined],
    ['x'.repeat(100_000), ['by'], undefined],
    ['__proto__', ['name', 'rules'], undefined],
  ])('to %.20s among %j is %s', (wrong, names, name) => {
    expect(closestName(wrong, names)).toBe(name)
  })

  it('may be asked for fewer differences', () => {
    expect(closestName('nmea', ['name'], 1)).toBeUndefined()
    expect(closestName('nam', ['name'], 1)).toBe('name')
    expect(closestName('name', ['name'], 0)).toBe('name')
  })
})

describe('acceptedNames', () => {
  it.each<[value: unknown, text: string]>([
    ['opn', 'did you mean open? accepted: local, open'],
    ['else', 'accepted: local, open'],
    [5, 'accepted: local, open'],
  ])('for %j: %s', (value, text) => {
    expect(acceptedNames(value, ['local', 'open'])).toBe(text)
  })
})
