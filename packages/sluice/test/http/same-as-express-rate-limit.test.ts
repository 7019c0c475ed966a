// What applications do with express-rate-limit, done by both: the same requests get the same answers.
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { rateLimit as theirs, type Options } from 'express-rate-limit'
import { describe, expect, it } from 'vitest'
import { rateLimit as ours } from '../../src/http/express.ts'
import type { RateLimitOptions } from '../../src/http/index.ts'
import { listening } from './serving.ts'

type OurOptions = RateLimitOptions<Request, Response>

interface Answer {
  readonly status: number
  readonly body: string
  readonly type: string | null
  readonly fields: Readonly<Record<string, string | null>>
}

const FIELDS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit', 'retry-after']

/** The answers of an application behind a limiter, one request after the other. */
async function answersOf(
  limit: RequestHandler,
  paths: readonly string[],
): Promise<readonly Answer[]> {
  const app = express()
  app.use(limit)
  app.get('/', (_, response) => void response.send('Hello'))
  app.get('/error', (_, response) => void response.status(400).send('wrong'))
  app.get('/crash', () => {
    throw new Error('crashed')
  })
  app.use(((error: Error, _, response, _next) => {
    response.status(500).send(error.message)
  }) as ErrorRequestHandler)
  const url = await listening(app)
  const answers: Answer[] = []
  for (const path of paths) {
    const response = await fetch(`${url}${path}`)
    // A window of fifteen minutes may have lost a second.
    const valueOf = (name: string) =>
      response.headers.get(name)?.replace(/\b(?:89\d|900)\b/, '900') ?? null
    answers.push({
      status: response.status,
      body: await response.text(),
      type: response.headers.get('content-type'),
      fields: Object.fromEntries(FIELDS.map((name) => [name, valueOf(name)])),
    })
  }
  return answers
}

const limit = (quota: number) => ({ quota, window: '15min', anchor: 'first' }) as const
const all = (count: number): readonly string[] => Array.from({ length: count }, () => '/')
const queryOf = (request: Request, name: string): string => request.query[name] as string

/** What is compared: the whole answer, or the status where the default bodies differ on purpose. */
type Compared = 'status' | 'answer' | 'status and fields'

