// Which page is shown: the part of the address behind #.
import { signal } from '@preact/signals'

/** A page and what it is about. */
export interface Route {
  readonly page: string
  readonly query: URLSearchParams
}

function read(): Route {
  const [page = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  // A sign-in link is the way in, and no page.
  const isFirst = page === '' || page.startsWith('sign-in=')
  return { page: isFirst ? 'overview' : page, query: new URLSearchParams(query) }
}

export const route = signal<Route>(read())

addEventListener('hashchange', () => {
  route.value = read()
  // Readers of the screen begin at the new page's heading.
  scrollTo(0, 0)
  requestAnimationFrame(() => document.querySelector<HTMLElement>('h1')?.focus())
})

/** The address of a page. */
export function hrefOf(page: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString()
  return `#/${page}${text === '' ? '' : `?${text}`}`
}
