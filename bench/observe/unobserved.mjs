// `node --import` this file: the service decides without metrics of decisions, journal, sketches and recent requests.
import { register } from 'node:module'

const hooks = `
  export async function load(url, context, next) {
    if (!url.endsWith('/server/dist/limiters/decide-options.js')) return next(url, context)
    const source = 'export const decideOptions = (_counted, { store }) => ({ store })'
    return { format: 'module', source, shortCircuit: true }
  }
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
