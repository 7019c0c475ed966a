// The console: one page, drawn from the live feed and the admin API of the service.
import { render } from 'preact'
import { whenSignedOut } from './api.ts'
import { App } from './app.tsx'
import { checkSession, leave, session } from './live.ts'
import './style.css'

whenSignedOut(() => {
  leave()
  session.value = { name: null }
})
render(<App />, document.querySelector('#app')!)
void checkSession()
