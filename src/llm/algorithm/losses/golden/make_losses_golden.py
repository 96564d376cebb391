"""Golden values of the losses over tokens and over logits: formulas of papers, TRL and verl in PyTorch, float64.

Gradients by autograd; where a formula stops a gradient, `detach()`. Ragged sequences lie one after another.

python make_losses_golden.py > losses.json
"""

import json
from math import log, sin

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def tensor(values):
    return torch.tensor(values)


def batch(lengths, logprobs, sampler, advantages, weights):
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    reference = [min(-1e-3, lp + 0.8 * sin(2.3 * i + 1)) for i, lp in enumerate(logprobs)]
    return {
        "starts": starts,
        "logprobs": logprobs,
        "samplerLogprobs": sampler,
        "referenceLogprobs": reference,
        "advantages": advantages,
        "weights": weights,
    }


# One-token sequences, masked tokens inside, a sequence without any token that counts, an empty one.
lengths = [4, 1, 3, 0, 2, 5]
count = sum(lengths)
lp = [-0.05 - abs(2.1 * sin(1.7 * i + 0.4)) for i in range(count)]
sampler = [min(-1e-3, v + 0.9 * sin(0.9 * i)) for i, v in enumerate(lp)]
mask = [1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1]
of_sequence = [i for i, n in enumerate(lengths) for _ in range(n)]
counted = [sum(m for m, s in zip(mask, of_sequence) if s == i) for i in range(len(lengths))]
weights = [m / (4 * max(1, counted[s])) for m, s in zip(mask, of_sequence)]
per_sequence = [1.2, -0.7, -1.1, 0.3, 0.5, 0.0]
batches = {
    "ordinary": batch(lengths, lp, sampler, [per_sequence[s] for s in of_sequence], weights),
    "varied": batch(lengths, lp, sampler, [1.3 * sin(1.3 * i + 1) for i in range(count)], weights),
    # Ratios near e^+-30 and e^+-9, either sign of the advantage, and none.
    "huge": batch(
        [1, 1, 1, 1, 2, 3, 2],
        [-0.1, -0.2, -31.0, -30.5, -0.3, -0.4, -10.0, -0.2, -9.5, -0.7, -0.6],
        [-30.1, -30.2, -0.5, -0.4, -9.5, -12.0, -0.9, -0.2, -0.1, -0.7, -0.7],
        [1.0, -1.0, 1.0, -1.0, -0.5, -0.5, 0.8, 0.8, 0.8, 0.0, 0.0],
        [0.1, 0.2, 0.3, 0.4, 0.1, 0.1, 0.2, 0.2, 0.2, 0.5, 0.5],
    ),
    "nothing": batch([2, 1], [-0.5, -0.6, -0.7], [-0.4, -0.7, -0.9], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0]),
}


def held(difference):
    return torch.clamp(difference, -20, 20)


class Rows:
    def __init__(self, data):
        self.lp = tensor(data["logprobs"]).requires_grad_()
        self.sampler = tensor(data["samplerLogprobs"])
        self.reference = tensor(data["referenceLogprobs"])
        self.advantages = tensor(data["advantages"])
        self.weights = tensor(data["weights"])
        self.mask = (self.weights != 0).double()
        ends = data["starts"][1:] + [len(data["logprobs"])]
        self.ranges = list(zip(data["starts"], ends))
        self.difference = self.lp - self.sampler
        self.ratio = torch.exp(held(self.difference))

    def over_sequences(self, values, mean):
        """The masked sum (or mean) of each sequence, at each of its tokens."""
        parts = []
        for a, b in self.ranges:
            total = (values[a:b] * self.mask[a:b]).sum()
            if mean:
                total = total / self.mask[a:b].sum().clamp(min=1)
            parts.append(total.expand(b - a))
        return torch.cat(parts)

    def sum(self, losses):
        return (self.weights * losses).sum()


def clipped(r, ratio, low, high):
    return torch.maximum(-r.advantages * ratio, -r.advantages * torch.clamp(ratio, 1 - low, 1 + high))


