// What editors show for a public name: one sentence, and an example.
import { describe, expect, it } from 'vitest'
import { publicNames } from './public-names.ts'

const names = publicNames()

it('types and constants are among the public names', () => {
  const ofRoot = names.filter(({ entry }) => entry === 'sluice').map(({ name }) => name)
  expect(ofRoot).toEqual(expect.arrayContaining(['createLimiter', 'ALGORITHMS', 'Limit', 'Store']))
})

describe.each([...new Set(names.map(({ entry }) => entry))])('the public names of %s', (entry) => {
  const own = names.filter((one) => one.entry === entry)

  it('have an example that editors show', () => {
    const without = own.filter(({ comment }) => !/@example\n \* ```ts\n/.test(comment))
    expect(without.map(({ name }) => name)).toEqual([])
  })

  it('have a sentence before it', () => {
    const without = own.filter(({ comment }) => !/^\s*(?:\* )?[^\s*@]/.test(comment))
    expect(without.map(({ name }) => name)).toEqual([])
  })
})
