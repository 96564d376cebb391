"""DQN on CartPole-v1 in PyTorch, restated from what is published, no code taken: Stable-Baselines3's DQN
(github.com/DLR-RM/stable-baselines3 at e05d2dbe, its documentation) with the settings of RL Baselines3 Zoo's `dqn.yml`
for 50 000 steps. Arguments: threads."""
import copy
import gymnasium as gym
import numpy as np
import torch
from torch import nn
from training import Replay, greedy_score, serve

rate, batch, gamma = 2.3e-3, 64, 0.99
starts, every, gradient_steps, target_every = 1000, 256, 128, 10
fraction, final_epsilon = 0.16, 0.04


def train(total, seed):
    q = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
    target = copy.deepcopy(q)
    optimizer = torch.optim.Adam(q.parameters(), lr=rate)
    replay = Replay(100_000, 4, (), np.int64)
    env = gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))
    obs, _ = env.reset(seed=seed)
    for step in range(1, total + 1):
        epsilon = max(final_epsilon, 1 - (1 - final_epsilon) * step / (fraction * total))
        if step <= starts or np.random.rand() < epsilon:
            action = np.random.randint(2)
        else:
            with torch.no_grad():
                action = int(q(torch.as_tensor(obs).unsqueeze(0)).argmax())
        found, reward, terminated, truncated, _ = env.step(action)
        replay.add(obs, found, action, reward, terminated)
        obs = env.reset()[0] if terminated or truncated else found
        if step % target_every == 0:
            with torch.no_grad():
                for to, new in zip(target.parameters(), q.parameters()):
                    to.copy_(new)
        if step % every == 0 and step > starts:
            for _ in range(gradient_steps):
                o, a, following, r, end = replay.sample(batch)
                with torch.no_grad():
                    wanted = r + gamma * (1 - end) * target(following).max(-1).values
                found_values = q(o).gather(1, a.unsqueeze(1)).flatten()
                loss = nn.functional.smooth_l1_loss(found_values, wanted)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(q.parameters(), 10)
                optimizer.step()
    env.close()
    return lambda: greedy_score("CartPole-v1", lambda o: q(o).argmax(-1).numpy())


serve(train)
