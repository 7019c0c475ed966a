import { fileURLToPath } from 'node:url'
import { loadSync, type MessageTypeDefinition } from '@grpc/proto-loader'
import { describe, expect, test } from 'vitest'
import { decodeRequest } from './request.ts'
import { currentLimit, encodeResponse, MAX_UINT32, OK, OVER_LIMIT } from './response.ts'

const workspace = fileURLToPath(new URL('../../../../../', import.meta.url))
const xds = `${workspace}node_modules/@grpc/grpc-js-xds/deps`
const options = { keepCase: true, longs: Number, enums: String, defaults: false }

/** The two sets of definitions that must read our bytes alike. */
const DEFINITIONS = {
  ours: [`${workspace}spec/protos`],
  'as published with grpc-js-xds': [
    `${xds}/envoy-api`,
    `${xds}/xds`,
    `${xds}/googleapis`,
    `${xds}/protoc-gen-validate`,
  ],
}

function messages(includeDirs: string[]) {
  const all = loadSync('envoy/service/ratelimit/v3/rls.proto', { ...options, includeDirs })
  const codec = (name: string) =>
    all[`envoy.service.ratelimit.v3.${name}`] as MessageTypeDefinition<object, object>
  return { request: codec('RateLimitRequest'), response: codec('RateLimitResponse') }
}

const RESPONSE = {
  overallCode: OVER_LIMIT,
  unenforced: 0,
  statuses: [
    {
      code: OVER_LIMIT,
      currentLimit: currentLimit('per “user”', 5_000_000_000, 7),
      limitRemaining: 0,
      secondsUntilReset: 300,
    },
    {
      code: OK,
      currentLimit: undefined,
      limitRemaining: MAX_UINT32,
      secondsUntilReset: undefined,
    },
    { code: OK, currentLimit: currentLimit('', 10, 1), limitRemaining: 3, secondsUntilReset: 0 },
  ],
  responseHeaders: [
    { key: 'Retry-After', value: '300' },
    { key: 'x-long', value: 'ü'.repeat(500) },
  ],
  dynamicMetadata: {
    domain: 'api',
    empty: '',
    on: true,
    off: false,
    list: [1, 'two', { three: [3.5] }],
  },
} as const

describe.each(Object.entries(DEFINITIONS))('definitions %s', (name, includeDirs) => {
  const { request, response } = messages(includeDirs)

  test('read what we write', () => {
    const value = (kind: string, content: unknown) => ({ [kind]: content })
    // The published definitions are older than the unit of a week, and show its number.
    const week = name === 'ours' ? 'WEEK' : 7
    expect(response.deserialize(encodeResponse(RESPONSE))).toEqual({
      overall_code: 'OVER_LIMIT',
      statuses: [
        {
          code: 'OVER_LIMIT',
          current_limit: { name: 'per “user”', requests_per_unit: MAX_UINT32, unit: week },
          duration_until_reset: { seconds: 300 },
        },
        { code: 'OK', limit_remaining: MAX_UINT32 },
        {
          code: 'OK',
          current_limit: { requests_per_unit: 10, unit: 'SECOND' },
          limit_remaining: 3,
          duration_until_reset: {},
        },
      ],
      response_headers_to_add: [
        { key: 'Retry-After', value: '300' },
        { key: 'x-long', value: 'ü'.repeat(500) },
      ],
      dynamic_metadata: {
        fields: {
          domain: value('stringValue', 'api'),
          empty: value('stringValue', ''),
          on: value('boolValue', true),
          off: value('boolValue', false),
          list: value('listValue', {
            values: [
              value('numberValue', 1),
              value('stringValue', 'two'),
              value('structValue', {
                fields: {
                  three: value('listValue', { values: [value('numberValue', 3.5)] }),
                },
              }),
            ],
          }),
        },
      },
    })
  })

  test('write what we read', () => {
    const bytes = request.serialize({
      domain: 'dömain',
      hits_addend: 4_294_967_295,
      descriptors: [
        {
          entries: [{ key: 'user', value: '42' }, { key: 'emoji', value: '🚦' }, { key: 'empty' }],
        },
        {
          entries: [{ key: 'k', value: 'v'.repeat(1000) }],
          limit: { requests_per_unit: 7, unit: 'DAY' },
        },
      ],
    })
    expect(decodeRequest(bytes)).toEqual({
      domain: 'dömain',
      hits: 4_294_967_295,
      descriptors: [
        {
          entries: [
            { key: 'user', value: '42' },
            { key: 'emoji', value: '🚦' },
            { key: 'empty', value: '' },
          ],
          limit: undefined,
          hits: undefined,
          negative: false,
        },
        {
          entries: [{ key: 'k', value: 'v'.repeat(1000) }],
          limit: { requestsPerUnit: 7, unit: 4 },
          hits: undefined,
          negative: false,
        },
      ],
    })
  })
})

