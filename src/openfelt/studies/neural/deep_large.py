"""Deep and tabular methods in games of six million infosets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openfelt.studies.neural.deep_methods import BOARD, Contest, DeepMethods, contest_parts

SETTINGS: dict[str, Mapping[str, Any]] = BOARD | {
    "NFSP": {
        "hidden": 128,
        "games": 128,
        "batch": 256,
        "updates": 4,
        "window": 1_000_000,
        "reservoir": 4_000_000,
    },
    "Deep CFR": {"hidden": 128, "batch": 1024, "traversals": 300, "updates": 500, "reservoir": 4_000_000},
}

CONTESTS = (
    Contest("phantom_ttt", "phantom tic-tac-toe", "points", SETTINGS),
    Contest("dark_hex(3)", "Dark Hex", "points", SETTINGS),
)
QUICK = (Contest("phantom_ttt(1,7)", "phantom tic-tac-toe 1x7", "points", SETTINGS),)

DEEP_LARGE = DeepMethods(
    quick_contests=QUICK,
    **contest_parts(CONTESTS),
    name="deep-large",
    title="Deep and tabular methods in games of six million infosets",
    paper=(
        "Rudolph et al. 2025 compare deep methods in these games, among others; they find generic "
        "policy-gradient methods at least as good as methods designed for games. The claims are ours."
    ),
    question=(
        "In small games tables win ([deep-methods](deep-methods.md)). Do networks catch up where a table has "
        "millions of rows?"
    ),
    setup=(
        "Phantom tic-tac-toe (5,990,669 infosets) and Dark Hex on nine cells (6,072,917), both in the "
        "variant in which a player tries again after a failed attempt. nash_conv is exact. Every run has one "
        "core, and its time is CPU time without measurements and without the compilation of the game. The "
        "games were run at different times, on shared machines; compare methods within a game. Measured are "
        "the mean networks of PPO, MMD and R-NaD, and the average policies of the other methods.\n\n"
        "The networks have 128 units. PPO, MMD and R-NaD have the settings `--games 128 --epochs 4 --rate "
        "0.003 --anneal 300`, PPO `--entropy 0.2`, MMD `--alpha 0.2 --eta 0.1`, R-NaD `--refresh 300`, NFSP "
        "`--games 128 --batch 256 --updates 4 --window 1000000 --reservoir 4000000`, Deep CFR `--batch 1024 "
        "--traversals 300 --updates 500 --reservoir 4000000`. The settings of PPO and MMD were chosen on a "
        "board of six cells (`dark_hex(3,2)`), where some runs with less regularisation learned nothing. For "
        "Deep CFR, 20 traversals were also tried in phantom tic-tac-toe; no other settings were varied, and "
        "nothing was tried in Dark Hex. To average exactly, Deep CFR evaluates its network at all infosets "
        "in each iteration, which leaves time for a few iterations only: in phantom tic-tac-toe its policy "
        "is still uniform after 20 seconds."
    ),
    episodes=(20, 60),
    quick_episodes=(1, 2),
    requires="PyTorch, 5 GB of memory, 80 minutes",
)
