"""Writes spaces.json: what Gymnasium's seeded spaces sample, for space-sample.test.ts.

    python make_space_golden.py        # Gymnasium 1.3.0, NumPy 2.4.6
"""

import json
import string
from pathlib import Path

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Sequence, Text, Tuple, flatten

INF = np.inf
# Gymnasium's default is a set, whose order differs from run to run.
LETTERS = string.ascii_letters + string.digits
INT8 = lambda values: np.array(values, dtype=np.int8)


def plain(value):
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value


def samples(space, seed=123, count=8, mask=None):
    space.seed(seed)
    return [plain(space.sample(mask=mask) if mask is not None else space.sample()) for _ in range(count)]


MIXED = dict(low=np.array([-1, -INF, 0, -INF, 2]), high=np.array([1, INF, INF, 3, 5]))
PARTS = {"a": Discrete(3), "b": Box(-1, 1, (2,)), "c": MultiBinary(3)}

cases = {
    "discrete": samples(Discrete(2), count=20),
    "discrete-start": samples(Discrete(7, start=-3)),
    "discrete-mask": samples(Discrete(5), mask=INT8([0, 1, 0, 1, 1])),
    "box": samples(Box(-1, 1, (2,))),
    "box-unbounded": samples(Box(-INF, INF, (3,))),
    "box-half": samples(Box(0, INF, (2,))),
    "box-mixed": samples(Box(dtype=np.float64, **MIXED)),
    "box-bounds32": samples(Box(np.float32(-0.41887903), np.float32(0.1), (3,))),
    "box-int32": samples(Box(-3, 3, (4,), dtype=np.int32)),
    "box-uint8": samples(Box(0, 255, (2, 2), dtype=np.uint8)),
    "multi-discrete": samples(MultiDiscrete([2, 5, 9])),
    "multi-discrete-mask": samples(MultiDiscrete([2, 3]), mask=(INT8([1, 1]), INT8([0, 1, 1]))),
    "multi-binary": samples(MultiBinary(3)),
    "multi-binary-6": samples(MultiBinary(6)),
    "multi-binary-mask": samples(MultiBinary(4), mask=INT8([0, 1, 2, 2])),
    "text": samples(Text(6, charset=LETTERS)),
    "text-short": samples(Text(4, min_length=0, charset="abc")),
    "text-mask": samples(Text(4, charset="abcd"), mask=(3, INT8([1, 0, 1, 0]))),
    "tuple": samples(Tuple((Discrete(4), Box(-INF, INF, (2,)), Tuple((Discrete(2), MultiDiscrete([3, 3])))))),
    "dict": samples(Dict(PARTS)),
    "sequence": samples(Sequence(Discrete(5))),
    "sequence-mask": samples(Sequence(Discrete(3)), mask=(np.array([1, 2]), INT8([1, 0, 1]))),
}

nested = Tuple((Dict({**PARTS, "d": MultiDiscrete([2, 3])}), Text(5, charset="abc"), Discrete(3, start=2)))
nested.seed(1)
flattened = []
for _ in range(5):
    member = nested.sample()
    flattened.append({"member": plain(member), "flat": plain(flatten(nested, member))})

result = {"gymnasium": gym.__version__, "seed": 123, "cases": cases, "flattened": flattened}
Path(__file__).with_name("spaces.json").write_text(json.dumps(result) + "\n")
