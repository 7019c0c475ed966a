// Every link from one page of the repository to another leads to a file and a heading that exist; every picture has a description.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = [
  ...pagesIn('.', false),
  ...pagesIn('docs', true),
  ...pagesIn('spec', true),
  ...pagesIn('packages/sluice', false),
  ...pagesIn('packages/server', false),
  ...pagesIn('packages/cli', false),
  ...pagesIn('packages/nest', false),
]

describe('links', () => {
  it('are looked for in all pages', () => {
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'docs/README.md', 'docs/guide/testing.md']),
    )
  })

  it.each(pages)('of %s lead somewhere', (page) => {
    const broken = linksOf(page).filter((link) => !leadsSomewhere(page, link))
    expect(broken).toEqual([])
  })

  it('reach every page of the documentation from its index', () => {
    const index = linksOf('docs/README.md').map((link) => join('docs', link))
    const missing = pages.filter((page) => page.startsWith('docs/') && !index.includes(page))
    expect(missing).toEqual(['docs/README.md'])
  })
})

describe('pictures', () => {
  it.each(pages)('of %s are described in words', (page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
    const images = [...text.matchAll(/!\[([^\]]*)\]\(|<img\b([^>]*)>/g)]
    const bare = images.filter(([, words, attributes]) => {
      const description = words ?? /\balt="([^"]*)"/.exec(attributes ?? '')?.[1] ?? ''
      return description.trim().split(/\s+/).length < 3
    })
    expect(bare.map(([image]) => image)).toEqual([])
  })
})

function pagesIn(folder: string, recursive: boolean): string[] {
  return readdirSync(join(root, folder), { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

/** The targets of a page's links, those to other sites left out. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return heading === undefined || headingsOf(target).includes(heading)
}

/** The names by which headings are linked: lower case, hyphens for spaces, without punctuation. */
function headingsOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