def ppo(r, clipLow, clipHigh, dualClip=None):
    losses = clipped(r, r.ratio, clipLow, clipHigh)
    if dualClip is not None:
        losses = torch.where(r.advantages < 0, torch.minimum(losses, -dualClip * r.advantages), losses)
    return r.sum(losses)


def cispo(r, convention, clipLow=None, clipHigh=None, cap=None):
    low, high = (1 - clipLow, 1 + clipHigh) if convention == "verl" else (None, cap)
    weight = torch.clamp(r.ratio, min=low, max=high).detach()
    return r.sum(-weight * r.advantages * r.difference)


def gspo(r, clipLow, clipHigh, gradient="sequence"):
    mean = r.over_sequences(r.difference, mean=True)
    log_ratio = held(mean)
    if gradient == "token":
        # A held ratio has no slope.
        free = (mean == log_ratio).double()
        log_ratio = log_ratio.detach() + free * (r.lp - r.lp.detach())
    return r.sum(clipped(r, torch.exp(log_ratio), clipLow, clipHigh))


def sapo(r, temperaturePositive=1.0, temperatureNegative=1.05):
    tau = torch.where(r.advantages > 0, temperaturePositive, temperatureNegative)
    return r.sum(-torch.sigmoid(tau * (r.ratio - 1)) * 4 / tau * r.advantages)


def topr(r, positive=None, negative=None, level="sequence"):
    positive = positive or {"low": 1, "high": 1}
    negative = negative or {"low": 0, "high": 1}
    log_ratio = r.over_sequences(r.difference, mean=False) if level == "sequence" else r.difference
    ratio = torch.exp(held(log_ratio)).detach()
    good = torch.clamp(ratio, positive["low"], positive["high"])
    bad = torch.clamp(ratio, negative["low"], negative["high"])
    return r.sum(-torch.where(r.advantages < 0, bad, good) * r.advantages * r.difference)


def dppo(r, low=0.2, high=0.2):
    moved = (torch.exp(r.lp) - torch.exp(r.sampler)).detach()
    far = ((r.advantages > 0) & (moved > high)) | ((r.advantages < 0) & (moved < -low))
    return r.sum(-(~far).double() * r.ratio * r.advantages)


def kimi(r, tau, level="sequence"):
    if level == "token":
        return r.sum(-r.advantages * r.difference + tau / 2 * r.difference**2)
    total = r.sum(-r.advantages * r.difference)
    for a, b in r.ranges:
        n = r.mask[a:b].sum()
        if n > 0:
            weight = r.weights[a:b].sum() / n
            total = total + weight * tau / 2 * (r.difference[a:b] * r.mask[a:b]).sum() ** 2
    return total


def kl(r, estimator):
    d = r.lp - r.reference
    if estimator == "k1":
        return r.sum(d)
    if estimator == "k2":
        return r.sum(d**2 / 2)
    return r.sum(torch.exp(held(-d)) - held(-d) - 1)


def unbiased_kl(r):
    d = held(r.reference - r.lp)
    return r.sum(r.ratio * (torch.exp(d) - d - 1))


