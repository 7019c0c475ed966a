// The waits of the shipped proxies: a service that hangs costs a request 100 ms. The other tests give it 20 s instead.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const textOf = (path: string): string =>
  readFileSync(new URL(`../../../../deploy/${path}`, import.meta.url), 'utf8')

describe('a service that hangs is given up after 100 ms', () => {
  it.each([
    ['nginx/nginx.conf', 'proxy_connect_timeout 100ms;'],
    ['nginx/nginx.conf', 'proxy_send_timeout 100ms;'],
    ['nginx/nginx.conf', 'proxy_read_timeout 100ms;'],
    ['haproxy/haproxy.cfg', 'timeout check 100ms'],
    ['haproxy/haproxy.cfg', 'fastinter 100ms fall 1'],
    ['haproxy/sluice.lua', 'TIMEOUT_MS = 100'],
    ['caddy/Caddyfile', 'dial_timeout 100ms'],
    ['caddy/Caddyfile', 'response_header_timeout 100ms'],
  ])('by %s: %s', (path, setting) => {
    expect(textOf(path)).toMatch(new RegExp(`${setting}(?![0-9])`))
  })
})
