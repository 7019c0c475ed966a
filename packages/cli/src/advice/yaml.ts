// The configuration that follows from advice, with the reasons as comments.
import type { Advice } from './advice.ts'
import { period } from '../terminal/words.ts'

/** The text of a `sluice.yaml`. */
export function yamlOf(advice: Advice): string {
  const { algorithm, quota, window, burst, by, fleet, onStoreFailure, shadow, choices } = advice
  const reasons = choices.flatMap(({ part, value, reason, tradeOff }) => [
    `# ${part}: ${value}`,
    `#   because ${reason}.`,
    `#   accepted: ${tradeOff}.`,
  ])
  const limit = `{ quota: ${quota}, window: ${window % 1000 === 0 ? windowText(window) : window}, algorithm: ${algorithm}${burst === quota ? '' : `, burst: ${burst}`} }`
  const rule = [
    `      - name: per-${nameOf(by)}`,
    `        by: [${by}]`,
    `        limit: ${limit}`,
    ...(onStoreFailure === 'local' ? [] : [`        onStoreFailure: ${onStoreFailure}`]),
    ...(shadow
      ? ['        shadow: true # counts, and refuses nothing; remove it to enforce the limit']
      : []),
  ]
  const others =
    by === 'ip'
      ? []
      : [
          '      - name: without-it',
          `        when: { ${by}: absent }`,
          '        by: [ip]',
          `        limit: ${limit}`,
          ...(shadow ? ['        shadow: true'] : []),
        ]
  return [
    '# Written by sluice advise.',
    ...reasons,
    'policies:',
    '  - name: api',
    '    rules:',
    ...rule,
    ...others,
    fleet ? 'store: redis://127.0.0.1:6379 # the address of your Redis' : 'store: memory',
    '',
  ].join('\n')
}

function windowText(window: number): string {
  const text = period(window)
  return /^\d/.test(text) ? text : `1${text}`
}

function nameOf(by: string): string {
  return by.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
