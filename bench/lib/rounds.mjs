// The order of measurements: round-robin, so that a noisy minute strikes all contenders alike.

/**
 * Every cell once per round, the order reversed every other round.
 * @template T
 * @param {readonly T[]} cells
 * @param {number} rounds
 * @returns {Generator<{ round: number, cell: T }>}
 */
export function* interleaved(cells, rounds) {
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? cells : cells.toReversed()
    for (const cell of order) yield { round, cell }
  }
}
