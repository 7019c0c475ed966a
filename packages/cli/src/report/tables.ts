// Tables of the report; every column sorts, by the number behind what is shown.
import type { ReplayResult } from '../replay/result.ts'
import { algorithmName, count, percent, rateOf, span } from '../terminal/words.ts'
import { colourOf, MAX_SHOWN } from './shown.ts'
import { escaped } from './svg.ts'

/** A cell: what is shown, and what it sorts by. */
export type Cell = readonly [text: string, value: number | string]

/** What each candidate did. */
export function candidateTable({ candidates }: ReplayResult): string {
  const head = [
    'limit',
    'algorithm',
    'refused',
    'of requests',
    'clients hit',
    'of clients',
    'longest refused',
  ]
  const rows = candidates.map(
    ({ name, limit, refused, refusedShare, clientsHit, clientShare, longest }, i): Cell[] => {
      const colour = i < MAX_SHOWN ? `<i class="key" style="background:${colourOf(i)}"></i>` : ''
      return [
        [
          colour + escaped(limit === null ? name : rateOf(limit)),
          limit === null ? name : limit.quota / limit.window,
        ],
        [limit === null ? 'policy' : algorithmName(limit.algorithm), limit?.algorithm ?? ''],
        [count(refused), refused],
        [percent(refusedShare), refusedShare],
        [count(clientsHit), clientsHit],
        [percent(clientShare), clientShare],
        [longest === null ? '–' : span(longest.duration), longest?.duration ?? -1],
      ]
    },
  )
  return table('What each candidate would have done', head, rows, 2)
}

/** The clients that were refused most, of all candidates. */
export function victimTable({ candidates }: ReplayResult): string {
  const head = [
    'client',
    'candidate',
    'refused',
    'requests',
    'of its requests',
    'peak',
    'longest refused',
  ]
  const rows = candidates.flatMap(({ name, victims }) =>
    victims.map(({ client, refused, requests, peak, longest }): Cell[] => [
      [`<code>${escaped(client)}</code>`, client],
      [escaped(name), name],
      [count(refused), refused],
      [count(requests), requests],
      [percent(refused / requests), refused / requests],
      [count(peak), peak],
      [longest === 0 ? '–' : span(longest), longest],
    ]),
  )
  return rows.length === 0
    ? '<p>No client would have been refused.</p>'
    : table('The clients refused most', head, rows, 2)
}

/** A table whose columns sort; numbers stand from a column on. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly Cell[][],
  numbersFrom: number,
): string {
  const titles = head.map(
    (title, i) =>
      `<th scope="col"${i >= numbersFrom ? ' class="number"' : ''}><button type="button">${title}</button></th>`,
  )
  const body = rows.map(
    (cells) =>
      `<tr>${cells.map(([text, value], i) => `<td data-value="${escaped(String(value))}"${i >= numbersFrom ? ' class="number"' : ''}>${text}</td>`).join('')}</tr>`,
  )
  return `<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table class="sorts"><caption>${caption}</caption><thead><tr>${titles.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
}
