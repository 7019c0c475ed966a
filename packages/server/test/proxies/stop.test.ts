// The end of the service while proxies ask: no question goes unanswered, and nobody is waited for.
import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { running } from '../running.ts'

test('a stop under the questions of a proxy loses no answer and does not wait for its connections', async () => {
  const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '50/h' }] }]
  const { url, stop } = await running({ policies })
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const faults: string[] = []
  let answered = 0
  let listening = true
  const ask = () =>
    new Promise<void>((resolve) => {
      const fields = { 'x-original-uri': '/' }
      const asking = request(`${url}/v1/auth/nginx`, { agent, headers: fields }, (response) => {
        response.resume().on('end', () => {
          answered++
          resolve()
        })
      })
      asking.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') listening = false
        else faults.push(error.code ?? error.message)
        resolve()
      })
      asking.end()
    })
  const askers = Array.from({ length: 8 }, async () => {
    while (listening) await ask()
  })
  await until('load runs', 10_000, async () => answered > 200)
  const started = performance.now()
  await stop(100)
  await Promise.all(askers)
  agent.destroy()
  expect(faults).toEqual([])
  expect(performance.now() - started).toBeLessThan(5000)
})
