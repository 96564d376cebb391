"""PQN on CartPole-v1 in PyTorch, restated from what is published, no code taken: CleanRL's `pqn.py`
(github.com/vwxyzjn/cleanrl at fe8d8a03, its documentation; Gallici et al. 2024, arXiv:2407.04811) with its defaults.
Arguments: threads. A training of N steps is rounded down to whole rollouts."""
import numpy as np
import torch
from torch import nn
from training import greedy_score, serve, vector

slots, steps, epochs, minibatches = 4, 128, 4, 4
rate, gamma, lam, longest = 2.5e-4, 0.99, 0.65, 10.0
fraction, final_epsilon = 0.5, 0.05


def layer(inputs, outputs):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, 2**0.5)
    nn.init.zeros_(made.bias)
    return made


def train(total, seed):
    q = nn.Sequential(layer(4, 120), nn.LayerNorm(120), nn.ReLU(), layer(120, 84), nn.LayerNorm(84), nn.ReLU(),
                      layer(84, 2))
    optimizer = torch.optim.RAdam(q.parameters(), lr=rate)
    envs = vector("CartPole-v1", slots)
    rows = slots * steps
    obs = torch.zeros(steps, slots, 4)
    actions = torch.zeros(steps, slots, dtype=torch.int64)
    rewards, ends, values = (torch.zeros(steps, slots) for _ in range(3))
    now, seen = torch.Tensor(envs.reset(seed=seed)[0]), 0
    updates = total // rows
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = (1 - update / updates) * rate
        for t in range(steps):
            seen += slots
            epsilon = max(final_epsilon, 1 - (1 - final_epsilon) * seen / (fraction * total))
            with torch.no_grad():
                best = q(now).max(-1)
            explores = torch.rand(slots) < epsilon
            obs[t], values[t] = now, best.values
            actions[t] = torch.where(explores, torch.randint(0, 2, (slots,)), best.indices)
            found, reward, terminated, truncated, _ = envs.step(actions[t].numpy())
            rewards[t], ends[t] = torch.tensor(reward), torch.Tensor(terminated | truncated)
            now = torch.Tensor(found)
        with torch.no_grad():
            returns = torch.zeros_like(rewards)
            for t in reversed(range(steps)):
                following = q(now).max(-1).values if t == steps - 1 else lam * returns[t + 1] + (1 - lam) * values[t + 1]
                returns[t] = rewards[t] + gamma * (1 - ends[t]) * following
        flat = [x.reshape(rows, *x.shape[2:]) for x in (obs, actions, returns)]
        order = np.arange(rows)
        for _ in range(epochs):
            np.random.shuffle(order)
            for chosen in np.split(order, minibatches):
                o, a, wanted = (x[chosen] for x in flat)
                loss = nn.functional.mse_loss(q(o).gather(1, a.unsqueeze(1)).flatten(), wanted)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(q.parameters(), longest)
                optimizer.step()
    envs.close()
    return lambda: greedy_score("CartPole-v1", lambda o: q(o).argmax(-1).numpy())


serve(train)
