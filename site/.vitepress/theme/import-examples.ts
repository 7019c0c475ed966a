// What stands in the converter of each page that is for users of another limiter, until they paste their own.

/** An example of another limiter's configuration. */
interface Example {
  /** The name that `sluice import` knows. */
  readonly from: string
  readonly file: string
  readonly text: string
}

/** By the name of the page. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  'express-rate-limit': {
    from: 'express-rate-limit',
    file: 'app.js',
    text: `import { rateLimit } from 'express-rate-limit'

app.use(rateLimit({ windowMs: 15 * 60 * 1000, limit: 100, standardHeaders: 'draft-8' }))
`,
  },
  'fastify-rate-limit': {
    from: '@fastify/rate-limit',
    file: 'app.js',
    text: `import rateLimit from '@fastify/rate-limit'

await app.register(rateLimit, { max: 100, timeWindow: '1 minute' })
`,
  },
  'rate-limiter-flexible': {
    from: 'rate-limiter-flexible',
    file: 'limits.js',
    text: `import { RateLimiterMemory } from 'rate-limiter-flexible'

export const logins = new RateLimiterMemory({ points: 5, duration: 60, blockDuration: 600 })
`,
  },
  'envoy-ratelimit': {
    from: 'envoy',
    file: 'config.yaml',
    text: `domain: api
descriptors:
  - key: generic_key
    value: login
    rate_limit: { unit: minute, requests_per_unit: 5 }
  - key: remote_address
    rate_limit: { unit: second, requests_per_unit: 20 }
`,
  },
  nginx: {
    from: 'nginx',
    file: 'nginx.conf',
    text: `limit_req_zone $binary_remote_addr zone=all:10m rate=10r/s;

server {
  location / { limit_req zone=all burst=20 nodelay; }
  location /login { limit_req zone=all burst=5; }
}
`,
  },
}
