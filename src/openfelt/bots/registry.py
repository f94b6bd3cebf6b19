"""From a name to a bot: an included one, a trained policy, or a class in a Python file."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openfelt.bots.bot import Bot
from openfelt.bots.learned import EQUILIBRIUM, LEARNERS, learned_bot, require_small
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.rule_bot import RuleBot
from openfelt.core.call_syntax import parse_call
from openfelt.core.errors import FeltError, unknown
from openfelt.games.compile.tree import too_many_histories
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy.files import DEFAULT
from openfelt.policy.policy import Policy
from openfelt.policy.pretrained import shipped_policy
from openfelt.policy.rules import RULES
from openfelt.solve.run_folder import open_policy
from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.sampling.uct import UCT

GREEDY, AVERAGE = "greedy", "average"


@dataclass(frozen=True)
class BotKind:
    """A named bot."""

    summary: str  # one line, shown by `felt bots` and in the lobby
    make: Callable[[Game], Bot]  # raises FeltError for a game that the bot does not play
    require: Callable[[Game], object] | None = None  # raises it without building the bot, if that takes long
    make_with: Callable[[Game, Mapping[str, Any]], Bot] | None = None  # with parameters, if the bot has any

    def plays(self, game: Game) -> bool:
        """Whether the bot plays a game."""
        try:
            (self.require or self.make)(game)
        except FeltError:
            return False
        return True


def _rule(rule: str) -> Callable[[Game], Bot]:
    return lambda game: RuleBot(rule, game)


def _policy(folder: str, *, greedy: bool = False) -> Callable[[Game], Bot]:
    return lambda game: policy_bot(open_policy(folder, game, greedy=greedy), game)


def _class(module: str, name: str) -> Callable[[Game], Bot]:
    """A class of this package, imported when it is needed."""

    def make(game: Game) -> Bot:
        found: Callable[[Game], Bot] = getattr(importlib.import_module(f"openfelt.bots.{module}"), name)
        return found(game)

    return make


def _heads_up(summary: str, make: Callable[[Game], Bot]) -> BotKind:
    """A bot with a pretrained policy of two-player hold'em, which takes a moment to load."""

    def require(game: Game) -> None:
        if game.unabstracted != Holdem():
            raise FeltError(f"The policy plays {Holdem().name}, not {game.name}.")

    def checked(game: Game) -> Bot:
        require(game)
        return make(game)

    return BotKind(summary, checked, require)


def _learned(name: str, summary: str) -> BotKind:
    return BotKind(summary, lambda game: learned_bot(name, game), lambda game: require_small(name, game))


def _with_options(module: str, name: str, summary: str) -> BotKind:
    """A class of this package that has parameters; imported when it is needed."""

    def kind() -> Any:
        return getattr(importlib.import_module(f"openfelt.bots.{module}"), name)

    def make(game: Game, given: Mapping[str, Any] | None = None) -> Bot:
        found: Bot = kind().from_parameters(game, given or {})
        return found

    def require(game: Game) -> None:
        kind().require(game)

    return BotKind(summary, make, require, make)


BOTS: dict[str, BotKind] = {
    "always-fold": BotKind("folds to every bet", _rule("always-fold")),
    "always-call": BotKind("checks and calls", _rule("always-call")),
    "always-raise": BotKind("bets and raises", _rule("always-raise")),
    "random": BotKind("takes every action with equal probability, in any game", _rule("random")),
    "probe": BotKind("raises or calls with equal probability (HS14)", _rule("probe")),
    DEFAULT: _heads_up(
        "pretrained bot for two-player hold'em", lambda game: policy_bot(shipped_policy(DEFAULT), game)
    ),
    "ace1": BotKind("weak: plays by the sum of its hole cards (PGC10)", _class("formula.ace1", "Ace1")),
    "chen": BotKind("Chen's formula before the flop, then hand strength", _class("formula.chen", "Chen")),
    "poki-like": BotKind(
        "stand-in for Poki: formulas and weighted hands", _class("formula.poki_like", "PokiLike")
    ),
    "sparbot-like": _heads_up(
        "stand-in for Sparbot: equilibrium of a coarse abstraction", _class("sparbot_like", "SparbotLike")
    ),
    "fellomen-like": _heads_up(
        "stand-in for FellOmen2: fictitious play", _class("fellomen_like", "FellomenLike")
    ),
    EQUILIBRIUM: _learned(EQUILIBRIUM, "small games: solved by PCFR+ (no guarantee with three players)"),
    "mcts": _with_options("search_bot", "MctsBot", "tree search without an opponent model (PGC10)"),
    "mcts-tally": _with_options(
        "search_bot", "TallyBot", "tree search with a frequency model of its opponents: Taurus (TAU)"
    ),
    "mcts-relational": _with_options(
        "search_bot", "RelationalBot", "tree search with a relational model of its opponents (PGC10)"
    ),
    "resolver": _with_options(
        "resolver", "Resolver", "two-player hold'em: default, with the river solved as it is reached"
    ),
    SmoothUCT.name: _learned(SmoothUCT.name, "small games: learned on the spot by Smooth UCT (HS14)"),
    UCT.name: _learned(UCT.name, "small games: learned on the spot by UCT; not an equilibrium (HS14)"),
}
assert set(RULES) | set(LEARNERS) <= set(BOTS)


