// Prints how many files and functions of ours one check enters, by V8's coverage: with a healthy Redis and a hanging one.
// `node scripts/walk.mjs [folder]`: the folder of another built checkout, to compare with. `--list` names the functions.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { Session } from 'node:inspector/promises'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const args = process.argv.slice(2)
const folder = resolve(
  args.find((arg) => !arg.startsWith('--')) ?? fileURLToPath(new URL('..', import.meta.url)),
)
const isListed = args.includes('--list')
const requireThere = createRequire(`${folder}/packages/server/package.json`)

/** @param {string} name @returns {Promise<any>} */
const load = (name) => import(pathToFileURL(requireThere.resolve(name)).href)
/** @param {string} path @returns {Promise<any>} */
const dist = (path) => import(pathToFileURL(`${folder}/packages/${path}`).href)

const { createLimiter } = await dist('sluice/dist/index.js')
const { redisStore } = await dist('sluice/dist/redis/index.js')
const { readConfig, startService } = await dist('server/dist/index.js')
const { Redis } = await load('ioredis')

const port = await freePort()
const server = spawn(
  'redis-server',
  ['--port', String(port), '--bind', '127.0.0.1', '--save', ''],
  {
    stdio: 'ignore',
  },
)
const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null })
client.on('error', () => {})
await client.ping()

const policy = {
  name: 'api',
  rules: [
    { name: 'per-user', by: ['user'], limit: '100/min' },
    { name: 'per-tenant', by: ['tenant'], limit: '1000/min' },
  ],
}
const limiter = createLimiter({
  policy,
  store: redisStore(client),
  resilience: { onEvent: () => {} },
})
const service = await startService({
  config: configOf(),
  log: silentLog(),
})
const { url } = service.listeners.find((/** @type {any} */ { name }) => name === 'http')

let user = 0
/** @type {Record<string, () => Promise<any>>} */
const walks = {
  library: () => limiter.check({ user: `u${++user}`, tenant: 't' }),
  service: async () => {
    const body = JSON.stringify({ attributes: { user: `u${++user}`, tenant: 't' } })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/v1/check`, { method: 'POST', headers, body })).json()
  },
}
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

for (const [name, walk] of Object.entries(walks)) {
  for (let i = 0; i < 20; i++) await walk()
  await print(`${name}, healthy`, walk)
}
server.kill('SIGSTOP')
for (const [name, walk] of Object.entries(walks)) await print(`${name}, hanging`, walk)
server.kill('SIGCONT')
server.kill('SIGKILL')
client.disconnect()
await service.stop()
process.exit(0)

/** @param {string} name @param {() => Promise<any>} walk */
async function print(name, walk) {
  await session.post('Profiler.takePreciseCoverage')
  const { degraded } = await walk()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  /** @type {Map<string, string[]>} */
  const entered = new Map()
  for (const { url, functions } of result) {
    if (!url.includes('/packages/') || !url.includes('/dist/')) continue
    const names = functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName, ranges }) => functionName || `(at ${ranges[0]?.startOffset})`)
    if (names.length > 0) entered.set(url.slice(url.indexOf('/packages/') + 10), names)
  }
  const functions = [...entered.values()].reduce((sum, names) => sum + names.length, 0)
  console.log(
    `${name}: ${entered.size} files, ${functions} functions${degraded ? ' (degraded)' : ''}`,
  )
  if (isListed) for (const [file, names] of entered) console.log(`  ${file}: ${names.join(', ')}`)
}

/** The configuration of the service, as the package itself reads it. */
function configOf() {
  const text = JSON.stringify({
    store: { kind: 'redis', url: `redis://127.0.0.1:${port}` },
    listeners: { http: { host: '127.0.0.1', port: 0 } },
    policies: [policy],
  })
  const { config, problems } = readConfig(text, 'walk')
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return config
}

function silentLog() {
  const none = () => {}
  return { debug: none, info: none, warn: none, error: none, child: silentLog }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
      probe.close(() => done(port))
    })
  })
}
