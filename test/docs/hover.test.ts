// What editors show for a public function: one sentence, and an example.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const library = fileURLToPath(new URL('../../packages/sluice/', import.meta.url))
const manifest = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
  exports: Record<string, { import?: { default?: string } } | string>
}
const entries = Object.values(manifest.exports).flatMap((target) => {
  const built = typeof target === 'string' ? undefined : target.import?.default
  return built === undefined ? [] : [built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')]
})

/** The functions and classes that an entry exports, each with the file that declares it. */
function exportsOf(entry: string): readonly { name: string; file: string }[] {
  const path = join(library, entry)
  const text = readFileSync(path, 'utf8')
  const again = [...text.matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, list, from]) =>
      list!
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && !name.startsWith('type '))
        .map((name) => ({ name, file: join(dirname(path), from!) })),
  )
  const own = [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => ({
    name: name!,
    file: path,
  }))
  return [...again, ...own].filter(({ name, file }) => declarationOf(name, file) > 0)
}

/** Where a function or class is declared in a file; constants need no example. */
function declarationOf(name: string, file: string): number {
  return existsSync(file)
    ? readFileSync(file, 'utf8').search(
        new RegExp(`^export (?:abstract )?(?:async )?(?:function|class) ${name}\\b`, 'm'),
      )
    : -1
}

/** Classes that other packages of ours build on, and applications do not. */
const INTERNAL = ['Admission']

describe.each(entries)('the public names of %s', (entry) => {
  it('have an example that editors show', () => {
    const without = exportsOf(entry).filter(({ name, file }) => {
      const before = readFileSync(file, 'utf8').slice(0, declarationOf(name, file))
      const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before)?.[1] ?? ''
      return !comment.includes('@example') && !INTERNAL.includes(name)
    })
    expect(without.map(({ name }) => name)).toEqual([])
  })
})
