// Requests at a fixed rate, whether or not the server keeps up: an overload that does not wait for answers.
import { Agent, request } from 'node:http'

/** Sockets at most: beyond, a request counts as failed. */
const MAX_OPEN = 2000
const SHARES = /** @type {const} */ ([
  ['critical', 0.1],
  ['normal', 0.6],
  ['background', 0.3],
])

/** @typedef {{ priority: string, status: number, at: number, took: number }} Answer `at` and `took` in milliseconds */

/**
 * Sends `rate` requests per second for so many seconds.
 * @param {number} port @param {number} rate @param {number} seconds
 * @returns {Promise<Answer[]>}
 */
export async function openLoad(port, rate, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN })
  /** @type {Answer[]} */
  const answers = []
  const start = performance.now()
  let sent = 0
  let open = 0
  await new Promise((resolve) => {
    const tick = () => {
      const now = performance.now() - start
      const due = Math.min(seconds * rate, Math.floor((now / 1000) * rate))
      for (; sent < due; sent++) {
        const priority = priorityOf(sent)
        if (open >= MAX_OPEN) answers.push({ priority, status: 0, at: now, took: Infinity })
        else {
          open++
          void get(port, agent, priority, start).then((answer) => {
            open--
            answers.push(answer)
          })
        }
      }
      if (sent < seconds * rate) setTimeout(tick, 2)
      // What is unanswered two seconds after the last request stays so.
      else setTimeout(resolve, 2000)
    }
    tick()
  })
  agent.destroy()
  return answers
}

/** One request after the other on so many connections. @param {number} port @param {number} connections @param {number} seconds */
export async function closedLoad(port, connections, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  /** @type {Answer[]} */
  const answers = []
  const start = performance.now()
  const worker = async () => {
    while (performance.now() - start < seconds * 1000)
      answers.push(await get(port, agent, 'normal', start))
  }
  await Promise.all(Array.from({ length: connections }, worker))
  agent.destroy()
  return answers
}

/** @param {number} port @param {Agent} agent @param {string} priority @param {number} start @returns {Promise<Answer>} */
function get(port, agent, priority, start) {
  const sent = performance.now()
  return new Promise((resolve) => {
    const end = (/** @type {number} */ status) => {
      const now = performance.now()
      resolve({ priority, status, at: now - start, took: now - sent })
    }
    const headers = { 'x-priority': priority }
    const options = { host: '127.0.0.1', port, agent, headers, timeout: 10_000 }
    const sending = request(options, (answer) => {
      answer.resume().on('end', () => end(answer.statusCode ?? 0))
    })
    sending.on('timeout', () => sending.destroy())
    sending.on('error', () => end(0)).end()
  })
}

/** @param {number} number */
function priorityOf(number) {
  let place = ((number * 7919) % 1000) / 1000
  for (const [priority, share] of SHARES) {
    if (place < share) return priority
    place -= share
  }
  return 'normal'
}
