// ARCHITECTURE.md quotes the code as it stands, and names every room.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const sources = new URL('packages/sluice/src/', root)
const page = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8')
const [, code = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(page) ?? []
/** Each quote begins with a comment that names its file. */
const quotes = code
  .split(/^\/\/ /m)
  .slice(1)
  .map((quote) => [quote.slice(0, quote.indexOf('\n')), quote.slice(quote.indexOf('\n') + 1)])

describe('the architecture', () => {
  it('quotes four seams', () => {
    expect(quotes).toHaveLength(4)
  })

  it.each(quotes)('quotes %s as it stands', (path, quote) => {
    const lines = readFileSync(new URL(path!, sources), 'utf8').split('\n')
    for (const line of quote!.trimEnd().split('\n')) expect(lines).toContain(line)
  })

  it('names every room', () => {
    const rooms = readdirSync(sources, { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    )
    for (const { name } of rooms) expect(page).toContain(`| \`${name}\``)
  })
})
