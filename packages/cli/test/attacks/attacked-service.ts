// A service as our Kubernetes manifest runs it, with every listener open, and a probe that watches its health.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { fileWith, sluice, type Command } from '../sluice.ts'

const manifest = new URL('../../../../deploy/kubernetes/deployment.yaml', import.meta.url)
/** The heap of our own manifest. */
const [, HEAP = ''] = /(--max-old-space-size=\d+)/.exec(readFileSync(manifest, 'utf8'))!

export const TOKEN = 'operator-token-for-attacks-0123456789'

/** The longest waits for health during an attack, in ms. */
interface Waits {
  readonly service: {
    readonly longest: number
    /** The longest time for which the service itself was running during one wait. */
    readonly busy: number
    readonly failed: number
    readonly count: number
  }
  /** Of a server that does nothing: how long the machine stood still. */
  readonly machine: { readonly longest: number }
}

export interface AttackedService {
  readonly command: Command
  readonly file: string
  /** The port of a listener: `http`, `grpc`, `proxy` or `admin`. */
  readonly port: (listener: string) => number
  /** Runs an attack while health is probed. */
  readonly during: (attack: () => Promise<unknown>) => Promise<Waits>
  /** The memory of the process, in MB. */
  readonly memory: () => number
}

/** Starts the service, with the heap of the manifest or another one. */
export async function attackedService(upstream: string, heap = HEAP): Promise<AttackedService> {
  const file = fileWith(fileText(upstream))
  const command = sluice(['serve', file], {
    NODE_OPTIONS: heap,
    SLUICE_ADMIN_TOKEN: TOKEN,
    SLUICE_SHUTDOWN_DELAY: '1ms',
  })
  const ports = await until('it listens', 20_000, async () => {
    if (command.child.exitCode !== null) throw new Error(command.errors())
    const found = [...command.errors().matchAll(/"listener":"(\w+)","url":"\w+:\/\/[^"]*:(\d+)"/g)]
    return found.length === 4 && new Map(found.map(([, name, port]) => [name, Number(port)]))
  })
  const port = (listener: string): number => ports.get(listener)!
  return {
    command,
    file,
    port,
    during: (attack) =>
      probed(`http://127.0.0.1:${port('http')}/healthz`, command.child.pid!, attack),
    memory: () => {
      const status = readFileSync(`/proc/${command.child.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
    },
  }
}

async function probed(url: string, pid: number, attack: () => Promise<unknown>): Promise<Waits> {
  const path = fileURLToPath(new URL('probe.mjs', import.meta.url))
  const probe = spawn(process.execPath, [path, url, String(pid)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void probe.kill('SIGKILL'))
  let text = ''
  probe.stdout.setEncoding('utf8').on('data', (data: string) => (text += data))
  await until('the probe is ready', 20_000, async () => text.includes('ready'))
  await attack()
  probe.stdin.end()
  await once(probe, 'close')
  return JSON.parse(text.slice(text.indexOf('{'))) as Waits
}

/** Fifty rules, every listener, counts in memory. */
function fileText(upstream: string): string {
  const rules = Array.from(
    { length: 49 },
    (_, i) => `      - { name: rule-${i}, by: [user], limit: ${1000 + i}/min }`,
  )
  return `policies:
  - name: api
    rules:
      - { name: per-key, by: [key], limit: 100/min }
  - name: wide
    rules:
${rules.join('\n')}
envoy: { reflection: true }
proxy: { attributes: { key: X-Key } }
listeners:
  http: { port: 0 }
  grpc: { port: 0 }
  proxy: { port: 0, upstream: '${upstream}', policy: api }
  admin: { port: 0 }
log: info
`
}
