// spec/openapi-admin.json against the server: its routes, and every kind of response that it describes.
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { CHANGES } from '../../src/admin/requests.ts'
import { administered, type Admin } from './admin.ts'

interface Spec {
  readonly paths: Record<
    string,
    Record<
      string,
      {
        readonly responses: Record<
          string,
          { content?: Record<string, { schema: { $ref: string } }> }
        >
      }
    >
  >
}
const file = new URL('../../../../spec/openapi-admin.json', import.meta.url)
const spec = JSON.parse(readFileSync(file, 'utf8')) as Spec
const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })
ajv.addSchema(spec, 'spec')

const subject = { attributes: { user: 'ann' } }
const override = { rule: 'per-user', when: { user: 'ann' } }
/** A request for each route that is answered with 200. */
const bodies: Record<string, object> = {
  read: subject,
  reset: subject,
  grant: { ...subject, units: 1 },
  block: { ...subject, for: '1min' },
  unblock: subject,
  'set-override': { ...override, limit: '9/h' },
  'remove-override': override,
}
const routes = Object.entries(spec.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    name: path.slice('/v1/admin/'.length),
    method,
    responses,
  })),
)

/** A view with what it needs to be told. */
const queried = (name: string): string => (name === 'why' ? 'why?attribute=user%3Dann' : name)

async function used(): Promise<Admin> {
  const admin = await administered()
  for (let i = 0; i < 8; i++) await admin.post('/v1/check', subject)
  await admin.ask('block', { attributes: { user: 'eve' }, for: '1min', note: 'x' })
  await admin.ask('set-override', { ...override, when: { user: 'bob' }, limit: 'unlimited' })
  return admin
}

const valid = (body: unknown, schema: string) => {
  const validate = ajv.getSchema(`spec${schema}`)!
  return validate(body) ? undefined : validate.errors
}

describe('the description of the admin API', () => {
  it('has every route of the server, and no other', async () => {
    const admin = await administered()
    const views = [
      'keys',
      'keys/top',
      'why',
      'candidates',
      'store',
      'doctor',
      'blocks',
      'overrides',
      'offenders',
      'state',
    ]
    expect(routes.map(({ name, method }) => `${method} ${name}`)).toEqual([
      ...views.map((name) => `get ${name}`),
      ...CHANGES.map((name) => `post ${name}`),
    ])
    for (const name of views) expect((await admin.ask(queried(name))).status).toBe(200)
  })

  it.each(routes)('$method $name: 200 is as described', async ({ name, method, responses }) => {
    const admin = await used()
    if (name === 'unblock') await admin.ask('block', bodies['block'])
    if (name === 'remove-override') await admin.ask('set-override', bodies['set-override'])
    const { status, body } = await (method === 'get'
      ? admin.ask(queried(name))
      : admin.ask(name, bodies[name]))
    expect(status).toBe(200)
    const { $ref } = responses['200']!.content!['application/json']!.schema
    expect(valid(body, $ref)).toBeUndefined()
  })

  const problems: [
    string,
    (admin: Admin, name: string, method: string) => ReturnType<Admin['ask']>,
  ][] = [
    [
      '400',
      ({ ask }, name, method) => (method === 'get' ? ask(`${name}?x=1`) : ask(name, { x: 1 })),
    ],
    ['401', ({ ask }, name) => ask(name, undefined, { authorization: '' })],
    ['405', ({ ask }, name, method) => (method === 'get' ? ask(name, {}) : ask(name))],
    ['413', ({ ask }, name) => ask(name, { key: 'x'.repeat(70_000) })],
    ['415', ({ ask }, name) => ask(name, '{}', { 'content-type': 'text/plain' })],
  ]
  it.each(problems)('%s is described for every route that answers it', async (status, bring) => {
    const admin = await administered()
    for (const { name, method, responses } of routes) {
      if (responses[status] === undefined) continue
      const answer = await bring(admin, name, method)
      if (status === '401' && answer.status === 429) continue
      expect([name, String(answer.status)]).toEqual([name, status])
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(valid(answer.body, '#/components/schemas/Problem')).toBeUndefined()
    }
  })
})
