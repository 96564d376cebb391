"""Golden values of advantages and of what shapes rewards: formulas of papers, TRL and verl in PyTorch, float64.

The best of k is enumerated over all choices, not taken from the closed forms. `null` = a masked member.

python make_advantages_golden.py > advantages.json
"""

import json
from itertools import combinations
from math import sin

import torch

torch.set_default_dtype(torch.float64)

groups = [[1.0, 0.0, 0.4, -0.1, 1.0], [0.0, None, 1.0, 0.0], [0.3, 0.3, 0.3], [0.7], [None, None], []]
lengths = [[3, 1, 7, 2, 4], [5, 9, 2, 0], [1, 2, 3], [4], [1, 1], []]


def judged(rewards):
    return torch.tensor([r for r in rewards if r is not None])


def spread(rewards, values):
    """Values of the judged members at their places, 0 for masked ones."""
    left = iter(values.tolist())
    return [0.0 if r is None else next(left) for r in rewards]


def uniform(r):
    return len(r) < 2 or bool((r == r[0]).all())


def of_groups(formula):
    result = []
    for g, rewards in enumerate(groups):
        r = judged(rewards)
        result.append([0.0] * len(rewards) if uniform(r) else spread(rewards, formula(r, g)))
    return result


every = torch.cat([judged(g) for g in groups])


def opo(r, g):
    n = torch.tensor([float(n) for n, x in zip(lengths[g], groups[g]) if x is not None])
    return r - (n * r).sum() / n.sum()


def whiten(values):
    return (values - values.mean()) * torch.rsqrt(values.var(unbiased=True) + 1e-8)


token_rewards = [[0.1 * sin(3 * i + j) for j in range(n)] for i, n in enumerate([4, 1, 6])]
for i, outcome in enumerate([1.0, 0.0, 0.5]):
    token_rewards[i][-1] += outcome


