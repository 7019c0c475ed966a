// Admissions are kept with their requests: each request has its own, whatever requests share.
import { expect, test } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { decisionOf } from './admission.ts'
import { createRequestGuard } from './create-request-guard.ts'
import { nodeAdapter, type NodeRequest } from './node-adapter.ts'

function requestWith(rawHeaders: readonly string[]): NodeRequest {
  return { url: '/', headers: {}, rawHeaders, socket: { remoteAddress: '192.0.2.1' } }
}

function newGuard() {
  const limiter = createLimiter({ limit: '10/min', store: memoryStore({ clock: fakeClock() }) })
  const guard = createRequestGuard(nodeAdapter, limiter)
  return (request: NodeRequest) => void guard.enter(request, null)
}

const shared: readonly string[] = []
const frozen = Object.freeze<string[]>([])
const LISTS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['lists of their own', [], []],
  ['one list between them', shared, shared],
  ['one frozen list', frozen, frozen],
]

test.each(LISTS)('requests with %s are counted once each', (_, one, other) => {
  const enter = newGuard()
  const requests = [requestWith(one), requestWith(other)]
  for (const request of [...requests, ...requests]) enter(request)
  expect(requests.map((request) => decisionOf(request)?.remaining)).toEqual([9, 8])
})

test('a frozen request without a list of header lines is counted once', () => {
  const enter = newGuard()
  const { rawHeaders: _, ...bare } = requestWith([])
  const request = Object.freeze(bare) as NodeRequest
  for (const one of [request, request]) enter(one)
  expect(decisionOf(request)?.remaining).toBe(9)
})

test('a request that meets two guards in turn is counted once by each', () => {
  const guards = [newGuard(), newGuard()] as const
  const requests = [requestWith([]), requestWith([])]
  const left = []
  for (const request of requests)
    for (const enter of [...guards, ...guards]) {
      enter(request)
      left.push(decisionOf(request)?.remaining)
    }
  expect(left).toEqual([9, 9, 9, 9, 8, 8, 8, 8])
})
