import { describe, expect, test } from 'vitest'
import { ignoredVariables, ratelimitConfig } from './ratelimit-environment.ts'

const RUNTIME = { RUNTIME_ROOT: '/data', RUNTIME_SUBDIRECTORY: 'ratelimit' }

test('means nothing without RUNTIME_ROOT', () => {
  expect(ratelimitConfig({ REDIS_URL: 'redis:6379' })).toBeUndefined()
})

describe('the environment of Envoy’s own service', () => {
  test.each([
    [
      'files',
      {},
      {
        envoy: {
          files: ['/data/ratelimit/config'],
          algorithm: 'fixed-window',
          headers: ['retry-after'],
        },
      },
    ],
    [
      'another folder',
      { RUNTIME_APPDIRECTORY: 'limits' },
      { envoy: { files: ['/data/ratelimit/limits'] } },
    ],
    [
      'the usual ports',
      {},
      {
        listeners: {
          http: { host: '0.0.0.0', port: 8080 },
          grpc: { host: '0.0.0.0', port: 8081 },
          debug: { host: '0.0.0.0', port: 6070 },
        },
      },
    ],
    [
      'other ports',
      { PORT: '1', GRPC_PORT: '2', GRPC_HOST: '::1', DEBUG_PORT: '3', DEBUG_HOST: '127.0.0.1' },
      {
        listeners: {
          http: { port: 1 },
          grpc: { host: '::1', port: 2 },
          debug: { host: '127.0.0.1', port: 3 },
        },
      },
    ],
    ['no Redis', {}, { store: { kind: 'memory' } }],
    [
      'a Redis',
      { REDIS_URL: 'redis:6379' },
      { store: { url: 'redis://redis:6379', cluster: false } },
    ],
    [
      'a Redis with a secret',
      { REDIS_URL: 'r:1', REDIS_AUTH: 'a/b', REDIS_TLS: 'true' },
      { store: { url: 'rediss://:a%2Fb@r:1' } },
    ],
    [
      'a cluster',
      { REDIS_URL: 'a:1,b:2', REDIS_TYPE: 'CLUSTER' },
      { store: { url: 'redis://a:1', cluster: true } },
    ],
    [
      'headers',
      { LIMIT_RESPONSE_HEADERS_ENABLED: 'true' },
      { envoy: { headers: ['retry-after', 'ratelimit-triple'] } },
    ],
    [
      'domains in several files',
      { MERGE_DOMAIN_CONFIG: 'true' },
      { envoy: { mergeDomains: true } },
    ],
    [
      'a Redis over TLS',
      { REDIS_URL: 'r:1', REDIS_SOCKET_TYPE: 'tls' },
      { store: { url: 'rediss://r:1' } },
    ],
    ['when hits are near a limit', { NEAR_LIMIT_RATIO: '0.5' }, { envoy: { nearLimitRatio: 0.5 } }],
    ['the usual ratio', {}, { envoy: { nearLimitRatio: 0.8 } }],
    ['how much is logged', { LOG_LEVEL: 'WARN' }, { log: 'warn' }],
    [
      'TLS on the gRPC port',
      {
        GRPC_SERVER_USE_TLS: 'true',
        GRPC_SERVER_TLS_CERT: '/c.pem',
        GRPC_SERVER_TLS_KEY: '/k.pem',
      },
      { listeners: { grpc: { port: 8081, tls: { cert: '/c.pem', key: '/k.pem' } } } },
    ],
    [
      'certificates of clients',
      {
        GRPC_SERVER_USE_TLS: 'true',
        GRPC_SERVER_TLS_CERT: '/c.pem',
        GRPC_SERVER_TLS_KEY: '/k.pem',
        GRPC_CLIENT_TLS_CACERT: '/ca.pem',
        GRPC_CLIENT_TLS_SAN: 'envoy.internal',
      },
      { listeners: { grpc: { tls: { ca: '/ca.pem', clientNames: ['envoy.internal'] } } } },
    ],
    ['our own variables on top', { SLUICE_GRPC_PORT: '9' }, { listeners: { grpc: { port: 9 } } }],
  ])('%s', (_, more, expected) => {
    const result = ratelimitConfig({ ...RUNTIME, ...more })
    expect(result?.problems).toEqual([])
    expect(result?.config).toMatchObject(expected)
  })

  test.each([
    [{ BACKEND_TYPE: 'memcache' }, 'BACKEND_TYPE is "memcache"; accepted: redis'],
    [{ REDIS_TYPE: 'SENTINEL' }, 'REDIS_TYPE is "SENTINEL"; accepted: single, cluster'],
    [{ CONFIG_TYPE: 'GRPC_XDS_SOTW' }, 'CONFIG_TYPE is "GRPC_XDS_SOTW"; accepted: file'],
    [{ SHADOW_MODE: 'true' }, 'SHADOW_MODE is "true"; accepted: false'],
    [{ REDIS_SOCKET_TYPE: 'unix' }, 'REDIS_SOCKET_TYPE is "unix"; accepted: tcp, tls'],
    [{ GRPC_UDS: '/tmp/a.sock' }, 'GRPC_UDS is "/tmp/a.sock"; accepted: nothing'],
    [{ GRPC_SERVER_USE_TLS: 'true' }, 'listeners.grpc.tls.cert is missing'],
    [{ NEAR_LIMIT_RATIO: '80' }, 'envoy.nearLimitRatio is 80; accepted: a number from 0 to 1'],
    [{ GRPC_PORT: 'many' }, 'listeners.grpc.port'],
  ])('what is not supported is reported: %o', (more, expected) => {
    const { config, problems } = ratelimitConfig({ ...RUNTIME, ...more })!
    expect(config).toBeUndefined()
    expect(problems.map(({ message }) => message).join()).toContain(expected)
  })
})

test('variables without effect are named', () => {
  const off = { USE_STATSD: 'false', USE_DOG_STATSD: '', TRACING_ENABLED: '0' }
  expect(
    ignoredVariables({ ...off, REDIS_PERSECOND: 'true', LIMIT_LIMIT_HEADER: 'X-Max' }),
  ).toEqual(['LIMIT_LIMIT_HEADER', 'REDIS_PERSECOND'])
})
