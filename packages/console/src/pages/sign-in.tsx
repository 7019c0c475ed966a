// Signing in: by a token, or by the link that the service prints when it starts.
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { fieldOf } from '../form.ts'
import { checkSession, session } from '../live.ts'

export function SignIn() {
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const signIn = async (credentials: object): Promise<void> => {
    setBusy(true)
    setProblem('')
    try {
      await ask('/console/sign-in', credentials)
      await checkSession()
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  useEffect(() => {
    const code = /^#sign-in=([\w.-]+)$/.exec(location.hash)?.[1]
    if (code === undefined) return
    // The code must stay in no history.
    history.replaceState(null, '', location.pathname)
    void signIn({ code })
  }, [])
  const submit = (event: Event): void => {
    event.preventDefault()
    void signIn({ token: fieldOf(event.target, 'token').trim() })
  }
  return (
    <main class="narrow">
      <form class="sign-in panel" onSubmit={submit}>
        <div class="brand">
          <img src="/favicon.svg" alt="" width="40" height="40" />
          <div>
            <h1>Sluice</h1>
            <p class="hint">Who is refused, by which rule, and why</p>
          </div>
        </div>
        {session.value?.hasEnded === true && (
          <p role="status">Your session has ended. Sign in again.</p>
        )}
        {/* Managers of passwords file a token under this name. */}
        <input
          type="text"
          name="username"
          autocomplete="username"
          value="sluice admin"
          hidden
          readOnly
        />
        <label>
          Admin token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            required
            autofocus
            aria-describedby="token-help"
          />
        </label>
        {problem !== '' && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button class="primary" type="submit" disabled={isBusy}>
          Sign in
        </button>
        <p id="token-help" class="hint">
          The tokens are in the file that <code>listeners.admin.tokenFile</code> names, or in{' '}
          <code>SLUICE_ADMIN_TOKEN</code>. <code>sluice serve --console</code> prints a link that
          signs in once.
        </p>
      </form>
    </main>
  )
}
