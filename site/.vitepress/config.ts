// The site is the repository's own documents: the folder docs as it stands, with the pages that are made from types and schemas.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type DefaultTheme } from 'vitepress'
import { EXAMPLES } from './theme/import-examples.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The pages by section, as docs/README.md lists them. */
function sections(): DefaultTheme.SidebarItem[] {
  const found: { text: string; items: { text: string; link: string }[]; collapsed: boolean }[] = []
  for (const line of readFileSync(`${root}docs/README.md`, 'utf8').split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1]
    if (heading !== undefined) found.push({ text: heading, items: [], collapsed: false })
    const [, text, link] = /^\| \[([^\]]+)\]\(([^)]+\.md)\)/.exec(line) ?? []
    if (text !== undefined && link !== undefined)
      found.at(-1)?.items.push({ text, link: new URL(link, 'http://x/docs/').pathname })
  }
  return found.filter(({ items }) => items.length > 0)
}

/**
 * What a page shows below its title: a live picture on those of algorithms, a converter on those of other limiters. The
 * documents themselves stay plain Markdown.
 */
function partOf(path: string): string {
  const [, algorithm = 'index'] = /reference\/algorithms\/([a-z-]+)\.md$/.exec(path) ?? []
  if (algorithm !== 'index') return `<AlgorithmPicture name="${algorithm}" />`
  const [, limiter = ''] = /coming-from\/([a-z-]+)\.md$/.exec(path) ?? []
  return limiter in EXAMPLES ? `<ImportHere name="${limiter}" />` : ''
}

const generated = {
  text: 'From types and schemas',
  collapsed: true,
  items: [
    { text: 'Library', link: '/docs/reference/api/' },
    { text: 'HTTP API', link: '/docs/reference/openapi' },
    { text: 'Admin API', link: '/docs/reference/openapi-admin' },
    { text: 'Configuration', link: '/docs/reference/configuration' },
  ],
}

export default defineConfig({
  title: 'Sluice',
  description: 'Rate limiting from one process to a fleet: exact, fast, alive when Redis is not.',
  srcDir: '..',
  outDir: 'dist',
  cacheDir: 'cache',
  cleanUrls: true,
  srcExclude: [
    '**/node_modules/**',
    'packages/**',
    'bench/**',
    'test/**',
    'examples/**',
    '.*/**',
    'CHANGELOG.md',
  ],
  rewrites: {
    'site/home.md': 'index.md',
    'README.md': 'readme.md',
    'docs/README.md': 'docs/index.md',
    'site/generated/:path*': 'docs/reference/:path*',
  },
  // Folders and sources of the repository have no page.
  ignoreDeadLinks: [
    /examples\//,
    /deploy\//,
    /packages\//,
    /^\.\/LICENSE/,
    /CHANGELOG/,
    /\.(?:ya?ml|json|js|mjs|ts|proto)$/,
  ],
  markdown: {
    config: (markdown) => {
      markdown.renderer.rules['heading_close'] = (
        tokens,
        at,
        _,
        env: { relativePath?: string },
      ) => {
        const { tag } = tokens[at]!
        return `</${tag}>${tag === 'h1' ? partOf(env.relativePath ?? '') : ''}`
      }
    },
  },
  head: [['link', { rel: 'icon', href: '/favicon.svg', type: 'image/svg+xml' }]],
  vite: {
    publicDir: fileURLToPath(new URL('../public/', import.meta.url)),
    resolve: {
      alias: { sluice: `${root}packages/sluice/dist/index.js` },
    },
  },
  themeConfig: {
    logo: '/favicon.svg',
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Start', link: '/docs/guide/getting-started' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
    ],
    sidebar: { '/docs/': [...sections(), generated] },
    docFooter: { prev: false, next: false },
  },
})
