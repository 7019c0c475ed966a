// How important a request is: by its route, by a header field, or as the application says.
import type { OptionReader } from '../options/option-reader.ts'
import { memoizeRecent } from './memoize-recent.ts'
import { fieldString, type NodeRequest } from './node-adapter.ts'
import { routeMatcher } from './routes.ts'

/**
 * How important requests are, the first the most.
 *
 * @example
 * ```ts
 * const lowest = PRIORITIES.at(-1) // 'background'
 * ```
 */
export const PRIORITIES = ['critical', 'normal', 'background'] as const

/**
 * How important a request is.
 *
 * @example
 * ```ts
 * const priority: Priority = 'background'
 * ```
 */
export type Priority = (typeof PRIORITIES)[number]

/**
 * Where the priority of a request comes from.
 *
 * @example
 * ```ts
 * shed({ routes: { '/health': 'critical', '/reports': 'background' } })
 * ```
 */
export interface PriorityOptions<Q extends NodeRequest = NodeRequest> {
  /** How important a request is; undefined leaves it to `routes` and `header`. */
  readonly priority?: (request: Q) => Priority | undefined
  /** Priorities by route, such as `{ '/checkout': 'critical', '/exports/{id}': 'background' }`. They override the header field. */
  readonly routes?: Readonly<Record<string, Priority>>
  /** The header field by which clients set it; false: they cannot set it. Default `x-priority`. */
  readonly header?: string | false
}

/** The priority of each request: that of the function, else of the route, else of the header field, else `normal`. */
export function priorityReader<Q extends NodeRequest>(
  options: PriorityOptions<Q>,
  reader: OptionReader,
): (request: Q) => Priority {
  const ofFunction = reader.callable('priority', options.priority, undefined)
  const ofRoute = options.routes === undefined ? undefined : routePriority(options.routes, reader)
  const { header = 'x-priority' } = options
  if (header !== false && (typeof header !== 'string' || !/^[\w-]+$/.test(header)))
    reader.wrong('header', header, 'the name of a header field, or false')
  const field = header === false ? undefined : header.toLowerCase()
  return (request) => {
    const own = ofFunction?.(request)
    if (own !== undefined) {
      if (!PRIORITIES.includes(own))
        reader.wrong(
          'priority',
          own,
          `a function that returns ${PRIORITIES.join(', ')}`,
          PRIORITIES,
        )
      return own
    }
    const known = ofRoute?.(pathOf(request.url))
    if (known !== undefined) return known
    const headerValue = field === undefined ? undefined : request.headers[field]
    // Nearly all requests lack the field.
    return headerValue === undefined ? 'normal' : priorityOf(fieldString(headerValue))
  }
}

function priorityOf(value: string | undefined): Priority {
  return PRIORITIES.find((name) => name === value) ?? 'normal'
}

function routePriority(
  routes: Readonly<Record<string, Priority>>,
  reader: OptionReader,
): (path: string) => Priority | undefined {
  if (typeof routes !== 'object' || routes === null)
    reader.wrong('routes', routes, 'priorities by route')
  const byPattern = new Map(Object.entries(routes))
  for (const [pattern, priority] of byPattern)
    if (!PRIORITIES.includes(priority))
      reader.wrong(`routes['${pattern}']`, priority, PRIORITIES.join(', '), PRIORITIES)
  const match = routeMatcher([...byPattern.keys()])
  // A path that servers read in different ways is as important as the least of its routes.
  const find = memoizeRecent((path) => {
    const found = match(path).map((pattern) => byPattern.get(pattern)!)
    return { priority: PRIORITIES.findLast((priority) => found.includes(priority)) }
  })
  return (path) => find(path).priority
}

function pathOf(url = '/'): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}
