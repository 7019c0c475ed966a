// Runs the examples of the frameworks as their readers do: the real file, in a process of its own, on the built library.
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'

const started: ChildProcess[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

describe.each(['node-http', 'express', 'fastify', 'koa', 'hono', 'fetch'])(
  'examples/%s',
  (name) => {
    it('passes the quota with the fields, then answers 429 with the wait', async () => {
      const url = await start(name)
      const first = await fetch(url)
      expect([first.status, await first.text()]).toEqual([200, 'Hello.\n'])
      expect(first.headers.get('ratelimit-policy')).toBe('"default";q=5;w=10')
      expect(first.headers.get('ratelimit')).toMatch(/^"default";r=4;t=[12]$/)
      let response = first
      // On a busy machine a unit may come back meanwhile, hence more tries than the quota.
      for (let tries = 0; response.status === 200 && tries < 20; tries++)
        response = await fetch(url)
      expect(response.status).toBe(429)
      expect(response.headers.get('retry-after')).toMatch(/^[12]$/)
      expect(await response.json()).toMatchObject({ status: 429, 'violated-policies': ['default'] })
    })
  },
)

describe('examples/express', () => {
  it('counts orders by user, whatever their ids', async () => {
    const url = await start('express')
    const get = async (id: number, user: string) =>
      (await fetch(`${url}/orders/${id}`, { headers: { 'x-user': user } })).status
    expect([await get(1, 'ann'), await get(2, 'ann'), await get(3, 'ann')]).toEqual([200, 200, 200])
    expect([await get(4, 'ann'), await get(4, 'bob')]).toEqual([429, 200])
  })
})

/** Starts an example on a free port; gives the address that it prints. */
async function start(name: string): Promise<string> {
  const cwd = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))
  const env = { ...process.env, PORT: '0' }
  const child = spawn(process.execPath, ['server.js'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  let printed = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    printed += text as string
    const url = /Listening on (http:\S+)\n/.exec(printed)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`examples/${name} ended without listening`)
}
