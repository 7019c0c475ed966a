// The shape of the whole file, with `store` in its long form and policies still as they were written.
import { clientAddress } from 'sluice/http'
import { z } from 'zod'
import { LOG_LEVELS } from '../../log/log.ts'
import { envoy } from './envoy.ts'
import { failure } from './failure.ts'
import { listeners } from './listeners.ts'
import { dialects, proxy } from './proxy.ts'
import { store } from './store.ts'
import { listOf, millis, oneOf, text } from './values.ts'
import { webhooks } from './webhooks.ts'
import { workers } from './workers.ts'

const FIELD_NAME = "the name of a header field, such as 'Decision-Id'"
const NETWORK = "a network such as '10.0.0.0/8', or loopback, link-local, private or unix"
const POLICIES = 'a list of at least one policy'

/** Whether the library accepts it as a trusted proxy. */
function isTrustable(network: string): boolean {
  try {
    clientAddress({ trustedProxies: [network] }, () => {})
    return true
  } catch {
    return false
  }
}

export const shutdown = z.strictObject(
  {
    delay: millis.describe('How long to say "not ready" before the ports close.').default(1000),
    patience: millis.describe('How long work that has begun may take.').default(10_000),
  },
  { error: 'an object with delay and patience' },
)

export const file = z.strictObject(
  {
    policies: z
      .array(z.unknown(), { error: POLICIES })
      .min(1, { error: POLICIES })
      .describe('Each with a name of its own.'),
    store: store.describe('Where counts live.').prefault({ kind: 'memory' }),
    listeners: listeners.prefault({}),
    envoy: envoy.describe('The rate limit service of Envoy, on the gRPC listener.').exactOptional(),
    headers: dialects
      .describe('Header fields of answers to clients and to proxies.')
      .default(['structured']),
    decisionIdHeader: z
      .string({ error: FIELD_NAME })
      .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, { error: FIELD_NAME })
      .describe('The header field that carries the id of a refusal; none when it is left out.')
      .exactOptional(),
    proxy: proxy.describe('The questions of proxies at /v1/auth/….').prefault({}),
    failure: failure.describe('What happens while a remote store cannot answer.').prefault({}),
    webhooks: webhooks.describe('Where the thresholds that keys cross are reported.').default([]),
    trustedProxies: listOf(
      text(NETWORK).refine(isTrustable, { error: NETWORK }),
      'a list of networks such as [10.0.0.0/8], those of your proxies',
    )
      .describe('The proxies whose word on the client’s address is believed.')
      .default([]),
    shutdown: shutdown.prefault({}),
    workers: workers.describe('How many processes share the ports.').default(1),
    log: oneOf(LOG_LEVELS).default('info'),
  },
  { error: 'an object with policies' },
)

/** The same for a service whose limits stand in files of their own: it needs no policy. */
export const fileBesideOthers = file.extend({
  policies: z.array(z.unknown(), { error: 'a list of policies' }).default([]),
})
