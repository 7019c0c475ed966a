// Alerts by promtool, and every query of the dashboard by a Prometheus that scrapes a loaded service.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { createGuard, spawnGuarded } from '../../../../test/servers/guarded-process.ts'
import { freePort } from '../../../../test/servers/ports.ts'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { running } from '../running.ts'

const deploy = fileURLToPath(new URL('../../../../deploy/', import.meta.url))
const textOf = (file: string): string => readFileSync(join(deploy, file), 'utf8')

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { expr: string }[]
  }[]
}
const dashboard = JSON.parse(textOf('grafana/sluice.json')) as Dashboard

describe('the alerts', () => {
  it('fire when they should, and not otherwise', () => {
    const cwd = join(deploy, 'prometheus')
    const output = execFileSync('promtool', ['test', 'rules', 'rules.test.yml'], { cwd })
    expect(output.toString()).toContain('SUCCESS')
  })

  it('are all tested, each firing and not firing', () => {
    const { groups } = parse(textOf('prometheus/rules.yml')) as {
      groups: readonly { rules: readonly { alert: string }[] }[]
    }
    const { tests } = parse(textOf('prometheus/rules.test.yml')) as {
      tests: readonly { alert_rule_test: readonly { alertname: string; exp_alerts: unknown[] }[] }[]
    }
    const cases = tests.flatMap((test) => test.alert_rule_test)
    const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
    const inCases = (isFiring: boolean): readonly string[] => {
      const chosen = cases.filter((one) => one.exp_alerts.length > 0 === isFiring)
      return [...new Set(chosen.map((one) => one.alertname))].toSorted()
    }
    expect(inCases(true)).toEqual(names.toSorted())
    expect(inCases(false)).toEqual(names.toSorted())
  })
})

describe('the compose file', () => {
  it('mounts files that exist, with a configuration that is valid', () => {
    const { services } = parse(textOf('compose/compose.yaml')) as {
      services: Record<string, { volumes?: readonly string[] }>
    }
    const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes)
    expect(mounted).toHaveLength(4)
    for (const volume of mounted) {
      const [path] = volume.split(':')
      expect(() => execFileSync('ls', [join(deploy, 'compose', path!)])).not.toThrow()
    }
    const { problems } = readConfig(textOf('compose/sluice.yaml'), 'sluice.yaml', {})
    expect(problems).toEqual([])
  })
})

describe('Prometheus and Grafana of the compose file', () => {
  interface Service {
    readonly volumes?: readonly string[]
    readonly depends_on?: readonly string[]
  }
  const { services } = parse(textOf('compose/compose.yaml')) as {
    services: Record<string, Service>
  }
  /** Where files of this folder are in the container of a service. */
  const mounted = (name: string): readonly (readonly [string, string])[] =>
    (services[name]!.volumes ?? []).map((volume) => {
      const [from, to] = volume.split(':') as [string, string]
      return [join('compose', from), to]
    })

  it('wait for services that there are', () => {
    const awaited = Object.values(services).flatMap(({ depends_on: names = [] }) => names)
    expect(Object.keys(services)).toEqual(expect.arrayContaining(awaited))
  })

  it('scrape the service at its port, with the alerts', () => {
    expect(mounted('prometheus')).toEqual([['prometheus', '/etc/prometheus']])
    const cwd = join(deploy, 'prometheus')
    const output = execFileSync('promtool', ['check', 'config', 'prometheus.yml'], { cwd })
    expect(output.toString()).toContain('SUCCESS: 1 rule files found')
    const { scrape_configs: scrapes } = parse(textOf('prometheus/prometheus.yml')) as {
      scrape_configs: readonly { static_configs: readonly { targets: readonly string[] }[] }[]
    }
    const targets = scrapes.flatMap((one) => one.static_configs.flatMap((each) => each.targets))
    const { config } = readConfig(textOf('compose/sluice.yaml'), 'sluice.yaml', {})
    expect(targets).toEqual([`sluice:${config!.listeners.http.port}`])
    expect(Object.keys(services)).toContain('sluice')
  })

  it('show the dashboard from that Prometheus', () => {
    const [provisioning, file] = mounted('grafana')
    expect(provisioning).toEqual(['grafana/provisioning', '/etc/grafana/provisioning'])
    const { providers } = parse(textOf('grafana/provisioning/dashboards/sluice.yaml')) as {
      providers: readonly { options: { path: string } }[]
    }
    expect(file).toEqual(['grafana/sluice.json', join(providers[0]!.options.path, 'sluice.json')])
    const { datasources } = parse(textOf('grafana/provisioning/datasources/prometheus.yaml')) as {
      datasources: readonly { type: string; url: string; isDefault: boolean }[]
    }
    expect(datasources).toMatchObject([
      { type: 'prometheus', url: 'http://prometheus:9090', isDefault: true },
    ])
  })
})

describe('the dashboard', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  it('has no query that is empty on a loaded service', async () => {
    const rule = { name: 'per-user', by: ['user'], limit: '20/min', candidate: '10/min' }
    const policies = [
      { name: 'api', rules: [rule, { name: 'per-address', by: ['ip'], limit: '9/s' }] },
    ]
    const store = { kind: 'redis', url: redis.url, timeout: '5s' }
    const { url, post } = await running({ policies, store })
    const prometheus = await startPrometheus(new URL(url).host)
    let requests = 0
    const load = async (): Promise<void> => {
      for (let i = 0; i < 20; i++)
        await post('/v1/check', { attributes: { user: `user ${requests++ % 3}` } })
    }
    const queries = dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ title, expr })),
    )
    expect(queries.length).toBeGreaterThan(20)
    await until('every query has a value', 40_000, async () => {
      await load()
      const empty: string[] = []
      for (const { title, expr } of queries)
        if (!(await prometheus.hasValue(expr.replaceAll('[5m]', '[10s]')))) empty.push(title)
      if (empty.length > 0) throw new Error(`empty: ${empty.join(', ')}`)
      return true
    })
  })
})

/** A Prometheus that scrapes one target every second. */
async function startPrometheus(target: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'))
  const port = await freePort()
  const config = join(folder, 'prometheus.yml')
  const scrapes = [{ job_name: 'sluice', static_configs: [{ targets: [target] }] }]
  writeFileSync(
    config,
    JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: scrapes }),
  )
  const guard = createGuard(folder)
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const logFile = join(folder, 'log')
  await spawnGuarded(guard, 'prometheus', args, { cwd: folder, logFile })
  onTestFinished(() => guard.release())
  const hasValue = async (query: string): Promise<boolean> => {
    const address = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`
    const { status, data, error } = (await (await fetch(address)).json()) as {
      status: string
      error?: string
      data?: { result: readonly { value: readonly [number, string] }[] }
    }
    if (status !== 'success') throw new Error(`${query}: ${error}`)
    return data!.result.some(({ value }) => value[1] !== 'NaN')
  }
  await until('Prometheus answers', 30_000, () => hasValue('vector(1)'))
  return { hasValue }
}