functions = {
    "ppo": ppo,
    "importanceSampling": lambda r: r.sum(-r.ratio * r.advantages),
    "cispo": cispo,
    "gspo": gspo,
    "sapo": sapo,
    "topr": topr,
    "dppo": dppo,
    "kimi": kimi,
    "kl": kl,
    "unbiasedKl": unbiased_kl,
}
settings = [
    ("ppo", {"clipLow": 0.2, "clipHigh": 0.2}),
    ("ppo", {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": 3}),
    ("importanceSampling", {}),
    ("cispo", {"convention": "verl", "clipLow": 0.2, "clipHigh": 0.28}),
    ("cispo", {"convention": "trl", "cap": 1.5}),
    ("gspo", {"clipLow": 0.2, "clipHigh": 0.3}),
    ("gspo", {"clipLow": 0.2, "clipHigh": 0.3, "gradient": "token"}),
    ("gspo", {"clipLow": 3e-4, "clipHigh": 4e-4}),
    ("sapo", {}),
    ("sapo", {"temperaturePositive": 2, "temperatureNegative": 5}),
    ("topr", {}),
    ("topr", {"positive": {"low": 0, "high": 2}, "negative": {"low": 0.1, "high": 0.9}}),
    ("topr", {"level": "token"}),
    ("dppo", {}),
    ("dppo", {"low": 0.02, "high": 0.05}),
    ("kimi", {"tau": 0.3}),
    ("kimi", {"tau": 0.3, "level": "token"}),
    ("kl", {"estimator": "k1"}),
    ("kl", {"estimator": "k2"}),
    ("kl", {"estimator": "k3"}),
    ("unbiasedKl", {}),
]


def case(name, values, data):
    rows = Rows(data)
    value = functions[name](rows, **values)
    (gradient,) = torch.autograd.grad(value, rows.lp)
    return {"value": value.item(), "gradient": gradient.tolist()}


losses = [
    {"name": name, "settings": values, **{b: case(name, values, data) for b, data in batches.items()}}
    for name, values in settings
]


def importance(r, level, mode, low=0.0, high=None):
    """Weights times the corrected ratio of TRL (token, sequence) and verl (geometric)."""
    log_ratio = r.difference if level == "token" else r.over_sequences(r.difference, mean=level == "geometric")
    ratio = torch.exp(held(log_ratio)).detach()
    if mode == "truncate":
        return r.weights * torch.clamp(ratio, low, high)
    inside = (ratio >= low) & (ratio <= high)
    return r.weights * torch.where(inside, ratio if mode == "mask" else torch.ones_like(ratio), 0.0)


importance_weights = [
    {
        "settings": {"level": level, "mode": mode, "low": 0.6, "high": 1.5},
        **{
            b: importance(Rows(data), level, mode, 0.6, 1.5).tolist()
            for b, data in batches.items()
        },
    }
    for level in ["token", "sequence", "geometric"]
    for mode in ["truncate", "mask", "reject"]
]


def off_policy(r, threshold):
    distance = r.over_sequences(-r.difference, mean=True).detach()
    return r.weights * ((r.advantages >= 0) | (distance <= threshold)).double()


off_policy_mask = {b: off_policy(Rows(data), 0.05).tolist() for b, data in batches.items()}

# Distributions: 5 tokens over 4 words, one nearly certain, one uniform, one token that does not count.
words = 4
logits = [[1.5 * sin(1.9 * t + 2.7 * v) for v in range(words)] for t in range(5)]
logits[1] = [40.0, 0.0, -3.0, 1.0]
logits[2] = [0.7, 0.7, 0.7, 0.7]
teacher = [[1.1 * sin(0.7 * t + 1.3 * v + 2) for v in range(words)] for t in range(5)]
logit_weights = [0.3, 0.2, 0.5, 0.0, 0.7]


def over_logits(formula):
    student = tensor(logits).requires_grad_()
    value = (tensor(logit_weights) * formula(F.log_softmax(student, -1), F.log_softmax(tensor(teacher), -1))).sum()
    (gradient,) = torch.autograd.grad(value, student)
    return {"value": value.item(), "gradient": gradient.flatten().tolist()}


def divergence(beta):
    def formula(q, p):
        if beta == 0:
            return F.kl_div(q, p, reduction="none", log_target=True).sum(-1)
        if beta == 1:
            return F.kl_div(p, q, reduction="none", log_target=True).sum(-1)
        m = torch.logsumexp(torch.stack([q + log(1 - beta), p + log(beta)]), 0)
        to_m = [F.kl_div(m, x, reduction="none", log_target=True).sum(-1) for x in (p, q)]
        return beta * to_m[0] + (1 - beta) * to_m[1]

    return formula


entropy = -(F.log_softmax(tensor(logits), -1).exp() * F.log_softmax(tensor(logits), -1)).sum(-1)
present = entropy[tensor(logit_weights) != 0]
over_words = {
    "vocabulary": words,
    "logits": [x for row in logits for x in row],
    "teacherLogits": [x for row in teacher for x in row],
    "weights": logit_weights,
    "entropies": entropy.tolist(),
    "entropy": over_logits(lambda q, p: 0.01 * (q.exp() * q).sum(-1)),
    "highEntropy": (tensor(logit_weights) * (entropy >= torch.quantile(present, 1 - 0.5))).tolist(),
    "distillation": [{"beta": beta, **over_logits(divergence(beta))} for beta in [0, 0.3, 0.5, 1]],
}


def high_entropy(values, weight, share):
    counted = tensor(values)[tensor(weight) != 0]
    # No token counts: there is no quantile, and nothing to keep.
    bound = torch.quantile(counted, 1 - share) if len(counted) > 0 else torch.inf
    mask = (tensor(weight) * (tensor(values) >= bound)).tolist()
    return {"entropy": values, "weights": weight, "share": share, "mask": mask}


def mixed(data, mu, coefficient):
    """(1 - mu) of the clipped surrogate, mu of imitation, and a divergence: CHORD's mixture and verl's kl_coef."""
    rows = Rows(data)
    imitation = rows.sum(-rows.lp)
    value = (1 - mu) * ppo(rows, clipLow=0.2, clipHigh=0.28) + mu * imitation + coefficient * kl(rows, "k3")
    (gradient,) = torch.autograd.grad(value, rows.lp)
    return {"value": value.item(), "gradient": gradient.tolist()}


five = [[0.5, 1.4, -0.2, 2.0, 0.1], [0.4, 1.0, -0.9, 1.9, 0.3], [1.0, 2.0, 0.5, 0.0, 0.2], [0.2, 0.3, 0.1, 0.0, 0.4]]


def value_loss(clip, arrays=five):
    values = tensor(arrays[0]).requires_grad_()
    old, returns, weight = (tensor(a) for a in arrays[1:])
    losses = (values - returns) ** 2
    if clip is not None:
        losses = torch.max(losses, (torch.clamp(values, old - clip, old + clip) - returns) ** 2)
    value = 0.5 * (weight * losses).sum()
    (gradient,) = torch.autograd.grad(value, values)
    return {
        "inputs": {
            "values": values.tolist(),
            "oldValues": old.tolist(),
            "returns": returns.tolist(),
            "weights": weight.tolist(),
        },
        "settings": {} if clip is None else {"clip": clip},
        "value": value.item(),
        "gradient": gradient.tolist(),
    }


probabilities = torch.exp(tensor(batches["ordinary"]["logprobs"]))
print(
    json.dumps(
        {
            "source": f"torch {torch.__version__} over formulas of TRL 1.13.0, verl 012be9d, and the papers named in the docstrings",
            "batches": batches,
            "losses": losses,
            "importanceWeights": importance_weights,
            "offPolicyMask": off_policy_mask,
            "logits": over_words,
            "mixed": [
                {"mu": mu, "coefficient": c, **{b: mixed(data, mu, c) for b, data in batches.items()}}
                for mu, c in [(0.3, 0.05), (0.0, 1.0), (1.0, 0.0)]
            ],
            "highEntropy": [
                high_entropy(values, weight, share)
                for values, weight in [
                    ([0.1, 2.0, 0.7, 0.7, 1.5], [0.2, 0.3, 0.1, 0.1, 0.3]),
                    ([0.1, 2.0, 0.7, 0.7, 1.5], [0.0, 0.0, 0.0, 0.0, 0.0]),
                    ([0.4], [1.0]),
                    ([0.0, 0.0, 11.9], [0.5, 0.5, 0.0]),
                ]
                for share in [0.2, 0.5, 1.0]
            ],
            "value": [
                value_loss(clip, arrays)
                for arrays in [
                    five,
                    [*five[:3], [0.0] * 5],
                    [[0.5], [0.4], [-2.0], [1.0]],
                    [[1e4, -1e4], [0.0, 0.0], [-1e4, 3.0], [0.5, 0.5]],
                ]
                for clip in [None, 0.2]
            ],
            "highEntropyWeights": (tensor(weights) * probabilities * (1 - probabilities)).tolist(),
        }
    )
)
