// What is shipped and shown checks clean, as `sluice check --strict` sees it: files of deploy and examples, and the pages.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { reviewFile, reviewText } from '../src/review/review.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file))

const isConfiguration = (text: string): boolean => /^(?:policies|domain):/m.test(text)
const files = ['deploy', 'examples']
  .flatMap((folder) => filesIn(folder, /\.ya?ml$/))
  .filter((file) => isConfiguration(readFileSync(join(root, file), 'utf8')))

it.each(files)('%s', async (file) => {
  const { problems, warnings } = await reviewFile(join(root, file))
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] })
})

/** Pages whose files are what `sluice import` prints: who the proxies are is for the reader to say. */
const IMPORTED = ['docs/guide/coming-from/nginx.md']
const snippets = [...filesIn('docs', /\.md$/), 'README.md']
  .filter((file) => !IMPORTED.includes(file))
  .flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const blocks = [...text.matchAll(/^```ya?ml\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
    return blocks
      .filter((block) => /^policies:/m.test(block))
      .map((block, i) => ({ name: `${file} ${i}`, block }))
  })

it('there is something to look at', () => {
  expect(files.length).toBeGreaterThan(3)
  expect(snippets.length).toBeGreaterThan(10)
})

it.each(snippets)('$name', ({ block }) => {
  const { problems, warnings } = reviewText(block, 'page')
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] })
})
