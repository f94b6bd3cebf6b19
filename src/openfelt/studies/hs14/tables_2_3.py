"""HS14's tables 2 and 3: policies of self-play tree search against benchmark programs of limit hold'em."""

from __future__ import annotations

from openfelt.studies.match_table import Cell, MatchTable, Results, more
from openfelt.studies.study import Finding

POLICIES = "runs/hs14"
MADE_BY = "make hs14-policies"
PAPER = 'Heinrich & Silver, "Self-Play Monte-Carlo Tree Search in Computer Poker" (2014), '
SPARBOT, FELLOMEN, POKI = "sparbot-like", "fellomen-like", "poki-like"
UCT, SMOOTH = "IS-UCT", "Smooth IS-UCT"

# By row: the policy's folder, and what the paper printed against Sparbot and against FellOmen2.
_TABLE_2 = {
    f"{UCT} S, k=1": ("uct-s-k1", (72, 21), (-47, 20)),
    f"{UCT} S, k=0.5": ("uct-s-k05", (54, 21), (26, 21)),
    f"{SMOOTH} S, k=1": ("smooth-s-k1", (51, 20), (7, 21)),
    f"{SMOOTH} S, k=0.5": ("smooth-s-k05", (56, 20), (-41, 20)),
    f"{UCT} L, k=0.5": ("uct-l-k05", (60, 20), (-17, 21)),
    f"{SMOOTH} L, k=0.5": ("smooth-l-k05", (18, 19), (32, 21)),
}
# What an hour on two CPU cores comes to: 5.1e9 episodes.
_HOUR = {
    f"{UCT} S, k=0.5, 5.1e9": "uct-s-k05-hour",
    f"{SMOOTH} S, k=0.5, 5.1e9": "smooth-s-k05-hour",
}


def _table_2_cells() -> tuple[Cell, ...]:
    cells = []
    for row, (folder, sparbot, fellomen) in _TABLE_2.items():
        for column, published in ((SPARBOT, sparbot), (FELLOMEN, fellomen)):
            cells.append(Cell(row, column, (f"greedy@{POLICIES}/{folder}", column), published))
        cells.append(Cell(row, "default", (f"greedy@{POLICIES}/{folder}", "default")))
    for row, folder in _HOUR.items():
        bot = f"greedy@{POLICIES}/{folder}"
        cells += [Cell(row, column, (bot, column)) for column in (SPARBOT, FELLOMEN, "default")]
    for row, (folder, *_) in _TABLE_2.items():
        bots = f"{POLICIES}/{folder}"
        cells += [
            Cell(f"{row}, average", column, (bots, column)) for column in (SPARBOT, FELLOMEN, "default")
        ]
    return tuple(cells)


def _winners(results: Results, rows: list[str], column: str) -> list[str]:
    return [row for row in rows if results[row, column].mean > results[row, column].half_95]


def _losers(results: Results, rows: list[str], column: str) -> list[str]:
    return [row for row in rows if results[row, column].mean < -results[row, column].half_95]


def _table_2_findings(results: Results) -> list[Finding]:
    rows = list(_TABLE_2)
    found = []
    for column, program in ((SPARBOT, "Sparbot"), (FELLOMEN, "FellOmen2")):
        won, lost = _winners(results, rows, column), _losers(results, rows, column)
        ours = f"{len(won)} beat {column}, {len(lost)} lose to it, beyond the 95% interval"
        if column == SPARBOT:
            found.append(Finding(f"all six beat {program}", ours, len(won) == len(rows)))
        else:
            text = f"some beat {program} (three of six), others lose to it (three)"
            found.append(Finding(text, ours, bool(won) and bool(lost)))
    spread = [row for row in rows if row in _winners(results, rows, SPARBOT)]
    unstable = [row for row in spread if row in _losers(results, rows, FELLOMEN)]
    text = "some policies beat the one and lose to the other"
    found.append(Finding(text, f"{len(unstable)} of six: {', '.join(unstable) or 'none'}", bool(unstable)))
    return found


