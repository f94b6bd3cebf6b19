"""All formats by name."""

from __future__ import annotations

from fuzz.target import Target
from fuzz.targets.caches import CacheTarget
from fuzz.targets.client import ClientTarget
from fuzz.targets.dealer import DealerTarget
from fuzz.targets.definition import DefinitionTarget
from fuzz.targets.efg import EfgTarget
from fuzz.targets.freeze_out import FreezeOutTarget
from fuzz.targets.hand_log import LogTarget
from fuzz.targets.journal import MatchFolderTarget
from fuzz.targets.model import ModelTarget
from fuzz.targets.names import NamesTarget
from fuzz.targets.phh import PhhTarget
from fuzz.targets.policy import HoldemPolicyTarget, PolicyTarget
from fuzz.targets.run import RunTarget
from fuzz.targets.sessions import SessionFileTarget
from fuzz.targets.store import StoreTarget
from fuzz.targets.table import TableMessagesTarget, TableRequestsTarget

ALL: tuple[type[Target], ...] = (
    EfgTarget,
    DefinitionTarget,
    LogTarget,
    PhhTarget,
    StoreTarget,
    PolicyTarget,
    HoldemPolicyTarget,
    RunTarget,
    ModelTarget,
    MatchFolderTarget,
    FreezeOutTarget,
    CacheTarget,
    SessionFileTarget,
    ClientTarget,
    DealerTarget,
    TableMessagesTarget,
    TableRequestsTarget,
    NamesTarget,
)
TARGETS = {target.name: target for target in ALL}
