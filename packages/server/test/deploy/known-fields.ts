// Finds members of an object that the shape of a Kubernetes object does not know.

/** The object, seen by a validator; `unread` gives the members that it never looked at, which it does not know. */
export function watched(value: object): {
  readonly value: object
  readonly unread: () => readonly string[]
} {
  const read = new Set<string>()
  const all: string[] = []
  const wrap = (inner: unknown, path: string): unknown => {
    if (typeof inner !== 'object' || inner === null) return inner
    for (const key of Object.keys(inner)) all.push(`${path}.${key}`)
    const members = Object.entries(inner).map(([key, it]) => [key, wrap(it, `${path}.${key}`)])
    const copy: object = Array.isArray(inner)
      ? members.map(([, it]) => it)
      : (Object.fromEntries(members) as object)
    return new Proxy(copy, {
      get(target, key, receiver) {
        if (typeof key === 'string') read.add(`${path}.${key}`)
        return Reflect.get(target, key, receiver) as unknown
      },
    })
  }
  return {
    value: wrap(value, '') as object,
    unread: () => all.filter((path) => !read.has(path)),
  }
}
