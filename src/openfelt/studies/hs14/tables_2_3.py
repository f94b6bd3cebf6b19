"""Heinrich & Silver 2014, Tables 2 and 3: self-play tree search against programs of limit hold'em."""

from __future__ import annotations

from openfelt.studies.findings import Finding, both, is_above, is_below, some
from openfelt.studies.match_table import Cell, MatchTable, TableResults, wins_more
from openfelt.studies.study import Setting

POLICIES = "runs/hs14"
TRAINING_COMMAND = "make hs14-policies"
PAPER = 'Heinrich & Silver, "Self-Play Monte-Carlo Tree Search in Computer Poker" (2014), '
SPARBOT, FELLOMEN, POKI = "sparbot-like", "fellomen-like", "poki-like"
DEFAULT = "default"
UCT, SMOOTH = "IS-UCT", "Smooth IS-UCT"

# By row: the policy's folder, and the paper's winnings against Sparbot and FellOmen2.
_TABLE_2 = {
    f"{UCT} S, k=1": ("uct-s-k1", (72, 21), (-47, 20)),
    f"{UCT} S, k=0.5": ("uct-s-k05", (54, 21), (26, 21)),
    f"{SMOOTH} S, k=1": ("smooth-s-k1", (51, 20), (7, 21)),
    f"{SMOOTH} S, k=0.5": ("smooth-s-k05", (56, 20), (-41, 20)),
    f"{UCT} L, k=0.5": ("uct-l-k05", (60, 20), (-17, 21)),
    f"{SMOOTH} L, k=0.5": ("smooth-l-k05", (18, 19), (32, 21)),
}
# The number of episodes of an hour on two CPU cores: 5.1e9.
_HOUR = {
    f"{UCT} S, k=0.5, 5.1e9": "uct-s-k05-hour",
    f"{SMOOTH} S, k=0.5, 5.1e9": "smooth-s-k05-hour",
}


def _table_2_cells() -> tuple[Cell, ...]:
    def row_cells(row: str, bot: str) -> list[Cell]:
        return [Cell(row, column, (bot, column)) for column in (SPARBOT, FELLOMEN, DEFAULT)]

    cells = []
    for row, (folder, sparbot, fellomen) in _TABLE_2.items():
        bot = f"greedy@{POLICIES}/{folder}"
        cells += [
            Cell(row, SPARBOT, (bot, SPARBOT), sparbot),
            Cell(row, FELLOMEN, (bot, FELLOMEN), fellomen),
            Cell(row, DEFAULT, (bot, DEFAULT)),
        ]
    for row, folder in _HOUR.items():
        cells += row_cells(row, f"greedy@{POLICIES}/{folder}")
    for row, (folder, *_) in _TABLE_2.items():
        cells += row_cells(f"{row}, average", f"{POLICIES}/{folder}")
    return tuple(cells)


def _winners(results: TableResults, rows: list[str], column: str) -> list[str]:
    return [row for row in rows if results[row, column].mean > results[row, column].half_95]


def _losers(results: TableResults, rows: list[str], column: str) -> list[str]:
    return [row for row in rows if results[row, column].mean < -results[row, column].half_95]


def _judge_table_2(results: TableResults) -> list[Finding]:
    rows = list(_TABLE_2)

    def counted(column: str) -> str:
        won, lost = _winners(results, rows, column), _losers(results, rows, column)
        return f"{len(won)} beat {column} and {len(lost)} lose to it, beyond the 95% interval"

    beat = {row: is_above(results[row, SPARBOT].interval) for row in rows}
    lose = {row: is_below(results[row, FELLOMEN].interval) for row in rows}
    beat_strong = some(is_above(results[row, FELLOMEN].interval) for row in rows)
    unstable = {row: both(beat[row], lose[row]) for row in rows}
    names = ", ".join(row for row, verdict in unstable.items() if verdict) or "none"
    return [
        Finding("all six beat Sparbot", counted(SPARBOT), both(*beat.values())),
        Finding(
            "some beat FellOmen2 (three of six) and some lose to it (three)",
            counted(FELLOMEN),
            both(beat_strong, some(lose.values())),
        ),
        Finding(
            "some policies beat Sparbot and lose to FellOmen2",
            f"beyond the 95% intervals: {names}",
            some(unstable.values()),
        ),
    ]


