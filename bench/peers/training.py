"""What the peers that train have in common."""
import random
import sys
import time
import gymnasium as gym
import numpy as np
import torch


def make(name):
    """An environment of Gymnasium, or `MinAtar/Breakout-v0` and the like (all six actions) if MinAtar is on the path:
    flat observations, and an end after 5000 steps, as in Agoge."""
    if not name.startswith("MinAtar/"):
        return gym.make(name)
    if name not in gym.registry:
        from minatar.gym import register_envs

        register_envs()
    return gym.wrappers.FlattenObservation(gym.make(name, max_episode_steps=5000, disable_env_checker=True))


def vector(name, count):
    """Environments that begin again in the step that ends them, with statistics of episodes."""
    one = lambda: gym.wrappers.RecordEpisodeStatistics(make(name))
    return gym.vector.SyncVectorEnv([one] * count, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)


@torch.no_grad()
def greedy_score(name, act, episodes=100):
    """Mean return of the first episode of each environment; `act` gives actions [episodes, ...] for observations."""
    envs = gym.vector.SyncVectorEnv([lambda: make(name)] * episodes)
    obs, _ = envs.reset(seed=10_000)
    returns = np.zeros(episodes)
    running = np.ones(episodes, dtype=bool)
    while running.any():
        obs, reward, terminated, truncated, _ = envs.step(act(torch.as_tensor(obs, dtype=torch.float32)))
        returns += reward * running
        running &= ~(terminated | truncated)
    envs.close()
    return returns.mean()


class Replay:
    """Transitions of one environment in rings of NumPy arrays; batches become tensors."""

    def __init__(self, capacity, obs_size, action_shape, action_type):
        self.obs = np.zeros((capacity, obs_size), np.float32)
        self.next_obs = np.zeros((capacity, obs_size), np.float32)
        self.actions = np.zeros((capacity, *action_shape), action_type)
        self.rewards = np.zeros(capacity, np.float32)
        self.ends = np.zeros(capacity, np.float32)
        self.capacity, self.at, self.size = capacity, 0, 0

    def add(self, obs, next_obs, action, reward, terminated):
        for array, value in ((self.obs, obs), (self.next_obs, next_obs), (self.actions, action),
                             (self.rewards, reward), (self.ends, terminated)):
            array[self.at] = value
        self.at = (self.at + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, count):
        rows = np.random.randint(0, self.size, count)
        return [torch.as_tensor(array[rows])
                for array in (self.obs, self.actions, self.next_obs, self.rewards, self.ends)]


def serve(train):
    """Answers each line `N` or `N SEED` with the seconds of a training of N steps from scratch and its greedy score; by
    default the seed is the number of lines before. `train(N, seed)` gives the function that scores."""
    torch.set_num_threads(int(sys.argv[1]))
    for before, line in enumerate(sys.stdin):
        steps, *given = map(int, line.split())
        seed = given[0] if given else before
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        begin = time.perf_counter()
        score = train(steps, seed)
        seconds = time.perf_counter() - begin
        print(seconds, score(), flush=True)
