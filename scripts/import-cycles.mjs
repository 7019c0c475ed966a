// Finds cycles in a directed graph, one for each set of nodes that reach each other.

/**
 * One shortest cycle of every strongly connected component, as its nodes in order.
 * @param {readonly (readonly [string, string])[]} edges
 * @returns {string[][]}
 */
export function cyclesIn(edges) {
  /** @type {Map<string, Set<string>>} */
  const next = new Map()
  for (const [from, to] of edges) next.set(from, (next.get(from) ?? new Set()).add(to))
  /** @type {string[][]} */
  const cycles = []
  /** @type {Set<string>} */
  const reported = new Set()
  for (const node of [...next.keys()].sort()) {
    if (reported.has(node)) continue
    const cycle = shortestCycle(node, next)
    if (!cycle) continue
    cycles.push(cycle)
    for (const one of cycle) reported.add(one)
  }
  return cycles
}

/** The shortest way from a node back to itself. @param {string} start @param {Map<string, Set<string>>} next */
function shortestCycle(start, next) {
  /** @type {Map<string, string>} */
  const cameFrom = new Map()
  const queue = [start]
  for (const node of queue) {
    for (const other of next.get(node) ?? []) {
      if (other === start) return pathTo(node, start, cameFrom)
      if (cameFrom.has(other)) continue
      cameFrom.set(other, node)
      queue.push(other)
    }
  }
  return undefined
}

/** @param {string} end @param {string} start @param {Map<string, string>} cameFrom */
function pathTo(end, start, cameFrom) {
  const path = [end]
  for (let node = end; node !== start;) {
    node = cameFrom.get(node) ?? start
    path.unshift(node)
  }
  return path
}