def load_bot(name: str, game: AnyGame) -> Bot:
    """Load a bot by its name.

    Parameters
    ----------
    name : str
        A name (`felt bots` lists them; some have parameters, as in "mcts(c=2)"), the folder of a run
        or policy, either with "greedy@" before it for the pure policy of the likeliest actions, or
        "FILE.py:NAME", your own: a subclass of `Bot`, or a function from the game to a policy or bot.
    game : Game, str or Path
        The game that it will play.

    Returns
    -------
    Bot

    Examples
    --------
    >>> felt.load_bot("equilibrium", "kuhn").fixed_policy
    TabularPolicy(kuhn, 12 infosets)
    >>> felt.load_bot("mcts(iterations=100)", "leduc").iterations
    100
    """
    game = load_game(game)
    require_playable(game)
    if name in BOTS:
        return BOTS[name].make(game)
    if "(" in name and (made := _with_parameters(name, game)):
        return made
    kind, at, rest = name.partition("@")
    if at and kind in (GREEDY, AVERAGE):
        return _of_kind(rest, game, greedy=kind == GREEDY)
    if own := own_file(name):
        return _own_bot(*own, game)
    if Path(name).exists():
        return _policy(name)(game)
    raise FeltError(f"{unknown('bot', name, BOTS)} A bot may also be the folder of a run, or FILE.py:CLASS.")


def require_playable(game: Game) -> None:
    """Raise for games that are trained and measured, but not played."""
    if isinstance(game, FlopHoldem):
        raise too_many_histories(game.name)


def own_file(name: str) -> tuple[Path, str] | None:
    """The parts of "FILE.py:NAME", if that is what a name is."""
    path, _, inside = name.rpartition(":")
    return (Path(path), inside) if path.endswith(".py") else None


def _with_parameters(name: str, game: Game) -> Bot | None:
    try:
        call = parse_call(name)
    except ValueError:
        raise FeltError(f"The parameters of '{name}' cannot be read; write them like mcts(c=2).") from None
    if call is None or call.word not in BOTS:
        return None
    make = BOTS[call.word].make_with
    if make is None:
        raise FeltError(f"{call.word} has no parameters.")
    if call.positional:
        raise FeltError(f"The parameters of {call.word} have names; write them like mcts(c=2).")
    return make(game, call.keywords)


def _of_kind(name: str, game: Game, *, greedy: bool) -> Bot:
    if name not in BOTS or name == DEFAULT:
        return _policy(name, greedy=greedy)(game)
    if name in LEARNERS:
        return learned_bot(name, game, greedy=greedy)
    bot = BOTS[name].make(game)
    policy = bot.fixed_policy
    if policy is None:
        raise FeltError(f"{name} has no tabular policy that could be made greedy.")
    return policy_bot(policy.greedy(), game) if greedy else bot


def _own_bot(path: Path, name: str, game: Game) -> Bot:
    """A user's bot; errors in its file become FeltErrors."""
    made = own_object(path, name, game)
    return made if isinstance(made, Bot) else policy_bot(made, game)


def own_object(path: Path, name: str, game: Game) -> Bot | Policy:
    """What a class or function in a user's file makes for a game: a bot or a policy."""
    make = _own_maker(path, name)
    try:
        made = make(game)
    except FeltError:
        raise
    except (Exception, SystemExit) as error:
        raise FeltError(f"{name} of {path} cannot be created ({type(error).__name__}: {error}).") from error
    if not isinstance(made, Bot | Policy):
        raise FeltError(f"{name} of {path} must make a bot or a policy, not {type(made).__name__}.")
    return made


def _own_maker(path: Path, name: str) -> Callable[[Game], object]:
    if not path.is_file():
        raise FeltError(f"There is no file {path} with a bot {name}.")
    module_name = f"openfelt_bot_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise FeltError(f"{path} cannot be loaded ({type(error).__name__}: {error}).") from error
    found = getattr(module, name, None)
    if not callable(found) or (isinstance(found, type) and not issubclass(found, Bot)):
        raise FeltError(
            f"{path} has no class {name} that is a subclass of openfelt.Bot, and no function {name}."
        )
    return found  # type: ignore[no-any-return]
