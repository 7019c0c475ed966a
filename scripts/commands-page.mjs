// Generates docs/reference/commands.md from what the built command prints with --help.
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { execute } from './library-sources.mjs'
import { root } from './run.mjs'

const page = 'docs/reference/commands.md'
const BEGIN = '<!-- from sluice --help, by npm run generate -->'
const END = '<!-- end -->'

/** The page with a section for each command. */
export async function makeCommandsPage() {
  const text = await readFile(root + page, 'utf8')
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`${page} has no ${BEGIN} … ${END}`)
  const sections = commandNames(help()).map(
    (name) => `## ${name}\n\n\`\`\`text\n${help(name)}\n\`\`\``,
  )
  return execute(
    'oxfmt',
    ['--stdin-filepath=commands.md'],
    `${before}${BEGIN}\n\n${sections.join('\n\n')}\n\n${END}${after}`,
  )
}

/** The commands that the help lists, in its order. @param {string} overview */
function commandNames(overview) {
  const lines = overview.slice(overview.indexOf('\nCommands:')).split('\n')
  const names = lines.flatMap((line) => /^ {2}([a-z]+) /.exec(line)?.[1] ?? [])
  return names.filter((name) => name !== 'help')
}

/** The help of a command, or of the whole program, in lines of 80 characters. @param {string} [command] */
function help(command) {
  const args = [`${root}packages/cli/bin/sluice.js`, ...(command === undefined ? [] : [command])]
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, '--help'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`sluice ${command ?? ''} --help failed: ${stderr}`)
  return stdout.trimEnd()
}
