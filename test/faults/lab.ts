// Runs a scenario: servers, pods under load, the fault, and what came of it.
import { setTimeout as pause } from 'node:timers/promises'
import { chargesOf } from './charges.ts'
import { type Figures, figuresOf, type Held, type Times, together } from './figures.ts'
import { now } from './instant.ts'
import { type ClientKind, clientKinds, type Orders } from './orders.ts'
import type { Pod, Pods } from './pods.ts'
import { PATIENT, type Place, QUOTA, type Scenario, TIMEOUT, WINDOW } from './scenario.ts'

/** The figures of a scenario through each client. */
export type Outcome = Readonly<Record<ClientKind, Figures>>

export interface RunOptions {
  /**
   * 'test' shortens the faults whose figures do not depend on their length, halves the load, and gives the store
   * more time where it is there all along, so that a pause of the machine is not taken for one of the store.
   */
  readonly length: 'test' | 'full'
  readonly seed: number
}

const SETTLE = 400
const AFTER = 1200
const SPENT_WITHIN = 60_000
/** Milliseconds in which the store must answer all pods again; several scenarios share the machine in the tests. */
const STEADY_WITHIN = { test: 60_000, full: 10_000 }
/** Requests a second in the tests, where several scenarios share the machine. */
const GENTLE = { hotPerSecond: 200, oncePerSecond: 50 }

/** Runs a scenario through all clients: side by side on the same servers, unless it must be alone. */
export async function runScenario(
  scenario: Scenario,
  pods: Pods,
  options: RunOptions,
): Promise<Outcome> {
  const groups = scenario.isAlone === true ? clientKinds.map((kind) => [kind]) : [clientKinds]
  const figures: Partial<Record<ClientKind, Figures>> = {}
  for (const kinds of groups) Object.assign(figures, await runOnce(scenario, pods, options, kinds))
  return figures as Outcome
}

async function runOnce(
  scenario: Scenario,
  pods: Pods,
  { length, seed }: RunOptions,
  kinds: readonly ClientKind[],
): Promise<Partial<Record<ClientKind, Figures>>> {
  const place = await scenario.open(seed)
  try {
    const orders = kinds.flatMap((kind) => ordersOf(scenario, place, kind, length))
    const started = await startAll(orders, pods, place)
    if (scenario.isCold !== true) {
      await Promise.all(started.map((pod) => pod.warm()))
      for (const pod of started) pod.load()
      await Promise.all(started.map(({ spent }) => within(spent, SPENT_WITHIN)))
      await pause(SETTLE)
    }
    const times = await occur(scenario, place, started, scenario.length[length])
    await pause(scenario.after ?? AFTER)
    await steady(started, times.back, STEADY_WITHIN[length])
    const figures = await Promise.all(started.map((pod) => account(pod, place, times)))
    const perKind = kinds.map((kind) => [
      kind,
      together(figures.filter((_, i) => orders[i]!.client === kind)),
    ])
    return Object.fromEntries(perKind) as Partial<Record<ClientKind, Figures>>
  } finally {
    await place.stop()
  }
}

/** Starts the pods at once, or one after the other if their load begins with them. */
async function startAll(orders: readonly Orders[], pods: Pods, place: Place): Promise<Pod[]> {
  const inTurn = orders.filter(({ isImmediate }) => isImmediate === true)
  if (inTurn.length === 0) return Promise.all(orders.map((order) => pods.start(order, place)))
  const started: Pod[] = []
  for (const order of inTurn) started.push(await pods.start(order, place))
  return started
}

function ordersOf(
  scenario: Scenario,
  place: Place,
  client: ClientKind,
  length: RunOptions['length'],
): Orders[] {
  const mayWait = scenario.isPatient === true || scenario.bounds.fallback !== undefined
  const isPatient = length === 'test' && mayWait
  return Array.from({ length: scenario.pods ?? 1 }, (_, number) => ({
    client,
    target: place.target,
    prefix: `${client}:`,
    name: `once-${number}`,
    quota: QUOTA,
    window: WINDOW,
    hotPerSecond: 400,
    hotCost: 1,
    oncePerSecond: 100,
    timeout: isPatient ? PATIENT : TIMEOUT,
    connections: 1,
    ...(length === 'test' ? GENTLE : {}),
    ...scenario.load,
    ...(length === 'test' ? scenario.gentleLoad : {}),
  }))
}

async function occur(
  scenario: Scenario,
  place: Place,
  pods: readonly Pod[],
  length: number,
): Promise<Times> {
  let begin: number | undefined
  let back: number | undefined
  const others: Held[] = []
  await place.fault({
    length,
    pods,
    begin: () => (begin ??= now()),
    back: () => (back ??= now()),
    last: (milliseconds = length) => pause(milliseconds),
    hold: (what, value, most, isTimed = false) => void others.push({ what, value, most, isTimed }),
  })
  if (begin === undefined || back === undefined)
    throw new Error(`${scenario.name} must say when it begins and when the store is back`)
  return { begin, back, epoch: Date.now() - now(), others }
}

/** Waits, within reason, until the store answers all pods again. */
async function steady(pods: readonly Pod[], since: number, milliseconds: number): Promise<void> {
  const deadline = now() + milliseconds
  while (now() < deadline) {
    const states = await Promise.all(pods.map((pod) => pod.isSteadySince(since)))
    if (states.every(Boolean)) return
    await pause(100)
  }
}

async function account(pod: Pod, place: Place, times: Times): Promise<Figures> {
  const record = await pod.end()
  const shots = record.key.reduce((most, key) => Math.max(most, key + 1), 0)
  const charges = await chargesOf(pod.orders, await place.truth(), shots)
  const figures = figuresOf(pod.orders, record, charges, times)
  const measured = place.measure?.(record, times, pod.orders) ?? []
  return { ...figures, others: [...figures.others, ...measured] }
}

async function within(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const late = Symbol('late')
  const first = await Promise.race([promise, pause(milliseconds, late, { ref: false })])
  if (first === late) throw new Error(`the hot key was not spent within ${milliseconds} ms`)
}
