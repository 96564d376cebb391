"""SAC on Pendulum-v1 in PyTorch, restated from what is published, no code taken: Stable-Baselines3's SAC
(github.com/DLR-RM/stable-baselines3 at e05d2dbe, its documentation, and Haarnoja et al. 2018, arXiv:1812.05905) with
the settings of RL Baselines3 Zoo's `sac.yml` for 20 000 steps. Arguments: threads."""
import copy
import gymnasium as gym
import numpy as np
import torch
from torch import nn
from training import Replay, greedy_score, serve

rate, batch, gamma, tau, starts, bound = 1e-3, 256, 0.99, 0.005, 100, 2.0


def body(inputs):
    return [nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()]


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mean, self.log_std = nn.Sequential(*body(3)), nn.Linear(256, 1), nn.Linear(256, 1)

    def forward(self, obs):
        """An action in [-1, 1] and its log-probability [B]."""
        features = self.body(obs)
        normal = torch.distributions.Normal(self.mean(features), self.log_std(features).clamp(-20, 2).exp())
        raw = normal.rsample()
        action = raw.tanh()
        return action, (normal.log_prob(raw) - torch.log(1 - action**2 + 1e-6)).sum(-1)

    def greedy(self, obs):
        return self.mean(self.body(obs)).tanh()


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.each = nn.ModuleList(nn.Sequential(*body(4), nn.Linear(256, 1)) for _ in range(2))

    def forward(self, obs, action):
        both = torch.cat([obs, action], 1)
        return [critic(both).flatten() for critic in self.each]


def train(total, seed):
    actor, critics = Actor(), Critics()
    targets = copy.deepcopy(critics)
    log_temperature = torch.zeros(1, requires_grad=True)
    for_actor, for_critics, for_temperature = (
        torch.optim.Adam(x, lr=rate) for x in (actor.parameters(), critics.parameters(), [log_temperature]))
    replay = Replay(1_000_000, 3, (1,), np.float32)
    env = gym.wrappers.RecordEpisodeStatistics(gym.make("Pendulum-v1"))
    obs, _ = env.reset(seed=seed)

    def descend(optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for step in range(1, total + 1):
        if step <= starts:
            action = np.random.uniform(-1, 1, 1).astype(np.float32)
        else:
            with torch.no_grad():
                action = actor(torch.as_tensor(obs).unsqueeze(0))[0].numpy()[0]
        found, reward, terminated, truncated, _ = env.step(bound * action)
        replay.add(obs, found, action, reward, terminated)
        obs = env.reset()[0] if terminated or truncated else found
        if step <= starts:
            continue
        o, a, following, r, end = replay.sample(batch)
        played, logprob = actor(o)
        temperature = log_temperature.exp().detach()
        descend(for_temperature, -(log_temperature * (logprob - 1.0).detach()).mean())  # wanted entropy: -1
        with torch.no_grad():
            next_action, next_logprob = actor(following)
            next_value = torch.min(*targets(following, next_action)) - temperature * next_logprob
            wanted = r + gamma * (1 - end) * next_value
        descend(for_critics, 0.5 * sum(nn.functional.mse_loss(q, wanted) for q in critics(o, a)))
        descend(for_actor, (temperature * logprob - torch.min(*critics(o, played))).mean())
        with torch.no_grad():
            for to, new in zip(targets.parameters(), critics.parameters()):
                to.lerp_(new, tau)
    env.close()
    return lambda: greedy_score("Pendulum-v1", lambda o: (bound * actor.greedy(o)).numpy())


serve(train)
