// The console in a real browser: who may come in, what every action does to the store, and what hostile names do to the page.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { accessibilityProblems, openBrowser, openPage } from '../../../../test/browser/browser.ts'
import {
  Sessions,
  SESSION_COOKIE,
  SESSION_LIFE,
  signInCode,
} from '../../src/admin/console/session.ts'
import { digestOf } from '../../src/config/tokens.ts'
import { administered, folder, policies, TOKEN, type Admin } from './admin.ts'

const READER = 'reader-token-for-tests-0123456789-x'
const EVERYTHING = ['overview', 'keys', 'controls', 'policy', 'audit', 'health']

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** Opens the console at its sign-in page. */
async function opened(admin: Admin, options: BrowserContextOptions = {}) {
  const watched = await openPage(browser, admin.adminUrl, options)
  onTestFinished(() => watched.close())
  return watched
}

async function signIn(page: Page, token = TOKEN): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Opens the console and signs in. */
async function signedIn(admin: Admin, options: BrowserContextOptions = {}, token = TOKEN) {
  const watched = await opened(admin, options)
  await signIn(watched.page, token)
  await watched.page.getByText('live', { exact: true }).waitFor()
  return watched
}

/** Whether something is shown, at once or soon. */
async function isShown(locator: Locator): Promise<boolean> {
  await locator.waitFor()
  return locator.isVisible()
}

/** Whether something lies between the left and the right edge of the window. */
async function isWithin(page: Page, locator: Locator): Promise<boolean> {
  const { x, width } = (await locator.boundingBox())!
  return x >= 0 && x + width <= page.viewportSize()!.width
}

async function refuse(admin: Admin, user: string, times = 8): Promise<void> {
  for (let i = 0; i < times; i++) await admin.post('/v1/check', { attributes: { user } })
}

async function go(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
}

