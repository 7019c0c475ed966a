// Reads registrations of @fastify/rate-limit in source code.
import type { Rule } from 'sluice'
import { registrationPlace, routeLimitsOf, type RouteLimit } from './fastify-routes.ts'
import type { Edit, Imported, Note } from './imported.ts'
import { MIDDLEWARE, translateCall } from './middleware.ts'
import { placed, type Place } from './routes.ts'
import { literalOf, nameOf, isRequireOf, SourceFile, type SyntaxNode } from './source.ts'

const PACKAGE = '@fastify/rate-limit'

/** One rule for each registration and each limit of a route, and the file with a hook of ours in its place. */
export function importFastifyRateLimit(text: string, file: string): Imported {
  const source = new SourceFile(text, file)
  const names = source.namesFrom(PACKAGE)
  const notes: Note[] = []
  const fileNotes: Note[] = []
  const edits: Edit[] = []
  const rules: Rule[] = []
  const routes = new Set<string>()
  const add = (rule: Rule, place: Place): void => {
    const { rules: found, declared } = placed(rule, [place], fileNotes)
    for (const one of found) rules.push({ ...one, name: `limit-${rules.length + 1}` })
    for (const route of declared) routes.add(route)
  }
  let notTranslated = 0
  for (const call of source.all('CallExpression')) {
    const callee = call['callee'] as SyntaxNode
    const property = callee['property'] as SyntaxNode | undefined
    const [plugin, argument] = call['arguments'] as SyntaxNode[]
    if (property?.['name'] !== 'register' || plugin === undefined) continue
    if (!names.has(nameOf(plugin)) && !isPlugin(plugin)) continue
    const { line } = call.loc.start
    const options = argument === undefined ? new Map() : source.optionsOf(argument)
    if (options === undefined || options.has('...')) {
      notes.push({
        line,
        text: 'these options are computed at run time; translate them by hand',
      })
      notTranslated += 1
      continue
    }
    const name = `limit-${rules.length + 1}`
    const translated = translateCall(MIDDLEWARE[PACKAGE], options, name, line)
    for (const note of translated.notes) notes.push(note)
    for (const note of translated.fileNotes) fileNotes.push(note)
    if (translated.rule !== undefined)
      add(translated.rule, registrationPlace(source, call, fileNotes))
    if (translated.code === undefined) notTranslated += 1
    else {
      const application = source.textOf(callee['object'] as SyntaxNode)
      const hook = `${application}.addHook('onRequest', rateLimit(${translated.code}))`
      edits.push({ start: call.start, end: call.end, text: hook })
    }
  }
  const statements = new Set([...names.values()].map(({ statement }) => statement))
  const [first] = statements
  for (const statement of statements) {
    const line =
      statement.type === 'ImportDeclaration'
        ? "import { rateLimit } from 'sluice/http/fastify'"
        : "const { rateLimit } = require('sluice/http/fastify')"
    edits.push({
      start: statement.start,
      end: statement.end,
      text: statement === first ? line : '',
    })
  }
  if (first === undefined && edits.length > 0)
    notes.push({ text: "add: import { rateLimit } from 'sluice/http/fastify'" })
  for (const limit of routeLimitsOf(source)) addRouteLimit(source, limit, add, notes)
  const policies = rules.length === 0 ? [] : [{ name: 'api', rules }]
  return {
    policies,
    ...(routes.size > 0 && { proxy: { routes: [...routes] } }),
    notes,
    fileNotes,
    edits: notTranslated === 0 ? edits : [],
  }
}

/** A rule for the limit of one route, or a note that says why there is none. */
function addRouteLimit(
  source: SourceFile,
  { line, options: node, place }: RouteLimit,
  add: (rule: Rule, place: Place) => void,
  notes: Note[],
): void {
  const inCode = 'in code, give that route onRequest: rateLimit({ limit })'
  const options = source.optionsOf(node)
  if (literalOf(node) === false) {
    const text =
      'rateLimit: false: the route has no limit there; here the rules without a route count it'
    notes.push({ line, text })
    return
  }
  const isKnown = options !== undefined && !options.has('...')
  const translated = isKnown
    ? translateCall(MIDDLEWARE[PACKAGE], options, 'limit', line)
    : undefined
  for (const note of [...(translated?.notes ?? []), ...(translated?.fileNotes ?? [])])
    notes.push(note)
  if (place !== undefined && translated?.rule !== undefined) {
    add(translated.rule, place)
    const text = `a limit of one route replaces the limit around it there; here both count; ${inCode}`
    notes.push({ line, text })
    return
  }
  const what = place === undefined ? 'its path is not known' : 'its numbers are not known'
  notes.push({
    line,
    text: `a limit of one route: ${what}; no rule was written for it; ${inCode}`,
  })
}

/** `import('@fastify/rate-limit')` or `require('@fastify/rate-limit')` as an argument. */
function isPlugin(node: SyntaxNode): boolean {
  if (isRequireOf(node, PACKAGE)) return true
  const named = (node['source'] ?? (node['arguments'] as SyntaxNode[] | undefined)?.[0]) as
    | SyntaxNode
    | undefined
  const isImport =
    node.type === 'ImportExpression' ||
    (node['callee'] as SyntaxNode | undefined)?.type === 'Import'
  return isImport && named?.['value'] === PACKAGE
}
