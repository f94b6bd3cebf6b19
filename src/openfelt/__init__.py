"""OpenFelt: train, measure, exploit and play agents for games of imperfect information.

    import openfelt as felt

    solver = felt.PCFRPlus("leduc").run(until=1e-4)
    print(felt.exploitability("leduc", solver.policy))
    felt.save_policy(solver.policy, "leduc-policy")

The public names are those of `__init__.pyi`. Each is loaded when it is first used, so `import openfelt` costs
nothing.
"""

import lazy_loader

from openfelt.core.version import VERSION

__version__ = VERSION
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
