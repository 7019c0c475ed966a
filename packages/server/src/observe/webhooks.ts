// Sends events to webhooks: signed, retried with back-off until a deadline, from a bounded queue. Nothing waits for it.
import { createHmac, randomUUID } from 'node:crypto'
import type { Millis } from 'sluice'
import type { WebhookConfig } from '../config/config.ts'
import type { Log } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'

/** Most events of one webhook that are queued, in flight or awaiting a retry; further ones are dropped and counted. */
const MAX_QUEUE = 1000
/** Requests to one webhook at once. */
const MAX_AT_ONCE = 4
/** The wait before the second attempt; it doubles with each further one, up to the longest. */
const FIRST_WAIT: Millis = 1000
const LONGEST_WAIT: Millis = 300_000

/** What webhooks use of the world around them; tests have their own. */
export interface WebhookTools {
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>
  readonly now: () => Millis
  /** Calls back later; returns a function that ends it. */
  readonly later: (millis: Millis, call: () => void) => () => void
  /** At least 0, below 1. */
  readonly random: () => number
}

const TOOLS: WebhookTools = {
  fetch: (url, request) => fetch(url, request),
  now: () => Date.now(),
  later(millis, call) {
    const timer = setTimeout(call, millis)
    timer.unref()
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** How a delivery ended. */
type Result = 'delivered' | 'failed' | 'dropped'

/** One event that is being delivered to one webhook. */
interface Delivery {
  readonly id: string
  readonly type: string
  readonly body: string
  readonly deadline: Millis
  attempts: number
}

/** The webhooks of a service. */
export class Webhooks {
  private readonly senders: readonly Sender[]
  private readonly tools: WebhookTools

  constructor(
    configs: readonly WebhookConfig[],
    metrics: MetricRegistry,
    log: Log,
    tools: WebhookTools = TOOLS,
  ) {
    const deliveries = metrics.counter(
      'sluice_webhook_deliveries_total',
      'Events for webhooks: delivered, given up, or dropped because too many were waiting.',
      ['result'],
    )
    const counters = {
      delivered: deliveries.with('delivered'),
      failed: deliveries.with('failed'),
      dropped: deliveries.with('dropped'),
    }
    this.tools = tools
    this.senders = configs.map(
      (config) => new Sender(config, tools, log, (result) => counters[result].add(1)),
    )
  }

  /** Sends an event to every webhook, later. Never throws. */
  send(type: string, event: object): void {
    if (this.senders.length === 0) return
    const id = randomUUID()
    const body = JSON.stringify({ id, type, ...event })
    for (const sender of this.senders) sender.add(id, type, body, this.tools.now())
  }

  /** Aborts requests in flight; queued events are lost. */
  close(): void {
    for (const sender of this.senders) sender.close()
  }
}

/** The queue of one webhook. */
class Sender {
  private readonly config: WebhookConfig
  private readonly tools: WebhookTools
  private readonly log: Log
  private readonly note: (result: Result) => void
  private readonly waiting: Delivery[] = []
  /** Ends the waits of deliveries that will be tried again. */
  private readonly retries = new Map<Delivery, () => void>()
  private readonly ending = new AbortController()
  private underWay = 0
  private isFailing = false

  constructor(
    config: WebhookConfig,
    tools: WebhookTools,
    log: Log,
    note: (result: Result) => void,
  ) {
    this.config = config
    this.tools = tools
    this.log = log
    this.note = note
  }

  add(id: string, type: string, body: string, now: Millis): void {
    if (this.waiting.length + this.retries.size + this.underWay >= MAX_QUEUE)
      return this.note('dropped')
    this.waiting.push({ id, type, body, deadline: now + this.config.deadline, attempts: 0 })
    this.next()
  }

  close(): void {
    this.ending.abort()
    for (const stop of this.retries.values()) stop()
    this.retries.clear()
    this.waiting.length = 0
  }

  private next(): void {
    while (this.underWay < MAX_AT_ONCE && this.waiting.length > 0) {
      const delivery = this.waiting.shift()!
      this.underWay += 1
      void this.attempt(delivery).then((problem) => {
        this.underWay -= 1
        this.finish(delivery, problem)
        this.next()
      })
    }
  }

  /** Undefined when it was delivered, else why not; never rejects. */
  private async attempt(delivery: Delivery): Promise<Failure | undefined> {
    const { url, secret, timeout } = this.config
    delivery.attempts += 1
    const timestamp = String(Math.floor(this.tools.now() / 1000))
    const timer = new AbortController()
    const stopTimer = this.tools.later(timeout, () => timer.abort(new Error('timed out')))
    try {
      const response = await this.tools.fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'sluice-event': delivery.type,
          'sluice-delivery': delivery.id,
          'sluice-signature': `t=${timestamp},v1=${signatureOf(secret, timestamp, delivery.body)}`,
        },
        body: delivery.body,
        redirect: 'manual',
        signal: AbortSignal.any([this.ending.signal, timer.signal]),
      })
      // The body is not read: it may be endless.
      void response.body?.cancel().catch(() => {})
      if (response.ok) return undefined
      return { reason: `status ${response.status}`, isFinal: isFinal(response.status) }
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), isFinal: false }
    } finally {
      stopTimer()
    }
  }

  private finish(delivery: Delivery, failure: Failure | undefined): void {
    if (this.ending.signal.aborted) return
    if (failure === undefined) {
      this.isFailing = false
      return this.note('delivered')
    }
    const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (delivery.attempts - 1))
    // Between half of the wait and all of it, so that deliveries do not come back all at once.
    const wait = Math.ceil(longest * (0.5 + this.tools.random() / 2))
    if (failure.isFinal || this.tools.now() + wait > delivery.deadline)
      return this.giveUp(delivery, failure)
    const stop = this.tools.later(wait, () => {
      this.retries.delete(delivery)
      this.waiting.push(delivery)
      this.next()
    })
    this.retries.set(delivery, stop)
  }

  private giveUp({ id, attempts }: Delivery, { reason }: Failure): void {
    this.note('failed')
    // Logged once until a delivery succeeds; the metric counts every failure.
    if (this.isFailing) return
    this.isFailing = true
    const host = hostOf(this.config.url)
    this.log.warn(
      { code: 'webhook-failed', host, delivery: id, attempts, reason },
      `the webhook at ${host} does not take events: ${reason}`,
    )
  }
}

/** Why an attempt failed, and whether another one is useless. */
interface Failure {
  readonly reason: string
  readonly isFinal: boolean
}

/** Whether a retry is useless. 408, 425, 429 and 5xx may go away; every other status is final, redirects too. */
function isFinal(status: number): boolean {
  return status < 500 && status !== 408 && status !== 425 && status !== 429
}

/** The URL may hold a secret in its path. */
function hostOf(url: string): string {
  return new URL(url).host
}

/**
 * The signature of a delivery: HMAC-SHA256 of the timestamp, a dot and the body, in hexadecimal. Receivers compare it in
 * constant time and refuse old timestamps.
 */
function signatureOf(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
}
