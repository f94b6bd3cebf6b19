"""`felt completion`."""

from __future__ import annotations

import argparse

from openfelt.cli.options import print_json

HELP = (
    "Print the script that lets your shell complete commands, options and files. For bash or zsh put\n"
    'eval "$(felt completion bash)" into ~/.bashrc, or eval "$(felt completion zsh)" into ~/.zshrc after\n'
    "compinit."
)
EXAMPLES = [
    "felt completion bash           (its output is to be evaluated in ~/.bashrc)",
    "felt completion fish           (to be written to ~/.config/fish/completions/felt.fish)",
    "felt completion powershell     (to be piped to Out-String and Invoke-Expression in $PROFILE)",
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