def reinforce_plus_plus(gamma):
    returns = [
        [sum(gamma ** (j - t) * x for j, x in enumerate(tokens) if j >= t) for t in range(len(tokens))]
        for tokens in token_rewards
    ]
    flat = whiten(torch.tensor([x for tokens in returns for x in tokens])).tolist()
    sizes = [len(tokens) for tokens in token_rewards]
    return [flat[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]


def max_at_k(rewards, k):
    """Each choice of k pays each of its members what its best would lose without that member."""
    total = [0.0] * len(rewards)
    choices = list(combinations(range(len(rewards)), k))
    for choice in choices:
        for i in choice:
            without = max(rewards[j] for j in choice if j != i)
            total[i] += (max(rewards[j] for j in choice) - without) / len(choices)
    return total


def pass_at_k(rewards, k):
    choices = list(combinations(range(len(rewards)), k))
    worth = torch.tensor([float(any(rewards[i] > 0 for i in c)) for c in choices])
    relative = (worth - worth.mean()) / worth.std(unbiased=False)
    return [
        torch.stack([relative[n] for n, c in enumerate(choices) if i in c]).mean().item()
        for i in range(len(rewards))
    ]


rewards_of_k = [0.3, 1.0, 0.3, -0.5, 0.9, 0.1]
right_of_k = [1, 0, 0, 1, 0, 0, 0]


def verl_pass_k(rewards):
    top, at = torch.topk(torch.tensor(rewards), 2)
    return [(top[0] - top[1]).item() if i == at[0] else 0.0 for i in range(len(rewards))]


def grpo(r, epsilon=1e-4):
    return torch.zeros_like(r) if uniform(r) else (r - r.mean()) / (r.std() + epsilon)


turns = [
    {"turns": [0.2, 0.0, 0.5], "outcome": 1.0},
    {"turns": [0.0, 1.0], "outcome": 0.0},
    None,
    {"turns": [0.7], "outcome": 0.0},
]


def turn_level(weight):
    members = [m for m in turns if m]
    outcomes = grpo(torch.tensor([m["outcome"] for m in members])).tolist()
    result = []
    for m, outcome in zip(members, outcomes):
        values = []
        for k, _ in enumerate(m["turns"]):
            peers = [p for p in members if len(p["turns"]) > k]
            relative = grpo(torch.tensor([p["turns"][k] for p in peers]))[peers.index(m)].item()
            last = k == len(m["turns"]) - 1
            values.append(outcome if last else relative + weight * outcome)
        result.append(values)
    return [result[0], result[1], [], result[2]]


steps = [
    {"states": ["a", "b", "a", "c"], "rewards": [0.0, 0.0, 0.1, 1.0]},
    {"states": ["a", "d"], "rewards": [0.0, 0.2]},
    None,
    {"states": ["a", "b", "b"], "rewards": [0.0, 0.5, 0.0]},
]


def step_group(gamma, weight):
    members = [m for m in steps if m]
    episode = grpo(torch.tensor([sum(m["rewards"]) for m in members])).tolist()
    returns = [
        (m, t, sum(gamma ** (j - t) * r for j, r in enumerate(m["rewards"]) if j >= t))
        for m in members
        for t in range(len(m["rewards"]))
    ]
    result = []
    for m, base in zip(members, episode):
        values = []
        for t, state in enumerate(m["states"]):
            same = [x for x in returns if x[0]["states"][x[1]] == state]
            relative = grpo(torch.tensor([x[2] for x in same]))
            mine = next(i for i, x in enumerate(same) if x[0] is m and x[1] == t)
            values.append(base + weight * relative[mine].item())
        result.append(values)
    return [result[0], result[1], [], result[2]]


logprobs = [-0.1, -0.9, -25.0, -0.4]
reference = [-0.3, -0.2, -0.5, -30.0]


def kl_rewards(estimator):
    d = torch.tensor(logprobs) - torch.tensor(reference)
    h = torch.clamp(-d, -20, 20)
    k = {"k1": d, "k2": d**2 / 2, "k3": torch.exp(h) - h - 1}[estimator]
    rewards = -0.05 * k
    rewards[-1] += 1.0
    return rewards.tolist()


contributions = [[0.2, 0.1, 0.4], [0.3], []]
outcomes = [1.0, 0.0, 0.5]


def progress_loss():
    parts = [torch.tensor(c).requires_grad_() for c in contributions]
    value = torch.stack([(p.sum() - o) ** 2 for p, o in zip(parts, outcomes)]).mean()
    return {"value": value.item(), "gradient": [g.tolist() for g in torch.autograd.grad(value, parts)]}


def kimi_length(sizes, right):
    least, most = min(sizes), max(sizes)
    values = [0.5 - (n - least) / (most - least) for n in sizes]
    return [v if ok else min(0, v) for v, ok in zip(values, right)]


def overlong(n, limit, cache):
    return 0 if n <= limit - cache else (limit - cache - n) / cache if n <= limit else -1


def repetition(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return -(1 - len(set(grams)) / len(grams)) if grams else 0


texts = [[1, 2, 3, 4], [5, 5, 5, 5, 5], [1, 2, 1, 2, 1], [7], []]

print(
    json.dumps(
        {
            "source": f"torch {torch.__version__} over formulas of TRL 1.13.0, verl 012be9d, and the papers named in the docstrings",
            "groups": groups,
            "lengths": lengths,
            "grpo": of_groups(lambda r, g: (r - r.mean()) / (r.std() + 1e-4)),
            "batchGrpo": of_groups(lambda r, g: (r - r.mean()) / (every.std() + 1e-4)),
            "rloo": of_groups(lambda r, g: torch.stack([r[i] - (r.sum() - r[i]) / (len(r) - 1) for i in range(len(r))])),
            "maxrl": of_groups(lambda r, g: (r.clamp(min=0) - r.clamp(min=0).mean()) / (r.clamp(min=0).mean() + 1e-6)),
            "opo": of_groups(opo),
            "tokenRewards": token_rewards,
            "reinforcePlusPlus": [{"gamma": g, "advantages": reinforce_plus_plus(g)} for g in [1, 0.9]],
            "maxAtK": {
                "rewards": rewards_of_k,
                "of": [{"k": k, "advantages": max_at_k(rewards_of_k, k)} for k in range(2, 7)],
                "verl": verl_pass_k(rewards_of_k),
            },
            "passAtK": {
                "rewards": right_of_k,
                "of": [{"k": k, "advantages": pass_at_k(right_of_k, k)} for k in range(1, 6)],
            },
            "turns": {"members": turns, "of": [{"weight": w, "advantages": turn_level(w)} for w in [1, 0.3]]},
            "steps": {
                "members": steps,
                "of": [{"gamma": g, "weight": w, "advantages": step_group(g, w)} for g, w in [(1, 1), (0.9, 0.5)]],
            },
            "kl": {
                "logprobs": logprobs,
                "referenceLogprobs": reference,
                "of": {estimator: kl_rewards(estimator) for estimator in ["k1", "k2", "k3"]},
            },
            "progress": {"contributions": contributions, "outcomes": outcomes, **progress_loss()},
            "kimiLength": kimi_length([10, 30, 20, 30], [True, True, False, False]),
            "overlong": [overlong(n, 100, 20) for n in [0, 80, 81, 90, 100, 101]],
            "texts": texts,
            "repetition": [repetition(t, 2) for t in texts],
        }
    )
)
