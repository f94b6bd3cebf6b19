"""`felt value`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from openfelt.cli.exploit_holdem import add_exact_arguments, value_holdem
from openfelt.cli.options import count, print_json, seed
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.arena.holdem_value import HoldemValue
    from openfelt.policy.files import AnyPolicy
    from openfelt.policy.holdem import HoldemPolicy

HELP = (
    "What one policy wins against another: exactly where the game can be enumerated; in hold'em over many\n"
    "deals, each played in every seat with the same cards, with a 95% interval; with --exact over all of\n"
    "them. A policy is the folder of a run, or in hold'em a bot that plays by one: `default` (which comes\n"
    "along), sparbot-like, fellomen-like, always-raise, always-call, always-fold, random or probe."
)
EXAMPLES = [
    "felt value default always-raise",
    "felt value runs/holdem-smooth-uct default --deals 5e6 --threads 2",
    "felt value runs/leduc-pcfr+ runs/leduc-cfr",
    "felt value default sparbot-like --exact --device cuda",
]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("policy", help="whose winnings are asked for")
    parser.add_argument("opponent", help="who sits in all other seats")
    parser.add_argument("--deals", type=count, default=1_000_000, help="of hold'em (default: a million)")
    parser.add_argument("--greedy", action="store_true", help="the policy of single actions (of both)")
    parser.add_argument("--seed", type=seed, default=0, help="deal other cards")
    parser.add_argument("--threads", type=count, default=1, help="how many (default: 1); changes no result")
    exact = parser.add_argument_group("in two-player hold'em, instead of deals")
    exact.add_argument(
        "--exact",
        action="store_true",
        help="all hands on all flops, so that no luck is left: see felt exploit",
    )
    add_exact_arguments(exact)


def run(arguments: argparse.Namespace) -> None:
    from openfelt.measure.exploitability import against
    from openfelt.policy.holdem import HoldemPolicy

    if arguments.exact:
        return value_holdem(arguments)
    if arguments.flops or arguments.resume:
        raise FeltError("--flops and --resume go with --exact.")
    policy, opponent = open_pair(arguments.policy, arguments.opponent, greedy=arguments.greedy)
    names = {"policy": arguments.policy, "opponent": arguments.opponent, "game": policy.tree.game}
    if not isinstance(policy, HoldemPolicy):
        won = against(policy, opponent)
        if arguments.json:
            print_json({**names, "by_seat": won, "unit": policy.tree.unit})
        else:
            seats = ", ".join(f"{value:+.6f}" for value in won)
            print(f"{arguments.policy} against {arguments.opponent}, in {policy.tree.game}")
            print(f"  by seat {seats} {policy.tree.unit} per game (exact)")
        return
    if not isinstance(opponent, HoldemPolicy):
        raise FeltError(f"The opponent plays {opponent.tree.game}, not {policy.tree.game}.")
    value = _holdem_value(policy, opponent, arguments)
    if arguments.json:
        print_json({**names, **value.as_dict()})
    else:
        print(f"{arguments.policy} against {arguments.opponent}, in {policy.tree.game}\n  {value}")


def open_pair(*names: str, greedy: bool = False) -> list[AnyPolicy]:
    """Policies by name; a rule plays in the other's game, or in `holdem` if all are rules."""
    from openfelt.bots.named_player import policy_of
    from openfelt.games.compile.betting_tree import BettingTree
    from openfelt.games.compile.compiler import compile_any
    from openfelt.policy.holdem import RULES, rule_policy

    opened = [None if name in RULES else policy_of(name, greedy=greedy) for name in names]
    tree = next((policy.tree for policy in opened if policy), None) or compile_any("holdem")
    policies: list[AnyPolicy] = []
    for name, policy in zip(names, opened, strict=True):
        if policy is not None:
            policies.append(policy)
        elif isinstance(tree, BettingTree):
            policies.append(rule_policy(tree, name))
        else:
            raise FeltError(f"{name} plays hold'em, not {tree.game}.")
    return policies


def _holdem_value(policy: HoldemPolicy, opponent: HoldemPolicy, arguments: argparse.Namespace) -> HoldemValue:
    from openfelt.arena.holdem_value import holdem_value
    from openfelt.cli.options import progress_bar

    with progress_bar(not arguments.json) as bar:
        tell = bar(f"{policy.tree.players * arguments.deals:,} hands")
        return holdem_value(
            policy,
            opponent,
            deals=arguments.deals,
            seed=arguments.seed,
            threads=arguments.threads,
            progress=lambda done: tell(done / arguments.deals),
        )
