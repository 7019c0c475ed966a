// Loads files and folders of descriptors: all domains, or every mistake of all files at once.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AlgorithmName } from 'sluice'
import { problemText, type ConfigProblem } from '../../config/problem.ts'
import type { DomainConfig } from '../descriptors/domain-config.ts'
import type { FileWarning } from './notes.ts'
import { replacesWarnings, type DomainPart } from './replaces.ts'
import { readDomain, type FileDomain } from './read-domain.ts'

/** How files are read. */
export interface LoadOptions {
  /** Default `fixed-window`. */
  readonly algorithm?: AlgorithmName
  /** Whether several files may describe one domain; their descriptors are then merged. Default false. */
  readonly mergeDomains?: boolean
  /** The policies of the configuration, which proxies ask for by name where no file has a domain of that name. */
  readonly policies?: readonly { readonly name: string }[] | undefined
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
  /** Whether a file could not be read, which may change without a change of the file. */
  readonly isUnread: boolean

  constructor(problems: readonly ConfigProblem[], isUnread: boolean) {
    super(problems.map(problemText).join('\n'))
    this.problems = problems
    this.isUnread = isUnread
  }
}

/**
 * Reads files, and every `.yaml` and `.yml` below folders, in the order of their names. Throws {@link InvalidFiles}.
 */
export function loadDomains(paths: readonly string[], options: LoadOptions = {}): LoadedDomains {
  const { algorithm = 'fixed-window', mergeDomains = false, policies = [] } = options
  const problems: ConfigProblem[] = []
  const warnings: FileWarning[] = []
  const domains = new Map<string, FileDomain>()
  const parts = new Map<string, DomainPart[]>()
  const files = paths.flatMap((path) => filesAt(path, { problems, warnings }))
  let isUnread = problems.length > 0
  for (const file of files) {
    const text = textOf(file, problems)
    if (text === undefined) {
      isUnread = true
      continue
    }
    const reading = readDomain(text, file, algorithm)
    for (const problem of reading.problems) problems.push(problem)
    for (const warning of reading.warnings) warnings.push(warning)
    if (reading.domain === undefined) continue
    const { domain, descriptors } = reading.domain
    if (policies.some(({ name }) => name === domain)) warnings.push(hidingPolicy(domain, file))
    parts.set(domain, [...(parts.get(domain) ?? []), { file, descriptors }])
    add(domains, reading.domain, file, mergeDomains, problems)
  }
  if (problems.length > 0) throw new InvalidFiles(problems, isUnread)
  for (const ofDomain of parts.values())
    for (const warning of replacesWarnings(ofDomain)) warnings.push(warning)
  return { domains: [...domains.values()], warnings, files }
}

function hidingPolicy(domain: string, file: string): FileWarning {
  const message = `the domain ${domain} has the name of a policy, so no request of a proxy reaches the policy; rename one of the two`
  return { code: 'policy-hidden', file, line: 1, column: 1, path: 'domain', message }
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

interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: FileWarning[]
}

/** The file, or the files of a folder; a folder without any is a trap. */
function filesAt(path: string, findings: Findings): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    const files = filesIn(path, findings.warnings)
    if (files.length === 0) {
      const message =
        'the folder holds no .yaml or .yml files, so no descriptor is limited; put the files there, or name another folder'
      findings.warnings.push({ code: 'no-files', file: path, path: '', message })
    }
    return files
  } catch (error) {
    const message = `cannot be read: ${(error as Error).message}`
    findings.problems.push({ file: path, path: '', message })
    return []
  }
}

function filesIn(folder: string, warnings: FileWarning[]): readonly string[] {
  // Mounted volumes keep their versions in folders that begin with a dot, and link to them.
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  return names.toSorted().flatMap((name) => {
    const file = join(folder, name)
    if (statSync(file).isDirectory()) return filesIn(file, warnings)
    if (/\.ya?ml$/i.test(name)) return [file]
    const message = 'the file is not read: its name does not end with .yaml or .yml; rename it'
    warnings.push({ code: 'file-ignored', file, path: '', message })
    return []
  })
}

function textOf(file: string, problems: ConfigProblem[]): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    problems.push({ file, path: '', message: `cannot be read: ${(error as Error).message}` })
    return undefined
  }
}
