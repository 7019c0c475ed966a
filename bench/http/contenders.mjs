// What is measured: no limiter, the floor, ours with the newest fields, and each peer beside ours with the peer's fields.
import { floors } from './floors.mjs'
import { frameworks } from './frameworks.mjs'
import { ours } from './ours.mjs'
import { flexible, forExpress, forFastify, forHono, forKoa } from './peers.mjs'

/** @typedef {import('./frameworks.mjs').Framework} Framework */
/** @typedef {{ quota: number, redis?: string | undefined }} Settings */
/** @typedef {{ framework: Framework, name: string, kind: 'bare' | 'floor' | 'ours' | 'peer', rival?: string, use: ((settings: Settings) => any) | null }} Contender `rival` is the name of ours with the same fields */

const NEWEST = 'sluice'
const OLDER = 'sluice, x-ratelimit-epoch'

/** @param {string} name @param {(settings: Settings) => any} use @param {string} rival */
const peer = (name, use, rival) => ({ name, use, rival })

/** @type {Record<Framework, { older: string | null, peers: { name: string, use: (settings: Settings) => any, rival: string }[] }>} */
const field = {
  node: {
    older: 'x-ratelimit-epoch',
    peers: [peer('rate-limiter-flexible', flexible('node'), OLDER)],
  },
  fastify: {
    older: 'x-ratelimit-delta',
    peers: [peer('@fastify/rate-limit', forFastify, OLDER)],
  },
  koa: {
    older: 'x-ratelimit-epoch',
    peers: [
      peer('koa-ratelimit', forKoa, OLDER),
      peer('rate-limiter-flexible', flexible('koa'), OLDER),
    ],
  },
  hono: { older: 'draft-6', peers: [peer('hono-rate-limiter', forHono, OLDER)] },
  express: {
    older: 'x-ratelimit-epoch',
    peers: [
      peer('express-rate-limit draft-8', forExpress('draft-8'), NEWEST),
      peer('express-rate-limit', forExpress(undefined), OLDER),
      peer('rate-limiter-flexible', flexible('express'), OLDER),
    ],
  },
}

/** @type {readonly Contender[]} */
export const contenders = /** @type {Framework[]} */ (Object.keys(frameworks)).flatMap(
  (framework) => {
    const { older, peers } = field[framework]
    return /** @type {Contender[]} */ ([
      { framework, name: 'bare', kind: 'bare', use: null },
      {
        framework,
        name: 'floor',
        kind: 'floor',
        use: (/** @type {Settings} */ { quota }) => floors[framework](quota),
      },
      { framework, name: NEWEST, kind: 'ours', use: ours(framework, 'structured') },
      { framework, name: OLDER, kind: 'ours', use: ours(framework, older) },
      ...peers.map((one) => ({ framework, kind: 'peer', ...one })),
    ])
  },
)

/** The listener of a contender. @param {string} framework @param {string} name @param {Settings} settings */
export function listenerOf(framework, name, settings) {
  const contender = contenders.find((one) => one.framework === framework && one.name === name)
  if (contender === undefined) throw new Error(`there is no contender ${framework}, ${name}`)
  const { use } = contender
  return frameworks[contender.framework](use === null ? null : use(settings))
}
