"""`felt spot`, solutions and their files."""

import csv
import json

import numpy as np
import pytest

import openfelt as felt
from openfelt.cards.deck import PAIR_CARDS, cards_text, pair_number
from openfelt.cli.app import main
from openfelt.core.cuda import why_no_gpu
from openfelt.core.errors import FeltError, FileError
from openfelt.spots.spot import compatible_weight

# Aces or queens against kings, a pot of 100 and one bet of 100: with b the bet and P the pot, OOP bluffs
# b / (P + b) = half of its queens and IP calls with P / (P + b) = half of its kings.
POLARISED = ["--oop", "AA,QQ", "--ip", "KK", "--board", "2c3d4h8s9s", "--pot", "100", "--stack", "100"]
POLARISED += ["--bets", "100%"]


def spot(**changes):
    facts = {"oop": "AA,QQ", "ip": "KK", "board": "2c3d4h8s9s", "pot": 100, "stack": 100, "bets": "100%"}
    return felt.Spot(**facts | changes)


@pytest.fixture(scope="module")
def river():
    return spot().solve(until=0.01)


@pytest.fixture(scope="module")
def turn():
    """A two-tone turn with symmetric ranges: rivers are merged."""
    ranges = {"oop": "AA,QQ,76s", "ip": "KK,JTs,AQo:0.5"}
    return spot(**ranges, board="2c3d4h8s", bets="50%,a", raises="3x").solve(until=0.3)


