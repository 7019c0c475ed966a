// The loads: what the bodies of the requests are.

/** @typedef {{ name: string, decisions: number, body: (i: number) => unknown }} Load `decisions` in each request */

/** @param {string} policy @param {number} i */
const byKey = (policy, i) => ({ policy, key: `user:${i}` })

/** @param {number} i */
const byAttributes = (i) => ({
  policy: 'three',
  attributes: { user: `user-${i}`, tenant: `tenant-${i % 10}`, plan: 'free' },
})

/** Sixty-four checks in one request. @param {(i: number) => unknown} one @param {number} i */
const batch = (one, i) => ({ checks: Array.from({ length: 64 }, (_, j) => one(i * 64 + j)) })

/** @type {Load[]} */
export const loads = [
  { name: 'one check', decisions: 1, body: (i) => byKey('allowed', i) },
  { name: 'one check, three rules', decisions: 1, body: byAttributes },
  { name: '64 checks', decisions: 64, body: (i) => batch((j) => byKey('allowed', j), i) },
  { name: '64 checks, refused', decisions: 64, body: (i) => batch((j) => byKey('refused', j), i) },
  { name: '64 checks, three rules', decisions: 64, body: (i) => batch(byAttributes, i) },
]
