// What editors show for a public name: one sentence, and an example.
import { describe, expect, it } from 'vitest'
import { publicNames } from './public-names.ts'

/** Names that other packages of ours build on and applications do not, each with the reason. */
const INTERNAL: Readonly<Record<string, string>> = {
  Admission: 'the service and the Nest adapter keep it between two calls of a guard',
}

const names = publicNames()

it('types and constants are among the public names', () => {
  const ofRoot = names.filter(({ entry }) => entry === 'sluice').map(({ name }) => name)
  expect(ofRoot).toEqual(expect.arrayContaining(['createLimiter', 'ALGORITHMS', 'Limit', 'Store']))
})

describe.each([...new Set(names.map(({ entry }) => entry))])('the public names of %s', (entry) => {
  const own = names.filter((one) => one.entry === entry && !(one.name in INTERNAL))

  it('have an example that editors show', () => {
    const without = own.filter(({ comment }) => !/@example\n \* ```ts\n/.test(comment))
    expect(without.map(({ name }) => name)).toEqual([])
  })

  it('have a sentence before it', () => {
    const without = own.filter(({ comment }) => !/^\s*(?:\* )?[^\s*@]/.test(comment))
    expect(without.map(({ name }) => name)).toEqual([])
  })
})

it('the list of internal names has no stale entry', () => {
  const known = names.map(({ name }) => name)
  expect(Object.keys(INTERNAL).filter((name) => !known.includes(name))).toEqual([])
})
