"""DQN on CartPole-v1 or MountainCar-v0 in PyTorch, restated from what is published, no code taken: Stable-Baselines3's DQN
(github.com/DLR-RM/stable-baselines3 at e05d2dbe, its documentation) with the settings of RL Baselines3 Zoo's `dqn.yml`
for 50 000 and 120 000 steps. Arguments: threads, `cartpole` (the default) or `mountain-car`."""
import copy
import sys
import gymnasium as gym
import numpy as np
import torch
from torch import nn
from training import Replay, greedy_score, serve

settings = {
    "cartpole": dict(environment="CartPole-v1", inputs=4, actions=2, rate=2.3e-3, batch=64, gamma=0.99, capacity=100_000,
                     every=256, gradient_steps=128, target_every=10, fraction=0.16, final_epsilon=0.04),
    "mountain-car": dict(environment="MountainCar-v0", inputs=2, actions=3, rate=4e-3, batch=128, gamma=0.98, capacity=10_000,
                         every=16, gradient_steps=8, target_every=600, fraction=0.2, final_epsilon=0.07),
}
c = settings[sys.argv[2] if len(sys.argv) > 2 else "cartpole"]
starts = 1000


def train(total, seed):
    q = nn.Sequential(nn.Linear(c["inputs"], 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, c["actions"]))
    target = copy.deepcopy(q)
    optimizer = torch.optim.Adam(q.parameters(), lr=c["rate"])
    replay = Replay(c["capacity"], c["inputs"], (), np.int64)
    env = gym.wrappers.RecordEpisodeStatistics(gym.make(c["environment"]))
    obs, _ = env.reset(seed=seed)
    for step in range(1, total + 1):
        epsilon = max(c["final_epsilon"], 1 - (1 - c["final_epsilon"]) * step / (c["fraction"] * total))
        if step <= starts or np.random.rand() < epsilon:
            action = np.random.randint(c["actions"])
        else:
            with torch.no_grad():
                action = int(q(torch.as_tensor(obs).unsqueeze(0)).argmax())
        found, reward, terminated, truncated, _ = env.step(action)
        replay.add(obs, found, action, reward, terminated)
        obs = env.reset()[0] if terminated or truncated else found
        if step % c["target_every"] == 0:
            with torch.no_grad():
                for to, new in zip(target.parameters(), q.parameters()):
                    to.copy_(new)
        if step % c["every"] == 0 and step > starts:
            for _ in range(c["gradient_steps"]):
                o, a, following, r, end = replay.sample(c["batch"])
                with torch.no_grad():
                    wanted = r + c["gamma"] * (1 - end) * target(following).max(-1).values
                found_values = q(o).gather(1, a.unsqueeze(1)).flatten()
                loss = nn.functional.smooth_l1_loss(found_values, wanted)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(q.parameters(), 10)
                optimizer.step()
    env.close()
    return lambda: greedy_score(c["environment"], lambda o: q(o).argmax(-1).numpy())


serve(train)
