// Loads files and folders of descriptors: all domains, or every mistake of all files at once.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AlgorithmName } from 'sluice'
import { problemText, type ConfigProblem } from '../../config/problem.ts'
import type { DomainConfig } from '../descriptors/domain-config.ts'
import type { FileWarning } from './notes.ts'
import { readDomain, type FileDomain } from './read-domain.ts'

/** How files are read. */
export interface LoadOptions {
  /** Default `fixed-window`. */
  readonly algorithm?: AlgorithmName
  /** Whether several files may speak of one domain; their descriptors then stand side by side. Default false. */
  readonly mergeDomains?: boolean
}

/** What the files say. */
export interface LoadedDomains {
  readonly domains: readonly DomainConfig[]
  readonly warnings: readonly FileWarning[]
  /** The files that were read, in order. */
  readonly files: readonly string[]
}

/** Files that cannot be used; the message lists every mistake as `file:line:column: …`. */
export class InvalidFiles extends Error {
  override readonly name = 'InvalidFiles'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(problemText).join('\n'))
    this.problems = problems
  }
}

/**
 * Reads files, and every `.yaml` and `.yml` below folders, in the order of their names. Throws {@link InvalidFiles}.
 */
export function loadDomains(paths: readonly string[], options: LoadOptions = {}): LoadedDomains {
  const { algorithm = 'fixed-window', mergeDomains = false } = options
  const problems: ConfigProblem[] = []
  const warnings: FileWarning[] = []
  const domains = new Map<string, FileDomain>()
  const files = paths.flatMap((path) => filesAt(path, problems))
  for (const file of files) {
    const text = textOf(file, problems)
    if (text === undefined) continue
    const reading = readDomain(text, file, algorithm)
    for (const problem of reading.problems) problems.push(problem)
    for (const warning of reading.warnings) warnings.push(warning)
    if (reading.domain !== undefined) add(domains, reading.domain, file, mergeDomains, problems)
  }
  if (problems.length > 0) throw new InvalidFiles(problems)
  return { domains: [...domains.values()], warnings, files }
}

function add(
  domains: Map<string, FileDomain>,
  read: FileDomain,
  file: string,
  mergeDomains: boolean,
  problems: ConfigProblem[],
): void {
  const known = domains.get(read.domain)
  const wrong = (message: string, place = { line: 1, column: 1 }): void => {
    problems.push({ file, ...place, path: 'domain', message })
  }
  if (known === undefined) {
    domains.set(read.domain, read)
    return
  }
  if (!mergeDomains)
    return wrong(
      `the domain ${read.domain} is in another file too; accepted: each domain once, or mergeDomains`,
    )
  for (const descriptor of read.descriptors)
    if (known.descriptors.some(({ path }) => path === descriptor.path))
      wrong(
        `the descriptor ${descriptor.path} of the domain ${read.domain} is in another file too`,
        descriptor.place,
      )
  domains.set(read.domain, { ...known, descriptors: [...known.descriptors, ...read.descriptors] })
}

function filesAt(path: string, problems: ConfigProblem[]): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    // Mounted volumes keep their versions in folders that begin with a dot, and link to them.
    const names = readdirSync(path).filter((name) => !name.startsWith('.'))
    return names
      .toSorted()
      .flatMap((name) =>
        statSync(join(path, name)).isDirectory()
          ? filesAt(join(path, name), problems)
          : [join(path, name)],
      )
      .filter((file) => /\.ya?ml$/i.test(file))
  } catch (error) {
    problems.push({ file: path, path: '', message: `cannot be read: ${(error as Error).message}` })
    return []
  }
}

function textOf(file: string, problems: ConfigProblem[]): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    problems.push({ file, path: '', message: `cannot be read: ${(error as Error).message}` })
    return undefined
  }
}
