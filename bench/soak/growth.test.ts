import { expect, it } from 'vitest'
import { grown } from './growth.mjs'

const allowed = { heap: { share: 0.2, floor: 5 }, handles: { share: 0, floor: 0 } }
const samples = (heap: number[], handles: number[]) => ({ heap, handles })

it('sees a figure that grows all the time', () => {
  const heap = Array.from({ length: 12 }, (_, i) => 50 + 3 * i)
  const problems = grown(samples(heap, Array(12).fill(9)), allowed)
  expect(problems).toEqual(['heap grew from 56 to 80; at most 72.2'])
})

it('takes neither a first sample nor noise for growth', () => {
  const heap = [20, 50, 58, 49, 55, 51, 57, 50, 52, 56, 51, 53]
  expect(grown(samples(heap, [4, ...Array(11).fill(9)]), allowed)).toEqual([])
})

it('sees one handle too many where none may be added', () => {
  const handles = [9, 9, 9, 9, 9, 9, 10, 10, 10, 10]
  expect(grown(samples(Array(10).fill(50), handles), allowed)).toHaveLength(1)
})
