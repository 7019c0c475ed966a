import { describe, expect, it } from 'vitest'
import { formatOf, parserOf } from './detect.ts'
import type { Fault, FormatName, LogParser } from './parser.ts'

const none = new Map<string, string>()

function read(parser: LogParser, line: string): Fault | undefined {
  const bytes = new TextEncoder().encode(line)
  return parser.read(bytes, 0, bytes.length)
}

const combined = `192.0.2.7 - ann [17/May/2026:10:05:03 +0200] "GET /a/b?c=1 HTTP/1.1" 429 203 "http://example.com/" "Mozilla/5.0 (X11; \\"q\\")"`
const common = `192.0.2.7 - - [17/May/2026:08:05:03 +0000] "POST /login HTTP/1.1" 200 -`
const nginx = `{"time_local":"17/May/2026:08:05:03 +0000","remote_addr":"192.0.2.7","remote_user":"-","request":"GET /a/b?c=1 HTTP/1.1","status":"429","request_time":"0.250","http_user_agent":"curl"}`
const nginxOther = `{"time": "17/May/2026:08:05:03 +0000", "remote_ip": "192.0.2.7", "remote_user": "-", "request": "GET /a/b HTTP/1.1", "response": 304, "bytes": 0, "referrer": "-", "agent": "curl"}`
const caddy = `{"level":"info","ts":1779005103.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.7","client_ip":"198.51.100.1","method":"GET","uri":"/a/b?c=1","headers":{"User-Agent":["curl"],"X-Api-Key":["k1"]}},"user_id":"ann","duration":0.25,"status":429}`
const envoy = `[2026-05-17T08:05:03.250Z] "GET /a/b?c=1 HTTP/1.1" 429 - 0 95 28 27 "203.0.113.9,192.0.2.7" "curl" "id-1" "example.com" "10.0.0.1:8080"`
const istio = `[2026-05-17T08:05:03.250Z] "GET /a/b HTTP/1.1" 200 - via_upstream - "-" 0 95 28 27 "-" "curl" "id-1" "example.com" "10.0.0.1:8080" inbound|8080|| 127.0.0.1:42 10.0.0.1:8080 192.0.2.7:51000 - default`
const alb = `https 2026-05-17T08:05:03.250000Z app/lb/1 192.0.2.7:2817 10.0.0.1:80 0.086 0.048 0.037 429 200 0 57 "GET https://example.com:443/a/b?c=1 HTTP/1.1" "curl" ECDHE TLSv1.2 arn "Root=1" "example.com" "arn" 1 2026-05-17T08:05:03.000000Z "forward" "-" "-"`
const ndjson = `{"at":1779005103250,"client":{"ip":"192.0.2.7"},"user":{"id":42},"path":"/a/b","method":"GET","status":429}`
const AT = Date.UTC(2026, 4, 17, 8, 5, 3)

