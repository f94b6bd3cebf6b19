"""`felt completion`."""

from __future__ import annotations

import argparse

from openfelt.cli.options import print_json

HELP = (
    "Print the script that lets your shell complete commands, options and files. Put the line of your shell\n"
    "among the examples into its start-up file."
)
EXAMPLES = [
    'eval "$(felt completion bash)"                     (in ~/.bashrc)',
    'eval "$(felt completion zsh)"                      (in ~/.zshrc, after compinit)',
    "felt completion fish > ~/.config/fish/completions/felt.fish",
    "felt completion powershell | Out-String | Invoke-Expression     (in $PROFILE)",
]
SHELLS = ("bash", "zsh", "fish", "powershell")


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("shell", choices=SHELLS)


def run(arguments: argparse.Namespace) -> None:
    from argcomplete.shell_integration import shellcode

    script = shellcode(["felt"], shell=arguments.shell)
    if arguments.json:
        print_json({"shell": arguments.shell, "script": script})
    else:
        print(script)
