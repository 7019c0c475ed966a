// The route of a framework's request: the template that the framework matched, else a declared pattern.
import type { FrameworkAdapter } from './framework-adapter.ts'
import type { HttpOptions } from './options.ts'
import { routeMatcher, UNMATCHED } from './routes.ts'
import type { Warn } from './warnings.ts'

/** Creates the function that finds the route; several when servers would take the path for different ones. */
export function requestRoutes<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  { routes }: HttpOptions<Q, S>,
  isWanted: boolean,
  warn: Warn,
): (request: Q) => string | readonly string[] {
  const declared = routes === undefined ? undefined : routeMatcher(routes, adapter.routesAsSent)
  return (request) => {
    const template = adapter.route(request)
    const mount = adapter.mount?.(request) ?? ''
    if (template !== undefined && mount === '') return template
    const whole = declared?.(adapter.path(request)) ?? []
    if (whole.length > 0) return whole.length === 1 ? whole[0]! : whole
    if (template !== undefined) {
      const [prefix] = declared?.(mount) ?? []
      if (prefix !== undefined) return prefix + template
      warn(
        'mount-unknown',
        () =>
          `the router of ${template} is mounted at a path that may hold ids; declare it, such as routes: ['/users/{id}'], or ${template} of all routers counts as one route`,
      )
      return `*${template}`
    }
    if (isWanted && adapter.routesLate === true && declared === undefined)
      warn(
        'route-unknown',
        () =>
          'a rule needs the route, which is not known yet where rateLimit is mounted; mount it on the routes, or declare them with routes',
      )
    return UNMATCHED
  }
}
