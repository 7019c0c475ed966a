// The example of a token budget, as it stands in its folder.
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { startUpstream } from '../../../../examples/llm-budget/upstream.mjs'
import { until } from '../../../../test/servers/until.ts'
import { behind, urlOf } from './behind.ts'

const file = new URL('../../../../examples/llm-budget/sluice.yaml', import.meta.url)
const PER_REQUEST = 190

it('charges a team for what was really used, and refuses it when its month is spent', async () => {
  const upstream = await startUpstream(0)
  onTestFinished(() => void upstream.close())
  const { listeners, ...config } = parse(readFileSync(file, 'utf8')) as {
    listeners: { proxy: { llm: string[] } }
  }
  const { llm } = listeners.proxy
  const { proxy, url, figure } = await behind(urlOf(upstream), { llm }, config)
  const ask = (team: string): Promise<Response> =>
    fetch(`${proxy}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'X-Team': team, 'X-Model': 'small' },
      body: '{"stream":true}',
    })
  const left = async (team: string): Promise<number> => {
    const response = await fetch(`${url}/v1/peek`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ attributes: { team, model: 'small' } }),
    })
    const { outcomes } = (await response.json()) as {
      outcomes: { rule: string; remaining: number }[]
    }
    return outcomes.find(({ rule }) => rule === 'monthly-budget')!.remaining
  }
  for (let i = 1; i <= 5; i++) {
    const response = await ask('search')
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('[DONE]')
    await until(
      'the charge or the slot',
      5000,
      async () => (await left('search')) === 5000 - i * PER_REQUEST,
    )
  }
  expect(await figure('sluice_proxy_llm_requests_total{usage="read"}')).toBe(5)
  let refused: Response | undefined
  for (let i = 0; i < 40 && refused === undefined; i++) {
    const response = await ask('search')
    await response.text()
    if (response.status === 429) refused = response
  }
  expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
  expect((await ask('ads')).status).toBe(200)
})