describe('each format', () => {
  it.each<[FormatName, string, number, Record<string, unknown>]>([
    [
      'combined',
      combined,
      AT,
      {
        ip: '192.0.2.7',
        user: 'ann',
        method: 'GET',
        path: '/a/b',
        userAgent: 'Mozilla/5.0 (X11; \\"q\\")',
      },
    ],
    ['common', common, AT, { ip: '192.0.2.7', user: undefined, method: 'POST', path: '/login' }],
    [
      'nginx-json',
      nginx,
      AT,
      { ip: '192.0.2.7', user: undefined, method: 'GET', path: '/a/b', userAgent: 'curl' },
    ],
    [
      'nginx-json',
      nginxOther,
      AT,
      { ip: '192.0.2.7', method: 'GET', path: '/a/b', userAgent: 'curl' },
    ],
    [
      'caddy',
      caddy,
      AT + 500,
      {
        ip: '198.51.100.1',
        user: 'ann',
        method: 'GET',
        path: '/a/b',
        apiKey: 'k1',
        userAgent: 'curl',
      },
    ],
    ['envoy', envoy, AT + 250, { ip: '192.0.2.7', method: 'GET', path: '/a/b', userAgent: 'curl' }],
    ['envoy', istio, AT + 250, { ip: '192.0.2.7', method: 'GET', path: '/a/b' }],
    ['alb', alb, AT + 250, { ip: '192.0.2.7', method: 'GET', path: '/a/b', userAgent: 'curl' }],
    ['ndjson', ndjson, AT + 250, { ip: '192.0.2.7', user: '42', method: 'GET', path: '/a/b' }],
  ])('%s is found and read: %#', (format, line, at, attributes) => {
    expect(formatOf([line], none)).toBe(format)
    const parser = parserOf(format, none)
    expect(read(parser, line)).toBeUndefined()
    expect(parser.at).toBe(at)
    for (const [name, value] of Object.entries(attributes))
      expect([name, parser.value(name)]).toEqual([name, value])
  })

  it.each<[FormatName, string, number, number]>([
    ['combined', combined, 429, Number.NaN],
    ['nginx-json', nginx, 429, 250],
    ['caddy', caddy, 429, 250],
    ['envoy', envoy, 429, 28],
    ['alb', alb, 429, 171],
  ])(
    '%s has the status and, where it is logged, the duration',
    (format, line, status, duration) => {
      const parser = parserOf(format, none)
      read(parser, line)
      expect([parser.status, Math.round(parser.duration)]).toEqual([status, duration])
    },
  )

  it('CSV takes names from its first line, and quoted cells as they are', () => {
    const header = 'timestamp;remote_addr;user;url'
    expect(formatOf([header, 'x'], none)).toBe('csv')
    const parser = parserOf('csv', none, header)
    expect(read(parser, '2026-05-17 08:05:03;"192.0.2.7";"a;""b""";/x?y')).toBeUndefined()
    expect([parser.at, parser.value('ip'), parser.value('user'), parser.value('path')]).toEqual([
      AT,
      '192.0.2.7',
      'a;"b"',
      '/x',
    ])
  })
})

describe('a mapping', () => {
  it.each<[string, string, string]>([
    ['user=user.id', 'user', '42'],
    ['tenant=client.ip', 'tenant', '192.0.2.7'],
  ])('%s goes into objects', (pair, attribute, value) => {
    const parser = parserOf('ndjson', new Map([pair.split('=') as [string, string]]))
    read(parser, ndjson)
    expect(parser.value(attribute)).toBe(value)
  })

  it('names fields of the combined format too', () => {
    const parser = parserOf('combined', new Map([['user', 'userAgent']]))
    read(parser, combined)
    expect(parser.value('user')).toContain('Mozilla')
  })
})

describe('a line that cannot be read says why', () => {
  it.each<[FormatName, string, Fault]>([
    ['combined', 'no such line', 'not in the format'],
    ['combined', combined.slice(0, 30), 'cut off'],
    ['combined', combined.slice(0, 60), 'cut off'],
    ['combined', combined.replace('17/May', '31/Feb'), 'time impossible'],
    ['combined', combined.replace('10:05:03', '10:05:99'), 'time impossible'],
    ['combined', combined.replace('+0200]', '+02000'), 'time missing'],
    ['combined', combined.replace('" 429 ', '" abc '), 'not in the format'],
    ['nginx-json', nginx.slice(0, 80), 'cut off'],
    ['ndjson', '[1]', 'not in the format'],
    ['ndjson', '{"a":1}', 'time missing'],
    ['ndjson', '{"time":"yesterday"}', 'time impossible'],
    ['envoy', envoy.slice(0, 90), 'cut off'],
    ['alb', alb.slice(0, 60), 'cut off'],
    ['alb', combined, 'not in the format'],
  ])('%s: %j', (format, line, fault) => {
    expect(read(parserOf(format, none), line)).toBe(fault)
  })

  it('no line of arbitrary bytes throws', () => {
    let seed = 7
    const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) >>> 8
    for (const line of [combined, nginx, caddy, envoy, alb, ndjson]) {
      const good = new TextEncoder().encode(line)
      for (const format of [
        'combined',
        'nginx-json',
        'caddy',
        'envoy',
        'alb',
        'ndjson',
        'csv',
      ] as const) {
        const parser = parserOf(format, none, 'time,ip')
        for (let i = 0; i < 50; i++) {
          const bytes = good.slice(0, random() % (good.length + 1))
          for (let j = 0; j < 3 && bytes.length > 0; j++)
            bytes[random() % bytes.length] = random() & 255
          const fault = parser.read(bytes, 0, bytes.length)
          expect(fault === undefined ? Number.isFinite(parser.at) : typeof fault === 'string').toBe(
            true,
          )
        }
      }
    }
  })
})
