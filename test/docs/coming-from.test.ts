// The migration guides name every option that the other packages have, by their own types.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** The members that the types of a package declare between two lines. */
function membersOf(file: string, ...blocks: string[]): readonly string[] {
  const text = read(`node_modules/${file}`)
  return blocks.flatMap((opening) => {
    const start = text.indexOf(opening)
    expect(start, `${opening} in ${file}`).toBeGreaterThan(0)
    const end = /^(\t| {0,2})?\}/m.exec(text.slice(start))!.index
    const body = text.slice(start, start + end)
    return [...body.matchAll(/^(?:\t| {4})(\w+)\??:/gm)].map(([, name]) => name!)
  })
}

/** The options in the first column of the tables of a guide. */
function tableOf(page: string): ReadonlySet<string> {
  const rows = read(`docs/guide/coming-from/${page}.md`).matchAll(/^\| (.*?) \|/gm)
  return new Set(
    [...rows].flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)),
  )
}

describe.each([
  [
    'express-rate-limit',
    membersOf('express-rate-limit/dist/index.d.ts', 'export type Options = {'),
  ],
  [
    'fastify-rate-limit',
    membersOf(
      '@fastify/rate-limit/types/index.d.ts',
      'export interface CreateRateLimitOptions {',
      'export interface RateLimitOptions extends',
      'export interface RateLimitPluginOptions extends',
    ),
  ],
  [
    'rate-limiter-flexible',
    membersOf(
      'rate-limiter-flexible/types.d.ts',
      'interface IRateLimiterOptions {',
      'interface IRateLimiterStoreOptions extends',
      'interface IRateLimiterRedisOptions extends',
    ),
  ],
])('the guide for users of %s', (page, options) => {
  it('names every option of theirs', () => {
    expect(options.length).toBeGreaterThan(10)
    const named = tableOf(page)
    expect(options.filter((option) => !named.has(option))).toEqual([])
  })
})

describe.each(['upstash-ratelimit', 'envoy-ratelimit', 'nginx'])(
  'the guide for users of %s',
  (page) => {
    it('has a table of theirs and ours', () => {
      expect(
        tableOf(page).size + read(`docs/guide/coming-from/${page}.md`).split('\n| `').length,
      ).toBeGreaterThan(12)
    })
  },
)
