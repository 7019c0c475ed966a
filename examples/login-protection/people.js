// Who comes to the login page that night, and when: the same in every run.

/** @typedef {{ at: number, ip: string, account: string, isRight: boolean, employee: number | null }} Attempt milliseconds since the night began */

export const ATTEMPTS = 50_000
export const SECONDS = 60
const ADDRESSES = 2000
const EMPLOYEES = 500
export const OFFICE = '203.0.113.7'
/** Leaked passwords that still fit their accounts. */
const STILL_RIGHT = 0.005
/** Employees who mistype, and how long it takes them to notice. */
const MISTYPED = 0.08
const RETRY = 4000

/** The attack: each leaked password once, from the next address in turn; some accounts are the employees'. @returns {Attempt[]} */
export function attackers() {
  const random = seeded(1)
  return Array.from({ length: ATTEMPTS }, (_, i) => {
    const address = i % ADDRESSES
    const isEmployees = random() < 0.01
    const account = isEmployees ? `employee-${pick(random, EMPLOYEES)}` : `customer-${i}`
    return {
      at: Math.floor((i * SECONDS * 1000) / ATTEMPTS),
      ip: `198.18.${address >> 8}.${address & 255}`,
      account,
      isRight: !isEmployees && random() < STILL_RIGHT,
      employee: null,
    }
  })
}

/** The night shift: one login each within the minute, some after a mistake. @returns {Attempt[]} */
export function employees() {
  const random = seeded(2)
  return Array.from({ length: EMPLOYEES }, (_, employee) => {
    const at = pick(random, SECONDS * 1000 - RETRY)
    const login = { ip: OFFICE, account: `employee-${employee}`, employee }
    return random() < MISTYPED
      ? [
          { ...login, at, isRight: false },
          { ...login, at: at + RETRY, isRight: true },
        ]
      : [{ ...login, at, isRight: true }]
  }).flat()
}

/** A whole number below `n`. @param {() => number} random @param {number} n */
const pick = (random, n) => Math.floor(random() * n)

/** Numbers from 0 to 1 that are the same in every run (Park and Miller's generator). @param {number} seed */
function seeded(seed) {
  let state = seed * 7919
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
