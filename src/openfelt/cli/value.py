"""`felt value`."""

from __future__ import annotations

import argparse
from dataclasses import replace

from openfelt.cli.exploit import add_sampling_arguments
from openfelt.cli.options import add_on, count, print_json, progress_bar, seed
from openfelt.core.devices import AUTO
from openfelt.core.errors import FeltError

HELP = (
    "Compute what one policy wins from another. In enumerated games the result is exact. In hold'em the\n"
    "policies play many deals, each in every seat with the same cards, and the result has a 95% interval;\n"
    "with --exact it is the expected value over all deals. A policy is the folder of a run or policy, a\n"
    "rule player (always-raise, always-call, always-fold, random, probe) or, in hold'em, a bot that plays\n"
    "a policy: default, sparbot-like or fellomen-like."
)
EXAMPLES = [
    "felt value default always-raise",
    "felt value runs/holdem-smooth-uct default --deals 5e6 --threads 2",
    "felt value runs/leduc-pcfr+ runs/leduc-cfr",
    "felt value default sparbot-like --exact --device cuda",
    "felt value default sparbot-like --exact --on ray://head:10001 --resume values",
]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("policy", help="the policy whose winnings are computed")
    parser.add_argument("opponent", help="the policy in all other seats")
    parser.add_argument(
        "--deals", type=count, default=1_000_000, help="number of hold'em deals (default: 1,000,000)"
    )
    parser.add_argument("--greedy", action="store_true", help="use the greedy policies of both")
    parser.add_argument("--seed", type=seed, default=0, help="deal other cards")
    parser.add_argument(
        "--threads", type=count, default=1, help="CPU threads (default: 1); the result is the same"
    )
    add_on(parser)
    exact = parser.add_argument_group("in two-player hold'em, instead of deals")
    exact.add_argument(
        "--exact", action="store_true", help="compute the expected value over all deals (see felt exploit)"
    )
    add_sampling_arguments(exact)
    exact.add_argument("--device", default=AUTO, help="cpu, cuda or auto (default: a GPU if there is one)")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.arena.value import value
    from openfelt.bots.measurable import load_measurable, load_policies

    names = arguments.policy, arguments.opponent
    if not arguments.exact and any((arguments.flops, arguments.turns, arguments.rivers, arguments.resume)):
        raise FeltError("--flops, --turns, --rivers and --resume go with --exact.")
    if arguments.exact:
        policy, opponent = (load_measurable(name, greedy=arguments.greedy) for name in names)
    else:
        policy, opponent = load_policies(*names, greedy=arguments.greedy)
    with progress_bar(not arguments.json) as bar:
        won = value(
            policy,
            opponent,
            exact=arguments.exact,
            deals=arguments.deals,
            seed=arguments.seed,
            threads=arguments.on or arguments.threads,
            device=arguments.device,
            flops=arguments.flops,
            turns=arguments.turns,
            rivers=arguments.rivers,
            folder=arguments.resume,
            progress=bar(f"{arguments.policy} against {arguments.opponent}"),
        )
    if not arguments.exact:
        won = replace(won, name=arguments.policy, opponent=arguments.opponent)
    if arguments.json:
        print_json(won.as_dict())
    else:
        print(won)
