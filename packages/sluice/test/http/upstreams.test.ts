// Every spelling that an upstream serves as /login counts as /login: spellings × real servers.
import { spawnSync } from 'node:child_process'
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGuard, spawnGuarded } from '../../../../test/servers/guarded-process.ts'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'
import { isAmbiguous } from '../../src/http/path-readings.ts'
import { routeMatcher } from '../../src/http/routes.ts'
import { listening } from './serving.ts'

const SLASHES = ['/', '//', '/./', '%2f', '%2F', '/%2f', '%2f%2f', '\\', '%5c', '/%5c', '%252f']
const DOTS = ['..', '%2e%2e', '.%2e', '%2E.', '..;', '..;x=1', '..%3b']

/** Spellings of /login, and of paths that only look like it. */
const SPELLINGS: readonly string[] = [
  '/login',
  '/LOGIN',
  '/%6cogin',
  '/%6C%6F%67%69%6E',
  '/log%69n?x=/home',
  '/login;x=1',
  '/login;/',
  '/login/',
  '/login//',
  '/login/.',
  '/login//..',
  '/login/%2e',
  '/login%00',
  '/login%20',
  '/login.',
  ...SLASHES.flatMap((slash) => [`/${slash}login`, `/login${slash}`, `/a${slash}..${slash}login`]),
  ...DOTS.flatMap((dots) => [
    `/a/${dots}/login`,
    `/login/${dots}/login`,
    `/a/b/${dots}/${dots}/login`,
    `/a/b/${dots}%2f${dots}%2flogin`,
    `/a/${dots}%2flogin`,
    `/a%2f${dots}%2flogin`,
    `/a/${dots}%5clogin`,
    `/a//${dots}/${dots}/login`,
  ]),
]

/** Also routes that are more specific than /login, in which such a spelling might hide. */
const match = routeMatcher(['/login', '/a/{b}/{c}/{d}', '/a/b/{rest*}', '/{any*}'])

interface Upstream {
  readonly command: readonly string[]
  readonly file: string
  readonly config: (port: number) => string
}

const PROXIES: Readonly<Record<string, Upstream>> = {
  nginx: {
    command: ['nginx', '-p', '.', '-c', 'nginx.conf', '-e', 'error.log', '-g', 'daemon off;'],
    file: 'nginx.conf',
    config: (port) => `
worker_processes 1; pid p.pid; events { worker_connections 64; }
http { access_log off; client_body_temp_path .; proxy_temp_path .; fastcgi_temp_path .; uwsgi_temp_path .;
  scgi_temp_path .; server { listen 127.0.0.1:${port}; location = /login { return 200 'login'; }
  location / { return 404; } } }`,
  },
  haproxy: {
    command: ['haproxy', '-db', '-f', 'haproxy.cfg'],
    file: 'haproxy.cfg',
    config: (port) => `
global
  expose-experimental-directives
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend f
  bind 127.0.0.1:${port}
  http-request normalize-uri path-merge-slashes
  http-request normalize-uri path-strip-dot
  http-request normalize-uri path-strip-dotdot full
  http-request return status 200 if { path,url_dec -i /login }
  http-request return status 404
`,
  },
  caddy: {
    command: ['caddy', 'run', '--adapter', 'caddyfile', '--config', 'Caddyfile'],
    file: 'Caddyfile',
    config: (port) => `{
\tadmin off
\tauto_https off
}
http://:${port} {
\tbind 127.0.0.1
\thandle /login {
\t\trespond 200
\t}
\trespond 404
}
`,
  },
}
const installed = Object.keys(PROXIES).filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
)

/** Servers in this process, by what they do with a target. */
const SERVERS: Readonly<Record<string, () => Promise<string>>> = {
  Express: () => {
    const app = express()
    app.get('/login', (_, response) => void response.send('login'))
    return listening(app as unknown as RequestListener)
  },
  async Fastify() {
    const app = Fastify({ routerOptions: { ignoreTrailingSlash: true, caseSensitive: false } })
    app.get('/login', () => 'login')
    await app.ready()
    return listening((request, response) => app.routing(request, response))
  },
  'new URL of Node': () =>
    listening((request, response) => {
      const url = URL.parse(request.url!, 'http://host')
      response.writeHead(/^\/login\/?$/i.test(url?.pathname ?? '') ? 200 : 404).end()
    }),
  // As Tomcat maps requests: parameters cut, then decoded, then normalized.
  'a servlet': () =>
    listening((request, response) => {
      const cut = request.url!.split('?')[0]!.replaceAll(/;[^/]*/g, '')
      const left: string[] = []
      for (const part of decodeSafely(cut).replaceAll('\\', '/').split('/')) {
        if (part === '..') left.pop()
        else if (part !== '' && part !== '.') left.push(part)
      }
      response.writeHead(left.join('/') === 'login' ? 200 : 404).end()
    }),
}

function decodeSafely(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The status for a target as it is; 0 when the server closes the connection. */
function statusFor(port: number, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: host\r\nConnection: close\r\n\r\n`),
    )
    socket
      .on('data', (data) => (answer += String(data)))
      .on('close', () => resolve(Number(answer.split(' ')[1] ?? 0)))
      .on('error', reject)
  })
}

/** Spellings that the server serves as /login, and those among them that count as something else. */
async function bypasses(port: number): Promise<{ served: number; wrong: string[] }> {
  const served: string[] = []
  for (const target of SPELLINGS) if ((await statusFor(port, target)) === 200) served.push(target)
  return { served: served.length, wrong: served.filter((one) => !match(one).includes('/login')) }
}

describe('a spelling that is served as /login counts as /login', () => {
  it.each(installed)('by %s', async (name) => {
    const { command, file, config } = PROXIES[name]!
    const folder = mkdtempSync(join(tmpdir(), 'sluice-upstream-'))
    const port = await freePort()
    writeFileSync(join(folder, file), config(port))
    const guard = createGuard(folder)
    const logFile = join(folder, 'output.log')
    const [program, ...args] = command
    const child = await spawnGuarded(guard, program!, args, { cwd: folder, logFile })
    onTestFinished(async () => {
      child.kill('SIGTERM')
      await child.waitForEnd(5000)
      await guard.release()
    })
    await until(`${name} answers`, 20_000, async () => {
      if (child.end !== undefined) throw new Error(readFileSync(logFile, 'utf8').slice(-2000))
      return (await statusFor(port, '/login')) === 200
    })
    const { served, wrong } = await bypasses(port)
    expect(wrong).toEqual([])
    expect(served).toBeGreaterThan(3)
  })

  it.each(Object.entries(SERVERS))('by %s', async (_, start) => {
    const { served, wrong } = await bypasses(Number(new URL(await start()).port))
    expect(wrong).toEqual([])
    expect(served).toBeGreaterThan(1)
  })
})

describe('a path that is refused as ambiguous', () => {
  it.each(['/%2flogin', '/a/..%2flogin', '/..;/login', '/login//..', '/a/../login', '/login;x'])(
    'is %s',
    (path) => {
      expect(isAmbiguous(path)).toBe(true)
    },
  )

  it.each(['/login', '/LOGIN', '/orders/7?x=/../;', '/a%20b', '/caf%C3%A9', '/a.b/c..d', '/'])(
    'is not %s',
    (path) => {
      expect(isAmbiguous(path)).toBe(false)
    },
  )
})
