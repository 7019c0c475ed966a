// Reads calls of express-rate-limit in source code.
import type { Rule } from 'sluice'
import { type Edit, type Imported, type Note } from './imported.ts'
import { MIDDLEWARE, translateCall } from './middleware.ts'
import { MountFinder } from './mounts.ts'
import { placed } from './routes.ts'
import { nameOf, SourceFile, type SyntaxNode } from './source.ts'

const PACKAGE = 'express-rate-limit'

/** One rule for each call, with its mount as the condition, and the file with our options in their place. */
export function importExpressRateLimit(text: string, file: string): Imported {
  const source = new SourceFile(text, file)
  const names = source.namesFrom(PACKAGE)
  const notes: Note[] = []
  const fileNotes: Note[] = []
  const edits: Edit[] = []
  const rules: Rule[] = []
  const routes = new Set<string>()
  const finder = new MountFinder(source)
  const kept = new Set<string>()
  for (const call of source.all('CallExpression')) {
    const callee = call['callee'] as SyntaxNode
    const used = names.get(nameOf(callee))
    if (used === undefined || !['default', 'rateLimit'].includes(used.imported)) continue
    const { line } = call.loc.start
    const [argument] = call['arguments'] as SyntaxNode[]
    const options = argument === undefined ? new Map() : source.optionsOf(argument)
    if (options === undefined || options.has('...')) {
      notes.push({
        line,
        text: 'these options are computed at run time; translate them by hand',
      })
      kept.add(nameOf(callee))
      continue
    }
    const name = `limit-${rules.length + 1}`
    const translated = translateCall(MIDDLEWARE[PACKAGE], options, name, line)
    for (const note of translated.notes) notes.push(note)
    for (const note of translated.fileNotes) fileNotes.push(note)
    if (translated.rule !== undefined) {
      const mounts = finder.of(call)
      const { rules: found, declared } = placed(translated.rule, mounts.places, fileNotes)
      for (const note of mounts.notes) fileNotes.push(note)
      for (const rule of found) rules.push({ ...rule, name: `limit-${rules.length + 1}` })
      for (const route of declared) routes.add(route)
    }
    if (translated.code === undefined) kept.add(nameOf(callee))
    else
      edits.push({
        start: argument?.start ?? call.end - 1,
        end: argument?.end ?? call.end - 1,
        text: translated.code,
      })
  }
  if (kept.size === 0) for (const edit of importEdits(source, notes)) edits.push(edit)
  else if (edits.length > 0)
    notes.push({
      text: `the import of ${PACKAGE} stays, since some calls must be translated by hand`,
    })
  const policies = rules.length === 0 ? [] : [{ name: 'api', rules }]
  return {
    policies,
    ...(routes.size > 0 && { proxy: { routes: [...routes] } }),
    notes,
    fileNotes,
    edits: kept.size === 0 ? edits : [],
  }
}

/** Our import in place of theirs, under the same local name. */
function importEdits(source: SourceFile, notes: Note[]): readonly Edit[] {
  const edits = new Map<SyntaxNode, Edit>()
  for (const [local, { imported, statement }] of source.namesFrom(PACKAGE)) {
    if (!['default', 'rateLimit'].includes(imported)) {
      notes.push({
        line: statement.loc.start.line,
        text: `${imported} has no counterpart; addresses are read by address: 'express'`,
      })
      continue
    }
    const name = local === 'rateLimit' ? 'rateLimit' : `rateLimit as ${local}`
    const module = "'sluice/http/express'"
    const text =
      statement.type === 'ImportDeclaration'
        ? `import { ${name} } from ${module}`
        : `const { ${name.replace(' as ', ': ')} } = require(${module})`
    const hasSemicolon = source.textOf(statement).endsWith(';')
    edits.set(statement, {
      start: statement.start,
      end: statement.end,
      text: `${text}${hasSemicolon ? ';' : ''}`,
    })
  }
  return [...edits.values()]
}
