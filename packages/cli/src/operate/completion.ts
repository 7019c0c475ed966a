// Shell completion: names of commands and flags, from the commands themselves.
import type { Command } from 'commander'
import { Mistake } from '../terminal/mistake.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The script that a shell reads: `source <(sluice completion bash)`. */
export function completion(program: Command, shell: string): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    about: command.description(),
    flags: command.options.flatMap(({ long }) => long ?? []),
  }))
  const names = commands.map(({ name }) => name).join(' ')
  if (shell === 'fish')
    return `${commands
      .flatMap(({ name, about, flags }) => [
        `complete -c sluice -f -n __fish_use_subcommand -a ${name} -d '${about.replaceAll("'", '')}'`,
        ...flags.map(
          (flag) =>
            `complete -c sluice -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`,
        ),
      ])
      .join('\n')}\n`
  if (shell === 'zsh') return zshScript(commands)
  if (shell !== 'bash')
    throw new Mistake(`${JSON.stringify(shell)} is no known shell; accepted: ${SHELLS.join(', ')}`)
  const cases = commands.map(({ name, flags }) => `    ${name}) words="${flags.join(' ')}" ;;`)
  return `_sluice() {
  local words="${names}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sluice sluice
`
}

interface Completed {
  readonly name: string
  readonly about: string
  readonly flags: readonly string[]
}

/** zsh's own way: its emulation of bash shares the parameter `words` with the function that is called. */
function zshScript(commands: readonly Completed[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
  const cases = commands.map(
    ({ name, flags }) => `    ${name}) compadd -- ${flags.map(quoted).join(' ')} ;;`,
  )
  return `#compdef sluice
(( $+functions[compdef] )) || { autoload -U compinit && compinit }
_sluice() {
  if (( CURRENT == 2 )); then
    local -a names about
    names=(${commands.map(({ name }) => quoted(name)).join(' ')})
    about=(${commands.map(({ name, about }) => quoted(`${name}: ${about}`)).join(' ')})
    compadd -l -d about -a names
    return
  fi
  if [[ $words[CURRENT] == -* ]]; then
    case $words[2] in
${cases.join('\n')}
    esac
    return
  fi
  _files
}
compdef _sluice sluice
`
}
