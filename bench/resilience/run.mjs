// What resilience costs while the store is well: `node bench/resilience/run.mjs`, after `npm run build`.
//
// One limiter with resilience and one without, on a store that answers by promises at once, in turns; many
// checks are on their way together, as under load. Beside the cost of a check, the heap while the store hangs.
import { createLimiter, memoryStore } from 'sluice'

const ROUNDS = 15
const CHECKS = 200_000
const TOGETHER = 64

/** A remote store without the way to it. @param {{ timeout?: number }} own */
function remoteStore(own = {}) {
  const near = memoryStore()
  return {
    ...own,
    take: (/** @type {Parameters<typeof near.take>[0]} */ checks) =>
      Promise.resolve(near.take(checks)),
    peek: (/** @type {Parameters<typeof near.take>[0]} */ checks) =>
      Promise.resolve(near.peek(checks)),
    refund: async () => {},
    reset: async () => {},
    close: async () => near.close(),
  }
}

const limit = /** @type {const} */ ('1000000000/s')
const variants = {
  'without resilience': createLimiter({ limit, store: remoteStore(), resilience: false }),
  'with, deadline of the store': createLimiter({ limit, store: remoteStore({ timeout: 100 }) }),
  'with, deadline of its own': createLimiter({ limit, store: remoteStore() }),
}

/** Nanoseconds for each check. @param {import('sluice').Limiter} limiter */
async function round(limiter) {
  const began = performance.now()
  for (let i = 0; i < CHECKS; i += TOGETHER) {
    const all = []
    for (let j = 0; j < TOGETHER; j++) all.push(limiter.check('user:42'))
    await Promise.all(all)
  }
  return ((performance.now() - began) / CHECKS) * 1e6
}

/** @type {Record<string, number[]>} */
const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
for (let i = -3; i < ROUNDS; i++) {
  for (const [name, limiter] of Object.entries(variants)) {
    const time = await round(limiter)
    if (i >= 0) times[name]?.push(time)
  }
}
const median = (/** @type {number[]} */ all) =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0
const plain = median(times['without resilience'] ?? [])
console.log('| limiter.check | ns | more |\n| --- | --: | --: |')
for (const [name, all] of Object.entries(times)) {
  console.log(`| ${name} | ${median(all).toFixed(0)} | ${(median(all) - plain).toFixed(0)} |`)
}

// A store that never answers, 5,000 checks a second for ten seconds, a fifth of them of new keys.
const hung = createLimiter({
  limit,
  store: { ...remoteStore(), take: () => new Promise(() => {}) },
})
globalThis.gc?.()
const before = process.memoryUsage().heapUsed
let waited = 0
for (let i = 0; i < 1000; i++) {
  for (let j = 0; j < 50; j++) {
    const began = performance.now()
    void hung.check(j % 5 === 0 ? `once:${i}:${j}` : 'hot').then(() => {
      waited = Math.max(waited, performance.now() - began)
    })
  }
  await new Promise((resolve) => setTimeout(resolve, 10))
}
globalThis.gc?.()
const grown = (process.memoryUsage().heapUsed - before) / 2 ** 20
console.log(
  `\nstore that hangs for 10 s at 5,000 checks a second: heap ${grown.toFixed(1)} MB more, longest wait ${waited.toFixed(0)} ms`,
)
for (const limiter of [...Object.values(variants), hung]) await limiter.close()
