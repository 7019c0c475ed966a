// Admissions that are kept off their requests: each request has its own, whatever requests share.
import { expect, test } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { decisionOf } from './admission.ts'
import { createRequestGuard } from './create-request-guard.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { nodeAdapter, type NodeRequest, type NodeResponse } from './node-adapter.ts'

const besideAdapter: FrameworkAdapter<NodeRequest, NodeResponse> = {
  ...nodeAdapter,
  keepsBeside: true,
}

function requestWith(rawHeaders: readonly string[]): NodeRequest {
  return { url: '/', headers: {}, rawHeaders, socket: { remoteAddress: '192.0.2.1' } }
}

function guardOf(adapter: FrameworkAdapter<NodeRequest, NodeResponse>) {
  const limiter = createLimiter({ limit: '10/min', store: memoryStore({ clock: fakeClock() }) })
  const guard = createRequestGuard(adapter, limiter)
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
  const enter = guardOf(besideAdapter)
  const requests = [requestWith(one), requestWith(other)]
  for (const request of [...requests, ...requests]) enter(request)
  expect(requests.map((request) => decisionOf(request)?.remaining)).toEqual([9, 8])
})

test('a request that meets guards of both kinds in turn is counted once by each', () => {
  const node = guardOf(nodeAdapter)
  const express = guardOf(besideAdapter)
  const requests = [requestWith([]), requestWith([])]
  const left = []
  for (const request of requests)
    for (const enter of [node, express, node, express]) {
      enter(request)
      left.push(decisionOf(request)?.remaining)
    }
  expect(left).toEqual([9, 9, 9, 9, 8, 8, 8, 8])
})
