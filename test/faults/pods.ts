// Compiles the pod and starts processes of it.
import { fork, type ChildProcess } from 'node:child_process'
import { compileProgram } from '../compile.ts'
import type { Message, Orders, PodRecord, Request } from './orders.ts'

/** A running pod. */
export interface Pod {
  readonly orders: Orders
  readonly pid: number
  /** Resolves when the store answers the pod. */
  warm(): Promise<void>
  /** Begins the load. */
  load(): void
  /** Resolves when the hot key is spent. */
  readonly spent: Promise<void>
  /** Keeps the event loop busy for so long. */
  block(milliseconds: number): void
  /** SIGSTOP suspends it, SIGCONT lets it go on. */
  kill(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** The bytes of heap in use after a collection. */
  heap(): Promise<number>
  /** Whether the store has answered a row of the requests since an instant of the lab's clock. */
  isSteadySince(instant: number): Promise<boolean>
  /** Its wall clock, in ms since the epoch. */
  time(): Promise<number>
  /** Ends the load and the process; gives what was recorded. Rejects when the process has died before. */
  end(): Promise<PodRecord>
}

/** Where a pod runs. */
export interface PodHost {
  /** Further environment of the pods. */
  readonly env?: Record<string, string>
  /** The program that runs a pod, in place of Node. */
  readonly execPath?: string
}

/** The compiled pod. */
export interface Pods {
  start(orders: Orders, host?: PodHost): Promise<Pod>
  /** Ends what still runs, and removes what was compiled. */
  remove(): void
}

/** Compiles the pod into a folder from which it finds its clients. */
export async function compilePods(): Promise<Pods> {
  const program = await compileProgram('test/faults/pod.ts')
  const running = new Set<ChildProcess>()
  return {
    async start(orders, { env = {}, execPath = process.execPath } = {}) {
      const child = fork(program.script, [JSON.stringify(orders)], {
        serialization: 'advanced',
        execPath,
        execArgv: ['--expose-gc'],
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      running.add(child)
      child.once('exit', () => running.delete(child))
      const pod = control(child, orders)
      await pod.ready
      return pod
    },
    remove() {
      for (const child of running) child.kill('SIGKILL')
      program.remove()
    },
  }
}

function control(child: ChildProcess, orders: Orders): Pod & { readonly ready: Promise<unknown> } {
  const tell = (request: Request): void => void child.send(request)
  const heard = <K extends Message['is']>(kind: K): Promise<Extract<Message, { is: K }>> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null, signal: string | null): void =>
        reject(new Error(`the pod of ${orders.client} ended: ${signal ?? code}`))
      const listen = (message: Message): void => {
        if (message.is !== kind) return
        child.off('message', listen)
        child.off('exit', ended)
        resolve(message as Extract<Message, { is: K }>)
      }
      child.on('message', listen)
      child.once('exit', ended)
    })
  const spent = heard('spent').then(() => {})
  // Not every scenario waits for it.
  spent.catch(() => {})
  return {
    orders,
    pid: child.pid ?? 0,
    ready: heard('ready'),
    spent,
    async warm() {
      const answer = heard('warm')
      tell({ is: 'warm' })
      await answer
    },
    load: () => tell({ is: 'load' }),
    block: (milliseconds) => tell({ is: 'block', milliseconds }),
    kill: (signal) => void child.kill(signal),
    async heap() {
      const answer = heard('heap')
      tell({ is: 'heap' })
      return (await answer).live
    },
    async isSteadySince(since) {
      const answer = heard('steady')
      tell({ is: 'steady', since })
      return (await answer).isSteady
    },
    async time() {
      const answer = heard('time')
      tell({ is: 'time' })
      return (await answer).wallClock
    },
    async end() {
      const answer = heard('end')
      tell({ is: 'end' })
      const { record } = await answer
      // Not before it is here: a process that ends by itself may be gone before its last words are read.
      child.disconnect()
      return record
    },
  }
}