describe('keys of descriptors', () => {
  const { request } = messages(DEFINITIONS.ours)
  test.each([
    [['user', 'user', 'user']],
    [['user', 'used', 'use', 'users', 'user']],
    // The bytes of ö are the characters of Ã¶.
    [['ö', 'Ã¶', 'ö', 'ö']],
    [['', 'a', '', '']],
  ])('%j are read one by one', (keys) => {
    const descriptors = keys.map((key) => ({ entries: [{ key, value: 'v' }] }))
    const read = decodeRequest(request.serialize({ domain: 'd', descriptors }))
    expect(read.descriptors.map(({ entries }) => entries[0]?.key)).toEqual(keys)
  })
})

describe('hits of one descriptor', () => {
  const { request } = messages(DEFINITIONS.ours)
  test.each([
    ['none', undefined, undefined],
    ['a wrapper that is empty: a look', { value: 0 }, 0],
    ['a wrapper', { value: 3 }, 3],
    [
      'more than a number can count exactly',
      { value: '18446744073709551615' },
      Number.MAX_SAFE_INTEGER,
    ],
  ])('%s', (_, hits_addend, expected) => {
    const entries = [{ key: 'a', value: 'b' }]
    const descriptors = [{ entries, is_negative_hits: true, ...(hits_addend && { hits_addend }) }]
    const read = decodeRequest(request.serialize({ domain: 'd', descriptors }))
    expect(read.descriptors[0]).toMatchObject({ hits: expected, negative: true })
  })
})

describe('reading bytes', () => {
  test.each([
    ['a number without an end', [0x18, 0x80]],
    ['a number of eleven bytes', [0x18, ...Array<number>(10).fill(0x80), 1]],
    ['a text longer than the message', [0x0a, 5, 0x61]],
    ['a descriptor longer than the message', [0x12, 9, 0x0a]],
    ['an entry that ends after its descriptor', [0x12, 2, 0x0a, 4, 0x0a, 1, 0x61, 0x12]],
    ['text that is not UTF-8', [0x0a, 2, 0xc3, 0x28]],
    ['field number 0', [0x02, 0]],
    ['wire type 6', [0x0e, 0]],
    ['a group without an end', [0x2b, 0x08, 1]],
    ['a group that ends as another', [0x2b, 0x34]],
    ['groups without a bottom', Array<number>(40).fill(0x2b)],
    ['four bytes of which one is missing', [0x2d, 1, 2, 3]],
  ])('rejects %s', (_, bytes) => {
    expect(() => decodeRequest(Buffer.from(bytes))).toThrow(/./)
    expect(() => decodeRequest(Buffer.from(bytes))).toThrowError(
      expect.objectContaining({ name: 'WireError' }),
    )
  })

  test('skips unknown fields of every type', () => {
    const unknown = [
      0x78, 1, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7a, 1, 0, 0x7b, 0x08, 1, 0x7c, 0x7d, 1, 2, 3, 4,
    ]
    const bytes = Buffer.from([...unknown, 0x0a, 1, 0x61, ...unknown])
    expect(decodeRequest(bytes)).toEqual({ domain: 'a', descriptors: [], hits: 0 })
  })

  test('takes a message that comes twice for one, in which the later field counts', () => {
    const limit = (...bytes: number[]) => [0x12, bytes.length, ...bytes]
    const descriptor = [...limit(0x08, 5, 0x10, 1), ...limit(0x08, 9)]
    const read = decodeRequest(Buffer.from([0x12, descriptor.length, ...descriptor]))
    expect(read.descriptors[0]?.limit).toEqual({ requestsPerUnit: 9, unit: 1 })
  })
})
