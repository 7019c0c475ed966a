// The shape of `listeners.admin`, the admin API.
import { z } from 'zod'
import { connectionLimits } from './connection-limits.ts'
import { tls } from './tls.ts'
import { host, millis, port, text, whole } from './values.ts'

export const adminListener = z.strictObject(
  {
    host: host.default('127.0.0.1'),
    port: port.default(8089),
    tls: tls.describe('Keys and certificates; plain text when it is left out.').exactOptional(),
    tokenFile: text('the path of a file')
      .describe(
        'Tokens, one a line: alone, behind a name, or behind a name and a role (read, operate). SLUICE_ADMIN_TOKEN is another.',
      )
      .exactOptional(),
    auditFile: text('the path of a file')
      .describe('Where audit lines are written besides the log.')
      .exactOptional(),
    maxBody: whole(1024, 2 ** 20)
      .describe('Most bytes of a request body.')
      .default(65_536),
    requestTimeout: millis
      .describe('How long a client may take to send a whole request.')
      .default(10_000),
    ...connectionLimits,
    maxConnections: whole(1, 2 ** 20)
      .describe('Most connections at once.')
      .default(400),
    maxConnectionsPerAddress: whole(1, 2 ** 20)
      .describe('Maximum number of connections from one address, or from one /64 of IPv6.')
      .default(300),
  },
  { error: 'an object with host, port and tokenFile' },
)
