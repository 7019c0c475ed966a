// Accepts `/orders/:id` for `/orders/{id}`, as many routers write it, wherever a file names routes.

/** The same route with every `:name` as `{name}`. */
export function withBraces(route: string): string {
  return route.replaceAll(/\/:([A-Za-z_]\w*)(?=\/|$)/g, '/{$1}')
}

/** The same route with every `{name}` as `:name`. */
export function withColons(route: string): string {
  return route.replaceAll(/\/\{([A-Za-z_]\w*)\}(?=\/|$)/g, '/:$1')
}

/** A condition with its routes in the spelling of declared ones; `{ equals }` stays as it is. */
export function conditionWithBraces<T extends object>(when: T): T {
  return changed(when, 'route', routes) as T
}

/** A file's plain data with all its routes in one spelling. Whatever is not a route stays as it is. */
export function withOneRouteSpelling(value: unknown): unknown {
  const proxy = (found: unknown): unknown => changed(found, 'routes', routes)
  const condition = (found: unknown): unknown =>
    typeof found === 'object' && found !== null ? conditionWithBraces(found) : found
  const override = (found: unknown): unknown => changed(found, 'when', condition)
  const rule = (found: unknown): unknown =>
    changed(changed(found, 'when', condition), 'overrides', each(override))
  const policy = (found: unknown): unknown => changed(found, 'rules', each(rule))
  return changed(changed(value, 'proxy', proxy), 'policies', each(policy))
}

function routes(found: unknown): unknown {
  if (typeof found === 'string') return withBraces(found)
  return Array.isArray(found) ? found.map(routes) : found
}

function each(change: (item: unknown) => unknown): (found: unknown) => unknown {
  return (found) => (Array.isArray(found) ? found.map(change) : found)
}

/** The object with one member changed; anything else as it is. */
function changed(value: unknown, name: string, change: (member: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  if (!Object.hasOwn(value, name)) return value
  return { ...value, [name]: change((value as Record<string, unknown>)[name]) }
}
