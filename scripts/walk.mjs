// Prints how many files and functions of ours one check enters, by V8's coverage: with a healthy Redis, with a hanging one,
// and once the breaker is open; of a limiter, of an Express app that limits by address and user, and of the service over HTTP,
// each in a process of its own. A row is what three checks have in common, so that timers which happen to run meanwhile do not
// count.
// `node scripts/walk.mjs [folder ...]`: other built checkouts. `--rules=1`: a policy of one rule. `--list` names the functions.
import { spawn } from 'node:child_process'
import * as http from 'node:http'
import { Session } from 'node:inspector/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const args = process.argv.slice(2)
const isListed = args.includes('--list')
const rules = Number(args.find((arg) => arg.startsWith('--rules='))?.slice(8) ?? 2)
const subject = args.find((arg) => arg.startsWith('--of='))?.slice(5)
const folders = args.filter((arg) => !arg.startsWith('--')).map((path) => resolve(path))
if (folders.length === 0) folders.push(fileURLToPath(new URL('..', import.meta.url)))
if (subject === undefined) {
  for (const path of folders)
    for (const of of ['library', 'express', 'service']) await runWalk(path, `--of=${of}`)
  process.exit(0)
}
const folder = /** @type {string} */ (folders[0])
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
  ].slice(0, rules),
}
let user = 0
/** Three of them, since a hanging store has one first check only. @type {(() => Promise<any>)[]} */
const checks = []
/** @type {any[]} */
const services = []
const makeCheck = { library: libraryCheck, express: expressCheck, service: serviceCheck }[subject]
if (makeCheck === undefined)
  throw new Error(`--of=${subject}; accepted: library, express or service`)
for (let i = 0; i < 3; i++) checks.push(await makeCheck())
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

await repeat()
await print('healthy')
server.kill('SIGSTOP')
await print('hanging')
await repeat()
await print('breaker open')
server.kill('SIGCONT')
server.kill('SIGKILL')
client.disconnect()
for (const service of services) await service.stop()
process.exit(0)

/** @param {string} path @param {string} of */
async function runWalk(path, of) {
  const flags = args.filter((arg) => arg.startsWith('--'))
  const script = fileURLToPath(import.meta.url)
  const walk = spawn(process.execPath, [script, path, of, ...flags], { stdio: 'inherit' })
  await new Promise((done) => walk.on('exit', done))
}

/** A check by a limiter of its own. */
function libraryCheck() {
  const store = redisStore(client)
  const limiter = createLimiter({ policy, store, resilience: { onEvent: () => {} } })
  return () => limiter.check({ user: `u${++user}`, tenant: 't' })
}

/** A request to an Express app of its own, which counts by address and by user. */
async function expressCheck() {
  const { default: express } = await load('express')
  const { rateLimit } = await dist('sluice/dist/http/express.js')
  const byAddress = { name: 'per-address', by: ['ip'], limit: '1000/min' }
  const app = express()
  app.use(
    rateLimit({
      policy: { name: 'api', rules: [byAddress, ...policy.rules.slice(0, rules - 1)] },
      store: redisStore(client),
      attributes: () => ({ user: `u${++user}` }),
    }),
  )
  app.get('/', (/** @type {any} */ _, /** @type {any} */ response) => response.end('ok'))
  const web = http.createServer(app)
  await new Promise((done) => web.listen(0, '127.0.0.1', () => done(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (web.address())
  return async () => ({ allowed: (await fetch(`http://127.0.0.1:${port}/`)).ok })
}

/** A check by a service of its own, over HTTP. */
async function serviceCheck() {
  const service = await startService({ config: configOf(), log: silentLog() })
  services.push(service)
  const { url } = service.listeners.find((/** @type {any} */ { name }) => name === 'http')
  return async () => {
    const body = JSON.stringify({ attributes: { user: `u${++user}`, tenant: 't' } })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/v1/check`, { method: 'POST', headers, body })).json()
  }
}

/** So many checks that every shape, shard and state is known. */
async function repeat() {
  for (let i = 0; i < 20; i++) await Promise.all(checks.map((check) => check()))
}

/** @param {string} state */
async function print(state) {
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
  const isDegraded = decisions.every(({ degraded }) => degraded)
  const own = ['sluice/', 'server/'].map((name) =>
    sumOf(files.filter(([file]) => file.startsWith(name))),
  )
  const parts = subject === 'service' ? `; of the library ${own[0]}, of the service ${own[1]}` : ''
  console.log(`${subject}, ${state}: ${sumOf(files)}${parts}${isDegraded ? ' (degraded)' : ''}`)
  if (!isListed) return
  for (const [file, names] of files)
    console.log(`  ${file}: ${[...names].map((one) => one.replace(/@.*$/, '')).join(', ')}`)
}

/** Files and functions. @param {[string, Set<string>][]} files */
function sumOf(files) {
  return `${files.length} files, ${files.reduce((sum, [, names]) => sum + names.size, 0)} functions`
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
