// `node --import` this file: the service decides by the same path, blocks included, without metrics of decisions, ids,
// journal, sketches and recent requests.
import { register } from 'node:module'

const hooks = `
  export async function load(url, context, next) {
    if (!url.endsWith('/server/dist/limiters/decide-options.js')) return next(url, context)
    const whole = JSON.stringify(url + '?whole')
    const source =
      'import { decideOptions as whole } from ' + whole + '\\n' +
      'export function decideOptions(counted, surroundings) {\\n' +
      '  const { onDecision, isTimed, identify, ...others } = whole(counted, surroundings)\\n' +
      '  return others\\n' +
      '}'
    return { format: 'module', source, shortCircuit: true }
  }
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