TABLE_2 = MatchTable(
    name="hs14-table-2",
    title="HS14, Table 2: greedy policies of self-play tree search in two-player limit hold'em",
    paper=PAPER + 'section "Limit Texas Hold\'em", Table 2. Sparbot and FellOmen2 are closed or lost.',
    setting=(
        "Grids of E[HS2] with 169/100/100/100 (S) and 169/1000/500/200 (L) buckets, 7e9 episodes of "
        "self-play on a GPU each, frozen to the action of the highest value; below them the average "
        "policies of the same runs, which the paper does not have. The opponents are stand-ins built after "
        "what is known of the originals ([bots](../bots.md)), and the bot `default`. Each deal is played in "
        "both seats."
    ),
    unit="mbb/h",
    cells=_table_2_cells(),
    hands=2_000_000,
    quick_hands=40_000,
    findings=_table_2_findings,
    remarks=(
        "Against the coarse equilibrium all six win about what the paper's won from Sparbot. Against the "
        "finer one they break even, to a few mbb/h. The paper's results against FellOmen2 range from -47 to "
        "+32; its 68% intervals of 20 make most of that spread luck, and its opponent was another one.\n\n"
        "The greedy policies do far better than the averages that were learned in the same runs. In these "
        "grids many rows are met too seldom for an average to settle, as the paper says of large games. "
        "That says nothing of how exploitable they are: a policy of single actions can be read.\n\n"
        "*An hour on two CPU cores* makes about 5.1e9 episodes of the small game (1.43 million a second, "
        "[performance](../performance.md)), a quarter less than the paper's thirty hours. The rows of 5.1e9 "
        "episodes were trained on the GPU with that number; a GPU learns hold'em nearly as a CPU does, "
        "episode for episode ([gpu-equals-cpu-holdem](gpu-equals-cpu-holdem.md))."
    ),
    made_by=MADE_BY,
    needs="its policies (`make hs14-policies`)",
)

THREE = {UCT: "uct-3p", SMOOTH: "smooth-3p"}
_TABLE_3 = {
    f"2x {POKI}": ((POKI, POKI), {UCT: (163, 19), SMOOTH: (118, 19)}),
    f"{POKI}, {UCT}": ((POKI, UCT), {SMOOTH: (81, 24)}),
    f"{POKI}, {SMOOTH}": ((POKI, SMOOTH), {UCT: (73, 24)}),
    "always-raise, probe": (("always-raise", "probe"), {UCT: (760, 77), SMOOTH: (910, 78)}),
}
_SLOW_HANDS = 30_000  # as many as the paper


def _table_3_cells() -> tuple[Cell, ...]:
    cells = []
    for row, (others, columns) in _TABLE_3.items():
        for column, published in columns.items():
            bots = [f"greedy@{POLICIES}/{THREE[bot]}" if bot in THREE else bot for bot in (column, *others)]
            cells.append(Cell(row, column, tuple(bots), published, _SLOW_HANDS * (POKI in others)))
    return tuple(cells)


def _table_3_findings(results: Results) -> list[Finding]:
    found = []
    for column in (UCT, SMOOTH):
        for row, text in (
            (f"2x {POKI}", "two copies of Poki"),
            ("always-raise, probe", "always-raise and probe together"),
        ):
            measured = results[row, column]
            won = measured.mean > measured.half_95
            found.append(Finding(f"{column} beats {text}", f"{measured} mbb/h", won))
    for row, better, worse in ((f"2x {POKI}", UCT, SMOOTH), ("always-raise, probe", SMOOTH, UCT)):
        first, second = results[row, better], results[row, worse]
        text = f"{better} wins more than {worse} against {row}"
        found.append(Finding(text, f"{first} against {second} mbb/h", more(first, second)))
    return found


TABLE_3 = MatchTable(
    name="hs14-table-3",
    title="HS14, Table 3: greedy policies of self-play tree search in three-player limit hold'em",
    paper=PAPER + 'section "Limit Texas Hold\'em", Table 3. Poki is closed.',
    setting=(
        "A grid of E[HS2] with 169/1000/100/10 buckets, 12e9 episodes of self-play on a GPU each, k = 0.5, "
        "frozen to the action of the highest value. A new deal for each hand, seats permuted, the luck of "
        "the cards regressed out. In place of Poki a stand-in after the published descriptions "
        "([bots](../bots.md))."
    ),
    unit="mbb/h",
    cells=_table_3_cells(),
    hands=2_000_000,
    quick_hands=1_200,
    findings=_table_3_findings,
    remarks=(
        "IS-UCT wins from always-raise and probe what it did in the paper. Smooth IS-UCT does not, and it "
        "is the paper's threshold that does it: with eta at zero in rows of less than 10,000 visits, play "
        "there stays close to even chances, and most of the rows of this grid are never visited so often. "
        "Values are then learned against players who do nearly anything. Without the threshold the same "
        "training gives a policy that wins 807.6 ± 48.9 mbb/h from always-raise and probe (`felt match "
        "greedy@runs/hs14/smooth-3p-plain always-raise probe --hands 300000`), as the paper's did (910 ± "
        "78), and loses 98.6 ± 51.1 to two copies of the stand-in for Poki, much as IS-UCT does (the same "
        "with poki-like poki-like, 30,000 hands). How the paper's nodes below the threshold were meant to "
        "begin, we do not know.\n\n"
        "Both lose to two copies of the stand-in, where the paper's won from Poki: it is a tougher or "
        "another player than the original."
    ),
    made_by=MADE_BY,
    needs="its policies (`make hs14-policies`)",
)
