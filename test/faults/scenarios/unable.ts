// Servers that answer, but not what they were asked: busy, full, read-only, loading, without rights or room.
import { Redis } from 'ioredis'
import { configure } from '../configure.ts'
import { onServer } from '../places.ts'
import { type Scenario, TIMEOUT } from '../scenario.ts'

const short = { test: 2000, full: 5000 }

export const unable: readonly Scenario[] = [
  {
    name: 'BUSY: an endless script',
    length: short,
    open: onServer(
      async (server, { begin, back, last }) => {
        const loop = server.cli('EVAL', 'while true do end', '0').catch(() => {})
        begin()
        await last()
        await server.cli('SCRIPT', 'KILL')
        back()
        await loop
      },
      { args: ['--busy-reply-threshold', '100'] },
    ),
    bounds: {},
  },
  {
    name: 'NOSCRIPT: SCRIPT FLUSH 10 times',
    length: short,
    open: onServer(async (server, { begin, back, last, length }) => {
      begin()
      for (let time = 0; time < 10; time++) {
        await server.cli('SCRIPT', 'FLUSH')
        await last(length / 10)
      }
      back()
    }),
    bounds: { fallback: 0, median: TIMEOUT },
  },
  {
    name: 'OOM: maxmemory 1, noeviction',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      await configure(server, 'maxmemory', '1')
      await last()
      await configure(server, 'maxmemory', '0')
      back()
    }),
    bounds: { median: TIMEOUT },
  },
  {
    name: 'READONLY: made a replica',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      // Of a primary that is not there, so that it keeps its data.
      await server.cli('REPLICAOF', '127.0.0.1', '1')
      await last()
      await server.cli('REPLICAOF', 'NO', 'ONE')
      back()
    }),
    bounds: { median: TIMEOUT },
  },
  {
    name: 'LOADING: a slow file',
    length: short,
    open: onServer(async (server, { begin, back, length }) => {
      const count = 2000
      await server.cli(
        'EVAL',
        "for i = 1, ARGV[1] do redis.call('SET', 'x' .. i, i) end",
        '0',
        `${count}`,
      )
      await server.cli('SAVE')
      begin()
      server.kill('SIGKILL')
      const delay = Math.round((1000 * length) / count)
      const slow = [
        '--key-load-delay',
        `${delay}`,
        '--loading-process-events-interval-bytes',
        '1024',
      ]
      await server.restart(slow)
      back()
    }),
    bounds: {},
  },
  {
    name: 'AUTH lost',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      const admin = new Redis(server.url)
      await admin.ping()
      begin()
      await admin.config('SET', 'requirepass', 'another')
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await last()
      await admin.config('SET', 'requirepass', '')
      back()
      admin.disconnect()
    }),
    bounds: {},
  },
  {
    name: 'max clients reached',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      const admin = new Redis(server.url)
      await admin.ping()
      begin()
      await admin.config('SET', 'maxclients', '1')
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await last()
      await admin.config('SET', 'maxclients', '1000')
      back()
      admin.disconnect()
    }),
    bounds: {},
  },
  {
    // Connections are accepted and greeted, and no script is answered: a second connection looks well and is not.
    name: 'CLIENT PAUSE: scripts wait',
    length: short,
    open: onServer(async (server, { begin, back, last, length }) => {
      begin()
      await server.cli('CLIENT', 'PAUSE', `${2 * length}`, 'WRITE')
      await last()
      await server.cli('CLIENT', 'UNPAUSE')
      back()
    }),
    bounds: {},
  },
  {
    name: 'ACL: EVALSHA and EVAL revoked',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      await server.cli('ACL', 'SETUSER', 'default', '-evalsha', '-eval')
      await last()
      await server.cli('ACL', 'SETUSER', 'default', '+evalsha', '+eval')
      back()
    }),
    bounds: {},
  },
  {
    name: 'CLIENT KILL every 200 ms',
    length: short,
    open: onServer(async (server, { begin, back, last, length }) => {
      begin()
      for (let time = 0; time < length / 200; time++) {
        await server.cli('CLIENT', 'KILL', 'TYPE', 'normal')
        await last(200)
      }
      back()
    }),
    // Calls that are on their way when a connection ends may have acted.
    bounds: { unheard: 25 * 64 },
  },
]
