"""Learning on a GPU: the cases of `gpu_cases.py`, and what happens where there is none.

Where there is no GPU, numba's simulator plays one. It must be asked for before numba is imported, so the
cases run in a process of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import gpu_cases
import numpy as np
import pytest

import openfelt as felt
from openfelt.cli.app import main
from openfelt.core import cuda as cuda_module, jit
from openfelt.core.cuda import choose_device, to_gpu, why_no_gpu
from openfelt.solve.registry import solver_type

TRAIN = ["train", "kuhn", "--solver", "smooth-uct", "--episodes", "1000", "--out", "run", "--json"]

SAVED = "a_policy_is_saved_for_everybody"


@pytest.fixture(scope="session")
def cases(request, tmp_path_factory):
    """The folder of the cases that this run selects, once they have run; with what went wrong in each."""
    if find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed")
    selected = [item.callspec.params["name"] for item in request.session.items if "gpu_case" in item.keywords]
    if any("holdem" in name for name in selected):
        request.getfixturevalue("strengths")
    folder = tmp_path_factory.mktemp("gpu")
    # The machine code of the CPU's kernels is that of this process.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(jit.kernel_cache().parent)}
    if why_no_gpu():
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", gpu_cases.__file__, str(folder), *selected, SAVED],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, json.loads((folder / "found.json").read_text())


@pytest.mark.slow
@pytest.mark.gpu_case
@pytest.mark.parametrize("name", gpu_cases.CASES)
def test_on_a_gpu(name, cases):
    _, found = cases
    if found[name]:
        pytest.fail(found[name], pytrace=False)


@pytest.mark.slow
def test_a_policy_learned_on_a_gpu_is_measured_without_one(cases):
    folder = gpu_cases.folder_of(cases[0], SAVED)
    policy = felt.load_policy(folder / "policy")
    measured = felt.exploitability(policy)
    assert measured.nash_conv == pytest.approx(float((folder / "nash_conv").read_text()), abs=1e-12)
    here = felt.SmoothUCT("leduc").run(150)
    assert here.visits.tolist() == json.loads((folder / "visits").read_text())
    np.testing.assert_allclose(policy.probabilities, here.probabilities, rtol=1e-12)


def test_tables_go_to_a_gpu_in_rows_without_a_step_of_zero(monkeypatch):
    """numba-cuda takes such a step for a repeated table, and goes through its places one by one: hours."""
    monkeypatch.setattr(cuda_module, "numba_cuda", lambda: SimpleNamespace(to_device=lambda table: table))
    table = np.arange(6).reshape(2, 3)
    for given in (table, table[None], table[:, None, ::2], table.T, table[:, :0]):
        handed = to_gpu(given)
        assert 0 not in handed.strides
        assert handed.flags.c_contiguous
        assert handed.shape == given.shape
        assert handed.tolist() == given.tolist()


def break_driver():
    raise RuntimeError("CUDA driver is too old\nand a long story")


NOT_INSTALLED = ({"find_spec": lambda name: None}, "needs numba-cuda, which is not installed: pip install")
NO_GPU = ({"numba_cuda": lambda: SimpleNamespace(is_available=lambda: False)}, "no NVIDIA GPU, or no driver")
BROKEN = ({"numba_cuda": break_driver}, "the GPU cannot be used: CUDA driver is too old")


@pytest.fixture(params=[NOT_INSTALLED, NO_GPU, BROKEN], ids=["not installed", "no GPU", "broken"])
def why(request, monkeypatch, tmp_path):
    """A machine on which there is no GPU to be used, for a reason."""
    changes, reason = request.param
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        for name, instead in changes.items():
            patch.setattr(cuda_module, name, instead)
        why_no_gpu.cache_clear()
        yield reason
    why_no_gpu.cache_clear()


def test_without_a_gpu_one_is_refused_in_a_sentence(why):
    with pytest.raises(felt.FeltError) as caught:
        choose_device("cuda")
    text = str(caught.value)
    assert why[1:] in text
    assert text[0].isupper()
    assert "\n" not in text
    assert choose_device("auto") == choose_device("cpu") == "cpu"
    with pytest.raises(felt.FeltError, match=why[1:].split(":")[0]):
        felt.SmoothUCT("kuhn", device="cuda")
    assert felt.SmoothUCT("kuhn", device="auto").device == "cpu"


def test_without_a_gpu_the_command_says_so(why, capsys):
    assert main([*TRAIN, "--device", "cuda"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("felt: ")
    assert why[1:] in captured.err
    assert captured.err.count("\n") == 1
    assert not list(Path().iterdir())
    assert main([*TRAIN, "--device", "auto"]) == 0
    captured = capsys.readouterr()
    facts = json.loads(captured.out)
    assert (facts["device"], facts["iterations"]) == ("cpu", 1000)
    assert "training on the CPU: " in captured.err
    assert why in captured.err
    assert captured.err.count("\n") == 1
    whole = felt.SmoothUCT("kuhn").run(1000)
    assert felt.load_policy("run").probabilities.tobytes() == whole.probabilities.tobytes()
    for words in ([], ["--only", "GPU", "--quick"]):  # at once, not after what the CPU can do
        assert main(["study", "run", "gpu-equals-cpu", *words]) == 2
        assert why[1:] in capsys.readouterr().err


@pytest.mark.parametrize("kind", [felt.SmoothUCT, felt.ChanceCFR, felt.PCFRPlus])
def test_who_learns_on_the_cpu_does_not_wait_for_numba_cuda(kind, monkeypatch):
    asked = []
    monkeypatch.setattr(cuda_module, "find_spec", asked.append)
    why_no_gpu.cache_clear()
    kind("kuhn").run(10)
    why_no_gpu.cache_clear()
    assert asked == []


class CudaAPIError(Exception):
    """Called as one of numba-cuda's."""


