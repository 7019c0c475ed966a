// The page on the admin API against the service: its file is valid, its table complete, its commands run.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { administered, policies, TOKEN } from './admin.ts'

const page = readFileSync(
  new URL('../../../../docs/reference/service/admin.md', import.meta.url),
  'utf8',
)
const block = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)![1]!

it('its file is valid', () => {
  expect(readConfig(block('yaml'), 'page').problems).toEqual([])
})

it('has every route in its table', () => {
  const spec = JSON.parse(
    readFileSync(new URL('../../../../spec/openapi-admin.json', import.meta.url), 'utf8'),
  ) as { paths: Record<string, object> }
  const described = Object.entries(spec.paths).map(
    ([path, methods]) => `${Object.keys(methods)[0]!.toUpperCase()} ${path}`,
  )
  const listed = [...page.matchAll(/^\| `((?:GET|POST) \S+)`/gm)].map((match) => match[1]!)
  expect(new Set(listed)).toEqual(new Set(described))
})

it('its commands run as they stand', async () => {
  const { adminUrl } = await administered({ policies })
  const commands = block('sh').trim().split('\n')
  expect(commands).toHaveLength(7)
  for (const command of commands) {
    const text = command.replace('http://127.0.0.1:8089', adminUrl).replace('curl -s', 'curl -sf')
    const env = { ...process.env, SLUICE_ADMIN_TOKEN: TOKEN }
    const { stdout } = await promisify(execFile)('sh', ['-c', text], { env })
    expect(typeof JSON.parse(stdout)).toBe('object')
  }
})
