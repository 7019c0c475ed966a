// The manifests, against the shapes that Kubernetes publishes, against each other, and against the service.
import { readdirSync, readFileSync } from 'node:fs'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as autoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler'
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy'
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { VARIABLES } from '../../src/config/environment.ts'
import { reviewText } from '../../src/review/review.ts'
import { METHODS } from '../../src/http/routes.ts'
import { watched } from './known-fields.ts'

const folder = new URL('../../../../deploy/kubernetes/', import.meta.url)
const names = readdirSync(folder)
// Kubernetes reads YAML 1.1, where 0440 is an octal number.
const read = (name: string) =>
  parse(readFileSync(new URL(name, folder), 'utf8'), { version: '1.1' }) as Manifest

interface Manifest {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly name: string; readonly labels: object }
  readonly [member: string]: unknown
}
type Validate = ((value: unknown) => boolean) & { errors?: unknown }

const kinds: Record<string, [string, Validate]> = {
  'deployment.yaml': ['apps/v1 Deployment', deployment as Validate],
  'autoscaler.yaml': ['autoscaling/v2 HorizontalPodAutoscaler', autoscaler as Validate],
  'config-map.yaml': ['v1 ConfigMap', configMap as Validate],
  'secret.yaml': ['v1 Secret', secret as Validate],
  'service.yaml': ['v1 Service', service as Validate],
  'network-policy.yaml': ['networking.k8s.io/v1 NetworkPolicy', networkPolicy as Validate],
  'disruption-budget.yaml': ['policy/v1 PodDisruptionBudget', disruptionBudget as Validate],
}

describe('the shapes', () => {
  test.each(Object.entries(kinds))(
    '%s is valid, and has no unknown field',
    (name, [kind, validate]) => {
      const manifest = read(name)
      expect(`${manifest.apiVersion} ${manifest.kind}`).toBe(kind)
      const { value, unread } = watched(manifest)
      validate(value)
      expect(validate.errors ?? null).toBeNull()
      expect(unread()).toEqual([])
    },
  )

  test('a field that is wrong would be found', () => {
    const manifest = structuredClone(read('deployment.yaml')) as unknown as Deployment
    const { spec } = manifest.spec.template
    const container = spec.containers[0] as unknown as Record<string, unknown>
    container['imagePullPolcy'] = 'Always'
    const { value, unread } = watched(manifest)
    expect((deployment as Validate)(value)).toBe(true)
    expect(unread()).toEqual(['.spec.template.spec.containers.0.imagePullPolcy'])
    container['ports'] = 'http'
    expect((deployment as Validate)(manifest)).toBe(false)
  })

  test('every file is listed, or named as optional', () => {
    const { resources } = read('kustomization.yaml') as unknown as { resources: string[] }
    const others = ['kustomization.yaml', 'service-monitor.yaml']
    expect([...resources, ...others].toSorted()).toEqual(names.toSorted())
    expect(Object.keys(kinds).toSorted()).toEqual(resources.toSorted())
  })
})

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext: object
  readonly [probe: `${string}Probe`]: { readonly httpGet: { path: string; port: string } }
}
interface Deployment {
  readonly spec: {
    readonly selector: { readonly matchLabels: object }
    readonly template: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly containers: readonly [Container]
        readonly volumes: readonly { readonly name: string }[]
        readonly securityContext: object
      }
    }
  }
}

describe('in all manifests together,', () => {
  const { spec } = read('deployment.yaml') as unknown as Deployment
  const pod = spec.template.spec
  const [container] = pod.containers
  const { data } = read('config-map.yaml') as unknown as { data: Record<string, string> }
  const { stringData } = read('secret.yaml') as unknown as { stringData: Record<string, string> }
  const review = reviewText(data['sluice.yaml']!, 'sluice.yaml', stringData)

  test('the policy passes the check, without a warning', () => {
    expect(review.problems).toEqual([])
    expect(review.warnings).toEqual([])
  })

  test('a pod has longer to end than the service takes', () => {
    const { delay, patience } = review.config!.shutdown
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(delay + patience + 5000)
  })

  test('without Redis all pods together grant the limit', () => {
    const { spec } = read('autoscaler.yaml') as unknown as { spec: { maxReplicas: number } }
    expect(review.config!.failure.replicas).toBe(spec.maxReplicas)
  })

  test('the ports are those of the policy, and the probes ask what there is', () => {
    const { http, grpc } = review.config!.listeners
    expect(container.ports).toEqual([
      { name: 'http', containerPort: http.port },
      { name: 'grpc', containerPort: grpc!.port },
    ])
    for (const probe of ['startup', 'liveness', 'readiness']) {
      const { path, port } = container[`${probe}Probe`]!.httpGet
      expect(Object.keys(METHODS)).toContain(path)
      expect(port).toBe('http')
    }
    const { ports } = (
      read('service.yaml') as unknown as { spec: { ports: { targetPort: string }[] } }
    ).spec
    expect(ports.map(({ targetPort }) => targetPort)).toEqual(['http', 'grpc'])
  })

  test('the variables are ones that the service knows', () => {
    const known = VARIABLES.map(({ name }) => name)
    const given = [...container.env.map(({ name }) => name), ...Object.keys(stringData)]
    expect(given.filter((name) => !known.includes(name))).toEqual(['NODE_OPTIONS'])
  })

  test('the file that is served is the one that is mounted, as a folder, so that it can change', () => {
    const mount = container.volumeMounts.find(({ name }) => name === 'config')!
    expect(container.args.at(-1)).toBe(`${mount.mountPath}/${Object.keys(data)[0]}`)
    expect(mount).not.toHaveProperty('subPath')
    expect(pod.volumes.map(({ name }) => name)).toEqual(
      container.volumeMounts.map(({ name }) => name),
    )
  })

  test('pods have no rights', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  test('everything selects the pods by the label that they have', () => {
    const labels = { 'app.kubernetes.io/name': 'sluice' }
    expect(spec.template.metadata.labels).toEqual(labels)
    expect(spec.selector.matchLabels).toEqual(labels)
    const selectorOf = (name: string) =>
      (read(name) as unknown as { spec: { selector?: unknown; podSelector?: unknown } }).spec
    expect(selectorOf('service.yaml').selector).toEqual(labels)
    for (const name of ['disruption-budget.yaml', 'service-monitor.yaml'])
      expect(selectorOf(name).selector).toEqual({ matchLabels: labels })
    expect(selectorOf('network-policy.yaml').podSelector).toEqual({ matchLabels: labels })
  })
})
