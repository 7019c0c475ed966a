// The page on the reverse proxy against the reverse proxy.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { reviewText } from '../../src/review/review.ts'
import { FAILURES } from '../../src/upstream/failure.ts'
import { behind } from './behind.ts'

const read = (name: string) =>
  readFileSync(new URL(`../../../../docs/reference/service/${name}.md`, import.meta.url), 'utf8')
const page = read('reverse-proxy')
const yaml = /^```yaml\n([\s\S]*?)^```$/m.exec(page)![1]!

test('its file is valid and without traps', () => {
  const { problems, warnings } = reviewText(yaml, 'page')
  expect([...problems, ...warnings]).toEqual([])
})

test('it lists every field, with its default', () => {
  const { config } = reviewText(yaml, 'page')
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\S.*?) +\| /gm)]
  const listed = new Map(rows.map(([, name, value]) => [name!, value!]))
  const fields = Object.keys(config!.listeners.proxy!)
  const optional = ['tls', 'upstreamCa', 'policy', 'llm']
  expect([...listed.keys()].toSorted()).toEqual([...new Set([...fields, ...optional])].toSorted())
  const { port, maxRequests, maxHeaders, maxConnections, keepHost, via } = config!.listeners.proxy!
  const shown = (value: number) => (value > 9999 ? value.toLocaleString('en') : String(value))
  for (const [name, value] of Object.entries({ port, maxRequests, maxHeaders, maxConnections }))
    expect([name, listed.get(name)]).toEqual([name, shown(value)])
  for (const [name, value] of Object.entries({ keepHost, via }))
    expect([name, listed.get(name)]).toEqual([name, `\`${value}\``])
})

test('it lists every answer of its own', () => {
  for (const { status, code } of Object.values(FAILURES))
    expect(page).toMatch(new RegExp(`^\\| ${status} +\\| \`${code}\``, 'm'))
})

test('the page on metrics lists its metrics', async () => {
  const { metrics } = await behind((_, response) => response.end())
  const served = [...(await metrics()).matchAll(/^# TYPE (sluice_proxy_\S+)/gm)]
  const listed = [...read('metrics').matchAll(/^\| `(sluice_proxy_\w+)` /gm)]
  const names = (matches: RegExpMatchArray[]) => matches.map((match) => match[1]!).toSorted()
  expect(names(listed)).toEqual(names(served))
})
