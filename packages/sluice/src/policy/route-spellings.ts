// The spellings of one route template: frameworks write `/orders/:id`, declared routes `/orders/{id}`.

const PARAMETER = /\/(?::([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})(?=\/|$)/g
/** Up to this many parameters may be spelled in any mixture; more of them all in one way. */
const MAX_MIXED = 4

/** Every spelling of a route template, the given one first; a template without parameters has one. */
export function routeSpellings(template: string): readonly string[] {
  const count = [...template.matchAll(PARAMETER)].length
  if (count === 0) return [template]
  const spellWith = (isColon: (i: number) => boolean): string => {
    let i = 0
    return template.replaceAll(PARAMETER, (_, colon?: string, braces?: string) => {
      const name = (colon ?? braces)!
      return isColon(i++) ? `/:${name}` : `/{${name}}`
    })
  }
  const all =
    count > MAX_MIXED
      ? [spellWith(() => true), spellWith(() => false)]
      : Array.from({ length: 2 ** count }, (_, mixture) =>
          spellWith((i) => (mixture & (1 << i)) > 0),
        )
  return [...new Set([template, ...all])]
}
