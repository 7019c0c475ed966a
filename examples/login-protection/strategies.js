// Three ways to protect a login page. Each says who may try a password, and hears how it went.
import { createLimiter, memoryStore } from 'sluice'
import { isProven, loginPolicy, prove } from 'sluice/http'

/** @typedef {{ ip: string, account: string }} Who */
/** @typedef {(succeeded: boolean) => void} Told */
/** @typedef {(who: Who) => Told | null} Strategy null refuses */

/** So many requests for each address, whatever comes of them. @param {() => number} clock @returns {Strategy} */
function perAddress(clock) {
  const limit = /** @type {const} */ ({ algorithm: 'fixed-window', quota: 100, window: '15min' })
  const limiter = createLimiter({ limit, store: memoryStore({ clock }) })
  return ({ ip }) => (limiter.check(ip).allowed ? () => undefined : null)
}

/** Few requests for each account and each address. @param {() => number} clock @returns {Strategy} */
function tight(clock) {
  /** @type {import('sluice').Rule[]} */
  const rules = [
    { name: 'account', by: ['account'], limit: '5/15min' },
    { name: 'address', by: ['ip'], limit: '5/15min' },
  ]
  const limiter = createLimiter({ policy: { name: 'tight', rules }, store: memoryStore({ clock }) })
  return (who) => (limiter.check(who).allowed ? () => undefined : null)
}

/** The preset: only failures are charged, and all strangers share a ceiling. @param {() => number} clock @returns {Strategy} */
function preset(clock) {
  const limiter = createLimiter({ policy: loginPolicy(), store: memoryStore({ clock }) })
  return (who) => {
    const attributes = {
      ...who,
      proven: /** @type {true | undefined} */ (isProven(limiter, who.ip)),
    }
    const decision = limiter.check(attributes)
    if (!decision.allowed) return null
    return (succeeded) => {
      if (!succeeded) return
      limiter.refund(attributes, 1, decision.at)
      void prove(limiter, who.ip)
    }
  }
}

/** By the name that the table has. @type {Record<string, (clock: () => number) => Strategy>} */
export const strategies = {
  'per address, 100 in 15 min': perAddress,
  'per account and per address, 5 in 15 min': tight,
  'loginPolicy, as shipped': preset,
}
