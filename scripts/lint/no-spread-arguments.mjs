// An oxlint rule: no list is spread into the arguments of a call, where its length becomes the depth of the stack.

/**
 * As much of a syntax tree as the rule reads.
 * @typedef {{ type: string, name?: string, arguments?: Node[], argument?: Node, params?: Node[], parent?: Node }} Node
 */

/**
 * Arguments lie on the stack: `target.push(...list)` and `Math.max(...list)` throw a RangeError for about 120,000 items,
 * wherever the list comes from. Loop, `concat`, or say with a disabling comment why the list is short.
 * Arguments that a function only passes on (`...args` of its own rest parameter) are no longer than its caller's.
 */
const noSpreadArguments = {
  /** @param {{ report(problem: { node: object, message: string }): void }} context */
  create(context) {
    /** @param {Node} node */
    const check = (node) => {
      if (node.arguments === undefined) return
      for (const argument of node.arguments) {
        if (argument.type !== 'SpreadElement') continue
        if (isPassedOn(argument.argument, node)) continue
        context.report({
          node: argument,
          message:
            'A spread list becomes arguments on the stack, and a long one throws a RangeError; loop or use concat',
        })
      }
    }
    return { CallExpression: check, NewExpression: check }
  },
}

/**
 * Whether a spread list is written out, or a rest parameter of a function around the call.
 * @param {Node | undefined} spread
 * @param {Node} node
 */
function isPassedOn(spread, node) {
  if (spread === undefined || spread.type === 'ArrayExpression') return true
  if (spread.type !== 'Identifier') return false
  for (let at = node.parent; at; at = at.parent) {
    const rest = Array.isArray(at.params) ? at.params.at(-1) : undefined
    if (rest?.type === 'RestElement' && rest.argument?.name === spread.name) return true
  }
  return false
}

export default { meta: { name: 'sluice' }, rules: { 'no-spread-arguments': noSpreadArguments } }
