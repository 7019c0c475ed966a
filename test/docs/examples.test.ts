// The code in the README, the guides and the doc comments of public names: all of it compiles; what is marked `js` also runs and prints what its comments say.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'node:util'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { hoverExamples } from './hover-examples.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Pages that have no code to run. */
const IN_WORDS = [
  'checklist.md',
  'console.md',
  'envoy-ratelimit.md',
  'nginx.md',
  'runbook.md',
  'choosing-an-algorithm.md',
  'scaling.md',
  'troubleshooting.md',
  'warnings.md',
  'why-not-incr.md',
]
const guides = ['docs/guide', 'docs/guide/coming-from', 'docs/guide/frameworks'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md') && !IN_WORDS.includes(name))
    .map((name) => `${folder}/${name}`),
)
const http = readdirSync(join(root, 'docs/reference/http'))
  .filter((name) => !IN_WORDS.includes(name))
  .map((name) => `docs/reference/http/${name}`)
const references = ['docs/reference/client.md', 'docs/reference/policy.md']
// What is on running the service has commands and YAML alone; the tests of the service read those.
const operate = readdirSync(join(root, 'docs/operate'))
  .filter((name) => !['deploy.md', 'workers.md', ...IN_WORDS].includes(name))
  .map((name) => `docs/operate/${name}`)
const readmes = ['README.md', 'packages/sluice/README.md', 'packages/nest/README.md']
const pages = [...readmes, ...references, ...http, ...guides, ...operate]

interface Block {
  readonly name: string
  readonly language: string
  readonly code: string
  readonly file: string
}

// Inside the workspace, where imports find their packages; the name is one that git and the linter ignore.
const folder = mkdtempSync(join(root, 'test/docs/dist-blocks-'))
const blocks = pages.flatMap(blocksOf)
for (const { file, code } of blocks) writeFileSync(file, `${code}\nexport {}\n`)
const hovers = hoverExamples()
for (const { name, code } of hovers)
  writeFileSync(join(folder, `hover-${name.replaceAll(/\W+/g, '-')}.ts`), `${code}\nexport {}\n`)

afterAll(() => rmSync(folder, { recursive: true }))

it('every page has code', () => {
  for (const page of pages) expect(blocks.map(({ name }) => name)).toContain(`${page} 1`)
})

it('no block turns a wait of null, which no time ends, into a wait of 0', () => {
  const wrong = blocks.filter(({ code }) => /retryAfter \?\? 0/.test(code))
  expect(wrong.map(({ name }) => name)).toEqual([])
})

it('the doc comments have examples', () => {
  expect(hovers.length).toBeGreaterThan(70)
})

it('every block and every example of a doc comment compiles', () => {
  const source = (path: string): string[] => [join(root, 'packages/sluice/src', path)]
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      types: ['node'],
      // A reader's `catch (error)` is not ours to annotate.
      useUnknownInCatchVariables: false,
      // Those of Nest.
      experimentalDecorators: true,
      paths: {
        sluice: source('index.ts'),
        '@sluice/nest': source('../../nest/src/index.ts'),
        'sluice/http': source('http/index.ts'),
        'sluice/http/*': source('http/*.ts'),
        'sluice/budgets': source('budgets/index.ts'),
        'sluice/client': source('client/index.ts'),
        'sluice/redis': source('redis/index.ts'),
        'sluice/resilience': source('resilience/index.ts'),
        'sluice/coordination': source('coordination/index.ts'),
        'sluice/simulator': source('simulator/index.ts'),
        'sluice/otel': source('otel/index.ts'),
        'sluice/testing': source('testing/index.ts'),
      },
    },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  expect(outputOf(join(root, 'node_modules/.bin/tsc'), ['-p', folder])).toBe('')
})

describe('runs and prints what its comments say:', () => {
  it.each(blocks.filter(({ language }) => language === 'js'))('$name', async ({ code, file }) => {
    const printed: string[] = []
    const log = vi.spyOn(console, 'log').mockImplementation((...values) => {
      printed.push(format(...values))
    })
    try {
      await import(/* @vite-ignore */ file)
    } finally {
      log.mockRestore()
    }
    expect(printed).toEqual(saidBy(code))
  })
})

/** What a block says that it prints: the comment behind each console.log, or on the line below. */
function saidBy(code: string): string[] {
  const calls = code.matchAll(/^ *console\.log\(.*\)(?: |\n)\/\/ (.*)$/gm)
  return [...calls].map((call) => call[1]!)
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```(js|ts)\n([\s\S]*?)^```$/gm)].map(([, language, code], i) => ({
    name: `${page} ${i + 1}`,
    language: language!,
    code: code!,
    file: join(folder, `${page.replaceAll(/\W/g, '-')}-${i + 1}.ts`),
  }))
}

function outputOf(command: string, args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return String((error as { stdout?: string }).stdout)
  }
}
