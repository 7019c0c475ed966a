import { expect, test } from 'vitest'
import { checkNames, exportsOf, problemsOf } from './check-names.mjs'

test('finds every name that a file declares and exports', () => {
  const source = `
// export const commented = 1
import { n, type O } from './elsewhere.ts'
export { n, type O }
export const a = 1
export function b(): void {}
export async function c(): Promise<void> {}
export class D {}
export abstract class E {}
export interface F {}
export type G = string
export enum H {}
const i = 1, j = 2, k = 3
export { i, j as l, type M }
export { elsewhere } from './elsewhere.ts'
export type { Elsewhere } from './elsewhere.ts'
export * from './elsewhere.ts'
`
  expect(exportsOf(source)).toEqual(['a', 'b', 'c', 'D', 'E', 'F', 'G', 'H', 'i', 'l', 'M'])
})

test('reports a name with two meanings, unless it is allowed', () => {
  const files = [
    ['a.ts', 'export class Guard {}\nexport type Gate = 1'],
    ['b.ts', 'export interface Guard {}\nexport type Gate = 2'],
  ] as const
  expect(problemsOf('x', files, ['Gate'])).toEqual(['x: Guard has several meanings: a.ts, b.ts'])
})

test('takes a type and a value of one name in one file for one meaning', () => {
  const file = 'export const Level = { a: 1 }\nexport type Level = keyof typeof Level'
  expect(problemsOf('x', [['a.ts', file]], [])).toEqual([])
})

test('the workspace follows the rule', () => {
  expect(checkNames()).toEqual([])
})