describe('an application that moves from express-rate-limit answers as before', () => {
  it.each<[string, Partial<Options>, Partial<OurOptions>, readonly string[], Compared]>([
    ['with a limit', { limit: 2 }, { limit: limit(2) }, all(4), 'status'],
    [
      'with a text',
      { limit: 1, message: 'Enhance your calm' },
      { limit: limit(1), onRefused: () => ({ body: 'Enhance your calm', headers: HTML }) },
      all(2),
      'answer',
    ],
    [
      'with JSON',
      { limit: 1, message: { error: { code: 'too-many' } } },
      {
        limit: limit(1),
        onRefused: () => ({ body: '{"error":{"code":"too-many"}}', headers: JSON_TYPE }),
      },
      all(2),
      'answer',
    ],
    [
      'with another status',
      { limit: 1, statusCode: 420 },
      { limit: limit(1), onRefused: () => ({ status: 420 }) },
      all(2),
      'status',
    ],
    [
      'with a handler',
      { limit: 1, handler: (_, response) => void response.status(420).send('Calm') },
      {
        limit: limit(1),
        onRefused: (_, __, response) => {
          response.status(420).send('Calm')
          return 'handled'
        },
      },
      all(3),
      'answer',
    ],
    [
      'with a handler that fails later',
      { limit: 1, handler: (_, __, next) => next(new Error('no more')) },
      { limit: limit(1), onRefused: () => Promise.reject(new Error('no more')) },
      all(2),
      'answer',
    ],
    [
      'with a handler that throws',
      { limit: 1, handler: fail },
      { limit: limit(1), onRefused: fail },
      all(2),
      'answer',
    ],
    [
      'with keys of its own',
      { limit: 2, keyGenerator: (request) => queryOf(request, 'key') },
      { limit: limit(2), key: (request) => queryOf(request, 'key') },
      ['/?key=1', '/?key=1', '/?key=2', '/?key=1', '/?key=2', '/?key=2'],
      'status',
    ],
    [
      'with keys that come later',
      { limit: 1, keyGenerator: async (request) => queryOf(request, 'key') },
      { limit: limit(1), key: async (request) => queryOf(request, 'key') },
      ['/?key=1', '/?key=2', '/?key=1'],
      'status',
    ],
    [
      'with a key that throws',
      { limit: 1, keyGenerator: fail },
      { limit: limit(1), key: fail, onWarning: () => {} },
      all(1),
      'answer',
    ],
    [
      'with requests that are skipped',
      { limit: 1, skip: (request) => request.query['skip'] === '1' },
      { limit: limit(1), skip: (request) => request.query['skip'] === '1' },
      ['/', '/?skip=1', '/', '/?skip=1'],
      'status',
    ],
    [
      'with requests that are skipped later',
      { limit: 1, skip: async () => true },
      { limit: limit(1), skip: async () => true },
      all(3),
      'answer',
    ],
    [
      'with a skip that throws',
      { limit: 1, skip: fail },
      { limit: limit(1), skip: fail, onWarning: () => {} },
      all(1),
      'answer',
    ],
    [
      'with a limit by the request',
      {
        limit: (request) => Number(request.query['most']),
        keyGenerator: (request) => queryOf(request, 'key'),
      },
      {
        policy: {
          name: 'by-request',
          rules: [{ name: 'all', by: ['key'], limit: ({ most }) => limit(Number(most)) }],
        },
        key: (request) => queryOf(request, 'key'),
        attributes: (request) => ({ most: Number(request.query['most']) }),
      },
      ['/?key=a&most=1', '/?key=a&most=1', '/?key=b&most=2', '/?key=b&most=2', '/?key=b&most=2'],
      'status',
    ],
    [
      'with a limit that is looked up',
      { limit: async () => 2 },
      {
        policy: {
          name: 'looked-up',
          rules: [{ name: 'all', by: ['ip'], limit: ({ most }) => limit(Number(most)) }],
        },
        attributes: async () => ({ most: 2 }),
      },
      all(3),
      'status',
    ],
    [
      'where successes do not count',
      { limit: 1, skipSuccessfulRequests: true },
      { limit: limit(1), after: ({ status }) => (status < 400 ? 0 : undefined) },
      ['/', '/', '/error', '/', '/error'],
      'status',
    ],
    [
      'where failures do not count',
      { limit: 1, skipFailedRequests: true },
      { limit: limit(1), after: ({ status }) => (status >= 400 ? 0 : undefined) },
      ['/error', '/crash', '/error', '/', '/', '/error'],
      'status',
    ],
    [
      'where a success is what the application calls one',
      {
        limit: 1,
        skipSuccessfulRequests: true,
        requestWasSuccessful: (request) => request.query['success'] === '1',
      },
      {
        limit: limit(1),
        after: ({ request }) => (request.query['success'] === '1' ? 0 : undefined),
      },
      ['/?success=1', '/?success=1', '/?success=0', '/?success=1'],
      'status',
    ],
    [
      'with the older fields',
      { limit: 2, legacyHeaders: true, standardHeaders: false },
      { limit: limit(2), headers: ['x-ratelimit-epoch'] },
      all(3),
      'status and fields',
    ],
    [
      'with the fields of draft 7',
      { limit: 2, legacyHeaders: false, standardHeaders: 'draft-7' },
      { limit: limit(2), headers: ['draft-7'] },
      all(3),
      'status and fields',
    ],
    [
      'without fields',
      { limit: 2, legacyHeaders: false, standardHeaders: false },
      { limit: limit(2), headers: [] },
      all(2),
      'status and fields',
    ],
  ])('%s', async (_, their, our, paths, compared) => {
    const base = { windowMs: 15 * 60_000, validate: false }
    const expected = await answersOf(theirs({ ...base, ...their }), paths)
    const got = await answersOf(ours<Request, Response>(our as OurOptions), paths)
    const pick = (answers: readonly Answer[]) =>
      answers.map(({ status, body, type, fields }) => {
        if (compared === 'status') return status
        return compared === 'answer' ? { status, body, type } : { status, fields }
      })
    expect(pick(got)).toEqual(pick(expected))
  })
})

const HTML = { 'content-type': 'text/html; charset=utf-8' }
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

function fail(): never {
  throw new Error('no luck')
}
