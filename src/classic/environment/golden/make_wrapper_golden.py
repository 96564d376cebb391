"""Writes wrappers.json: what Gymnasium's wrappers make of scripted episodes, for wrappers/*.test.ts.

    python make_wrapper_golden.py      # Gymnasium 1.3.0, NumPy 2.4.6
"""

import json
from pathlib import Path

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import FrameStackObservation, NormalizeObservation, NormalizeReward, TimeLimit
from gymnasium.wrappers import vector as vector_wrappers
from gymnasium.wrappers.utils import RunningMeanStd

ENDS = [(True, False), (False, True), (True, True)]
STEPS = 60


def script(seed):
    """Episodes of 1 to 9 steps, with every kind of end."""
    rng = np.random.default_rng(seed)
    episodes = []
    for k in range(20):
        length = int(rng.integers(1, 10))
        scale = np.array([1, 10, 0.1])
        episodes.append(
            {
                "observations": (rng.normal(size=(length + 1, 3)) * scale + [0, 5, -1]).astype(np.float32).tolist(),
                "rewards": rng.normal(1, 3, size=length).tolist(),
                "terminated": ENDS[k % 3][0],
                "truncated": ENDS[k % 3][1],
            }
        )
    return episodes


class Scripted(gym.Env):
    def __init__(self, seed):
        self.observation_space = Box(-np.inf, np.inf, (3,), np.float32)
        self.action_space = Discrete(2)
        self.episodes = script(seed)
        self.k = -1

    def reset(self, *, seed=None, options=None):
        self.k += 1
        self.t = 0
        self.episode = self.episodes[self.k % len(self.episodes)]
        return np.array(self.episode["observations"][0], np.float32), {}

    def step(self, action):
        episode = self.episode
        reward = episode["rewards"][self.t]
        self.t += 1
        over = self.t == len(episode["rewards"])
        observation = np.array(episode["observations"][self.t], np.float32)
        return observation, reward, over and episode["terminated"], over and episode["truncated"], {}


def scalar(env):
    """Every reset and step until STEPS steps: [observation, reward, terminated, truncated]."""
    rows, over = [], True
    for _ in range(STEPS):
        if over:
            rows.append([env.reset()[0].ravel().tolist(), 0, False, False])
        observation, reward, terminated, truncated, _ = env.step(0)
        over = terminated or truncated
        rows.append([observation.ravel().tolist(), float(np.ravel(reward)[0]), terminated, truncated])
    return rows


def vector(env):
    observation, _ = env.reset()
    rows = [[observation.ravel().tolist(), [0.0] * 3]]
    for _ in range(STEPS):
        observation, reward, _, _, _ = env.step(np.zeros(3, int))
        rows.append([observation.ravel().tolist(), np.asarray(reward).tolist()])
    return rows


make_vector = lambda: gym.vector.SyncVectorEnv([lambda s=s: Scripted(s) for s in range(3)])


def statistics():
    """RunningMeanStd in double precision over batches of several sizes."""
    rng = np.random.default_rng(9)
    running = RunningMeanStd(shape=(2,))
    batches = []
    for size in [1, 3, 8, 1, 20]:
        batch = rng.normal(3, 2, size=(size, 2))
        running.update(batch)
        batches.append(
            {"rows": batch.ravel().tolist(), "mean": running.mean.tolist(), "variance": running.var.tolist(), "count": running.count}
        )
    return batches


result = {
    "gymnasium": gym.__version__,
    "environments": [script(seed) for seed in range(3)],
    "statistics": statistics(),
    "scalar": {
        "normaliseObservations": scalar(NormalizeObservation(Scripted(0))),
        "normaliseRewards": scalar(NormalizeReward(Scripted(0), gamma=0.9)),
        "frameStack": scalar(FrameStackObservation(Scripted(0), 3)),
        "frameStackZero": scalar(FrameStackObservation(Scripted(0), 3, padding_type="zero")),
        "timeLimit": scalar(TimeLimit(Scripted(0), 4)),
    },
    "vector": {
        "normaliseObservations": vector(vector_wrappers.NormalizeObservation(make_vector())),
        "normaliseRewards": vector(vector_wrappers.NormalizeReward(make_vector(), gamma=0.9)),
    },
}
Path(__file__).with_name("wrappers.json").write_text(json.dumps(result) + "\n")
