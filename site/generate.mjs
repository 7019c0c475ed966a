// Makes the pages that come from types and schemas, the list for language models, and the files beside the pages.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const site = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../', import.meta.url))
const read = (/** @type {string} */ path) => readFileSync(`${root}${path}`, 'utf8')

rmSync(`${site}generated`, { recursive: true, force: true })
mkdirSync(`${site}generated`, { recursive: true })
mkdirSync(`${site}public`, { recursive: true })
execFileSync(`${site}node_modules/.bin/typedoc`, [], { cwd: site, stdio: 'inherit' })
writeFileSync(`${site}generated/openapi.md`, openapiPage(JSON.parse(read('spec/openapi.json'))))
writeFileSync(
  `${site}generated/openapi-admin.md`,
  openapiPage(JSON.parse(read('spec/openapi-admin.json'))),
)
writeFileSync(
  `${site}generated/configuration.md`,
  configurationPage(JSON.parse(read('spec/config.schema.json'))),
)
for (const name of ['config', 'policy'])
  cpSync(`${root}spec/${name}.schema.json`, `${site}public/schema/${name}.schema.json`)
writeFileSync(`${site}public/llms.txt`, pageList())
cpSync(`${root}packages/console/public/favicon.svg`, `${site}public/favicon.svg`)
const playground = `${root}packages/cli/playground`
if (existsSync(playground)) cpSync(playground, `${site}public/playground`, { recursive: true })

/** @typedef {{ summary?: string, description?: string, responses?: Record<string, { description?: string }> }} Operation */

/** The routes of an API. @param {{ info: { title: string, description?: string }, paths: Record<string, Record<string, Operation>> }} spec */
function openapiPage({ info, paths }) {
  const lines = [`# ${info.title}`, '', info.description ?? '', '']
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { summary, description, responses = {} }] of Object.entries(methods)) {
      lines.push(
        `## \`${method.toUpperCase()} ${path}\``,
        '',
        summary ?? '',
        '',
        description ?? '',
        '',
      )
      lines.push('| status | means |', '| --- | --- |')
      for (const [status, { description: means = '' }] of Object.entries(responses))
        lines.push(`| ${status} | ${inTable(means)} |`)
      lines.push('')
    }
  }
  return lines.join('\n')
}

/** @typedef {{ type?: string | string[], description?: string, default?: unknown, properties?: Record<string, Schema>, anyOf?: Schema[], items?: Schema, $ref?: string }} Schema */

/** Every field of the configuration file. @param {Schema} schema */
function configurationPage(schema) {
  const lines = [
    '# Configuration, from its schema',
    '',
    'Every field of the file, as the schema in the packages has it. The page [Service: configuration](./service/config.md) explains them.',
    '',
    '| field | default | means |',
    '| --- | --- | --- |',
  ]
  /** @param {Schema} at @param {string} path */
  const walk = (at, path) => {
    for (const [name, field] of Object.entries(at.properties ?? {})) {
      const whole = path === '' ? name : `${path}.${name}`
      const value = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``
      lines.push(`| \`${whole}\` | ${inTable(value)} | ${inTable(field.description ?? '')} |`)
      for (const part of [field, ...(field.anyOf ?? [])]) walk(part, whole)
    }
  }
  walk(schema, '')
  return `${lines.join('\n')}\n`
}

/** @param {string} text */
function inTable(text) {
  return text
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .replaceAll('<', '&lt;')
    .replaceAll('{{', '{ {')
}

/** The documents as a list for language models. */
function pageList() {
  const pages = read('docs/README.md')
    .split('\n')
    .map((line) => /^\| \[([^\]]+)\]\(([^)]+\.md)\)\s*\| (.+?)\s*\|$/.exec(line))
    .filter((match) => match !== null)
    .map(([, text, link, about]) => `- [${text}](/docs/${link?.replace(/\.md$/, '')}): ${about}`)
  return [
    '# Sluice',
    '',
    '> Rate limiting in TypeScript: a library without dependencies, a Redis engine for fleets, adapters, clients, and a decision service.',
    '',
    '## Documentation',
    '',
    ...pages,
    '',
  ].join('\n')
}
