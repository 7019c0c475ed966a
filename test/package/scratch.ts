// The packed package in scratch projects, for tests that use it the way its users do.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from '../../scripts/build.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The TypeScript compiler of the workspace. */
export const TSC: string = join(root, 'node_modules/.bin/tsc')

/** One folder for all scratch projects of a test file. */
export class Scratch {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
  private tarball = ''

  /** Packs the package and installs the tarball once; projects get copies of the result. */
  async pack(): Promise<void> {
    // Without its `prepack`, which would replace the build under tests that run at the same time.
    await build({ onlyChanged: true })
    const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', this.folder]
    run('npm', args, join(root, 'packages/sluice'))
    const name = readdirSync(this.folder).find((file) => file.endsWith('.tgz')) ?? ''
    this.tarball = join(this.folder, name)
    const installed = this.write('installed', { 'package.json': '{ "private": true }' })
    const quiet = ['--offline', '--no-audit', '--no-fund', '--silent']
    run('npm', ['install', ...quiet, this.tarball], installed)
  }

  /** Removes everything. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The paths in the tarball. */
  get files(): string[] {
    return run('tar', ['-tzf', this.tarball], this.folder).trim().split('\n')
  }

  /** A project with the installed package. */
  project(name: string, type: string, files: Readonly<Record<string, string>>): string {
    const manifest = JSON.stringify({ name, private: true, type })
    const folder = this.write(name, { 'package.json': manifest, ...files })
    const installed = join(this.folder, 'installed/node_modules')
    cpSync(installed, join(folder, 'node_modules'), { recursive: true })
    return folder
  }

  private write(name: string, files: Readonly<Record<string, string>>): string {
    const folder = join(this.folder, name)
    mkdirSync(folder)
    for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content)
    return folder
  }
}

/** The modules that the manifest exports; publint checks that the tarball contains them. */
export function publicEntries(): string[] {
  const manifest = jsonOf('packages/sluice/package.json') as {
    exports: Record<string, string | object>
  }
  return Object.entries(manifest.exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([entry]) => posix.join('sluice', entry))
}

/** A JSON file of the workspace. */
export function jsonOf(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

/** The standard output of a command; the error of a failed one contains all it printed. */
export function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