TABLE_2 = MatchTable(
    name="hs14-table-2",
    title="HS14, Table 2: greedy policies of self-play tree search in two-player limit hold'em",
    paper=PAPER + 'section "Limit Texas Hold\'em", Table 2. Sparbot and FellOmen2 are closed-source or lost.',
    question=(
        "How strong are policies that self-play tree search learns in an abstraction of limit hold'em, "
        "against two programs? k scales the exploration with the pot."
    ),
    settings=(
        Setting("buckets", "E[HS2] grids: 169/100/100/100 (S), 169/1000/500/200 (L)", "the same"),
        Setting("training", "about 7e9 episodes, 30 hours", "7e9 episodes on a GPU; further rows with 5.1e9"),
        Setting("policy", "greedy: the action of the highest value", "the same; also the average policy"),
        Setting(
            "Sparbot, FellOmen2", "the programs", "[stand-ins](../bots.md) built from published descriptions"
        ),
        Setting("further opponent", "none", "`default`, OpenFelt's pretrained bot"),
        Setting("dealing", "not said", "each deal is played in both seats"),
    ),
    setup="",
    unit="mbb/h",
    cells=_table_2_cells(),
    budget=2_000_000,
    quick_budget=40_000,
    findings=_judge_table_2,
    remarks=(
        "Against sparbot-like, an equilibrium of a coarse abstraction, all six policies win about as much as "
        "the paper's won from Sparbot. Against fellomen-like, which has a finer abstraction, they break even "
        "to within a few mbb/h. The paper's results against FellOmen2 range from -47 to +32. With 68% "
        "intervals of 20, most of that spread may be chance; besides, its opponent was a different "
        "program.\n\n"
        "The greedy policies win far more than the average policies of the same runs. In these grids many "
        "infosets are visited too rarely for an average to settle, as the paper says of large games. "
        "Winnings do not measure exploitability: a deterministic policy reveals its hand by its actions.\n\n"
        "*An hour on two CPU cores* is about 5.1e9 episodes of the small game (1.43 million a second, "
        "[performance](../performance.md)), a quarter less than the paper's thirty hours. The rows with "
        "5.1e9 episodes were trained on the GPU with that number of episodes; per episode a GPU learns "
        "hold'em nearly as well as a CPU ([gpu-equals-cpu-holdem](gpu-equals-cpu-holdem.md))."
    ),
    training_command=TRAINING_COMMAND,
    requires="its policies (`make hs14-policies`)",
)

# The readings of the paper's threshold (`solve/sampling/smooth_uct.py`).
LITERAL, PLAIN = f"{SMOOTH}, literal", f"{SMOOTH}, no threshold"
SMOOTHS = (SMOOTH, LITERAL, PLAIN)
_THREE_PLAYER_FOLDERS = {
    UCT: "uct-3p",
    SMOOTH: "smooth-3p-ucb",
    LITERAL: "smooth-3p-literal",
    PLAIN: "smooth-3p-plain",
}
_RAISE_AND_PROBE = "always-raise, probe"
# By row: the opponents, and the paper's winnings by column.
_TABLE_3 = {
    f"2x {POKI}": ((POKI, POKI), {UCT: (163, 19), SMOOTH: (118, 19)}),
    f"{POKI}, {UCT}": ((POKI, UCT), {SMOOTH: (81, 24)}),
    f"{POKI}, {SMOOTH}": ((POKI, SMOOTH), {UCT: (73, 24)}),
    _RAISE_AND_PROBE: (("always-raise", "probe"), {UCT: (760, 77), SMOOTH: (910, 78)}),
}
_SLOW_HANDS = 30_000  # as in the paper; poki-like is slow


