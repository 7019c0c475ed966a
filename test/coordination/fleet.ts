// Starts processes on one Redis server, sends them signals, and merges their records.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Program } from '../compile.ts'
import { startRedis, type RedisServer } from '../servers/redis-server.ts'
import { startSentinel, type RedisSentinel } from '../servers/redis-sentinel.ts'
import type { Answer, Missed, Plan, Request } from './orders.ts'
import { readRecord, sharedTime, type Recorded } from './record.ts'

/** One process of a fleet. */
export interface Member {
  /** Begins the load, or changes it to another multiple of the planned demand. */
  load(factor?: number): void
  /** Resolves when it has next spent a unit of a lease; without leases, when it has next admitted a request. */
  spends(): Promise<void>
  /** Resolves when its clock shows that instant of the shared time. */
  until(at: number): Promise<void>
  kill(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Ends it by SIGKILL, and resolves when it is gone. */
  crash(): Promise<void>
  /** Lets it finish, give back what is leased, and end. Gives what it did not admit. */
  end(): Promise<Missed>
}

/** Processes on one server. */
export class Fleet {
  readonly plan: Plan
  readonly server: RedisServer
  readonly members: Member[] = []
  /** The sentinels that guard the server, if there are any. */
  readonly sentinel: RedisSentinel | undefined
  private readonly program: Program
  private readonly folder = mkdtempSync(join(tmpdir(), 'sluice-fleet-'))
  private readonly running = new Set<ChildProcess>()
  private readonly files: string[] = []

  private constructor(
    program: Program,
    plan: Plan,
    server: RedisServer,
    sentinel: RedisSentinel | undefined,
  ) {
    this.sentinel = sentinel
    this.program = program
    this.plan = plan
    this.server = server
  }

  /** Starts a server and processes that it answers. */
  static async start(
    program: Program,
    plan: Plan,
    size: number,
    isGuarded = false,
  ): Promise<Fleet> {
    const sentinel = isGuarded ? await startSentinel() : undefined
    const server = await (sentinel?.primary() ?? startRedis())
    const fleet = new Fleet(program, plan, server, sentinel)
    try {
      const added = Array.from({ length: size }, (_, i) => fleet.add(i))
      fleet.members.push(...(await Promise.all(added)))
      return fleet
    } catch (error) {
      await fleet.stop()
      throw error
    }
  }

  /** Starts one more process; the seed decides what it asks for. It is not yet one of the members. */
  async add(seed: number): Promise<Member> {
    const file = join(this.folder, `${this.files.length}.record`)
    this.files.push(file)
    const { sentinel } = this
    const sentinels = sentinel?.sentinels.map(({ host, port }) => ({ host, port }))
    const guarded = sentinels === undefined ? {} : { sentinels, name: sentinel!.name }
    const orders = { ...this.plan, port: this.server.port, ...guarded, seed, file }
    const child = fork(this.program.script, [JSON.stringify(orders)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.running.add(child)
    child.once('exit', () => this.running.delete(child))
    await answered(child, 'ready')
    await asked(child, { is: 'warm' })
    return memberOf(child)
  }

  /** The server that decides now. */
  async primary(): Promise<RedisServer> {
    return this.sentinel?.primary() ?? this.server
  }

  /** Every decided request of each process, also of those that have ended. */
  records(): Recorded[][] {
    return this.files.map(readRecord)
  }

  /** Ends what still runs. */
  async stop(): Promise<void> {
    for (const child of this.running) child.kill('SIGKILL')
    await (this.sentinel ?? this.server).stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function memberOf(child: ChildProcess): Member {
  return {
    load: (factor = 1) => void child.send({ is: 'load', factor } satisfies Request),
    spends: async () => void (await asked(child, { is: 'spend' })),
    until: async (at) => void (await asked(child, { is: 'until', at })),
    kill: (signal) => void child.kill(signal),
    async crash() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
    async end() {
      const { missed } = await asked(child, { is: 'end' })
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
      return missed!
    },
  }
}

async function asked(child: ChildProcess, request: Request): Promise<Answer> {
  const answer = answered(child, request.is)
  child.send(request)
  return answer
}

function answered(child: ChildProcess, kind: Answer['is']): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null, signal: string | null): void =>
      reject(new Error(`a member ended before its answer "${kind}": ${signal ?? code}`))
    const listen = (message: Answer): void => {
      if (message.is !== kind) return
      child.off('message', listen)
      child.off('exit', ended)
      resolve(message)
    }
    child.on('message', listen)
    child.once('exit', ended)
  })
}

/** The instant that is so many milliseconds from now. */
export function after(milliseconds: number): number {
  return sharedTime() + milliseconds
}
