// The guide and the example in deploy/envoy: what they show is read, means what they say, and names every trap.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { memoryStore } from 'sluice'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { decidedDomain } from '../../src/envoy/decide/decided-domain.ts'
import { FileMatcher } from '../../src/envoy/decide/descriptor-matcher.ts'
import { loadDomains } from '../../src/envoy/files/load.ts'
import { TRAPS } from '../../src/envoy/files/notes.ts'
import type { RateLimitResponse } from '../../src/envoy/wire/response.ts'
import { readConfig, reviewFile } from '../../src/index.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const text = (path: string): string => readFileSync(root + path, 'utf8')
const guide = text('docs/guide/envoy.md')
const blocks = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)

describe('the guide', () => {
  test.each(['envoy.yaml', 'sluice.yaml', 'ratelimit/shop.yaml'])(
    'shows deploy/envoy/%s as it is',
    (name) => {
      expect(blocks).toContain(text(`deploy/envoy/${name}`))
    },
  )

  test('shows a configuration of policies that is valid', () => {
    const block = blocks.find((block) => block.includes('policies:'))!
    expect(readConfig(block, 'guide').problems).toEqual([])
  })
})

test('the reference has a heading for every trap, in order', () => {
  const page = text('docs/reference/service/envoy.md')
  const headings = [...page.slice(page.indexOf('## Traps')).matchAll(/^### (.*)$/gm)]
  expect(headings.map(([, heading]) => heading)).toEqual([...TRAPS])
})

test('the configuration of the example has neither mistakes nor traps', async () => {
  const { problems, warnings } = await reviewFile(`${root}deploy/envoy/sluice.yaml`)
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] })
})

/** What the actions of envoy.yaml make of a request, as far as the example uses them. */
interface Action {
  readonly remote_address?: object
  readonly request_headers?: { header_name: string; descriptor_key: string }
  readonly generic_key?: { descriptor_key: string; descriptor_value: string }
}
function entryOf(action: Action): { key: string; value: string } {
  if (action.remote_address) return { key: 'remote_address', value: '192.0.2.7' }
  if (action.request_headers) return { key: action.request_headers.descriptor_key, value: 'k-4711' }
  const { descriptor_key: key, descriptor_value: value } = action.generic_key!
  return { key, value }
}

test('every descriptor that the example’s Envoy makes has a limit in its file', () => {
  const listeners = parse(text('deploy/envoy/envoy.yaml')).static_resources.listeners
  const manager = listeners[0].filter_chains[0].filters[0].typed_config
  const filter = manager.http_filters[0].typed_config
  const host = manager.route_config.virtual_hosts[0]
  const limits = [...host.rate_limits, ...host.routes[0].route.rate_limits] as {
    actions: Action[]
  }[]
  const descriptors = limits.map(({ actions }) => ({
    entries: actions.map(entryOf),
    limit: undefined,
    hits: undefined,
    negative: false,
  }))
  const { domains } = loadDomains([`${root}deploy/envoy/ratelimit`])
  const config = domains.find(({ domain }) => domain === filter.domain)!
  const domain = decidedDomain(new FileMatcher(config), { store: memoryStore() })
  const { statuses } = domain.decide({
    domain: config.domain,
    descriptors,
    hits: 0,
  }) as RateLimitResponse
  expect(statuses.map(({ currentLimit }) => currentLimit?.requestsPerUnit)).toEqual([600, 500, 10])
})
