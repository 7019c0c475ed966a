// `node --import` this file: the service decides by the same path, blocks included, without metrics of decisions, ids,
// journal, sketches and recent requests.
import { register } from 'node:module'

const hooks = `
  export async function load(url, context, next) {
    if (!url.endsWith('/server/dist/limiters/observe-decisions.js')) return next(url, context)
    const source = 'export const observeDecisions = () => ({})'
    return { format: 'module', source, shortCircuit: true }
  }
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
