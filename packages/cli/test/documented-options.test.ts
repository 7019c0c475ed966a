// Every option of a command in the documents and examples is one that the command takes.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { sluice } from './sluice.ts'

vi.setConfig({ testTimeout: 60_000 })

const root = fileURLToPath(new URL('../../../', import.meta.url))
const pages = [
  'README.md',
  ...['docs', 'deploy', 'examples', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
]

/** The options that pages give to each command, with a page that does. */
const given = new Map<string, Map<string, string>>()
for (const page of pages) {
  const text = readFileSync(join(root, page), 'utf8')
  for (const [, command, rest] of text.matchAll(/\bsluice ([a-z][\w-]*)([^`\n|&#]*)/g))
    for (const [option] of rest!.matchAll(/(?<= )--[a-z][\w-]*/g)) {
      const options = given.get(command!) ?? new Map<string, string>()
      given.set(command!, options.set(option, page))
    }
}

describe('the documents', () => {
  it('give options to many commands', () => {
    expect([...given.keys()]).toEqual(
      expect.arrayContaining(['serve', 'check', 'replay', 'simulate', 'bench', 'block']),
    )
  })

  it.each([...given])('give no option to sluice %s that it has not', async (command, options) => {
    const { code, printed } = await sluice([command, '--help']).ended
    expect(code).toBe(0)
    const unknown = [...options].filter(([option]) => !printed.includes(`${option} `))
    expect(unknown).toEqual([])
  })

  it('have a section for each command', async () => {
    const { printed } = await sluice(['--help']).ended
    const listed = printed.slice(printed.indexOf('\nCommands:'))
    const commands = [...listed.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)
    const page = readFileSync(join(root, 'docs/reference/commands.md'), 'utf8')
    const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(commands.filter((name) => name !== 'help'))
    expect(sections).toContain('serve')
  })
})
