// What a decision adds to nginx's own sub-request: `node bench/service/nginx/run.mjs [--quick]`; needs nginx and wrk.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { interleaved } from '../../lib/rounds.mjs'
import { median, pairedRatio } from '../../lib/statistics.mjs'
import { figure, markdownTable } from '../../lib/table.mjs'
import { startServer } from '../servers.mjs'

const { values: options } = parseArgs({ options: { quick: { type: 'boolean' } } })
const { rounds, seconds } = options.quick ? { rounds: 3, seconds: 2 } : { rounds: 7, seconds: 4 }
const execute = promisify(execFile)
const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))

const upstream = await startServer([path('../proxy/upstream.mjs')], undefined, 'upstream')
const bare = await startServer([path('bare.mjs')], undefined)
const main = path('../../../packages/cli/dist/main.js')
const sluice = await startServer([main, 'serve', path('sluice.yaml')], undefined)
const deciders = { 'no sub-request': '', 'sub-request, bare answer': bare.url, sluice: sluice.url }
const FLOOR = 'sub-request, bare answer'

const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
const places = await Promise.all(
  Object.entries(deciders).map(async ([contender, url]) => ({
    contender,
    url,
    port: await freePort(),
    /** @type {number[]} */ perSecond: [],
  })),
)
const file = join(folder, 'nginx.conf')
writeFileSync(file, configuration())
const nginx = spawn('nginx', ['-c', file, '-p', folder, '-e', join(folder, 'error')])
process.once('exit', () => nginx.kill())
try {
  await sleep(1000)
  for (const { port } of places) await load(port, 2)
  for (const { cell } of interleaved(places, rounds))
    cell.perSecond.push(await load(cell.port, seconds))
} finally {
  nginx.kill()
  for (const server of [upstream, bare, sluice]) server.stop()
  rmSync(folder, { recursive: true, force: true })
}

const floor = places.find(({ contender }) => contender === FLOOR)?.perSecond ?? []
console.log(
  markdownTable(
    ['nginx with', 'requests/s', 'against the bare sub-request'],
    places.map(({ contender, perSecond }) => [
      contender,
      figure(median(perSecond)),
      pairedRatio(perSecond, floor).toFixed(2),
    ]),
  ),
)

function configuration() {
  const servers = places.map(({ url, port }) => {
    const ask = url === '' ? '' : 'auth_request /ask;'
    const asked = `location = /ask { internal; proxy_pass ${url}/v1/auth/nginx?policy=api;
      proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_set_header Connection "";
      proxy_set_header X-Original-URI $request_uri; proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_http_version 1.1; }`
    return `server { listen 127.0.0.1:${port}; location / { ${ask} proxy_pass ${upstream.url};
      proxy_http_version 1.1; proxy_set_header Connection ""; } ${url === '' ? '' : asked} }`
  })
  return `daemon off; worker_processes 1; pid ${folder}/pid; events { worker_connections 4096; }
    http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s; ${servers.join('\n')} }`
}

/** Requests per second. @param {number} port @param {number} seconds */
async function load(port, seconds) {
  const words = ['-t1', '-c32', `-d${seconds}s`, '--timeout', '10s', `http://127.0.0.1:${port}/100`]
  const { stdout } = await execute('wrk', words)
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`not all were answered:\n${stdout}`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}
