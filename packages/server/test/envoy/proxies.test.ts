// Real proxies between the client and the service: nginx by grpc_pass, HAProxy by HTTP/2.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createGuard, spawnGuarded } from '../../../../test/servers/guarded-process.ts'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'
import { grpcJsClient } from './grpc-js-client.ts'
import { rawClient } from './raw-client.ts'
import { SCENARIOS } from './scenarios.ts'
import { startTestServer } from './server.ts'

const nginx = (port: number, target: string): string => `
daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port} http2;
    location / { grpc_pass grpc://${target}; }
  }
}`

const haproxy = (port: number, target: string): string => `
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend public
  bind 127.0.0.1:${port} proto h2
  default_backend sluice
backend sluice
  server one ${target} proto h2
`

const PROXIES = {
  nginx: {
    config: nginx,
    command: (file: string, folder: string) => ['nginx', '-p', folder, '-c', file],
  },
  HAProxy: { config: haproxy, command: (file: string) => ['haproxy', '-db', '-f', file] },
} as const

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function startProxy(name: keyof typeof PROXIES, target: string): Promise<number> {
  const { config, command } = PROXIES[name]
  const folder = mkdtempSync(join(tmpdir(), 'sluice-proxy-'))
  const port = await freePort()
  const file = join(folder, 'proxy.conf')
  writeFileSync(file, config(port, target))
  const [program = '', ...args] = command(file, folder)
  const guard = createGuard(folder)
  closing.push(() => guard.release())
  await spawnGuarded(guard, program, args, { cwd: folder, logFile: join(folder, 'log') })
  await until(`${name} answers`, 10_000, async () => {
    const client = rawClient(`http://127.0.0.1:${port}`)
    const { status } = await client.ask({
      domain: 'nowhere',
      descriptors: [{ entries: [['a', 'b']] }],
    })
    await client.close()
    return status === 0
  })
  return port
}

describe.each(['nginx', 'HAProxy'] as const)('through %s', (name) => {
  test('scenarios have the same answers, by raw bytes and by grpc-js', async () => {
    // Every fourth is enough: proxies do not look into messages.
    const some = Object.entries(SCENARIOS).filter((_, i) => i % 4 === 1)
    for (const [scenario, steps] of some) {
      const server = await startTestServer()
      const port = await startProxy(name, server.target)
      const clients = [rawClient(`http://127.0.0.1:${port}`), grpcJsClient(`127.0.0.1:${port}`)]
      for (const [i, { after = 0, ask, expect: expected }] of steps.entries()) {
        server.clock.advance(after)
        // In turn, so that both clients take part in one scenario.
        const outcome = await clients[i % 2]!.ask(ask)
        expect(outcome, `${scenario}, step ${i + 1}`).toMatchObject(expected)
      }
      for (const client of clients) await client.close()
      for (const close of closing.splice(0).toReversed()) await close()
      await server.close(100)
    }
  })
})
