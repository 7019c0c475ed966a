// The name that was probably meant, for messages about unknown ones and warnings about suspicious ones.
import { closestName } from 'sluice'

/** A name that differs from this one by at most two letters and fewer than half of its own; undefined when there is none. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  return closestName(name, [...names], Math.min(2, Math.floor((name.length - 1) / 2)))
}

/** `; did you mean x?` for a message, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}
