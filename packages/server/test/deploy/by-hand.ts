// Carries out a Dockerfile without Docker: each stage is a folder, copied into and run in.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DockerfileParser, type Copy, type From, type Instruction } from 'dockerfile-ast'

/** What an image would be. */
export interface Image {
  /** The folder that stands for `/`. */
  readonly root: string
  readonly workdir: string
  readonly environment: Readonly<Record<string, string>>
  readonly user: string
  /** The arguments of ENTRYPOINT, CMD and HEALTHCHECK. */
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly health: readonly string[]
}

/** How it is carried out. */
export interface ByHand {
  /** The folder that the build begins with, as after a clone. */
  readonly context: string
  /** Where the stages are put. */
  readonly folder: string
  /** Runs a command in a folder, or does something in its place. */
  readonly run: (command: string, folder: string) => void
}

/** The last stage of a Dockerfile. */
export function buildByHand(text: string, { context, folder, run }: ByHand): Image {
  const stages = new Map<string, string>()
  let image = { root: '', workdir: '/', environment: {}, user: 'root' } as Image & { root: string }
  image = { ...image, entrypoint: [], command: [], health: [] }
  const inside = (path: string): string =>
    join(image.root, path.startsWith('/') ? path : join(image.workdir, path))
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const words = instruction.getExpandedArguments().map((argument) => argument.getValue())
    switch (instruction.getKeyword()) {
      case 'FROM': {
        const name = (instruction as From).getBuildStage() ?? 'last'
        const root = join(folder, name)
        mkdirSync(root)
        stages.set(name, root)
        image = { ...image, root, workdir: '/', user: 'root' }
        break
      }
      case 'WORKDIR':
        image = { ...image, workdir: words[0]! }
        mkdirSync(inside('.'), { recursive: true })
        break
      case 'COPY': {
        const from = (instruction as Copy).getFromFlag()?.getValue()
        const source = from === undefined || from === null ? context : stages.get(from)!
        const [target, ...sources] = words.toReversed()
        for (const path of sources) copy(join(source, path), inside(target!), target!.endsWith('/'))
        break
      }
      case 'RUN':
        run(words.join(' '), inside('.'))
        break
      case 'ENV': {
        const pairs = words.map((word) => word.split('=') as [string, string])
        image = { ...image, environment: { ...image.environment, ...Object.fromEntries(pairs) } }
        break
      }
      case 'USER':
        image = { ...image, user: words[0]! }
        break
      case 'ENTRYPOINT':
        image = { ...image, entrypoint: listOf(instruction) }
        break
      case 'CMD':
        image = { ...image, command: listOf(instruction) }
        break
      case 'HEALTHCHECK':
        image = { ...image, health: listOf(instruction) }
        break
      case 'EXPOSE':
      case 'STOPSIGNAL':
        break
      default:
        throw new Error(`${instruction.getKeyword()} cannot be carried out by hand`)
    }
  }
  return image
}

/** A file goes into a folder under its name; what is in a folder goes into the other one. */
function copy(source: string, target: string, intoFolder: boolean): void {
  const isFile = execFileSync('stat', ['-c', '%F', source], { encoding: 'utf8' }).includes('file')
  const path = isFile && intoFolder ? join(target, basename(source)) : target
  cpSync(source, path, { recursive: true, verbatimSymlinks: true })
}

/** The words of the list at an instruction's end. */
function listOf(instruction: Instruction): readonly string[] {
  const list = /\[.*\]$/.exec(instruction.getRawArgumentsContent() ?? '')?.[0] ?? '[]'
  return JSON.parse(list) as string[]
}