describe('signing in', () => {
  it('shows the console to the holder of a token, and nothing to others', async () => {
    const admin = await administered()
    const { page, problems, origins } = await opened(admin)
    await page.getByRole('heading', { name: 'Sluice' }).waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
    await signIn(page)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    expect(problems).toEqual([])
    expect([...origins]).toEqual([new URL(admin.adminUrl).origin])
  })

  it('says that a token is wrong', async () => {
    const { page } = await opened(await administered())
    await signIn(page, 'not-a-token-of-this-service')
    expect(
      await isShown(page.getByRole('alert').getByText('This is not a token of this service.')),
    ).toBe(true)
  })

  it('is asked for again when the session has ended', async () => {
    const admin = await administered()
    const { page } = await signedIn(admin)
    // The service no longer knows the token, as after eight hours it no longer knows the session.
    writeFileSync(admin.tokenFile, 'ops another-token-for-tests-0123456789\n')
    await vi.waitFor(async () => expect((await admin.ask('state')).status).toBe(401), 10_000)
    await go(page, '#/health')
    await page.getByLabel('Admin token').waitFor()
  })

  it('is asked for when the time of the session is over', async () => {
    const admin = await administered()
    const { page } = await signedIn(admin)
    const token = { name: 'ops', role: 'operate' as const, digest: digestOf(TOKEN) }
    const eightHoursAgo = new Sessions(
      () => [token],
      () => Date.now() - SESSION_LIFE - 1000,
    )
    const { hostname: domain } = new URL(admin.adminUrl)
    const value = eightHoursAgo.open(token)
    await page.context().addCookies([{ name: SESSION_COOKIE, value, domain, path: '/' }])
    await go(page, '#/health')
    await page.getByText('Your session has ended. Sign in again.').waitFor()
    await signIn(page)
    expect(await isShown(page.getByRole('heading', { name: 'Health' }))).toBe(true)
  })

  it('by the link of the banner works once, and leaves no trace in the address', async () => {
    const admin = await administered()
    const token = { name: 'ops', role: 'operate' as const, digest: digestOf(TOKEN) }
    const url = `${admin.adminUrl}/#sign-in=${signInCode(token, Date.now())}`
    const first = await openPage(browser, url)
    onTestFinished(() => first.close())
    await first.page.getByText('live', { exact: true }).waitFor()
    expect(first.page.url()).not.toContain('sign-in')
    expect(first.problems).toEqual([])
    const second = await openPage(browser, url)
    onTestFinished(() => second.close())
    await second.page.getByRole('alert').getByText('This link was used or has ended.').waitFor()
    expect(await second.page.getByRole('navigation').count()).toBe(0)
  })

  it('ends by signing out', async () => {
    const { page } = await signedIn(await administered())
    await page.getByRole('button', { name: 'Sign out' }).click()
    expect(await isShown(page.getByLabel('Admin token'))).toBe(true)
  })

  it('gives readers no button that changes anything', async () => {
    const admin = await administered()
    writeFileSync(admin.tokenFile, `ops ${TOKEN}\nview read ${READER}\n`)
    const asReader = { authorization: `Bearer ${READER}` }
    await vi.waitFor(async () => {
      expect((await admin.ask('state', undefined, asReader)).status).toBe(200)
    }, 10_000)
    await refuse(admin, 'ann')
    const { page } = await signedIn(admin, {}, READER)
    await page.getByText('(read only)').waitFor()
    await go(page, '#/key?policy=api&user=ann')
    await page.getByText('The next request is refused.').waitFor()
    for (const name of ['Block', 'Reset', 'Grant', 'Override'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0)
  })
})

describe('the overview', () => {
  it('shows requests, rules and keys as they come', async () => {
    const admin = await administered()
    const { page, problems } = await signedIn(admin)
    await refuse(admin, 'ann')
    await page.getByRole('rowheader', { name: 'per-user' }).waitFor()
    await page.getByRole('rowheader', { name: 'user ann' }).waitFor()
    await page
      .getByRole('heading', { name: /were refused in the last minute, most by per-user/ })
      .waitFor()
    for (const view of ['refused by rule', 'allowed by rule', 'all requests'])
      await page.getByLabel(view).check()
    await page.getByLabel('logarithmic').check()
    expect(await page.locator('canvas').count()).toBeGreaterThanOrEqual(3)
    expect(problems).toEqual([])
  })

  it('shows two viewers the same', async () => {
    const admin = await administered()
    const [one, two] = [await signedIn(admin), await signedIn(admin)]
    await refuse(admin, 'ann')
    for (const { page } of [one, two])
      expect(await isShown(page.getByRole('rowheader', { name: 'user ann' }))).toBe(true)
  })
})

describe('an action', () => {
  const subject = { policy: 'api', attributes: { user: 'ann' } }
  async function keyPage(admin: Admin) {
    await refuse(admin, 'ann')
    const watched = await signedIn(admin)
    await go(watched.page, '#/key?policy=api&user=ann')
    await watched.page.getByText('The next request is refused.').waitFor()
    return watched
  }
  const confirm = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

  it('blocks a key, says by whom, and is undone', async () => {
    const admin = await administered()
    const { page } = await keyPage(admin)
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Note').fill('too many')
    await confirm(page, 'Block')
    await page.getByText('Blocked by ops.').waitFor()
    expect((await admin.ask('blocks')).body.blocks).toMatchObject([{ note: 'too many', by: 'ops' }])
    await page.getByRole('button', { name: 'Undo' }).click()
    await vi.waitFor(async () => expect((await admin.ask('blocks')).body.blocks).toEqual([]))
  })

  it('shows what the service finds suspicious in a block, until it is closed', async () => {
    const admin = await administered()
    const { page } = await signedIn(admin)
    await go(page, '#/key?policy=api&user=a*')
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await confirm(page, 'Block')
    const message = page.getByRole('status').filter({ hasText: 'Warning: the block asks for user' })
    await message.waitFor()
    expect(await message.textContent()).toContain('Blocked for 1h.')
    expect(await accessibilityProblems(page)).toEqual([])
    await message.getByRole('button', { name: 'Close' }).click()
    await vi.waitFor(async () => expect(await message.count()).toBe(0))
  })

  it('asks first, and a question that is cancelled changes nothing', async () => {
    const admin = await administered()
    const { page } = await keyPage(admin)
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await confirm(page, 'Cancel')
    expect((await admin.ask('blocks')).body.blocks).toEqual([])
  })

  it('says what is wrong with a value, and keeps the question open', async () => {
    const { page } = await keyPage(await administered())
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await page.getByRole('dialog').getByLabel('For how long').fill('a while')
    await confirm(page, 'Block')
    expect(
      await isShown(
        page
          .getByRole('dialog')
          .getByRole('alert')
          .getByText(/for is 'a while'|for is "a while"/),
      ),
    ).toBe(true)
  })

  it('grants units', async () => {
    const admin = await administered()
    const { page } = await keyPage(admin)
    await page.getByRole('button', { name: 'Grant' }).first().click()
    await page.getByRole('dialog').getByLabel('Units').fill('3')
    await confirm(page, 'Grant')
    await page.getByText('Allowed by the rules that need no other attribute.').waitFor()
    expect((await admin.ask('read', subject)).body.decision.remaining).toBe(3)
  })

  it('resets counts', async () => {
    const admin = await administered()
    const { page } = await keyPage(admin)
    await page.getByRole('button', { name: 'Reset' }).click()
    await confirm(page, 'Reset')
    await page.getByText('Allowed by the rules that need no other attribute.').waitFor()
    expect((await admin.ask('read', subject)).body.decision.remaining).toBe(5)
  })

  it('overrides a limit, and removes the override', async () => {
    const admin = await administered()
    const { page } = await keyPage(admin)
    await page.getByRole('button', { name: 'Override' }).first().click()
    await page.getByRole('dialog').getByLabel('Limit').fill('50/h')
    await confirm(page, 'Override')
    await page.getByText('The limit is 50/h for 1d.').waitFor()
    expect((await admin.ask('read', subject)).body.decision.limit.quota).toBe(50)
    await go(page, '#/controls')
    await page.getByRole('button', { name: 'Remove' }).click()
    await confirm(page, 'Remove')
    await page.getByText('No limit is overridden beside the file.').waitFor()
    expect((await admin.ask('read', subject)).body.decision.limit.quota).toBe(5)
  })

  it('is made in place on the overview: why, grant, override, block', async () => {
    const admin = await administered()
    await refuse(admin, 'ann')
    const { page, problems } = await signedIn(admin)
    const list = page.getByRole('region', { name: 'Keys refused most' })
    await list.getByRole('button', { name: 'Why user ann is refused' }).click()
    await list.getByText(/^0 of 5 left; free in /).waitFor()
    await list.getByText(/Rule per-user .* refused user=ann 3 times/).waitFor()
    await list.getByRole('button', { name: 'Grant', exact: true }).first().click()
    await page.getByRole('dialog').getByLabel('Units').fill('2')
    await confirm(page, 'Grant')
    await page.getByText('Granted 2 units.').waitFor()
    expect((await admin.ask('read', subject)).body.decision.remaining).toBe(2)
    await list.getByRole('button', { name: 'Override' }).first().click()
    await page.getByRole('dialog').getByLabel('Limit').fill('50/h')
    await confirm(page, 'Override')
    await page.getByText('The limit is 50/h for 1d.').waitFor()
    expect((await admin.ask('read', subject)).body.decision.limit.quota).toBe(50)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    expect((await admin.ask('overrides')).body.overrides).toEqual([])
    await list.getByRole('button', { name: 'Block', exact: true }).first().click()
    await confirm(page, 'Block')
    await page.getByText('Blocked for 1h.').waitFor()
    expect((await admin.ask('blocks')).body.blocks).toMatchObject([{ by: 'ops' }])
    expect(problems).toEqual([])
  })

  it('that ended a block or an override is undone, with its note and its end', async () => {
    const admin = await administered()
    await admin.ask('block', { ...subject, for: '1h', note: 'too many' })
    const { attributes: when } = subject
    const override = {
      policy: 'api',
      rule: 'per-user',
      when,
      limit: '50/h',
      for: '2h',
      note: 'vip',
    }
    await admin.ask('set-override', override)
    const { page } = await signedIn(admin)
    await go(page, '#/controls')
    for (const [button, kind] of [
      ['Unblock', 'blocks'],
      ['Remove', 'overrides'],
    ] as const) {
      const [before] = (await admin.ask(kind)).body[kind] as [{ until: string }]
      await page.getByRole('button', { name: button, exact: true }).click()
      await confirm(page, button)
      await vi.waitFor(async () => expect((await admin.ask(kind)).body[kind]).toEqual([]))
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Undone.').waitFor()
      const [after] = (await admin.ask(kind)).body[kind] as [{ until: string; note: string }]
      expect(after.note).toBe(kind === 'blocks' ? 'too many' : 'vip')
      expect(Math.abs(Date.parse(after.until) - Date.parse(before.until))).toBeLessThan(60_000)
    }
    expect((await admin.ask('read', subject)).body.decision).toMatchObject({ allowed: false })
  })

  it('stands on the page of its key, with who made it', async () => {
    const admin = await administered()
    const { attributes: when } = subject
    const override = { policy: 'api', rule: 'per-user', when, limit: '50/h', note: 'vip' }
    await admin.ask('set-override', override)
    const { page } = await signedIn(admin)
    await go(page, '#/key?policy=api&user=ann')
    const set = page.getByRole('region', { name: 'Set by operators' })
    await set.getByText('50/h, by ops').waitFor()
    await set.getByRole('button', { name: 'Remove' }).click()
    await confirm(page, 'Remove')
    await set.getByText('No block and no override concerns this key.').waitFor()
    expect((await admin.ask('overrides')).body.overrides).toEqual([])
  })

  it('unblocks from the list', async () => {
    const admin = await administered()
    await admin.ask('block', { ...subject, for: '1h' })
    const { page } = await signedIn(admin)
    await go(page, '#/controls')
    await page.getByRole('button', { name: 'Unblock' }).click()
    await confirm(page, 'Unblock')
    await page.getByText('No key is blocked.').waitFor()
    expect((await admin.ask('blocks')).body.blocks).toEqual([])
  })

  it('stands in the audit', async () => {
    const admin = await administered()
    const { page } = await keyPage(admin)
    await page.getByRole('button', { name: 'Reset' }).click()
    await confirm(page, 'Reset')
    await page.getByText('The counts are forgotten.').waitFor()
    await go(page, '#/audit')
    expect(
      await isShown(page.getByRole('row').filter({ hasText: 'reset' }).filter({ hasText: 'ops' })),
    ).toBe(true)
  })
})

describe('a changed policy', () => {
  it('is tried on the last requests, with mistakes at their place', async () => {
    const admin = await administered()
    await refuse(admin, 'ann', 5)
    const { page } = await signedIn(admin)
    await go(page, '#/policy')
    const file = page.getByLabel('The file')
    await file.fill(
      'policies: [{ name: api, rules: [{ name: per-user, by: [user], limit: 2/h }] }]',
    )
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('60 % of 5 requests would be newly refused.').waitFor()
    await file.fill(
      'policies:\n  - name: api\n    rules: [{ name: a, by: [user], limit: 2/parsec }]\n',
    )
    await page.getByRole('button', { name: 'Try it' }).click()
    expect(await isShown(page.getByText(/line 3, column \d+:/))).toBe(true)
  })
})

describe('a limit on trial', () => {
  it('is promoted by a diff of the file', async () => {
    const file = join(folder(), 'sluice.yaml')
    const text =
      'policies:\n  - name: api\n    rules:\n      - name: per-user\n        by: [user]\n        limit: 5/h # agreed\n        candidate: 2/h\n'
    writeFileSync(file, text)
    const rules = [{ name: 'per-user', by: ['user'], limit: '5/h', candidate: '2/h' }]
    const admin = await administered(
      { policies: [{ name: 'api', rules }] },
      {},
      { source: { file, digest: 'first', watch: false } },
    )
    await refuse(admin, 'ann', 4)
    const { page, problems } = await signedIn(admin)
    const trials = page.getByRole('region', { name: 'On trial' })
    await trials.getByRole('row').filter({ hasText: 'candidate' }).getByText('50 %').waitFor()
    await trials.getByRole('link', { name: 'per-user' }).click()
    const diff = page.getByLabel('The change')
    await diff.waitFor()
    expect(await diff.locator('.removed').allTextContents()).toEqual([
      '-        limit: 5/h # agreed',
      '-        candidate: 2/h',
    ])
    expect(await diff.locator('.added').allTextContents()).toEqual(['+        limit: 2/h # agreed'])
    expect(problems).toEqual([])
  })
})

describe('a reload', () => {
  it('is described in words on the page of the policy', async () => {
    const file = join(folder(), 'sluice.json')
    const admin = await administered({}, {}, { source: { file, digest: 'first', watch: false } })
    const { page } = await signedIn(admin)
    await go(page, '#/policy')
    await page.getByText('The policies have not changed since the service began.').waitFor()
    const [policy] = policies
    const rules = policy!.rules.map((rule) => ({ ...rule, limit: '7/h' }))
    writeFileSync(file, JSON.stringify({ policies: [{ ...policy, rules }] }))
    expect(await admin.reload()).toBe('applied')
    const row = page.getByRole('row').filter({ hasText: '→ token bucket 7/h' })
    expect(await isShown(row.first())).toBe(true)
  })
})

describe('a key', () => {
  it('that only one route refuses is not said to be allowed', async () => {
    const rules = [
      { name: 'login', when: { route: '/login' }, by: ['account'], limit: '2/h' },
      { name: 'everyone', by: [], limit: '1000/s' },
    ]
    const admin = await administered({ policies: [{ name: 'api', rules }] })
    const { page, problems } = await signedIn(admin)
    await go(page, '#/key?policy=api&account=a1')
    const now = page.getByRole('region', { name: 'Now' })
    await now.getByText('Allowed by the rules that need no other attribute.').waitFor()
    for (let i = 0; i < 4; i++)
      await admin.post('/v1/check', { attributes: { account: 'a1', route: '/login' } })
    await now
      .getByText(
        /^Allowed by the rules that need no other attribute; login, at route \/login, refuses it until [\d:]+\.$/,
      )
      .waitFor()
    expect(await now.getAttribute('class')).toBe('verdict warn')
    const limits = page.getByRole('region', { name: 'Limits' })
    await limits.getByText(/^At route \/login: 0 of 2 left; free in /).waitFor()
    await go(page, '#/overview')
    const list = page.getByRole('region', { name: 'Keys refused most' })
    await list.getByRole('button', { name: 'Why account a1 is refused' }).click()
    await list.getByText('depends on the route').waitFor()
    expect(await isShown(list.getByText(/^At route \/login: 0 of 2 left; free in /))).toBe(true)
    expect(problems).toEqual([])
  })

  it('is found among 10,000', async () => {
    const admin = await administered()
    const users = Array.from({ length: 10_000 }, (_, i) => `u${i}`)
    for (let i = 0; i < users.length; i += 500) {
      const checks = users.slice(i, i + 500).map((user) => ({ attributes: { user } }))
      await admin.post('/v1/check', { checks })
    }
    const { page } = await signedIn(admin)
    await go(page, '#/keys')
    await page.getByRole('button', { name: 'Next page' }).waitFor()
    await page.getByLabel('Contains').fill('u9876')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: 'user u9876' }).click()
    expect(await isShown(page.getByText('4 units are left.'))).toBe(true)
  })

  it.each([
    ['markup', '<img src=x onerror=alert(1)><script>alert(2)</script>'],
    ['text that turns around', '\u202eevil\u2066 user'],
    ['64 kB', 'x'.repeat(65_000)],
    ['quotes and line breaks', `"'\`\r\n\t\u0000`],
  ])('of %s is shown as text', async (_, user) => {
    const admin = await administered()
    await refuse(admin, user)
    const { page, problems } = await signedIn(admin)
    await page.getByRole('rowheader', { name: 'per-user' }).waitFor()
    await page.getByRole('region', { name: 'Keys refused most' }).waitFor()
    const shown = await page.locator('tbody th.key').first().textContent()
    expect(shown!.length).toBeLessThan(200)
    // oxlint-disable-next-line no-control-regex -- these are what must not be shown
    expect(shown).not.toMatch(/[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/)
    expect(await page.locator('img[src=x]').count()).toBe(0)
    expect(problems).toEqual([])
  })
})

