"""DQN, C51 and QR-DQN on CartPole-v1 in PyTorch, restated from what is published, no code taken: CleanRL's `dqn.py` and
`c51.py` (github.com/vwxyzjn/cleanrl at fe8d8a03, its documentation; Bellemare et al. 2017, arXiv:1707.06887) with their
defaults. CleanRL has no QR-DQN: the same settings with the loss of Dabney et al. 2018 (arXiv:1710.10044) and SB3-Contrib's
epsilon of Adam. Arguments: threads, `dqn`, `c51` or `qr-dqn`."""
import copy
import sys
import gymnasium as gym
import numpy as np
import torch
from torch import nn
from training import Replay, greedy_score, serve

rate, batch, gamma = 2.5e-4, 128, 0.99
capacity, starts, every, target_every = 10_000, 10_000, 10, 500
fraction, final_epsilon = 0.5, 0.05
actions = 2


class Dqn:
    numbers, adam_epsilon = 1, 1e-8

    def values(self, out):
        return out.squeeze(-1)

    def targets(self, rewards, goes_on, following):
        return rewards + gamma * goes_on * following

    def loss(self, found, wanted):
        return nn.functional.mse_loss(found, wanted)


class C51:
    numbers, adam_epsilon = 101, 0.01 / batch
    low, high = -100.0, 100.0

    def __init__(self):
        self.atoms = torch.linspace(self.low, self.high, self.numbers)

    def values(self, out):
        return (out.softmax(-1) * self.atoms).sum(-1)

    def targets(self, rewards, goes_on, following):
        """Each atom's mass goes to the two atoms around where it lands, in shares of their closeness."""
        at = (rewards + gamma * goes_on * self.atoms).clamp(self.low, self.high)
        at = (at - self.low) / (self.atoms[1] - self.atoms[0])
        share = (1 - (at.unsqueeze(-1) - torch.arange(self.numbers)).abs()).clamp(min=0)
        return (following.softmax(-1).unsqueeze(-1) * share).sum(1)

    def loss(self, found, wanted):
        return -(wanted * found.softmax(-1).clamp(1e-5, 1 - 1e-5).log()).sum(-1).mean()


class QrDqn:
    numbers, adam_epsilon = 10, 0.01 / batch

    def values(self, out):
        return out.mean(-1)

    def targets(self, rewards, goes_on, following):
        return rewards + gamma * goes_on * following

    def loss(self, found, wanted):
        levels = (torch.arange(self.numbers) + 0.5) / self.numbers
        apart = wanted.unsqueeze(1) - found.unsqueeze(2)  # [B, quantile, sample]
        huber = torch.where(apart.abs() < 1, 0.5 * apart**2, apart.abs() - 0.5)
        weight = (levels.unsqueeze(1) - (apart.detach() < 0).float()).abs()
        return (weight * huber).sum(1).mean()


method = {"dqn": Dqn, "c51": C51, "qr-dqn": QrDqn}[sys.argv[2]]()


def train(total, seed):
    network = nn.Sequential(nn.Linear(4, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                            nn.Linear(84, actions * method.numbers))
    target = copy.deepcopy(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=rate, eps=method.adam_epsilon)
    of = lambda net, obs: net(obs).view(len(obs), actions, method.numbers)
    best = lambda obs: method.values(of(network, obs)).argmax(-1)
    replay = Replay(capacity, 4, (), np.int64)
    env = gym.make("CartPole-v1")
    obs, _ = env.reset(seed=seed)
    for step in range(total):
        epsilon = max(final_epsilon, 1 - (1 - final_epsilon) * step / (fraction * total))
        if np.random.rand() < epsilon:
            action = np.random.randint(actions)
        else:
            with torch.no_grad():
                action = int(best(torch.as_tensor(obs).unsqueeze(0)))
        found, reward, terminated, truncated, _ = env.step(action)
        replay.add(obs, found, action, reward, terminated)
        obs = env.reset()[0] if terminated or truncated else found
        if step <= starts:
            continue
        if step % every == 0:
            o, a, following, r, end = replay.sample(batch)
            rows = torch.arange(batch)
            with torch.no_grad():
                judged = of(target, following)
                chosen = judged[rows, method.values(judged).argmax(-1)]
                wanted = method.targets(r.unsqueeze(1), 1 - end.unsqueeze(1), chosen)
            loss = method.loss(of(network, o)[rows, a], wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % target_every == 0:
            target.load_state_dict(network.state_dict())
    env.close()
    return lambda: greedy_score("CartPole-v1", lambda o: best(o).numpy())


serve(train)
