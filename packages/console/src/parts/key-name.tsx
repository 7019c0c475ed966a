// A key as the attributes that make it: names in a quiet colour, values as they are.
import type { Attributes } from '../types.ts'
import { shown } from '../words.ts'

export function KeyName({ attributes }: { readonly attributes: Attributes }) {
  const pairs = Object.entries(attributes)
  if (pairs.length === 0) return <>all requests together</>
  return (
    <>
      {pairs.map(([name, value], i) => (
        <span key={name}>
          {i > 0 && ' · '}
          <span class="attribute">{shown(name, 30)}</span> {shown(value)}
        </span>
      ))}
    </>
  )
}
