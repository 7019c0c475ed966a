// A real proxy in front of an application, with the service beside it: as in deploy/, on free ports.
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createGuard, spawnGuarded } from '../../../../test/servers/guarded-process.ts'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'
import { running, type Running } from '../running.ts'

const deploy = new URL('../../../../deploy/', import.meta.url)

/** How each proxy is started with its configuration in the working folder. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  nginx: [
    'nginx',
    '-p',
    '.',
    '-c',
    'nginx.conf',
    '-e',
    'error.log',
    '-g',
    // One process, which is all that is ended when the test or its process ends.
    'daemon off; master_process off; pid p.pid;',
  ],
  haproxy: ['haproxy', '-db', '-f', 'haproxy.cfg'],
  caddy: ['caddy', 'run', '--adapter', 'caddyfile', '--config', 'Caddyfile'],
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Front {
  readonly service: Running
  /** Paths that reached the application. */
  readonly reached: string[]
  /** Sends a request through the proxy, from another address of the loopback network. */
  readonly ask: (
    path: string,
    headers?: Record<string, string | string[]>,
    from?: string,
  ) => Promise<Answer>
  /** Sends a GET with lines of fields as they are, and gives the status of the answer; 0 when there is none. */
  readonly send: (path: string, fields: string, from?: string) => Promise<number>
}

/**
 * Starts application, service and proxy. Only 127.0.0.1 is trusted; clients come from elsewhere. The proxy waits so many
 * seconds for the service: on a busy machine an answer may take longer than 100 ms, and requests would go on undecided.
 */
export async function front(proxy: string, file: object, seconds = 20): Promise<Front> {
  const reached: string[] = []
  const application = createServer((request, response) => {
    reached.push(request.url ?? '')
    response.setHeader('content-type', 'text/plain').end('hello')
  })
  application.listen(0, '127.0.0.1')
  await once(application, 'listening')
  onTestFinished(() => {
    application.close().closeAllConnections()
  })
  const service = await running({ trustedProxies: ['127.0.0.1/32'], ...file })
  const port = await freePort()

  const folder = mkdtempSync(join(tmpdir(), 'sluice-front-'))
  const source = new URL(`${proxy}/`, deploy)
  cpSync(source, folder, { recursive: true })
  const { port: behind } = application.address() as AddressInfo
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8')
      .replaceAll('127.0.0.1:8080', new URL(service.url).host)
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${behind}`)
      .replaceAll(/timeout 100ms\b|timeout check 100ms\b|TIMEOUT_MS = 100\b/g, (wait) =>
        wait.replace('100ms', `${seconds}s`).replace('100', `${seconds}000`),
      )
      .replaceAll(/(listen |bind |^):?8000/gm, (_, word: string) =>
        word === '' ? `http://127.0.0.1:${port}` : `${word}127.0.0.1:${port}`,
      )
    writeFileSync(join(folder, name), proxy === 'caddy' ? `{\n\tadmin off\n}\n${text}` : text)
  }
  const guard = createGuard(folder)
  const [command, ...args] = COMMANDS[proxy]!
  const logFile = join(folder, 'output.log')
  const child = await spawnGuarded(guard, command!, args, { cwd: folder, logFile })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await child.waitForEnd(5000)
    await guard.release()
  })

  const ask: Front['ask'] = async (path, headers = {}, from = '127.0.0.9') => {
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      headers,
      localAddress: from,
      agent: false,
    })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let body = ''
    for await (const chunk of response.setEncoding('utf8')) body += String(chunk)
    return { status: response.statusCode ?? 0, headers: response.headers, body }
  }
  await until(`${proxy} answers`, 20_000, async () => {
    if (child.end !== undefined) throw new Error(readFileSync(logFile, 'utf8').slice(-2000))
    const { status, body } = await ask('/ready', {}, '127.0.0.8')
    if (status !== 200) throw new Error(`${status} ${body} ${readFileSync(logFile, 'utf8')}`)
    return true
  })
  reached.length = 0
  const send: Front['send'] = async (path, fields, localAddress = '127.0.0.9') => {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (data) => (text += data.toString('latin1')))
    const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n`
    socket.write(Buffer.from(`${head}${fields}\r\n`, 'latin1'))
    await new Promise((resolve) => socket.on('close', resolve))
    return Number(/^HTTP\/1\.\d (\d+)/.exec(text)?.[1] ?? 0)
  }
  return { service, reached, ask, send }
}
