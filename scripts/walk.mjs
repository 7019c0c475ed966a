// Prints how many files and functions of ours one check enters, by V8's coverage: with a healthy Redis, with a hanging one,
// and once the breaker is open. Each row is what three checks have in common, so that timers which happen to run meanwhile
// do not count. `node scripts/walk.mjs [folder]`: the folder of another built checkout. `--list` names the functions.
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
/** Three of each, since a hanging store has one first check only. */
const limiters = Array.from({ length: 3 }, () =>
  createLimiter({ policy, store: redisStore(client), resilience: { onEvent: () => {} } }),
)
const services = []
for (let i = 0; i < 3; i++)
  services.push(await startService({ config: configOf(), log: silentLog() }))

let user = 0
/** One check on each of the three. @type {Record<string, readonly (() => Promise<any>)[]>} */
const walks = {
  library: limiters.map((limiter) => () => limiter.check({ user: `u${++user}`, tenant: 't' })),
  service: services.map(({ listeners }) => async () => {
    const { url } = listeners.find((/** @type {any} */ { name }) => name === 'http')
    const body = JSON.stringify({ attributes: { user: `u${++user}`, tenant: 't' } })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/v1/check`, { method: 'POST', headers, body })).json()
  }),
}
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

for (const [name, checks] of Object.entries(walks)) {
  for (let i = 0; i < 20; i++) await Promise.all(checks.map((check) => check()))
  await print(`${name}, healthy`, checks)
}
server.kill('SIGSTOP')
for (const [name, checks] of Object.entries(walks)) await print(`${name}, hanging`, checks)
for (const [name, checks] of Object.entries(walks)) {
  for (let i = 0; i < 20; i++) await Promise.all(checks.map((check) => check()))
  await print(`${name}, breaker open`, checks)
}
server.kill('SIGCONT')
server.kill('SIGKILL')
client.disconnect()
for (const service of services) await service.stop()
process.exit(0)

/** @param {string} name @param {readonly (() => Promise<any>)[]} checks */
async function print(name, checks) {
  /** @type {Map<string, Set<string>> | undefined} */
  let common
  const decisions = []
  for (const check of checks) {
    await session.post('Profiler.takePreciseCoverage')
    decisions.push(await check())
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const entered = enteredIn(result)
    if (common === undefined) common = entered
    else
      for (const [file, names] of common) {
        for (const one of names) if (entered.get(file)?.has(one) !== true) names.delete(one)
        if (names.size === 0) common.delete(file)
      }
  }
  const files = [...(common ?? [])]
  const functions = files.reduce((sum, [, names]) => sum + names.size, 0)
  const isDegraded = decisions.every(({ degraded }) => degraded)
  console.log(
    `${name}: ${files.length} files, ${functions} functions${isDegraded ? ' (degraded)' : ''}`,
  )
  if (!isListed) return
  for (const [file, names] of files)
    console.log(`  ${file}: ${[...names].map((one) => one.replace(/@.*$/, '')).join(', ')}`)
}

/** The functions that were entered, by file. @param {any[]} result */
function enteredIn(result) {
  /** @type {Map<string, Set<string>>} */
  const entered = new Map()
  for (const { url, functions } of result) {
    if (!url.includes('/packages/') || !url.includes('/dist/')) continue
    /** @type {string[]} */
    const names = functions
      .filter((/** @type {any} */ { ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(
        (/** @type {any} */ { functionName, ranges: [range] }) =>
          `${functionName || '(anonymous)'}@${range.startOffset}`,
      )
    if (names.length > 0) entered.set(url.slice(url.indexOf('/packages/') + 10), new Set(names))
  }
  return entered
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
