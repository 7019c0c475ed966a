// What spec/openapi.json says of the questions of proxies, against the server: every response is produced.
import { describe, expect, test } from 'vitest'
import { PROXIES, type ProxyName } from '../src/auth/proxies.ts'
import { differences, spec } from './described.ts'
import { running, type Running } from './running.ts'

const rule = { name: 'all', by: [], limit: '2/h' }
const file = {
  policies: [
    { name: 'api', rules: [rule] },
    { name: 'shut', rules: [{ ...rule, onStoreFailure: 'closed' }] },
    { name: 'priced', rules: [{ ...rule, limit: '9/h', cost: 'units' }] },
  ],
  proxy: { attributes: { units: 'x-units' } },
}

/** Asks as a proxy does. */
function ask(
  { url }: Running,
  name: ProxyName,
  policy: string,
  fields: Record<string, string> = { [PROXIES[name].uri]: '/orders/7?x=1' },
): Promise<Response> {
  return fetch(`${url}/v1/auth/${name}?policy=${policy}`, { headers: fields })
}

/** How each response is brought about, by status. */
const questions: Record<string, (name: ProxyName) => Promise<readonly Response[]>> = {
  '204': async (name) => {
    const service = await running(file)
    const bare = await running({ ...file, headers: [] })
    return [await ask(service, name, 'api'), await ask(bare, name, 'api')]
  },
  '400': async (name) => {
    const service = await running(file)
    const { uri, refused } = PROXIES[name]
    const wrong = await ask(service, name, 'priced', { [uri]: '/', 'x-units': 'many' })
    const unasked = await ask(service, name, 'api', {})
    // Where the proxy knows only one refusal, this is one.
    expect(wrong.status).toBe(refused ?? 400)
    return refused === undefined ? [unasked, wrong] : [unasked]
  },
  '403': async (name) => [...(await refused(name)), await closed(name)],
  '404': async (name) => [await ask(await running(file), name, 'none')],
  '405': async (name) => {
    const { url } = await running(file)
    return [await fetch(`${url}/v1/auth/${name}`, { method: 'POST' })]
  },
  '429': async (name) => refused(name),
  '503': async (name) => [await closed(name)],
}

async function refused(name: ProxyName): Promise<readonly Response[]> {
  const service = await running(file)
  await ask(service, name, 'api')
  await ask(service, name, 'api')
  const answer = await ask(service, name, 'api')
  expect(answer.headers.get('sluice-status')).toBe('429')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(1000)
  return [answer]
}

async function closed(name: ProxyName): Promise<Response> {
  const service = await running({ ...file, store: 'redis://127.0.0.1:1' })
  const answer = await ask(service, name, 'shut')
  expect(answer.headers.get('sluice-status')).toBe('503')
  return answer
}

const described = (Object.keys(PROXIES) as ProxyName[]).flatMap((name) =>
  Object.keys(spec.paths[`/v1/auth/${name}`]!['get']!.responses).map((it) => [name, it] as const),
)

describe('the description of questions', () => {
  test.each(described)('%s: %s is produced as described', async (name, status) => {
    const answers = await questions[status]!(name)
    expect(answers.length).toBeGreaterThan(0)
    for (const answer of answers)
      expect(await differences(answer, `/v1/auth/${name}`, 'get', status)).toBeUndefined()
  })

  test('names the fields that the server believes', () => {
    for (const [name, { uri, method }] of Object.entries(PROXIES)) {
      const { parameters } = spec.paths[`/v1/auth/${name}`]!['get']! as unknown as {
        parameters: readonly { $ref: string }[]
      }
      const names = parameters.map(({ $ref }) => parameterAt($ref).name.toLowerCase())
      expect(names).toEqual(['policy', uri, method, 'x-forwarded-for'])
    }
  })
})

function parameterAt(ref: string): { readonly name: string } {
  const { parameters } = spec.components as unknown as {
    parameters: Record<string, { readonly name: string }>
  }
  return parameters[ref.split('/').at(-1)!]!
}
