"""Golden values of baselines, advantages of turns and selection: formulas of the papers and of verl, TRL, tinker-cookbook and prime-rl, evaluated anew in
PyTorch and NumPy, float64, in another form than the functions have where there is one (sums written out instead of recursions, padded
tensors with masks instead of lists). `null` = masked.

python make_turn_advantages_golden.py > turn-advantages.json
"""

import json
from math import log, sin

import numpy as np
import torch

torch.set_default_dtype(torch.float64)

# Masked, equal, single, nobody, none; huge and negative rewards.
groups = [[1.0, 0.0, 0.4, -0.1, 1.0], [0.0, None, 1.0, 0.0], [0.3, 0.3, 0.3], [0.7], [None, None], [], [1e6, -1e6]]
lengths = [[3, 1, 7, 2, 4], [5, 9, 2, 1], [1, 2, 3], [4], [1, 1], [], [1, 6]]
greedy = [0.5, 1.0, 0.3, 0.0, 0.2, 0.25, -1e6]


def padded(rewards, sizes):
    """Rewards at the last token [members, tokens], and which tokens there are; masked members have none."""
    longest = max(sizes)
    mask = torch.tensor([[float(r is not None and t < n) for t in range(longest)] for r, n in zip(rewards, sizes)])
    at_end = torch.zeros_like(mask)
    for i, (r, n) in enumerate(zip(rewards, sizes)):
        if r is not None:
            at_end[i, n - 1] = r
    return at_end, mask


def remax(rewards, sizes, baseline):
    """verl's compute_remax_outcome_advantage: returns of tokens less the greedy reward; all tokens of a sequence have the same."""
    if not rewards:
        return []
    at_end, mask = padded(rewards, sizes)
    returns = (at_end * mask).flip(-1).cumsum(-1).flip(-1)
    return ((returns - baseline) * mask)[:, 0].tolist()


def masked_whiten(values, mask):
    """verl's: weighted mean and unbiased variance, 1e-8 within the root."""
    n = mask.sum()
    mean = (values * mask).sum() / n
    variance = ((values - mean) ** 2 * mask).sum() / n * n / (n - 1)
    return (values - mean) * torch.rsqrt(variance + 1e-8)


def reinforce_plus_plus_baseline(chosen):
    """verl's compute_reinforce_plus_plus_baseline_outcome_advantage over the whole batch."""
    rows = [(r, n, g) for g in chosen for r, n in zip(groups[g], lengths[g])]
    at_end, mask = padded([r for r, _, _ in rows], [n for _, n, _ in rows])
    scores = at_end.sum(-1)
    means = {}
    for g in chosen:
        judged = [r for r in groups[g] if r is not None]
        means[g] = 0.0 if len(judged) < 2 else sum(judged) / len(judged)
    scores = scores - torch.tensor([means[g] for _, _, g in rows])
    flat = (masked_whiten(scores.unsqueeze(-1) * mask, mask) * mask)[:, 0].tolist()
    result = []
    for g in chosen:
        result.append(flat[: len(groups[g])])
        flat = flat[len(groups[g]) :]
    return {"groups": list(chosen), "advantages": result}


# Episodes one after another: ended, one step that ended, cut off, one step that was cut off, under way; the rewards of one are huge.
episodes = [(4, "terminated"), (1, "terminated"), (3, "truncated"), (1, "truncated"), (2, "terminated"), (3, "open")]
total = sum(n for n, _ in episodes)
gae_steps = {
    "rewards": [sin(1.3 * t) * (1e5 if 9 <= t < 11 else 1) for t in range(total)],
    "values": [0.7 * sin(0.9 * t + 1) for t in range(total)],
    "nextValues": [1.1 * sin(0.5 * t + 2) for t in range(total)],
    "terminated": [0.0] * total,
    "truncated": [0.0] * total,
}
at = 0
for n, end in episodes:
    at += n
    if end != "open":
        gae_steps[end][at - 1] = 1.0


