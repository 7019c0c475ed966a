// The command with TLS: files beside the configuration, mistakes with a place, renewal by signal, several processes.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { until } from '../../../test/servers/until.ts'
import { authority, replaceFile, type Authority } from '../../../test/tls/authority.ts'
import { ask } from '../../../test/tls/secure-client.ts'
import { sluice, type Command } from './sluice.ts'

let ours: Authority
let redis: Awaited<ReturnType<typeof startRedis>>
beforeAll(async () => {
  ours = authority()
  redis = await startRedis()
})
afterAll(async () => {
  ours.close()
  await redis.stop()
})

const env = { SLUICE_HTTP_PORT: '0', SLUICE_SHUTDOWN_DELAY: '1ms' }

/** A configuration beside its pair; gives both. */
function written(name: string, more = '') {
  const pair = ours.issue('localhost')
  const beside = (path: string) => path.slice(ours.folder.length + 1)
  const file = join(ours.folder, `${name}.yaml`)
  writeFileSync(
    file,
    `policies: [{ name: api, rules: [{ name: all, by: [], limit: 5/h }] }]
listeners:
  http:
    tls:
      cert: ${beside(pair.cert)}
      key: ${beside(pair.key)}
${more}`,
  )
  return { file, pair }
}

async function listening({ errors }: Command): Promise<string> {
  return until('it listens', 20_000, async () => /"url":"(https:[^"]+)"/.exec(errors())?.[1])
}
const serialAt = async (url: string) =>
  (await ask(`${url}/healthz`, { ca: readFileSync(ours.ca) })).serial

test.each([[[]], [['--workers', '2']]])(
  'serves over TLS, and takes a renewed certificate on SIGHUP: %o',
  async (more) => {
    // Several workers share their counts in Redis.
    const store = more.length === 0 ? '' : `store: redis://127.0.0.1:${redis.port}\n`
    const { file, pair } = written(`good-${more.length}`, store)
    const service = sluice(['serve', '--no-banner', '--no-watch', ...more, file], env)
    const url = await listening(service)
    const before = await serialAt(url)
    expect(before).toBeDefined()
    const next = ours.issue('localhost')
    replaceFile(pair.cert, next.cert)
    replaceFile(pair.key, next.key)
    // It may come while some processes are still starting.
    service.child.kill('SIGHUP')
    await until('every process has the new one', 10_000, async () => {
      const seen = await Promise.all(Array.from({ length: 8 }, () => serialAt(url)))
      return seen.every((serial) => serial !== undefined && serial !== before)
    })
    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
  },
)

test('check names the listeners with TLS', async () => {
  const { file } = written('told')
  const { printed } = await sluice(['check', file]).ended
  expect(printed).toContain('http     127.0.0.1:8080, over TLS\n')
})

test.each(['serve', 'check'])(
  '%s shows a mistake in the files where they are named',
  async (command) => {
    const { file, pair } = written(`bad-${command}`)
    writeFileSync(pair.key, 'nothing')
    const { code, errors } = await sluice([command, file], env).ended
    expect(code).toBe(1)
    expect(errors).toContain(`error: ${file}:6:12: listeners.http.tls.key is `)
    expect(errors).toContain('the file holds no private key in PEM form')
  },
)
