// Certificates renewed under load: no request is lost, and new connections see the new one.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { until } from '../../../../test/servers/until.ts'
import { running, sample } from '../running.ts'
import { authority, replaceFile, type Authority } from '../../../../test/tls/authority.ts'
import { ask } from '../../../../test/tls/secure-client.ts'

let ours: Authority
beforeAll(() => {
  ours = authority()
})
afterAll(() => ours.close())

/** Asks over some kept connections and some new ones until told to stop; gives what went wrong. */
function load(url: string, ca: Buffer) {
  let going = true
  const result = { answered: 0, faults: [] as string[] }
  const once = (agent: Agent | false) =>
    new Promise<void>((resolve) => {
      const asking = request(`${url}/healthz`, { ca, agent }, (response) => {
        response.resume().on('end', () => {
          result.answered++
          resolve()
        })
      })
      asking.on('error', (error) => {
        result.faults.push(error.message)
        resolve()
      })
      asking.end()
    })
  const kept = new Agent({ keepAlive: true, maxSockets: 8 })
  const asker = async (agent: Agent | false): Promise<void> => {
    while (going) await once(agent)
  }
  const askers = [
    ...Array.from({ length: 8 }, () => asker(kept)),
    ...Array.from({ length: 2 }, () => asker(false)),
  ]
  return {
    result,
    stop: async () => {
      going = false
      await Promise.all(askers)
      kept.destroy()
      return result
    },
  }
}

test('renewals under load lose no request', async () => {
  const [used, first, second] = ['localhost', 'localhost', 'localhost'].map((it) => ours.issue(it))
  const { url, reload } = await running({
    ...sample,
    listeners: { http: { port: 0, tls: used } },
  })
  const ca = readFileSync(ours.ca)
  const serials = new Set<string>()
  const asking = load(url, ca)
  onTestFinished(() => void asking.stop())
  await until('load runs', 10_000, async () => asking.result.answered > 50)
  for (let i = 0; i < lengthOf(8, 20); i++) {
    const next = i % 2 === 0 ? first! : second!
    replaceFile(used!.cert, next.cert)
    // Half way: the old pair stays.
    expect(await reload()).toBe('failed')
    replaceFile(used!.key, next.key)
    expect(await reload()).not.toBe('failed')
    serials.add((await ask(`${url}/healthz`, { ca })).serial!)
  }
  const { faults, answered } = await asking.stop()
  expect(faults).toEqual([])
  expect(answered).toBeGreaterThan(100)
  expect(serials.size).toBe(2)
})

test('a client authority that is taken away takes its clients away, also with a kept session', async () => {
  const stranger = authority('the next one')
  onTestFinished(() => stranger.close())
  const pair = ours.issue('localhost')
  const trusted = `${pair.cert}.ca`
  replaceFile(trusted, ours.ca)
  const tls = { ...pair, ca: trusted }
  const { url, reload } = await running({ ...sample, listeners: { http: { port: 0, tls } } })
  const caller = ours.issue('proxy')
  const options = {
    ca: readFileSync(ours.ca),
    cert: readFileSync(caller.cert),
    key: readFileSync(caller.key),
  }
  const sessions: Buffer[] = []
  await new Promise<void>((resolve) => {
    const asking = request(`${url}/healthz`, { ...options, agent: false }, (response) => {
      response.resume().on('end', () => resolve())
    })
    asking.on('socket', (socket) => socket.on('session', (it: Buffer) => sessions.push(it))).end()
  })
  expect(sessions.length).toBeGreaterThan(0)
  replaceFile(trusted, stranger.ca)
  expect(await reload()).not.toBe('failed')
  expect((await ask(`${url}/healthz`, options)).error).toBeDefined()
  for (const session of sessions)
    expect((await ask(`${url}/healthz`, { ...options, session })).error).toBeDefined()
})
