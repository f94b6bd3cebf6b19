"""Opponent models as functions: fit one to hand histories, score it, save it, load it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from openfelt.core.errors import FeltError, unknown
from openfelt.games.game import AnyGame
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord
from openfelt.opponents.models import files
from openfelt.opponents.models.files import frequencies_of, new_model
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import KNOWN, ObservedHand, observed_hands
from openfelt.opponents.models.score import ModelScore, compare


def fit_model(
    hands: Iterable[HandRecord],
    player: str,
    *,
    kind: str = "tally",
    game: AnyGame | None = None,
    cards: str = KNOWN,
    seed: int = 0,
) -> OpponentModel:
    """Fit a model of a player to hand histories.

    Parameters
    ----------
    hands : iterable of HandRecord
        The hands, such as those of `read_hands`.
    player : str
        Name of the player; hands without it are skipped.
    kind : {"tally", "trees", "relational", "frequencies"}
        Counts by hand strength (TAU), decision trees (PJL11), relational trees (PGC10), or frequencies
        that ignore the cards.
    game : Game, str or Path, optional
        Poker; by default the game of the player's first hand.
    cards : {"known", "shown"}
        Learn from all cards in the records, or only from those shown at showdowns.
    seed : int
        Of the draws of hidden cards.

    Returns
    -------
    OpponentModel

    Examples
    --------
    >>> result = felt.match("probe", "random", game="leduc", hands=400, history=folder / "hands.db")
    >>> model = felt.fit_model(felt.read_hands(folder / "hands.db"), "probe", kind="tally")
    >>> model.policy().at(0, "K")["bet"] > 0.3
    True
    """
    observed, rules = _observed(hands, player, game, cards)
    model = new_model(kind, rules)
    model.fit(observed, seed=seed)
    return model


def score_model(
    model: OpponentModel,
    hands: Iterable[HandRecord],
    player: str,
    *,
    cards: str = KNOWN,
    progress: Callable[[float], object] = lambda _: None,
) -> list[ModelScore]:
    """Score how well a model predicts hands that it was not fitted to.

    Parameters
    ----------
    model : OpponentModel
        The model.
    hands : iterable of HandRecord
        Hands of the player in the model's game.
    player : str
        Name of the player.
    cards : {"known", "shown"}
        Use all cards in the records, or only those shown at showdowns.
    progress : callable
        Called with the share of all work done since its last call.

    Returns
    -------
    list of ModelScore
        Log-losses in nats, with standard errors, and calibration: of the model, of the player's frequencies
        in the hands that the model was fitted to, and of uniform actions.

    Examples
    --------
    >>> for seed in (1, 2):
    ...     result = felt.match(
    ...         "probe", "random", game="leduc", hands=400, seed=seed, history=folder / f"{seed}.db"
    ...     )
    >>> model = felt.fit_model(felt.read_hands(folder / "1.db"), "probe")
    >>> scores = felt.score_model(model, felt.read_hands(folder / "2.db"), "probe")
    >>> [score.name for score in scores]
    ['tally', 'frequencies', 'uniform']
    >>> scores[0].action_loss.mean < scores[2].action_loss.mean
    True
    """
    observed, _ = _observed(hands, player, model.domain.game, cards)
    return compare(model.kind, model, frequencies_of(model), observed, progress)


def save_model(model: OpponentModel, folder: str | Path, *, player: str = "") -> None:
    """Save a model as a folder of arrays with a manifest.

    Parameters
    ----------
    model : OpponentModel
        The model; what it needs to continue learning is saved too.
    folder : str or Path
        Created if it does not exist; a model in it is replaced.
    player : str
        Whose model it is.

    Examples
    --------
    >>> result = felt.match("probe", "random", game="kuhn", hands=100, history=folder / "hands.db")
    >>> model = felt.fit_model(felt.read_hands(folder / "hands.db"), "probe")
    >>> felt.save_model(model, folder / "probe", player="probe")
    >>> felt.load_model(folder / "probe").kind
    'tally'
    """
    files.save_model(model, Path(folder), player=player)


def load_model(folder: str | Path, *, game: AnyGame | None = None) -> OpponentModel:
    """Load a saved model.

    Parameters
    ----------
    folder : str or Path
        A folder that `save_model` or `felt model fit` wrote.
    game : Game, str or Path, optional
        Raise FeltError if the model is for another game.

    Returns
    -------
    OpponentModel

    Examples
    --------
    >>> result = felt.match("probe", "random", game="kuhn", hands=100, history=folder / "hands.db")
    >>> model = felt.fit_model(felt.read_hands(folder / "hands.db"), "random", kind="frequencies")
    >>> felt.save_model(model, folder / "random")
    >>> felt.load_model(folder / "random", game="kuhn").fingerprint == model.fingerprint
    True
    """
    return files.load_model(Path(folder), game)


def _observed(
    hands: Iterable[HandRecord], player: str, game: AnyGame | None, cards: str
) -> tuple[list[ObservedHand], str]:
    """The player's hands in a game, by default in that of its first hand, and the name of the game."""
    records = list(hands)
    names = {name for record in records for name in record.names}
    if player not in names:
        raise FeltError(unknown("player", player, names) if names else "There are no hands.")
    first = next(record.game for record in records if player in record.names)
    rules = load_game(first if game is None else game).name
    return observed_hands(records, player, rules, cards), rules