def gae(gamma, lam):
    """Equation 16 of the paper: sums of (gamma lambda)^l times the residuals that follow within the episode."""
    residuals = [
        r + gamma * (0.0 if ended else after) - v
        for r, v, after, ended in zip(*(gae_steps[k] for k in ["rewards", "values", "nextValues", "terminated"]))
    ]
    advantages, start = [], 0
    for n, _ in episodes:
        own = torch.tensor(residuals[start : start + n])
        powers = torch.tensor([[float(gamma * lam) ** (j - t) if j >= t else 0.0 for j in range(n)] for t in range(n)])
        advantages += (powers @ own).tolist()
        start += n
    returns = [a + v for a, v in zip(advantages, gae_steps["values"])]
    return {"gamma": gamma, "lambda": lam, "advantages": advantages, "returns": returns}


# VinePPO: the value of a boundary is the mean outcome of what was continued from it.
continued = [[1, 0, 0, 1], [1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1]]
values = [float(np.mean(c)) for c in continued]
segments = [
    {"values": v, "outcome": o, "advantages": np.diff(np.append(v, o)).tolist()}
    for v, o in [(values, 1.0), (values, 0.0), ([0.25], 1.0), ([-1e6, 1e6], 3.0)]
]


def cuts(logprobs, probability, decisions):
    """SPO's adaptive cutpoints: tokens below the probability counted up, a cut after every so many."""
    low = np.exp(np.array(logprobs)) < probability
    full = low & (np.cumsum(low) % decisions == 0)
    starts = [0] + [int(t) + 1 for t in np.flatnonzero(full) if t + 1 < len(logprobs)]
    return {"logprobs": logprobs, "probability": probability, "decisions": decisions, "starts": starts if logprobs else []}


token_logprobs = [-abs(1.5 * sin(2.1 * t)) for t in range(40)]
spread = [([1.0, -2.0, 3.0], [0, 2, 5], 7), ([1.0, 2.0, 3.0], [0, 2, 2], 4), ([5.0], [0], 1)]

archer = {
    "rewards": [0.0, 0.0, 1.0, -0.5, 1e6],
    "nextValues": [0.4, -0.3, 9.0, 0.8, 2.0],
    "terminated": [0.0, 0.0, 1.0, 0.0, 1.0],
    "q1": [0.5, -0.2, 0.9, 0.1, -1e6],
    "q2": [0.3, 0.1, 0.9, -0.4, 2.0],
    "values": [0.2, 0.2, 1.0, 0.0, 1.0],
}
archer_of = {k: torch.tensor(v) for k, v in archer.items()}


def archer_targets(gamma):
    return (archer_of["rewards"] + (1 - archer_of["terminated"]) * gamma * archer_of["nextValues"]).tolist()


contributions, grounding = np.array([0.4, -0.1, 0.7, 1e6]), np.array([1.0, 0.0, 1.0, 1.0])


def distilled(sampler, teacher, coefficient, discount):
    """Discounted sums of log teacher - log sampler, as a product with a triangular matrix."""
    n = len(sampler)
    d = np.array(teacher) - np.array(sampler)
    powers = np.array([[float(discount) ** (j - t) if j >= t else 0.0 for j in range(n)] for t in range(n)]).reshape(n, n)
    return {
        "samplerLogprobs": sampler,
        "teacherLogprobs": teacher,
        "coefficient": coefficient,
        "discount": discount,
        "advantages": (coefficient * powers @ d).tolist(),
    }


said = [-0.2, -1.7, -0.01, -3.0, -0.6]
thought = [-0.9, -0.4, -87.0, -2.0, -0.6]


def relative_length(rewards, sizes, weight):
    """prime-rl: reward - weight * mean reward * length / longest, over those that were judged."""
    judged = np.array([r is not None for r in rewards])
    if not judged.any():
        return list(rewards)
    r, n = np.array([0.0 if x is None else x for x in rewards]), np.array(sizes)
    paid = r - weight * r[judged].mean() * n / n[judged].max()
    return [float(p) if j else None for p, j in zip(paid, judged)]


def adapt_kl(coefficient, measured, target, horizon, steps):
    """Ziegler et al., section 2.2; verl's AdaptiveKLController."""
    schedule = []
    for kl in measured:
        coefficient *= 1 + float(np.clip(kl / target - 1, -0.2, 0.2)) * steps / horizon
        schedule.append(coefficient)
    return schedule


