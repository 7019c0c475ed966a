// The shape of `listeners.proxy`, the reverse proxy.
import { z } from 'zod'
import { connectionLimits } from './connection-limits.ts'
import { tls } from './tls.ts'
import { flag, host, listOf, matching, millis, port, text, whole } from './values.ts'

const LLM_PATH = "a path such as '/v1/chat/completions', or a beginning such as '/v1/*'"
const UPSTREAM = "a URL such as 'http://127.0.0.1:3000', without a path"

export const proxyListener = z.strictObject(
  {
    host: host.default('127.0.0.1'),
    port: port.default(8088),
    tls: tls.describe('Keys and certificates; plain text when it is left out.').exactOptional(),
    upstream: matching(/^https?:\/\/[^\s/?#@]+\/?$/i, UPSTREAM)
      .refine((url) => URL.canParse(url), { error: UPSTREAM })
      .describe('The server that requests go on to.'),
    policy: text('the name of a policy')
      .describe('The policy that counts; the only one when it is left out.')
      .exactOptional(),
    llm: listOf(matching(/^\/[^\s?#*]*\*?$/, LLM_PATH), 'a list of paths')
      .describe('The paths of LLM APIs, whose tokens are reserved and settled by the policy.')
      .exactOptional(),
    keepHost: flag
      .describe('Whether the upstream sees the client’s Host, or its own name.')
      .default(true),
    via: flag.describe('Whether messages say in Via that they came through here.').default(false),
    verifyUpstream: flag
      .describe('Whether the certificate of an https upstream must be valid.')
      .default(true),
    upstreamCa: text('the path of a PEM file')
      .describe('Who may have signed that certificate, instead of the usual authorities.')
      .exactOptional(),
    connectTimeout: millis.describe('How long connecting to the upstream may take.').default(5000),
    timeout: millis
      .describe('How long nothing may move between here and the upstream.')
      .default(60_000),
    tunnelTimeout: millis.describe('How long a WebSocket may be silent.').default(3_600_000),
    maxRequests: whole(1, 2 ** 20)
      .describe('Most requests and WebSockets at the upstream at once.')
      .default(4096),
    requestTimeout: millis
      .describe('How long a client may take to send a whole request.')
      .default(300_000),
    ...connectionLimits,
  },
  { error: 'an object with upstream' },
)
