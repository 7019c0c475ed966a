// Notices that a file has changed: edited in place, replaced by a rename, or swapped behind a symbolic link.
import { watch, type FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Millis } from 'sluice'

/** How the watching may differ from its defaults, in milliseconds. */
export interface WatchOptions {
  /** How long the file must have been left alone before it counts as changed. */
  readonly settle?: Millis
  /** How often the file is looked at without any notice from the system, which not every file system sends. */
  readonly poll?: Millis
}

/**
 * Calls back some time after the file may have changed; the caller checks whether its content did. Watches
 * the directory, since a watched file is lost with its first rename, and mounted volumes swap a link beside it.
 */
export function watchFile(
  file: string,
  onChange: () => void,
  { settle = 100, poll = 2000 }: WatchOptions = {},
): { close(): void } {
  let settling: NodeJS.Timeout | undefined
  const noticed = (): void => {
    clearTimeout(settling)
    settling = setTimeout(onChange, settle)
  }
  const watcher = watchDirectory(dirname(file), basename(file), noticed)
  // The first look counts as a change: the file may have changed since it was read.
  let last: string | undefined
  const looking = setInterval(() => {
    void signOf(file).then((sign) => {
      if (sign !== last) noticed()
      last = sign
    })
  }, poll)
  looking.unref()
  return {
    close() {
      watcher?.close()
      clearInterval(looking)
      clearTimeout(settling)
    },
  }
}

function watchDirectory(
  directory: string,
  name: string,
  onChange: () => void,
): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, (_, changed) => {
      // Kubernetes swaps the link `..data`; a change without a name may be anything.
      if (changed === null || changed === name || changed.startsWith('..')) onChange()
    })
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    // Too many watchers, or a file system without them: polling is enough.
    return undefined
  }
}

/** What differs between two states of a file, without reading it. */
async function signOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs } = await stat(file)
    return `${dev} ${ino} ${size} ${mtimeMs}`
  } catch {
    return 'none'
  }
}