def _table_3_cells() -> tuple[Cell, ...]:
    def bot(name: str) -> str:
        folder = _THREE_PLAYER_FOLDERS.get(name)
        return f"greedy@{POLICIES}/{folder}" if folder else name

    cells = []
    for row, (opponents, published) in _TABLE_3.items():
        for column in (UCT, *SMOOTHS):
            reading = SMOOTH if column in SMOOTHS else column
            if reading in published:
                bots, hands = tuple(map(bot, (column, *opponents))), _SLOW_HANDS * (POKI in opponents)
                cells.append(Cell(row, column, bots, published[reading], hands))
    return tuple(cells)


def _judge_table_3(results: TableResults) -> list[Finding]:
    findings = []
    opponents = {f"2x {POKI}": "two copies of Poki", _RAISE_AND_PROBE: "always-raise and probe together"}
    for column in (UCT, *SMOOTHS):
        for row, text in opponents.items():
            won = results[row, column]
            ours = column in (LITERAL, PLAIN)
            findings.append(Finding(f"{column} beats {text}", f"{won} mbb/h", is_above(won.interval), ours))
    for row, better, worse in ((f"2x {POKI}", UCT, SMOOTH), (_RAISE_AND_PROBE, SMOOTH, UCT)):
        first, second = results[row, better], results[row, worse]
        claim = f"{better} wins more than {worse} against {row}"
        holds = wins_more(first, second)
        findings.append(Finding(claim, f"{first} against {second} mbb/h", holds))
    return findings


TABLE_3 = MatchTable(
    name="hs14-table-3",
    title="HS14, Table 3: greedy policies of self-play tree search in three-player limit hold'em",
    paper=PAPER + 'section "Limit Texas Hold\'em", Table 3. Poki is closed-source.',
    question=(
        "How strong are policies that self-play tree search learns in three-player limit hold'em? In each "
        "row two opponents are given; a column is the policy whose winnings are measured."
    ),
    settings=(
        Setting("buckets", "an E[HS2] grid: 169/1000/100/10", "the same"),
        Setting("training", "about 12e9 episodes, 48 hours", "12e9 episodes on a GPU"),
        Setting("exploration, mixing", "k = 0.5, schedule (3)", "the same"),
        Setting(
            "threshold",
            "eta = 0 below 10,000 visits",
            "plain UCB below 10,000 visits; further columns: eta = 0 read literally, and no threshold",
        ),
        Setting("policy", "greedy: the action of the highest value", "the same"),
        Setting("Poki", "the program", "[`poki-like`](../bots.md), built from published descriptions"),
        Setting("dealing", "positions permuted", "the same; a control variate for the luck of the cards"),
    ),
    setup="",
    unit="mbb/h",
    cells=_table_3_cells(),
    budget=2_000_000,
    quick_budget=1_200,
    findings=_judge_table_3,
    remarks=(
        "The paper sets eta to 0 at infosets with fewer than 10,000 visits. Read literally, they play their "
        "average only, which then does not improve, and most infosets of this grid never get that many "
        "visits: that policy loses to everyone. Definition 4 of the paper asks for an eta bounded from "
        "below, and the stated purpose is to avoid exploration at rarely visited nodes; so plain UCB below "
        "the threshold is the likelier reading, and the paper's claims are judged by it. It wins from "
        "always-raise and probe about what the paper's policy won, and so does a policy without threshold. "
        "[hs14-threshold](hs14-threshold.md) compares the three in a small game.\n\n"
        "All policies lose to two copies of the stand-in, where the paper's won from Poki: the stand-in is "
        "stronger than the original, or plays differently."
    ),
    training_command=TRAINING_COMMAND,
    requires="its policies (`make hs14-policies`)",
)
