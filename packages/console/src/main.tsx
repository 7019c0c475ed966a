// The console: one page, drawn from the live feed and the admin API of the service.
import { render } from 'preact'
import { whenSignedOut } from './api.ts'
import { App } from './app.tsx'
import { checkSession, leave, session } from './live.ts'
import './style/base.css'
import './style/frame.css'
import './style/parts.css'
import './style/pages.css'

whenSignedOut(() => {
  leave()
  session.value = { name: null, hasEnded: true }
})
render(<App />, document.querySelector('#app')!)
void checkSession()
