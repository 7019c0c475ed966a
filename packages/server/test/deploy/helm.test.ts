// The Helm chart, rendered by the few actions that its templates use, against the plain manifests.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { reviewText } from '../../src/review/review.ts'

const deploy = fileURLToPath(new URL('../../../../deploy/', import.meta.url))
const textOf = (file: string): string => readFileSync(deploy + file, 'utf8')
const chart = parse(textOf('helm/Chart.yaml')) as Record<string, string>
const defaults = parse(textOf('helm/values.yaml')) as Record<string, unknown>

type Scope = Readonly<Record<string, unknown>>

function scopeOf(values: Scope): Scope {
  const named = Object.entries(chart).map(([name, value]) => [
    name[0]!.toUpperCase() + name.slice(1),
    value,
  ])
  return { Values: values, Chart: Object.fromEntries(named), Release: { Name: 'demo' } }
}

/** The value of a path such as `.Values.image.tag`; throws where nothing stands. */
function valueAt(path: string, scope: Scope): unknown {
  let value: unknown = scope
  for (const name of path.slice(1).split('.')) {
    if (typeof value !== 'object' || value === null || !(name in value))
      throw new Error(`${path} is in no file of the chart`)
    value = (value as Scope)[name]
  }
  return value
}

/** What one action writes. An action that is not known here is a mistake. */
function evaluate(action: string, scope: Scope): string {
  if (/^\.[\w.]+$/.test(action)) return String(valueAt(action, scope))
  const json = /^toJson (\.[\w.]+)( \| quote)?$/.exec(action)
  if (json !== null) {
    const text = JSON.stringify(valueAt(json[1]!, scope))
    return json[2] === undefined ? text : JSON.stringify(text)
  }
  const image =
    /^printf "%s:%s" (\.[\w.]+) \(default (\.[\w.]+) (\.[\w.]+)\) \| quote$/.exec(action) ?? []
  if (image.length !== 4) throw new Error(`unknown action: ${action}`)
  const [repository, version, tag] = image.slice(1).map((path) => String(valueAt(path, scope)))
  return JSON.stringify(`${repository}:${tag === '' ? version : tag}`)
}

function rendered(template: string, scope: Scope): string {
  const kept = template.replaceAll(
    /\{\{- if (\.[\w.]+) \}\}([\s\S]*?)\{\{- end \}\}/g,
    (_, path: string, body: string) => (valueAt(path, scope) === true ? body : ''),
  )
  return kept.replaceAll(/\{\{ (.+?) \}\}/g, (_, action: string) => evaluate(action, scope))
}

/** The manifests by their kinds. */
function manifests(values: Scope = defaults): ReadonlyMap<string, Scope> {
  const files = readdirSync(`${deploy}helm/templates`)
  const made = files.map((file) =>
    read(rendered(textOf(`helm/templates/${file}`), scopeOf(values))),
  )
  const found = made.filter((one) => one !== null)
  return new Map(found.map((one) => [String(one['kind']), one]))
}

/** Kubernetes reads YAML 1.1, where 0440 is an octal number. */
function read(text: string): Scope | null {
  return parse(text, { version: '1.1' }) as Scope | null
}

const member = (made: ReadonlyMap<string, Scope>, kind: string, path: string): unknown =>
  valueAt(path, made.get(kind)!)

describe('the chart', () => {
  it('makes one manifest of each kind, all of which select the same pods', () => {
    const made = manifests()
    const kinds = ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service']
    expect([...made.keys()].toSorted()).toEqual(kinds)
    const labels = { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/instance': 'demo' }
    expect(member(made, 'Deployment', '.spec.template.metadata.labels')).toEqual(labels)
    expect(member(made, 'Deployment', '.spec.selector.matchLabels')).toEqual(labels)
    expect(member(made, 'Service', '.spec.selector')).toEqual(labels)
    expect(member(made, 'PodDisruptionBudget', '.spec.selector.matchLabels')).toEqual(labels)
    expect(member(made, 'Deployment', '.spec.template.spec.volumes.0.configMap.name')).toBe(
      member(made, 'ConfigMap', '.metadata.name'),
    )
  })

  it.each([
    ['Deployment', deployment],
    ['Service', service],
    ['PodDisruptionBudget', disruptionBudget],
    ['ConfigMap', configMap],
  ])('makes a %s of the shape that Kubernetes publishes', (kind, validate) => {
    const isValid = (validate as (value: unknown) => boolean)(manifests().get(kind))
    expect([isValid, (validate as { errors?: unknown }).errors ?? null]).toEqual([true, null])
  })

  it('has a configuration that is valid and without traps', () => {
    const { data } = manifests().get('ConfigMap') as { data: Record<string, string> }
    const { problems, warnings } = reviewText(data['sluice.yaml']!, 'sluice.yaml')
    expect([problems, warnings]).toEqual([[], []])
  })

  it('runs the same container as the plain manifests', () => {
    const plain = new Map([['Deployment', read(textOf('kubernetes/deployment.yaml'))!]])
    const made = manifests()
    const pod = '.spec.template.spec'
    const container = `${pod}.containers.0`
    for (const path of [
      `${pod}.securityContext`,
      `${pod}.terminationGracePeriodSeconds`,
      ...['args', 'ports', 'securityContext', 'livenessProbe', 'readinessProbe'].map(
        (name) => `${container}.${name}`,
      ),
    ])
      expect([path, member(made, 'Deployment', path)]).toEqual([
        path,
        member(plain, 'Deployment', path),
      ])
    expect(member(made, 'Deployment', `${container}.image`)).toBe(`sluice:${chart['appVersion']}`)
  })

  it('is scraped by the operator of Prometheus when that is wanted', () => {
    const made = manifests({ ...defaults, serviceMonitor: { enabled: true, interval: '30s' } })
    expect(member(made, 'ServiceMonitor', '.spec.endpoints')).toEqual([
      { port: 'http', path: '/metrics', interval: '30s' },
    ])
    expect(member(made, 'Service', '.spec.ports.0.name')).toBe('http')
    expect(member(made, 'ServiceMonitor', '.spec.selector.matchLabels')).toEqual(
      member(made, 'Service', '.metadata.labels'),
    )
  })
})
