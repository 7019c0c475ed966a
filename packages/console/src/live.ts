// The live feed: what the service sends once a second, kept as signals that pages read.
import { computed, signal } from '@preact/signals'
import { ask } from './api.ts'
import type { Detail, Offender, RuleName, Session, Tick } from './types.ts'

const MAX_TICKS = 600

/** How the connection to the service is. */
export type Link = 'connecting' | 'live' | 'lost'

export const link = signal<Link>('connecting')
export const names = signal<readonly RuleName[]>([])
export const ticks = signal<readonly Tick[]>([])
export const top = signal<readonly Offender[]>([])
/** Processes whose metrics the lists add up; 1 without Redis. */
export const processes = signal(1)
export const detail = signal<Detail>({})
export const session = signal<Session | undefined>(undefined)
/** Whether the holder of the session may change things. */
export const mayChange = computed(() => session.value?.role === 'operate')

interface Event {
  readonly names?: readonly RuleName[]
  readonly ticks?: readonly Tick[]
  readonly tick?: Tick
  readonly top: readonly Offender[]
  readonly processes: number
  readonly detail: Detail
}

let source: EventSource | undefined

/** Opens the feed; the browser connects again by itself when it is lost. */
function mapAnswer(): void {
  leave()
  source = new EventSource('/console/events')
  source.addEventListener('history', (event) => {
    const history = JSON.parse((event as MessageEvent<string>).data) as Event
    link.value = 'live'
    receive(history)
    ticks.value = history.ticks ?? []
  })
  source.addEventListener('tick', (event) => {
    const news = JSON.parse((event as MessageEvent<string>).data) as Event
    receive(news)
    if (news.tick !== undefined) ticks.value = [...ticks.value.slice(1 - MAX_TICKS), news.tick]
  })
  source.addEventListener('ended', () => {
    leave()
    session.value = { name: null, hasEnded: true }
  })
  source.addEventListener('error', () => {
    link.value = 'lost'
    // A refused stream is not tried again by the browser.
    if (source?.readyState === EventSource.CLOSED) setTimeout(() => void checkSession(), 2000)
  })
}

/** Closes the feed. */
export function leave(): void {
  source?.close()
  source = undefined
}

/** Reads who has signed in, and opens or closes the feed accordingly. */
export async function checkSession(): Promise<void> {
  try {
    session.value = await ask<Session>('/console/session')
    if (session.value.name !== null) mapAnswer()
    else leave()
  } catch {
    link.value = 'lost'
    setTimeout(() => void checkSession(), 2000)
  }
}

function receive(event: Event): void {
  if (event.names !== undefined) names.value = event.names
  top.value = event.top
  processes.value = event.processes
  detail.value = event.detail
}

/** Identifies a refused key in a list. */
export function idOf({ policy, rule, attributes }: Offender): string {
  return JSON.stringify([policy, rule, attributes])
}

/** What happened within the last seconds. */
export interface Sums {
  readonly seconds: number
  readonly allowed: number
  readonly refused: number
  readonly unavailable: number
  readonly blocked: number
  readonly shadow: number
  readonly degraded: number
}

/** Adds up the last seconds, of one rule or of all. */
export function sumsOf(list: readonly Tick[], rule?: number): Sums {
  const sums = { allowed: 0, refused: 0, unavailable: 0, blocked: 0, shadow: 0, degraded: 0 }
  for (const tick of list) {
    if (rule === undefined) sums.blocked += tick.blocked
    sums.degraded += tick.degraded
    for (const [place, allowed, refused, unavailable, shadow] of tick.rules) {
      if (rule !== undefined && place !== rule) continue
      sums.allowed += allowed
      sums.refused += refused
      sums.unavailable += unavailable
      sums.shadow += shadow
    }
  }
  return { seconds: list.length, ...sums }
}

/** The ticks of the last minute. */
export const lastMinute = computed(() => ticks.value.slice(-60))
