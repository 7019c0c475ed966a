// The public names of the library: what each entry of its package exports, and the file that declares it.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const library = fileURLToPath(new URL('../../packages/sluice/', import.meta.url))

/** One name that an entry exports. */
export interface PublicName {
  readonly name: string
  /** What imports name, such as `sluice/http`. */
  readonly entry: string
  readonly isType: boolean
  /** The file that declares it, which need not be that of the entry. */
  readonly file: string
  /** Its doc comment; '' when it has none. */
  readonly comment: string
}

/** Every name of every entry. */
export function publicNames(): readonly PublicName[] {
  const manifest = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
    exports: Record<string, { import?: { default?: string } } | string>
  }
  return Object.entries(manifest.exports).flatMap(([entry, target]) => {
    const built = typeof target === 'string' ? undefined : target.import?.default
    if (built === undefined) return []
    const path = join(library, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))
    return namesIn(readFileSync(path, 'utf8')).map(({ name, isType }) => {
      const { file, comment } = declarationOf(name, path)
      return { name, isType, file, comment, entry: entry.replace('.', 'sluice') }
    })
  })
}

/** The names that a text exports, from other files and of its own. */
function namesIn(text: string): readonly { readonly name: string; readonly isType: boolean }[] {
  const lists = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, list]) =>
    itemsOf(list!).map((item) => ({
      name: item.replace(/^type /, ''),
      isType: type !== undefined || item.startsWith('type '),
    })),
  )
  const own = [...text.matchAll(DECLARATION)].map(([, kind, name]) => ({
    name: name!,
    isType: kind === 'interface' || kind === 'type',
  }))
  return [...lists, ...own]
}

const DECLARATION =
  /^export (?:abstract |async )*(function|class|interface|type|const|let|enum) (\w+)/gm

/** Follows a name through the files that pass it on. */
function declarationOf(name: string, file: string): Pick<PublicName, 'file' | 'comment'> {
  const text = readFileSync(file, 'utf8')
  const declared = [...text.matchAll(DECLARATION)].find((match) => match[2] === name)
  if (declared !== undefined) {
    const before = text.slice(0, declared.index)
    const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before)?.[1] ?? ''
    return { file, comment }
  }
  const passedOn = [...text.matchAll(/^(?:im|ex)port (?:type )?\{([^}]*)\} from '([^']+)'/gm)].find(
    ([, list]) => itemsOf(list!).some((item) => item.replace(/^type /, '') === name),
  )
  if (passedOn === undefined) throw new Error(`${file} exports ${name}, which is not found there`)
  return declarationOf(name, join(dirname(file), passedOn[2]!))
}

function itemsOf(list: string): readonly string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
