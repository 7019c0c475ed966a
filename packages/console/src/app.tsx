// The frame around every page: who has signed in, how the connection is, and the way to the other pages.
import { useEffect, useRef } from 'preact/hooks'
import { ask } from './api.ts'
import { checkSession, link, session, ticks } from './live.ts'
import { Audit } from './pages/audit.tsx'
import { Controls } from './pages/controls.tsx'
import { Health } from './pages/health.tsx'
import { KeyPage } from './pages/key/key.tsx'
import { Keys } from './pages/keys.tsx'
import { Overview } from './pages/overview/overview.tsx'
import { PolicyPage } from './pages/policy/policy.tsx'
import { RulePage } from './pages/rule.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { Dialog } from './parts/dialog.tsx'
import { Toasts } from './parts/toast.tsx'
import { hrefOf, route } from './router.ts'
import { clock } from './words.ts'

const PAGES = [
  ['overview', 'Overview'],
  ['keys', 'Keys'],
  ['controls', 'Blocks and overrides'],
  ['policy', 'Policy'],
  ['audit', 'Audit'],
  ['health', 'Health'],
] as const

const LINKS = { connecting: 'connecting…', live: 'live', lost: 'connection lost' } as const

export function App() {
  const who = session.value
  if (who === undefined)
    return (
      <main class="narrow">
        <div class="sign-in panel">
          <p class="brand">
            <img src="/favicon.svg" alt="" width="40" height="40" />
            <span role="status">
              {link.value === 'lost' ? 'The service cannot be reached. Trying again…' : 'Loading…'}
            </span>
          </p>
        </div>
      </main>
    )
  if (who.name === null) return <SignIn />
  const { page } = route.value
  return (
    <>
      <header class="top">
        <a class="skip" href={hrefOf(page)} onClick={skip}>
          Skip to the content
        </a>
        <a class="logo" href={hrefOf('overview')}>
          <img src="/favicon.svg" alt="" width="24" height="24" /> Sluice
        </a>
        <Pages current={page} />
        <p class={`link ${link.value}`} role="status">
          {LINKS[link.value]}
        </p>
        <p class="who">
          {who.name}
          {who.role === 'read' && ' (read only)'}
          <button type="button" class="quiet" onClick={() => void signOut()}>
            Sign out
          </button>
        </p>
      </header>
      <Lost />
      <main id="content" tabIndex={-1} class={link.value === 'lost' ? 'stale' : ''}>
        <Page name={page} />
      </main>
      <Dialog />
      <Toasts />
    </>
  )
}

/** The way to the pages; on a narrow screen the list scrolls, and the current page is in sight. */
function Pages({ current }: { readonly current: string }) {
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const { current: nav } = list
    const link = nav?.querySelector<HTMLElement>('[aria-current]')
    // Not by scrollIntoView: the Tab key would go on from there.
    if (nav && link)
      nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2
  }, [current])
  return (
    <nav aria-label="Pages" ref={list}>
      {PAGES.map(([name, label]) => (
        <a key={name} href={hrefOf(name)} aria-current={current === name ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}

/** Says that what is shown is old, and since when. */
function Lost() {
  if (link.value !== 'lost') return null
  const newest = ticks.value.at(-1)
  return (
    <p class="banner" role="alert">
      <b>The service cannot be reached.</b>{' '}
      {newest === undefined ? 'Nothing was read yet.' : `What you see is from ${clock(newest.t)}.`}{' '}
      The page connects again by itself.
    </p>
  )
}

function Page({ name }: { readonly name: string }) {
  switch (name) {
    case 'overview':
      return <Overview />
    case 'keys':
      return <Keys />
    case 'key':
      return <KeyPage />
    case 'rule':
      return <RulePage />
    case 'controls':
      return <Controls />
    case 'policy':
      return <PolicyPage />
    case 'audit':
      return <Audit />
    case 'health':
      return <Health />
    default:
      return (
        <>
          <h1 tabIndex={-1}>There is no such page</h1>
          <p>
            <a href={hrefOf('overview')}>Go to the overview</a>
          </p>
        </>
      )
  }
}

/** Moves the focus behind the frame; the address names a page, so that it cannot name a place in it. */
function skip(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}

async function signOut(): Promise<void> {
  await ask('/console/sign-out', {}).catch(() => {})
  await checkSession()
}
