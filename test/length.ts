// Long walks are short by default, so that `npm test` stays quick; `npm run test:long` runs them at full length.

/** Whether the walks run at full length. */
export const isLong: boolean = process.env['SLUICE_LONG'] === '1'

/** The length of a walk: `short` by default, `full` in `npm run test:long`. */
export function lengthOf(short: number, full: number): number {
  return isLong ? full : short
}
