// The reverse proxy when something of its own fails.
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../config/read-config.ts'
import { createLog } from '../log/log.ts'
import { startService } from '../service/service.ts'

test('a failure of its own is an answer and a line in the log, and the proxy goes on', async () => {
  const file = {
    policies: [{ name: 'api', rules: [{ name: 'all', by: [], limit: '5/h' }] }],
    listeners: { http: { port: 0 }, proxy: { port: 0, upstream: 'http://127.0.0.1:9' } },
  }
  const { config } = readConfig(JSON.stringify(file), 'test')
  const lines: string[] = []
  const log = createLog('warn', { write: (line: string) => void lines.push(line) })
  // No file can say this: the pattern is refused there.
  const proxy = { ...config!.proxy, routes: ['/a?b'] }
  const service = await startService({ config: { ...config!, proxy }, log })
  onTestFinished(() => service.stop(0))
  const { url } = service.listeners.find(({ name }) => name === 'proxy')!
  for (let i = 0; i < 2; i++) {
    const response = await fetch(url)
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'internal' }])
  }
  expect(lines.filter((line) => line.includes('proxy-failed'))).toHaveLength(1)
})