describe('a lost service', () => {
  it('is said to be lost, and the page goes on when it is back', async () => {
    const first = await administered()
    const { page } = await signedIn(first)
    const port = Number(new URL(first.adminUrl).port)
    await first.stop()
    await page.getByText('connection lost').waitFor()
    // The same tokens, so that the session holds.
    const second = await administered({}, { port })
    await page.getByText('live', { exact: true }).waitFor()
    await refuse(second, 'ann')
    expect(await isShown(page.getByRole('rowheader', { name: 'user ann' }))).toBe(true)
  })
})

describe('a lost store', () => {
  it('is the first thing that the overview says, and its return too', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const admin = await administered({ store: { kind: 'redis', url: redis.url } })
    const { page, problems } = await signedIn(admin)
    const box = page.getByRole('region', { name: 'Verdict' })
    await box.getByText('The store answers.').waitFor()
    /** Decisions open the breaker, and close it again; the page shows it within a second. */
    const shownWhileAsked = (text: RegExp) =>
      until(String(text), 30_000, async () => {
        await refuse(admin, 'ann', 2)
        return box.getByText(text).first().isVisible()
      })
    redis.kill('SIGKILL')
    await shownWhileAsked(/The store does not answer|no connection to the store/)
    await box.getByText('Decisions are made without the store').waitFor()
    await redis.restart()
    await shownWhileAsked(/The store answers\./)
    expect(problems).toEqual([])
  })
})

