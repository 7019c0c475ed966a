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
  if (shell !== 'bash' && shell !== 'zsh')
    throw new Mistake(`${JSON.stringify(shell)} is no known shell; accepted: ${SHELLS.join(', ')}`)
  const cases = commands.map(({ name, flags }) => `    ${name}) words="${flags.join(' ')}" ;;`)
  // zsh reads the functions of bash with its own bashcompinit.
  const start = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''
  return `${start}_sluice() {
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