def adapt_entropy(coefficient, measured, target, step, least, most):
    """Skywork Open Reasoner 1: up by a step at or below the target, else down, within bounds."""
    schedule = []
    for entropy in measured:
        coefficient = float(np.clip(coefficient + (step if entropy <= target else -step), least, most))
        schedule.append(coefficient)
    return schedule


def experts(threshold, best):
    result = []
    for rewards in groups:
        r = np.array([-np.inf if x is None else x for x in rewards])
        there = np.array([x is not None for x in rewards], dtype=bool)
        order = np.argsort(-r, kind="stable")
        chosen = [int(i) for i in order if there[i] and (threshold is None or r[i] >= threshold)]
        result.append(sorted(chosen[:best]))
    return {"threshold": threshold, "best": best, "members": result}


def informative(spread):
    kept = []
    for g, rewards in enumerate(groups):
        r = np.array([x for x in rewards if x is not None])
        if len(r) > 0 and np.ptp(r) > 0 and np.ptp(r) >= spread:
            kept.append(g)
    return {"spread": spread, "groups": kept}


kl_schedule = {"coefficient": 0.2, "measured": [0.0, 3.0, 5.9, 6.1, 7.0, 1e9], "target": 6.0, "horizon": 1000, "steps": 64}
entropy_schedule = {"coefficient": 0.05, "measured": [0.1, 0.2, 0.3, 0.1, 0.05, 2.0, 2.0, 2.0, 2.0], "target": 0.2, "step": 0.02, "least": 0.0, "most": 0.1}

print(
    json.dumps(
        {
            "source": f"torch {torch.__version__}, numpy {np.__version__} over formulas of verl 012be9d, TRL 1.13.0, tinker-cookbook, prime-rl and the papers named in the docstrings",
            "groups": groups,
            "lengths": lengths,
            "greedy": greedy,
            "remax": [remax(r, n, b) for r, n, b in zip(groups, lengths, greedy)],
            "reinforcePlusPlusBaseline": [
                reinforce_plus_plus_baseline(chosen) for chosen in [[0, 1, 2, 3, 4, 5], [0], [1, 6], [2]]
            ],
            "gae": {"steps": gae_steps, "of": [gae(g, l) for g, l in [(0.9, 0.8), (1, 0.95), (1, 1), (0.99, 0)]]},
            "segments": segments,
            "cuts": [
                cuts(logprobs, probability, decisions)
                for logprobs in [token_logprobs, [-3.0], [], [-0.01] * 6, [-40.0] * 6]
                for probability, decisions in [(0.9, 5), (0.5, 1), (0.7, 3)]
            ],
            "spread": [
                {"advantages": a, "starts": s, "length": n, "tokens": np.repeat(a, np.diff(s + [n])).tolist()}
                for a, s, n in spread
            ],
            "archer": {
                **archer,
                "of": [{"gamma": g, "targets": archer_targets(g)} for g in [1, 0.9]],
                "advantages": (torch.minimum(archer_of["q1"], archer_of["q2"]) - archer_of["values"]).tolist(),
            },
            "progress": {
                "contributions": contributions.tolist(),
                "grounding": grounding.tolist(),
                "of": [
                    {"alpha": a, "beta": b, "rewards": (a * contributions + b * grounding).tolist()}
                    for a, b in [(1, 0.5), (0.3, 2)]
                ],
                "ungrounded": contributions.tolist(),
            },
            "distillation": [
                distilled(*pair, c, d)
                for pair in [(said, thought), ([-0.5], [-2.0]), ([], [])]
                for c, d in [(1, 0), (0.5, 1), (2, 0.9)]
            ],
            "relativeLength": [
                {"weight": w, "rewards": [relative_length(r, n, w) for r, n in zip(groups, lengths)]} for w in [0.2, 1]
            ],
            "adaptiveKl": {**kl_schedule, "schedule": adapt_kl(**kl_schedule)},
            "adaptiveEntropy": {**entropy_schedule, "schedule": adapt_entropy(**entropy_schedule)},
            "experts": [experts(t, b) for t, b in [(1, None), (0.3, 2), (None, 1), (0, None)]],
            "informative": [informative(s) for s in [0, 0.5, 1.05]],
        }
    )
)
