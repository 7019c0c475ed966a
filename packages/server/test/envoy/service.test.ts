// The whole service with descriptor files: one configuration, reloads, mistakes, and policies as domains.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { loadConfig, reviewFile, startService, type Service } from '../../src/index.ts'
import { OK, OVER, type Client } from './client.ts'
import { rawClient } from './raw-client.ts'
import { SILENT } from './server.ts'

let folder: string
let service: Service | undefined
let client: Client | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-'))
})
afterEach(async () => {
  await client?.close()
  await service?.stop()
  client = service = undefined
  rmSync(folder, { recursive: true, force: true })
})

const limits = (requests: number | string): string => `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: ${requests} }
`

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const CONFIG = `
listeners:
  http: { port: 0 }
  grpc: { port: 0 }
envoy:
  files: [limits.yaml]
`

async function start(text: string): Promise<Client> {
  const file = write('sluice.yaml', text)
  const { config, problems, digest } = await loadConfig(file)
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const watch = { settle: 10, poll: 50 }
  service = await startService({ config, source: { file, digest, watch }, log: SILENT })
  client = rawClient(service.listeners.find(({ name }) => name === 'grpc')!.url)
  return client
}

const ask = (domain: string, ...entries: [string, string][]) => ({
  domain,
  descriptors: [{ entries }],
})

describe('the service', () => {
  test('needs no policy where descriptor files are given', async () => {
    write('limits.yaml', limits(1))
    const client = await start(CONFIG)
    expect(await client.ask(ask('shop', ['user', 'a']))).toMatchObject({ code: OK })
    expect(await client.ask(ask('shop', ['user', 'a']))).toMatchObject({ code: OVER })
  })

  test('puts changed descriptor files in force, and keeps the counts', async () => {
    const file = write('limits.yaml', limits(1))
    const client = await start(CONFIG)
    await client.ask(ask('shop', ['user', 'a']))
    writeFileSync(file, limits(3))
    const status = await until('the new limit', 4000, async () => {
      const { statuses } = await client.ask({
        domain: 'shop',
        descriptors: [{ entries: [['user', 'a']], hits: 0 }],
      })
      return statuses?.[0]?.limit?.[0] === 3 && statuses[0]
    })
    expect(status.remaining).toBe(2)
  })

  test('keeps the old files when a changed one is wrong', async () => {
    const file = write('limits.yaml', limits(1))
    const client = await start(CONFIG)
    writeFileSync(file, limits('many'))
    expect(await service!.reload()).toBe('failed')
    expect(await client.ask(ask('shop', ['user', 'a']))).toMatchObject({ code: OK })
    expect(await client.ask(ask('shop', ['user', 'a']))).toMatchObject({ code: OVER })
    const { url } = service!.listeners.find(({ name }) => name === 'http')!
    const text = async (path: string) => (await fetch(`${url}${path}`)).text()
    expect(await text('/readyz')).toContain(`"reloadProblems":["${file}:4:50: descriptors[0]`)
    expect(await text('/metrics')).toContain('sluice_envoy_files_valid 0\n')
    writeFileSync(file, limits(2))
    expect(await service!.reload()).toBe('applied')
    expect(await text('/readyz')).not.toContain('reloadProblems')
    expect(await text('/metrics')).toContain('sluice_envoy_files_valid 1\n')
    expect(await service!.reload()).toBe('unchanged')
  })

  test('loses no answer and no count while its files change all the time', async () => {
    const file = write('limits.yaml', limits(300))
    const client = await start(CONFIG)
    let reloads = 0
    let asking = true
    const reloading = (async () => {
      while (asking) {
        writeFileSync(file, `${limits(300)}# ${reloads}\n  - key: other${reloads}\n`)
        if ((await service!.reload()) === 'applied') reloads += 1
      }
    })()
    const codes = new Map<number | undefined, number>()
    for (let round = 0; round < 50; round++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => client.ask(ask('shop', ['user', 'a']))),
      )
      for (const { code } of answers) codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    asking = false
    await reloading
    expect(codes).toEqual(
      new Map([
        [OK, 300],
        [OVER, 200],
      ]),
    )
    expect(reloads).toBeGreaterThan(10)
  })

  test('does not start with files that are wrong, and says where', async () => {
    const file = write('limits.yaml', limits(-1))
    await expect(start(CONFIG)).rejects.toThrow(
      `${file}:4:50: descriptors[0].rate_limit.requests_per_unit is "-1"; accepted: a whole number`,
    )
  })

  test('answers for policies as domains on the same port', async () => {
    const client = await start(`
listeners: { http: { port: 0 }, grpc: { port: 0 } }
policies:
  - name: api
    rules:
      - { name: per-user, by: [user], limit: { quota: 2, window: 1h } }
      - { name: all, by: [], limit: 100/h }
`)
    expect(await client.ask(ask('api', ['user', 'a'], ['path', '/x']))).toMatchObject({
      code: OK,
      statuses: [{ code: OK, remaining: 1, limit: [2, 3], name: 'per-user' }],
    })
    await client.ask(ask('api', ['user', 'a']))
    expect(await client.ask(ask('api', ['user', 'a']))).toMatchObject({ code: OVER })
    expect(await client.ask(ask('api', ['user', 'b']))).toMatchObject({ code: OK })
  })

  test('is reviewed together with its descriptor files', async () => {
    write('limits.yaml', limits(0))
    const file = write('sluice.yaml', CONFIG)
    const { warnings } = await reviewFile(file)
    expect(warnings).toMatchObject([{ code: 'blocks-all', line: 4, column: 5 }])
    write('limits.yaml', 'domain: ""')
    expect((await reviewFile(file)).problems).toMatchObject([{ line: 1, path: 'domain' }])
  })
})