describe('every page', () => {
  it.each([
    ['light', {}],
    ['dark', { colorScheme: 'dark' as const }],
    ['390 px wide', { viewport: { width: 390, height: 844 } }],
  ])('is accessible, %s', async (_, options) => {
    const file = join(folder(), 'a-folder-of-a-long-name', 'x'.repeat(80), 'sluice.yaml')
    const admin = await administered({}, {}, { source: { file, digest: 'first', watch: false } })
    await refuse(admin, 'ann')
    const attributes = { user: `eve-${'x'.repeat(60)}` }
    await admin.ask('block', { attributes, for: '1h', note: 'x' })
    await admin.ask('block', { attributes: { user: 'bob' }, for: 'a while', note: '' })
    const { page, problems } = await signedIn(admin, options)
    await page.getByRole('rowheader', { name: 'user ann' }).waitFor()
    const found: Record<string, readonly string[]> = {}
    for (const name of [
      ...EVERYTHING,
      'key?policy=api&user=ann',
      'rule?policy=api&rule=per-user',
    ]) {
      await go(page, `#/${name}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByLabel('Loading…').first().waitFor({ state: 'detached' })
      found[name] = await accessibilityProblems(page)
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([name, overflow]).toEqual([name, 0])
      for (const seen of await page.locator('nav [aria-current], td .tag').all())
        expect([name, await isWithin(page, seen)]).toEqual([name, true])
    }
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])))
    expect(problems).toEqual([])
  })

  it('shows no empty note in the audit', async () => {
    const admin = await administered()
    await admin.ask('block', { attributes: { user: 'eve' }, for: '1h', note: '' })
    const { page } = await signedIn(admin)
    await go(page, '#/audit')
    const row = page.getByRole('row').filter({ hasText: 'block' })
    await row.waitFor()
    expect(await row.textContent()).not.toContain('note')
  })

  it('is reached by the keyboard', async () => {
    const { page } = await signedIn(await administered())
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement?.id')).toBe('content')
    await page.getByRole('link', { name: 'Health' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Health' }).waitFor()
  })
})
