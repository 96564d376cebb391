"""Stepping Gymnasium's CartPole: `make("CartPole-v1")` reset by the caller (SLOTS 0), or CartPoleVectorEnv with SLOTS
environments. Answers each line `N` on standard input with the seconds that N steps (of all slots) took. Random actions
are drawn beforehand. Arguments: threads (which change nothing here), SLOTS."""
import sys
import time
import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv

slots = int(sys.argv[2])
random = np.random.default_rng(0)

if slots == 0:
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    choices = random.integers(0, 2, 65536).tolist()

    def run(count):
        for i in range(count):
            _, _, terminated, truncated, _ = env.step(choices[i & 65535])
            if terminated or truncated:
                env.reset()
else:
    env = CartPoleVectorEnv(num_envs=slots)
    env.reset(seed=0)
    choices = random.integers(0, 2, (1024, slots))

    def run(count):
        for i in range(count):
            env.step(choices[i & 1023])


for line in sys.stdin:
    begin = time.perf_counter()
    run(int(line))
    print(time.perf_counter() - begin, flush=True)
