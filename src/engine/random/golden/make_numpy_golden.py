"""Writes numpy.json: draws of numpy.random.default_rng that pcg64.test.ts holds Agoge's generator to.

    python make_numpy_golden.py        # NumPy 2.4.6

`tail` are the draws beyond the ziggurats, which need a logarithm, with their places among `count` draws; `after` is the
random() that follows these, so that every rejection has to agree.
"""

import json
from pathlib import Path

import numpy as np

SEEDS = [0, 1, 42, 123, 2**32 - 1, 2**70 + 12345]
COUNT = 30_000
NORMAL_EDGE = 3.6541528853610088
EXPONENTIAL_EDGE = 7.6971174701310497


def ziggurat(seed, name, edge):
    generator = np.random.default_rng(seed)
    draws = getattr(generator, name)(size=COUNT)
    beyond = np.flatnonzero(np.abs(draws) > edge)
    return {
        "first": draws[:100].tolist(),
        "count": COUNT,
        "tail": [[int(i), float(draws[i])] for i in beyond],
        "after": generator.random(),
    }


def golden(seed):
    fresh = lambda: np.random.default_rng(seed)
    return {
        "seed": str(seed),
        "raw": [str(value) for value in np.random.PCG64(seed).random_raw(20)],
        "random": fresh().random(50).tolist(),
        "uniform": fresh().uniform(-0.05, 0.05, 10).tolist(),
        "integers": {
            str(n): fresh().integers(n, size=20).tolist()
            for n in [1, 2, 3, 5, 1000, 2**31 - 1, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**53 - 1]
        },
        "bytes": {str(n): [fresh().integers(n, size=k, dtype=np.int8).tolist() for k in (3, 4, 9)] for n in [1, 2, 3, 100, 127]},
        "normal": ziggurat(seed, "standard_normal", NORMAL_EDGE),
        "exponential": ziggurat(seed, "standard_exponential", EXPONENTIAL_EDGE),
    }


def mixed():
    """All kinds in turn, over one generator: halves of words that integers leave behind have to be kept."""
    generator = np.random.default_rng(7)
    rows = []
    for _ in range(30):
        rows.append(
            [
                int(generator.integers(10)),
                generator.random(),
                generator.standard_normal(),
                int(generator.integers(2**40)),
                int(generator.integers(6)),
                int(generator.integers(7)),
                generator.standard_exponential(),
                *generator.integers(3, size=3, dtype=np.int8).tolist(),
            ]
        )
    return rows


result = {"numpy": np.__version__, "seeds": [golden(seed) for seed in SEEDS], "mixed": mixed()}
Path(__file__).with_name("numpy.json").write_text(json.dumps(result) + "\n")
