"""PPO for continuous actions in PyTorch, restated from what is published, no code taken: CleanRL's `ppo_continuous_action.py`
(github.com/vwxyzjn/cleanrl at fe8d8a03) with its defaults. Arguments: threads, the name of the environment. A training of N
steps is rounded down to whole rollouts. The score is of the mean action, with the statistics of training."""
import sys
import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from training import greedy_score, serve

name = sys.argv[2]
steps, minibatches, epochs, rate = 2048, 32, 10, 3e-4
gamma, lam, clip = 0.99, 0.95, 0.2


def make():
    env = gym.wrappers.ClipAction(gym.make(name))
    env = gym.wrappers.NormalizeObservation(env)
    env = gym.wrappers.TransformObservation(env, lambda o: np.clip(o, -10, 10), env.observation_space)
    env = gym.wrappers.NormalizeReward(env, gamma=gamma)
    return gym.wrappers.TransformReward(env, lambda r: np.clip(r, -10, 10))


def mlp(inputs, outputs, last_gain):
    layers = [nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
    for layer, gain in zip(layers[::2], (2**0.5, 2**0.5, last_gain)):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def train(total, seed):
    env = make()
    width, size = env.observation_space.shape[0], env.action_space.shape[0]
    low, high = env.unwrapped.action_space.low, env.unwrapped.action_space.high
    actor, critic = mlp(width, size, 0.01), mlp(width, 1, 1.0)
    log_std = nn.Parameter(torch.zeros(1, size))
    weights = [*actor.parameters(), log_std, *critic.parameters()]
    optimizer = torch.optim.Adam(weights, lr=rate, eps=1e-5)
    policy_of = lambda o: Normal(actor(o), log_std.exp().expand(len(o), -1))
    obs, actions = torch.zeros(steps, width), torch.zeros(steps, size)
    logprobs, rewards, ends, values = (torch.zeros(steps) for _ in range(4))
    now, end = torch.Tensor(env.reset(seed=seed)[0]), 0.0
    updates = total // steps
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = (1 - update / updates) * rate
        for t in range(steps):
            obs[t], ends[t] = now, end
            with torch.no_grad():
                policy = policy_of(now[None])
                action = policy.sample()
                actions[t], logprobs[t] = action[0], policy.log_prob(action).sum()
                values[t] = critic(now)
            found, rewards[t], terminated, truncated, _ = env.step(action[0].numpy())
            end = float(terminated or truncated)
            if end:
                found, _ = env.reset()
            now = torch.Tensor(found)
        with torch.no_grad():
            following, last, advantages = critic(now).item(), 0.0, torch.zeros(steps)
            for t in reversed(range(steps)):
                goes_on = 1 - (end if t == steps - 1 else ends[t + 1].item())
                delta = rewards[t].item() + gamma * following * goes_on - values[t].item()
                advantages[t] = last = delta + gamma * lam * goes_on * last
                following = values[t].item()
            returns = advantages + values
        order = np.arange(steps)
        for _ in range(epochs):
            np.random.shuffle(order)
            for chosen in np.split(order, minibatches):
                policy = policy_of(obs[chosen])
                ratio = (policy.log_prob(actions[chosen]).sum(1) - logprobs[chosen]).exp()
                adv = advantages[chosen]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                policy_loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - clip, 1 + clip)).mean()
                value, ret, old = critic(obs[chosen]).flatten(), returns[chosen], values[chosen]
                clipped = old + (value - old).clamp(-clip, clip)
                value_loss = 0.5 * torch.max((value - ret) ** 2, (clipped - ret) ** 2).mean()
                loss = policy_loss + 0.5 * value_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(weights, 0.5)
                optimizer.step()
    statistics = env.env.env.env.obs_rms
    env.close()
    mean, deviation = torch.Tensor(statistics.mean), torch.Tensor(np.sqrt(statistics.var + 1e-8))

    def act(o):
        return np.clip(actor(((o - mean) / deviation).clamp(-10, 10)).numpy(), low, high)

    return lambda: greedy_score(name, act)


serve(train)
