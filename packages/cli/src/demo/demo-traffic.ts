// Made-up traffic for `sluice serve --demo`: a few hundred callers, most of them quiet, some in a hurry, one that never stops.
import { Agent, request } from 'node:http'
import type { Policy } from 'sluice'

/** How long it lasts. */
const LENGTH = 30 * 60_000
/** How often requests are sent, and how many at once on average. */
const EVERY = 100
const MEAN = 6
const CALLERS = 300

const ROUTES = ['/search', '/search', '/orders', '/export']
const PLANS = ['free', 'free', 'free', 'pro', 'internal']

/** Sends requests to the HTTP listener until the time is over; never fails, and keeps no process alive. */
export function sendDemoTraffic(
  policies: readonly Policy[],
  listeners: readonly { readonly name: string; readonly url: string }[],
): void {
  const http = listeners.find(({ name }) => name === 'http')
  if (http === undefined || policies.length === 0) return
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const start = Date.now()
  const send = (): void => {
    const elapsed = Date.now() - start
    if (elapsed > LENGTH) {
      clearInterval(timer)
      agent.destroy()
      return
    }
    // A wave of two minutes, and a storm of ten seconds in each third minute.
    const wave = 1 + 0.6 * Math.sin(elapsed / 19_000)
    const storm = elapsed % 180_000 > 120_000 && elapsed % 180_000 < 130_000 ? 3 : 1
    const count = Math.round(MEAN * wave * storm * (0.5 + Math.random()))
    for (let i = 0; i < count; i++) post(agent, http.url, callOf(policies, storm > 1))
  }
  const timer = setInterval(send, EVERY)
  timer.unref()
}

/** One request. */
function callOf(policies: readonly Policy[], isStorm: boolean): object {
  const policy = policies[Math.floor(Math.random() * policies.length)]!
  // Most callers are quiet; four are in a hurry.
  const isHurried = Math.random() < 0.07
  const caller = Math.floor(Math.random() * (isHurried ? 4 : CALLERS))
  const isAnonymous = caller % 11 === 3
  const route = Math.random() < (isStorm ? 0.6 : 0.01) ? '/login' : pick(ROUTES)
  const attributes: Record<string, string> = {
    ip: `198.51.100.${1 + (caller % 250)}`,
    route,
    method: route === '/login' ? 'POST' : 'GET',
    ...(isAnonymous
      ? {}
      : { user: `user-${caller}`, apiKey: `key-${caller}`, tenant: `team-${caller % 12}` }),
    ...(isAnonymous ? {} : { plan: PLANS[caller % PLANS.length]! }),
    ...(route === '/login' ? { account: `account-${isStorm ? caller % 9 : caller}` } : {}),
  }
  return { ...(policies.length > 1 && { policy: policy.name }), attributes }
}

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!
}

function post(agent: Agent, url: string, body: object): void {
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const sent = request(`${url}/v1/check`, { method: 'POST', agent, headers, timeout: 2000 })
  sent.on('response', (response) => response.resume())
  // Traffic for show: a service that ends, or is busy, is no mistake of the traffic.
  sent.on('error', () => {})
  sent.end(text)
}
