// The commands of the guide are run as they stand, and print what it shows.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { exampleLog } from './example-log.ts'
import { sluice } from './sluice.ts'

vi.setConfig({ testTimeout: 240_000 })

const root = new URL('../../../', import.meta.url)
const page = ['choosing-a-limit', 'simulating']
  .map((name) => readFileSync(new URL(`docs/guide/${name}.md`, root), 'utf8'))
  .join('\n')
const folder = mkdtempSync(join(tmpdir(), 'sluice-guide-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Example {
  readonly commands: readonly string[]
  readonly shown: readonly string[]
}

const examples: Example[] = []
for (const [, language, code] of page.matchAll(/^```(yaml|sh|text)\n([\s\S]*?)^```$/gm)) {
  if (language === 'sh') examples.push({ commands: code!.trim().split('\n'), shown: [] })
  else if (language === 'text') examples.push({ ...examples.pop()!, shown: code!.split(/^…\n/m) })
  else writeFileSync(join(folder, /^# (\S+)/.exec(code!)![1]!), code!)
}
writeFileSync(join(folder, 'access.log'), exampleLog())
cpSync(new URL('examples/scenarios/window-edge.yaml', root), join(folder, 'window-edge.yaml'))
writeFileSync(
  join(folder, 'events.ndjson'),
  '{"when":"2026-05-17T08:05:03.250Z","auth":{"subject":"ann"}}\n'.repeat(7),
)

describe('the guide', () => {
  it('has commands', () => {
    expect(examples.length).toBeGreaterThan(5)
  })

  it.each(examples.map((example) => [example.commands.join('; '), example] as const))(
    'shows what it prints: %s',
    async (_, { commands, shown }) => {
      let printed = ''
      for (const command of commands) {
        const [name, ...args] = command.split(' ')
        expect(name).toBe('sluice')
        const ended = await sluice(args, {}, folder).ended
        expect([ended.code, ended.errors.replaceAll(/^warning: .*\n/gm, '')]).toEqual([
          0,
          command.includes('--html') ? 'The report is in report.html.\n' : '',
        ])
        printed += ended.printed
      }
      expect(printed).not.toBe('')
      for (const part of shown) expect(printed).toContain(part)
    },
  )
})