def test_a_fault_of_the_driver_is_one_sentence():
    with pytest.raises(felt.FeltError) as caught, cuda_module.gpu_faults():
        raise CudaAPIError("[222] Call to cuLinkAddData results in CUDA_ERROR_UNSUPPORTED_PTX\nand more")
    assert str(caught.value).startswith("The GPU cannot be used: [222] Call to cuLinkAddData results in")
    assert "\n" not in str(caught.value)
    with (
        pytest.raises(felt.FeltError, match="The GPU cannot be used: CudaAPIError"),
        cuda_module.gpu_faults(),
    ):
        raise CudaAPIError
    with pytest.raises(ZeroDivisionError), cuda_module.gpu_faults():  # ours, and to be seen as it is
        raise ZeroDivisionError


@pytest.mark.parametrize("name", ["chance-cfr", "fictitious-play"])
def test_a_solver_for_the_cpu_says_so_where_the_device_is_open(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("openfelt.core.cuda.why_no_gpu", lambda: "")
    words = ["train", "kuhn", "--solver", name, "--iterations", "5", "--json"]
    assert main([*words, "--device", "auto"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["device"] == "cpu"
    assert captured.err == f"training on the CPU: {name} does not run on a GPU.\n"
    assert main([*words, "--device", "cuda"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert f"{name} does not run on a GPU" in captured.err


@pytest.mark.parametrize("name", ["uct", "cfr"])
def test_bad_devices_get_a_sentence(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for settings, words in (
        ({"device": "nonsense"}, "device must be cpu, cuda or auto, not nonsense"),
        ({"device": ""}, "device must be"),
        ({"in_flight": 0}, "in_flight must be a whole number from 1"),
        ({"in_flight": 2.5}, "in_flight must be a whole number"),
        ({"in_flight": 10**9}, "in_flight must be a whole number"),
        ({"in_flight": 2}, "in_flight is for a GPU"),
    ):
        with pytest.raises(felt.FeltError) as caught:
            solver_type(name)("kuhn", **settings)
        assert words in str(caught.value)
    for words, says in (
        (["--device", "nonsense"], "invalid choice: 'nonsense'"),
        (["--in-flight", "0"], "whole number of 1 or more"),
        (["--in-flight", "1e9"], "in_flight must be a whole number from 1"),
        (["--in-flight", "2"], "in_flight is for a GPU"),
    ):
        assert main([*TRAIN, *words]) == 2
        captured = capsys.readouterr()
        assert captured.err.startswith("felt: ")
        assert says in captured.err
        assert captured.err.count("\n") == 1
    assert not list(Path().iterdir())


CORE = """
import importlib, pkgutil, sys

missing = {"rich", "platformdirs", "matplotlib", "sklearn", "numba_cuda"}

class Finder:
    def __init__(self, other):
        self.other = other

    def find_spec(self, name, *rest):
        return None if name.partition(".")[0] in missing else self.other.find_spec(name, *rest)

    def __getattr__(self, name):
        return getattr(self.other, name)

sys.meta_path[:] = map(Finder, sys.meta_path)
import openfelt

for layer in "core cards games policy solve measure".split():
    package = importlib.import_module(f"openfelt.{layer}")
    for module in pkgutil.walk_packages(package.__path__, f"openfelt.{layer}."):
        importlib.import_module(module.name)
assert not missing & {name.partition(".")[0] for name in sys.modules}

for kind in (openfelt.PCFRPlus, openfelt.SequenceLP, openfelt.SmoothUCT):
    openfelt.save_policy(kind("kuhn").run(200).policy, sys.argv[1])
    assert openfelt.exploitability(openfelt.load_policy(sys.argv[1])).nash_conv < 1
assert openfelt.SmoothUCT("kuhn", device="auto").device == "cpu"
try:
    openfelt.SmoothUCT("kuhn", device="cuda")
except openfelt.FeltError as error:
    assert "numba-cuda" in str(error), error
else:
    raise AssertionError("there is no numba-cuda")
"""


def test_the_core_needs_only_numpy_scipy_and_numba(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "OPENFELT_CACHE"}
    environment |= {"TMPDIR": str(tmp_path), "NUMBA_CACHE_DIR": str(jit.kernel_cache().parent)}
    done = subprocess.run(
        [sys.executable, "-c", CORE, str(tmp_path / "policy")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
