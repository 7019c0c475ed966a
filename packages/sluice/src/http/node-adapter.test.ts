import { expect, it } from 'vitest'
import { nodeAdapter } from './node-adapter.ts'

it.each([
  ['a string', 'a', 'a'],
  ['a number, as bridges of serverless platforms may set it', 12_345, '12345'],
  ['several lines', ['a', 'b'], 'a, b'],
  ['no field', undefined, undefined],
])('a header field is read as one string: %s', (_, value, expected) => {
  const request = { headers: { 'x-api-key': value } }
  expect(nodeAdapter.header(request as never, 'x-api-key')).toBe(expected)
})
