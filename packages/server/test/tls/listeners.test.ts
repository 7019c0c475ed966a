// TLS is the same on every listener: each speaks it, follows its files, and lets go of those who never finish.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect as connectPlain, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { running, sample } from '../running.ts'
import { authority, replaceFile, type Authority } from '../../../../test/tls/authority.ts'
import { ask } from '../../../../test/tls/secure-client.ts'

let ours: Authority
let other: Authority
beforeAll(() => {
  ours = authority()
  other = authority('other')
})
afterAll(() => {
  ours.close()
  other.close()
})

async function upstream(): Promise<string> {
  const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.each([
  ['http', '/healthz', 200],
  ['proxy', '/', 200],
  ['admin', '/v1/admin/blocks', 401],
])('%s', (name, path, status) => {
  const started = async (more: object = {}) => {
    const pair = ours.issue('localhost')
    const own = name === 'proxy' ? { upstream: await upstream() } : {}
    const tokens = name === 'admin' ? { tokenFile: tokenFile() } : {}
    const listener = {
      port: 0,
      tls: { ...pair, ca: ours.ca, clients: 'optional' },
      ...own,
      ...tokens,
      ...more,
    }
    const service = await running({ ...sample, listeners: { [name]: listener } })
    const { url } = service.listeners.find((it) => it.name === name)!
    return { ...service, url, pair }
  }
  function tokenFile(): string {
    const path = `${ours.folder}/token`
    writeFileSync(path, 'ops a-token-that-is-long-enough-for-operators\n', { mode: 0o600 })
    return path
  }
  const trusting = (by: Authority) => ({ ca: readFileSync(by.ca) })

  test('speaks TLS', async () => {
    const { url } = await started()
    expect(url).toMatch(/^https:/)
    expect(await ask(url + path, trusting(ours))).toMatchObject({ status })
    expect((await ask(url + path, trusting(other))).error).toBeDefined()
  })

  test('refuses a wrong certificate of a client', async () => {
    const { url } = await started()
    const { cert, key } = other.issue('proxy')
    const own = { cert: readFileSync(cert), key: readFileSync(key) }
    expect((await ask(url + path, { ...trusting(ours), ...own })).error).toBeDefined()
  })

  test('follows its files', async () => {
    const { url, pair, reload } = await started()
    const next = other.issue('localhost')
    replaceFile(pair.key, next.key)
    replaceFile(pair.cert, next.cert)
    expect(await reload()).not.toBe('failed')
    expect(await ask(url + path, trusting(other))).toMatchObject({ status })
  })

  test('lets go of those who never finish the handshake', async () => {
    const { url } = await started({ headersTimeout: 500 })
    const sockets = Array.from({ length: 50 }, () =>
      connectPlain(Number(new URL(url).port), '127.0.0.1')
        .on('error', () => {})
        .resume(),
    )
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    for (const socket of sockets) socket.write('\u0016\u0003\u0001')
    await until('they are let go', 5000, async () => sockets.every(({ closed }) => closed))
    expect(await ask(url + path, trusting(ours))).toMatchObject({ status })
  })
})
