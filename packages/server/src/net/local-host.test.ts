import { describe, expect, test } from 'vitest'
import { isLocalHost, isLoopback } from './local-host.ts'

describe('a Host field', () => {
  test.each([
    undefined,
    'localhost',
    'localhost:8080',
    'LOCALHOST',
    'api.localhost:8080',
    '127.0.0.1:8080',
    '10.0.0.7',
    '[::1]:8080',
    '[::ffff:127.0.0.1]',
  ])('of this machine is accepted: %s', (field) => {
    expect(isLocalHost(field)).toBe(true)
  })

  test.each([
    '',
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost:8080.evil.example',
    'evil.example, localhost',
    '[::1].evil.example',
  ])('of another host is not: %s', (field) => {
    expect(isLocalHost(field)).toBe(false)
  })
})

test.each([
  ['127.0.0.1', true],
  ['127.8.0.1', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
])('a listener on %s is on loopback: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})
