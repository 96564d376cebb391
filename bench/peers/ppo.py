"""PPO in PyTorch, restated from what is published, no code taken: CleanRL's `ppo.py` (github.com/vwxyzjn/cleanrl at fe8d8a03,
its documentation, and Huang et al. 2022, "The 37 implementation details of PPO") with its defaults, Stable-Baselines3's PPO
(at e05d2dbe) with the settings of RL Baselines3 Zoo's `ppo.yml`, or with those of PureJaxRL for MinAtar
(github.com/luchris429/purejaxrl at 146b4856, `examples/brax_minatar.ipynb`). Arguments: threads, `cleanrl`, `sb3-zoo` or
`purejaxrl-minatar`, and an environment other than CartPole-v1. A training of N steps is rounded down to whole rollouts."""
import sys
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical
from training import greedy_score, serve, vector

settings = {
    "cleanrl": dict(slots=4, steps=128, epochs=4, minibatches=4, rate=2.5e-4, gamma=0.99, lam=0.95, clip=0.2,
                    clip_value=True, entropy=0.01, last_gain=0.01, anneal_clip=False, bootstrap=False,
                    activation=nn.Tanh),
    "purejaxrl-minatar": dict(slots=64, steps=128, epochs=4, minibatches=8, rate=5e-3, gamma=0.99, lam=0.95, clip=0.2,
                              clip_value=True, entropy=0.01, last_gain=0.01, anneal_clip=False, bootstrap=False,
                              activation=nn.ReLU),
    "sb3-zoo": dict(slots=8, steps=32, epochs=20, minibatches=1, rate=1e-3, gamma=0.98, lam=0.8, clip=0.2,
                    clip_value=False, entropy=0.0, last_gain=0.01, anneal_clip=True, bootstrap=True,
                    activation=nn.Tanh),
}
c = settings[sys.argv[2]]
name = sys.argv[3] if len(sys.argv) > 3 else "CartPole-v1"
activation = c["activation"]


def mlp(inputs, outputs, last_gain):
    layers = [nn.Linear(inputs, 64), activation(), nn.Linear(64, 64), activation(), nn.Linear(64, outputs)]
    for layer, gain in zip(layers[::2], (2**0.5, 2**0.5, last_gain)):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def train(total, seed):
    envs = vector(name, c["slots"])
    width = envs.single_observation_space.shape[0]
    actor, critic = mlp(width, envs.single_action_space.n, c["last_gain"]), mlp(width, 1, 1.0)
    weights = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, lr=c["rate"], eps=1e-5)
    slots, steps = c["slots"], c["steps"]
    rows = slots * steps
    obs = torch.zeros(steps, slots, width)
    actions, logprobs, rewards, ends, values = (torch.zeros(steps, slots) for _ in range(5))
    now, end = torch.Tensor(envs.reset(seed=seed)[0]), torch.zeros(slots)
    updates = total // rows
    for update in range(updates):
        left = 1 - update / updates
        optimizer.param_groups[0]["lr"] = left * c["rate"]
        clip = c["clip"] * (left if c["anneal_clip"] else 1)
        for t in range(steps):
            obs[t], ends[t] = now, end
            with torch.no_grad():
                policy = Categorical(logits=actor(now))
                actions[t] = action = policy.sample()
                logprobs[t] = policy.log_prob(action)
                values[t] = critic(now).flatten()
            found, reward, terminated, truncated, info = envs.step(action.numpy())
            if c["bootstrap"]:
                for i in np.flatnonzero(truncated & ~terminated):
                    with torch.no_grad():
                        reward[i] += c["gamma"] * critic(torch.Tensor(info["final_obs"][i])).item()
            rewards[t] = torch.tensor(reward)
            now, end = torch.Tensor(found), torch.Tensor(terminated | truncated)
        with torch.no_grad():
            following, last, advantages = critic(now).flatten(), 0, torch.zeros_like(rewards)
            for t in reversed(range(steps)):
                goes_on = 1 - (end if t == steps - 1 else ends[t + 1])
                delta = rewards[t] + c["gamma"] * following * goes_on - values[t]
                advantages[t] = last = delta + c["gamma"] * c["lam"] * goes_on * last
                following = values[t]
            returns = advantages + values
        flat = [x.reshape(rows, *x.shape[2:]) for x in (obs, actions, logprobs, advantages, returns, values)]
        order = np.arange(rows)
        for _ in range(c["epochs"]):
            np.random.shuffle(order)
            for chosen in np.split(order, c["minibatches"]):
                o, a, before, adv, ret, old = (x[chosen] for x in flat)
                policy = Categorical(logits=actor(o))
                change = policy.log_prob(a) - before
                ratio = change.exp()
                with torch.no_grad():  # figures that both programs log
                    _ = ((ratio - 1) - change).mean(), ((ratio - 1).abs() > clip).float().mean().item()
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                policy_loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - clip, 1 + clip)).mean()
                value = critic(o).flatten()
                if c["clip_value"]:
                    clipped = old + (value - old).clamp(-clip, clip)
                    value_loss = 0.5 * torch.max((value - ret) ** 2, (clipped - ret) ** 2).mean()
                else:
                    value_loss = nn.functional.mse_loss(ret, value)
                loss = policy_loss - c["entropy"] * policy.entropy().mean() + 0.5 * value_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(weights, 0.5)
                optimizer.step()
    envs.close()
    return lambda: greedy_score(name, lambda o: actor(o).argmax(-1).numpy())


serve(train)
