// Puts the console together: sessions, pages, the live feed, and what its pages read besides the admin API.
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Policy } from 'sluice'
import type { PortState } from '../../net/http-listener.ts'
import { promoteRule, PromotionError } from '../../config/promote-rule.ts'
import type { LimiterSource } from '../../limiters/limiters.ts'
import type { RecentTraffic } from '../../observe/recent-traffic.ts'
import { RequestError } from '../../net/problem.ts'
import type { Attempts } from '../attempts.ts'
import type { Audit } from '../audit.ts'
import type { TokenRing } from '../token-ring.ts'
import { createConsole, type Console } from './console-routes.ts'
import type { Offender } from '../seen/top-keys.ts'
import { Sampler } from './history.ts'
import { ReloadHistory } from './reload-history.ts'
import type { ClaimLink } from './link-claims.ts'
import { LiveFeed } from './live-feed.ts'
import { RecentRefusals } from './recent-refusals.ts'
import { Sessions } from './session.ts'
import { StaticFiles } from './static-files.ts'
import { tryPolicy } from './try-policy.ts'
import { unifiedDiff } from './unified-diff.ts'
import { version } from '../../version.ts'

/** Keys that every viewer is sent. */
const TOP = 12
/** Keys whose refusals are recorded, so that a key that enters the list already has its last minutes. */
const FOLLOWED = 100
/** Bytes of a file that the console shows and tries. */
const MAX_FILE = 1_000_000

/** What the console is made from. */
export interface StartConsoleOptions {
  readonly tokens: TokenRing
  readonly attempts: Attempts
  readonly audit: Audit
  readonly limiters: LimiterSource
  /** The keys that were refused most, at most so many. */
  readonly top: (most: number) => Promise<{
    readonly top: readonly Offender[]
    readonly processes: number
  }>
  readonly recent: RecentTraffic
  readonly metricsText: (names: ReadonlySet<string>) => string | Promise<string>
  readonly detail: () => object
  /** Policies in words. */
  readonly describe: (policy: Policy) => readonly string[]
  /** Keeps a sign-in link from working in several processes; undefined where there is one. */
  readonly claimLink: ClaimLink | undefined
  /** The configuration's file. */
  readonly file: string | undefined
  readonly onError: (error: unknown) => void
}

/** The console and what ends it. */
export interface StartedConsole {
  readonly console: (port: PortState) => Console
  readonly close: () => void
}

/** Starts sampling; the pages are read once. */
export function startConsole(options: StartConsoleOptions): StartedConsole {
  const { tokens, attempts, audit, limiters, top, recent, file } = options
  const sampler = new Sampler(options.metricsText)
  const reloads = new ReloadHistory(() => limiters.current)
  const recentRefusals = new RecentRefusals(FOLLOWED)
  const feed = new LiveFeed(sampler, {
    look: (now) => reloads.look(now),
    readMore: async (now) => {
      const seen = await top(FOLLOWED)
      const followed = recentRefusals.add(now, seen.top)
      return { ...seen, top: followed.slice(0, TOP), detail: options.detail() }
    },
  })
  const shared = {
    tokens,
    attempts,
    audit,
    sessions: new Sessions(() => tokens.all, Date.now, options.claimLink),
    files: new StaticFiles(),
    feed,
    maxBody: MAX_FILE,
    onError: options.onError,
    views: {
      policy: async () => ({
        version,
        generation: limiters.current.generation,
        policies: limiters.current.policies,
        words: limiters.current.policies.map((policy) => options.describe(policy).join('\n')),
        file: file === undefined ? null : { name: file, text: await textOf(file) },
        recent: recent.list().length,
        reloads: reloads.list,
        ...options.detail(),
      }),
      audit: () => ({ entries: audit.recent }),
    },
    questions: {
      try: oneAtATime((body) => tryPolicy(textIn(body), limiters.current.policies, recent.list())),
      promotion: (body: unknown) => promotionOf(body, file),
    },
  }
  return {
    console: (port) => createConsole({ ...shared, port }),
    close: () => feed.close(),
  }
}

/** Refuses a call while another one runs: each of them keeps counts of its own. */
function oneAtATime<T>(run: (body: unknown) => Promise<T>): (body: unknown) => Promise<T> {
  let isRunning = false
  return async (body) => {
    if (isRunning)
      throw new RequestError(503, 'busy', 'another change is being tried; try again in a moment')
    isRunning = true
    try {
      return await run(body)
    } finally {
      isRunning = false
    }
  }
}

async function textOf(file: string): Promise<string | null> {
  try {
    const text = await readFile(file, 'utf8')
    return text.length > MAX_FILE ? null : text
  } catch {
    return null
  }
}

/** What `sluice promote` would change in the file, as a diff; null and the reason where it cannot. */
async function promotionOf(body: unknown, file: string | undefined): Promise<object> {
  const { policy, rule } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof policy !== 'string' || typeof rule !== 'string')
    throw new RequestError(400, 'invalid-body', 'accepted: the names of a policy and of its rule')
  const text = file === undefined ? null : await textOf(file)
  if (file === undefined || text === null)
    return { diff: null, why: 'The service was not started with a file that it can read.' }
  try {
    const promoted = promoteRule(text, rule, policy)
    return { diff: unifiedDiff(text, promoted.text, basename(file)), change: promoted.change }
  } catch (error) {
    if (error instanceof PromotionError) return { diff: null, why: error.message }
    throw error
  }
}

function textIn(body: unknown): string {
  const text = (body as { readonly text?: unknown } | null)?.text
  if (typeof text === 'string') return text
  throw new RequestError(400, 'invalid-body', 'text is missing; accepted: a configuration file')
}
