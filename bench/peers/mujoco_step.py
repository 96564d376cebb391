"""Stepping Gymnasium's environments of MuJoCo: `make(NAME)` reset by the caller (SLOTS 1), or a SyncVectorEnv with SLOTS
environments. Answers each line `N` on standard input with the seconds that N steps (of all slots) took. Random actions in [-1, 1] are drawn
beforehand. Arguments: threads (which change nothing here), NAME, SLOTS."""
import sys
import time
import gymnasium as gym
import numpy as np

name, slots = sys.argv[2], int(sys.argv[3])
random = np.random.default_rng(0)

if slots == 1:
    env = gym.make(name)
    env.reset(seed=0)
    choices = random.uniform(-1, 1, (1024, *env.action_space.shape)).astype(np.float32)

    def run(count):
        for i in range(count):
            _, _, terminated, truncated, _ = env.step(choices[i & 1023])
            if terminated or truncated:
                env.reset()
else:
    env = gym.vector.SyncVectorEnv([lambda: gym.make(name)] * slots)
    env.reset(seed=0)
    choices = random.uniform(-1, 1, (1024, *env.action_space.shape)).astype(np.float32)

    def run(count):
        for i in range(count):
            env.step(choices[i & 1023])


for line in sys.stdin:
    begin = time.perf_counter()
    run(int(line))
    print(time.perf_counter() - begin, flush=True)
