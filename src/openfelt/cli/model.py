"""`felt model`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.hand_options import add_hand_options, report_skipped
from openfelt.cli.options import add_on, busy, count, positive, print_json, progress_bar, seed
from openfelt.core.errors import FeltError, FileError

if TYPE_CHECKING:
    from openfelt.opponents.models.frequencies import FrequencyModel
    from openfelt.opponents.models.model import OpponentModel
    from openfelt.opponents.models.observed import ObservedHand
    from openfelt.opponents.models.score import ModelScore

HELP = (
    "Opponent models, learned from hand histories: they predict a player's actions given its cards, and\n"
    "infer its range from its actions. HISTORIES is a file that `felt history` reads (.phh, .phhs, .log,\n"
    ".txt, .db) or a folder of such files. `fit` learns a model and saves it in a folder, `show` prints\n"
    "what it has learned, `score` measures how well it predicts other hands: a saved model, or with --kind\n"
    "one that is learned from the first hands and scored on the rest. Kinds: tally (TAU), trees (PJL11),\n"
    "relational (PGC10), and frequencies, which ignore the cards."
)
EXAMPLES = [
    "felt model fit hands.db --player poki-like --kind tally --out poki",
    "felt model show poki",
    "felt model score poki later.phhs --player poki-like",
    "felt model score --kind trees hands.db --player ace1 --held-out 0.2 --plot calibration.png",
    "felt model fit games --player Ann --kind relational --cards shown --game 'holdem(players=3)' --out ann",
]
FIT, SHOW, SCORE = "fit", "show", "score"
HELD_OUT = 0.2
GAME = "holdem"


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("what", choices=(FIT, SHOW, SCORE))
    parser.add_argument("paths", type=Path, nargs="+", metavar="MODEL|HISTORIES", help="see the examples")
    parser.add_argument("--player", help="name of the player (default for a saved model: its player)")
    parser.add_argument("--kind", help="tally, trees, relational or frequencies")
    parser.add_argument("--out", type=Path, help="fit: the folder to write")
    parser.add_argument("--game", help=f"the game (default: {GAME}, or the model's)")
    parser.add_argument(
        "--cards",
        choices=("known", "shown"),
        default="known",
        help="learn from all cards in the history (known), or only from those of showdowns (shown)",
    )
    parser.add_argument("--hands", type=count, metavar="N", help="only the player's first N hands")
    parser.add_argument(
        "--held-out",
        type=positive,
        metavar="SHARE",
        help="score --kind: share of the hands to score on, the last ones (default: 0.2)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed for sampling unknown cards (default: 0)")
    parser.add_argument("--plot", type=Path, help="draw the model (show) or its calibration (score), as .png")
    add_hand_options(parser)
    add_on(parser)


def run(arguments: argparse.Namespace) -> None:
    if arguments.plot:
        from openfelt.plots.figure import prepare_figure

        prepare_figure(arguments.plot)
    {FIT: _fit, SHOW: _show, SCORE: _score}[arguments.what](arguments)


def _fit(arguments: argparse.Namespace) -> None:
    from openfelt.opponents.models.files import save_model

    histories = _paths(arguments, "`felt model fit` needs HISTORIES", 1)[0]
    for name in ("player", "kind", "out"):
        if getattr(arguments, name) is None:
            raise FeltError(f"`felt model fit` needs --{name} (see felt model --help).")
    if arguments.plot or arguments.held_out:
        raise FeltError("--plot and --held-out are not for `felt model fit`.")
    game = arguments.game or GAME
    model = _new(arguments.kind, game)
    _check_folder(arguments.out)
    hands = _hands(histories, arguments, arguments.player, game, arguments.cards)
    _learn(model, hands, arguments)
    save_model(model, arguments.out, player=arguments.player)
    shown = sum(hand.holding >= 0 for hand in hands)
    facts = {"model": str(arguments.out), "kind": model.kind, "game": model.domain.game.name}
    facts |= {"player": arguments.player}
    if arguments.json:
        print_json({**facts, "hands": len(hands), "with_cards": shown})
        return
    print(f"{model.kind} of {arguments.player}: {len(hands):,} hands, {shown:,} with known cards")
    print(f"saved in {arguments.out}")


def _show(arguments: argparse.Namespace) -> None:
    from openfelt.opponents.models.files import open_model

    folder = _paths(arguments, "`felt model show` needs a MODEL", 1)[0]
    with busy(f"reading {folder}"):
        saved = open_model(folder)
        text = saved.model.describe()
    if arguments.plot:
        from openfelt.plots.relational_tree import draw_model

        draw_model(saved.model, arguments.plot)
    if arguments.json:
        print_json({**saved.about, "text": text})
        return
    about = saved.about
    player = f" of {about['player']}" if about["player"] else ""
    print(f"{about['kind']}{player} in {about['game']}, learned from {about['learned']:,} hands\n\n{text}")
    if arguments.plot:
        print(f"drawn in {arguments.plot}")


def _score(arguments: argparse.Namespace) -> None:
    from openfelt.opponents.models.frequencies import FrequencyModel
    from openfelt.opponents.models.score import compare, split

    habits: FrequencyModel
    if arguments.kind is None:
        if arguments.held_out is not None:
            raise FeltError("--held-out goes with --kind; a saved model is scored on all hands.")
        model, habits, player, hands = _saved_and_hands(arguments)
        learned = None
    else:
        histories = _paths(arguments, "`felt model score --kind K` needs HISTORIES", 1)[0]
        if arguments.player is None:
            raise FeltError("`felt model score --kind K` needs --player.")
        game, player = arguments.game or GAME, arguments.player
        model, habits = _new(arguments.kind, game), FrequencyModel(game)
        first, hands = split(
            _hands(histories, arguments, player, game, "known"), arguments.held_out or HELD_OUT
        )
        if arguments.cards == "shown":
            shown = _hands(histories, arguments, player, game, "shown")
            first = shown[: len(first)]
        _learn(model, first, arguments)
        habits.fit(first)
        learned = len(first)
    with progress_bar(not arguments.json) as bar:
        scores = compare(model.kind, model, habits, hands, bar(f"scoring {len(hands):,} hands"))
    if arguments.plot:
        if scores[0].calibration is None:
            raise FeltError("There is nothing to draw: the player's cards are known in none of the hands.")
        from openfelt.plots.calibration import plot_calibration

        plot_calibration(f"{model.kind} of {player}", scores[0].calibration, arguments.plot)
    _report(arguments, player, learned, scores)


def _saved_and_hands(
    arguments: argparse.Namespace,
) -> tuple[OpponentModel, FrequencyModel, str, list[ObservedHand]]:
    from openfelt.opponents.models.files import load_model, open_model

    folder, histories = _paths(arguments, "`felt model score` needs a MODEL and HISTORIES, or --kind", 2)
    with busy(f"reading {folder}"):
        if arguments.game:
            load_model(folder, arguments.game)  # raises if it is of another game
        saved = open_model(folder)
    player = arguments.player or str(saved.about["player"])
    if not player:
        raise FeltError(f"{folder} does not name its player; give --player.")
    hands = _hands(histories, arguments, player, saved.model.domain.game.name, arguments.cards)
    return saved.model, saved.habits, player, hands


def _report(
    arguments: argparse.Namespace, player: str, learned: int | None, scores: Sequence[ModelScore]
) -> None:
    from openfelt.opponents.models.score import table

    if arguments.json:
        facts: dict[str, Any] = {"player": player, "learned": learned, "scored": scores[0].hands}
        print_json({**facts, "unit": "nats", "scores": [score.to_json() for score in scores]})
        return
    before = f", learned from the {learned:,} before" if learned is not None else ""
    print(f"{player}: {scores[0].hands:,} hands, {scores[0].decisions:,} decisions with known cards{before}")
    print(table(scores))
    print("nats with standard errors; cards: log-probability above that of the prior")
    if scores[0].gain:
        print(f"{scores[0].name} loses {scores[0].gain} less per decision than the frequencies")
    if arguments.plot:
        print(f"drawn in {arguments.plot}")


def _paths(arguments: argparse.Namespace, needed: str, wanted: int) -> list[Path]:
    if len(arguments.paths) != wanted:
        raise FeltError(f"{needed}, not {len(arguments.paths)} paths (see felt model --help).")
    return list(arguments.paths)


def _new(kind: str, game: str) -> OpponentModel:
    from openfelt.opponents.models.files import new_model

    return new_model(kind, game)


def _check_folder(folder: Path) -> None:
    """Check before any work that the model can be saved there."""
    from openfelt.core.files import MANIFEST, read_manifest
    from openfelt.opponents.models.files import FOLDER

    if folder.is_file():
        raise FileError(f"{folder} is a file, where a folder for the model is needed.")
    if (folder / MANIFEST).exists():
        read_manifest(folder, FOLDER)
    elif folder.exists() and any(folder.iterdir()):
        raise FileError(f"{folder} holds other files; name an empty or new folder for the model.")


def _learn(model: OpponentModel, hands: Sequence[ObservedHand], arguments: argparse.Namespace) -> None:
    with busy(f"learning from {len(hands):,} hands"):
        if all(hand.holding < 0 for hand in hands) and model.kind != "frequencies":
            raise FeltError(
                "The player's cards are known in none of its hands: a model needs some that were shown"
                " (only frequencies need none)."
            )
        model.fit(hands, seed=arguments.seed)


def _hands(
    histories: Path, arguments: argparse.Namespace, player: str, game: str, cards: str
) -> list[ObservedHand]:
    """The first hands of the player, as many as requested."""
    from openfelt.arena.observed_files import HandRequest, read_observed

    how = arguments.definition, arguments.partial, arguments.skip_bad
    request = HandRequest(player, game, cards, *how)
    with busy(f"reading {histories}"):
        found = read_observed(histories, request, arguments.on or 1)
    report_skipped(found.skipped)
    found.require_any(request)
    return found.hands[: arguments.hands]