def test_the_command_solves_to_the_closed_form(capsys):
    assert main(["spot", *POLARISED, "--until", "0.01", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["values"] == pytest.approx([75, 25], abs=0.01)
    assert result["exploitability"] <= 0.01
    actions = {each["code"]: each["frequency"] for each in result["node"]["actions"]}
    assert actions["a"] == pytest.approx(0.75, abs=0.005)
    assert main(["spot", *POLARISED, "--until", "0.01", "--line", "a", "--json"]) == 0
    actions = json.loads(capsys.readouterr().out)["node"]["actions"]
    assert {each["code"]: each["frequency"] for each in actions} == pytest.approx(
        {"f": 0.5, "c": 0.5}, abs=0.01
    )


def test_locked_decisions_are_exploited(capsys):
    assert main(["spot", *POLARISED, "--until", "0.01", "--lock", "a", "c=1", "--json"]) == 0
    # Kings always call: aces win 200 with a bet of 100, queens check and win nothing.
    assert json.loads(capsys.readouterr().out)["values"] == pytest.approx([100, 0], abs=0.05)


def test_the_text_shows_classes_and_actions(capsys):
    assert main(["spot", *POLARISED]) == 0
    text = capsys.readouterr().out
    assert "OOP to act" in text
    assert "all-in 100" in text
    assert [line.split()[0] for line in text.splitlines()[-2:]] == ["AA", "QQ"]


def test_values_of_a_node_add_up_to_the_pot(turn):
    for line in ("", "x", "x b50", "x b50 c 7d", "x b50 c 7d x", "x x Kc b50"):
        node = turn.node(line)
        assert sum(node.values) == pytest.approx(node.pot, abs=1e-3)
        assert sum(node.equities) == pytest.approx(1, abs=1e-6)
        if node.actions:
            acting = node.player
            mixed = np.nansum(node.strategy * node.action_ev, axis=0)
            held = node.ranges[acting] > 0
            assert mixed[held] == pytest.approx(node.ev[acting][held], abs=1e-3)


def test_equities_are_those_of_the_equity_calculator(turn):
    node = turn.node("x")
    met = compatible_weight(node.ranges[1])
    hands = {cards_text(PAIR_CARDS[pair]): node.ranges[1, pair] for pair in np.flatnonzero(node.ranges[1])}
    for name in ("AhAs", "QdQc", "7s6s"):
        pair = pair_number(name)
        own = set(PAIR_CARDS[pair].tolist())
        against = [
            weight * felt.equity(name, other, "2c3d4h8s")
            for other, weight in hands.items()
            if not own & set(PAIR_CARDS[pair_number(other)].tolist())
        ]
        assert node.equity[0, pair] == pytest.approx(sum(against) / met[pair], abs=1e-5)


def test_runouts_are_merged_without_a_trace(turn):
    nodes = turn.runouts("x x")
    assert len(nodes) == 48
    weights = np.array([node.mass[0].sum() for node in nodes])
    values = np.array([node.values[0] for node in nodes])
    before = turn.node("x")
    check = before.strategy[0]
    mass = before.mass[1] * np.nan_to_num(check)
    # The value of checking behind is the mean over all rivers.
    mean = before.pot - float(np.nansum(mass * before.action_ev[0]) / mass.sum())
    assert float(weights @ values / weights.sum()) == pytest.approx(mean, abs=1e-2)
    assert {node.board[-2:] for node in nodes} >= {"Ah", "Ac", "2s"}


def test_a_saved_solution_is_loaded(turn, tmp_path, capsys):
    felt.save_solution(turn, tmp_path / "spot")
    loaded = felt.load_solution(tmp_path / "spot")
    assert loaded.values == pytest.approx(turn.values, abs=1e-5)
    for line in ("", "x b50 c 7d"):
        assert loaded.node(line).strategy == pytest.approx(turn.node(line).strategy, abs=2e-5, nan_ok=True)
    assert main(["spot", "--load", str(tmp_path / "spot"), "--runouts", "x x"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3 + 48
    assert main(["spot", "--load", str(tmp_path / "spot"), "--compare", str(tmp_path / "spot")]) == 0
    assert "0.0% of the range plays differently" in capsys.readouterr().out


def test_damaged_solutions_are_refused(river, tmp_path):
    with pytest.raises(FileError, match="There is no solution"):
        felt.load_solution(tmp_path / "nothing")
    felt.save_solution(river, tmp_path / "spot")
    [table] = (tmp_path / "spot").glob("river-average*.npy")
    table.write_bytes(table.read_bytes()[:-1] + b"\x07")
    with pytest.raises(FileError):
        felt.load_solution(tmp_path / "spot")


def test_hands_are_written_as_csv(tmp_path, capsys):
    path = tmp_path / "hands.csv"
    assert main(["spot", *POLARISED, "--csv", str(path)]) == 0
    rows = list(csv.DictReader(path.open(newline="")))
    assert len(rows) == 12
    assert float(next(row for row in rows if row["hand"] == "AsAh")["a"]) > 0.99


def test_a_report_of_boards_continues(tmp_path, capsys):
    path = tmp_path / "boards.csv"
    arguments = ["spot", *POLARISED, "--boards", "2c3d4h8s9s,2c3d4h8sQs", "--csv", str(path), "--json"]
    assert main(arguments) == 0
    first = path.read_text()
    assert len(first.splitlines()) == 3
    assert main(arguments) == 0
    assert path.read_text() == first
    assert json.loads(capsys.readouterr().out.split("}\n")[0] + "}")["boards"] == 2


def test_a_report_that_was_cut_off_is_repaired(tmp_path, capsys):
    path = tmp_path / "boards.csv"
    arguments = ["spot", *POLARISED, "--boards", "2c3d4h8s9s 2c3d4h8sQs KcKdKh8s9s", "--csv", str(path)]
    assert main(arguments) == 0
    whole = path.read_text()
    assert whole.splitlines()[-1].startswith("KcKdKh8s9s,1,,,")  # no king is left
    path.write_text(whole[: whole.index("2c3d4h8sQs") + 30])
    assert main(arguments) == 0
    assert [line.split(",")[0] for line in path.read_text().splitlines()] == [
        *("board", "2c3d4h8s9s", "2c3d4h8sQs", "KcKdKh8s9s")
    ]
    assert main([*arguments, "--rake", "0.05"]) == 2
    assert "is the report of another spot" in capsys.readouterr().err


def test_a_report_has_the_frequencies_of_the_first_decision(tmp_path, river):
    path = tmp_path / "boards.csv"
    arguments = ["spot", *POLARISED, "--boards", "2c3d4h8s9s", "--csv", str(path), "--until", "0.01"]
    assert main(arguments) == 0
    (row,) = csv.DictReader(path.open(newline=""))
    shares = dict(each.split(":") for each in row["strategy"].split())
    assert shares.keys() == {"x", "a"}
    assert [float(share) for share in shares.values()] == pytest.approx(river.node().frequencies, abs=1e-4)


@pytest.mark.skipif(not why_no_gpu(), reason="there is a GPU")
def test_without_a_gpu_spots_say_why(capsys):
    assert main(["spot", *POLARISED, "--device", "cuda"]) == 2
    assert why_no_gpu()[1:] in capsys.readouterr().err
    assert main(["spot", *POLARISED, "--device", "tpu"]) == 2
    assert "device must be cpu, cuda or auto, not tpu." in capsys.readouterr().err
    assert main(["spot", *POLARISED, "--device", "auto", "--json"]) == 0


def test_ranges_that_exclude_each_other_are_found_exactly():
    with pytest.raises(FeltError, match="shares a card"):
        spot(oop="AhKh", ip="Ah3s:0.804, AhTd:0.739, Ah7d:0.160, AhQd:0.634", board="2c4d5h8s9s")


def test_a_betting_tree_that_is_too_deep_gets_a_sentence():
    with pytest.raises(FeltError, match="too deep"):
        spot(stack=3000, bets="1c", raises="1c").solve()


def test_compressed_tables_solve_to_the_same_values(turn):
    assert turn.spot.solve(until=0.3, compress=True).values == pytest.approx(turn.values, abs=0.6)


def test_a_comparison_names_the_hands_that_differ(river):
    locked = spot().solve(until=0.05, locks=[felt.Lock("a", {"c": 1.0})])
    compared = felt.compare_solutions(river, locked)
    assert compared.changed == pytest.approx(0.25, abs=0.02)  # half of the queens no longer bluff
    assert all(hand.count("Q") == 2 for hand, _ in compared.largest(6))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"--board": "2c3d"}, "three to five cards"),
        ({"--board": "2c2c4h8s9s"}, "appears twice"),
        ({"--board": "KcKdKh8s9s"}, "blocks every hand of the range of IP"),
        ({"--oop": "AhAd", "--ip": "AhKd"}, "shares a card"),
        ({"--oop": "ZZ"}, "range of OOP"),
        ({"--bets": "60%%"}, "60%%"),
        ({"--bets": "2.5x"}, "2.5x"),
        ({"--line": "b33"}, "not possible"),
        ({"--line": "x x 2s"}, "No card is dealt"),
        ({"--rake": "-1"}, "0 or more"),
        ({"--boards": "all"}, "--csv"),
    ],
)
def test_bad_input_gets_one_sentence(changes, sentence, capsys):
    arguments = dict(zip(POLARISED[::2], POLARISED[1::2], strict=True)) | changes
    assert main(["spot", *(word for pair in arguments.items() for word in pair)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("felt: ")
    assert error.endswith(".")
    assert sentence in error


def test_a_spot_that_does_not_fit_into_memory_is_refused_before_any_work():
    large = spot(
        oop="random", ip="random", board="2c3d4h", bets="10%,20%,30%,a", raises="2x,3x", stack=10_000
    )
    with pytest.raises(FeltError, match="more than 100,000"):
        large.solve()
