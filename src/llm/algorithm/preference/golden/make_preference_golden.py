"""Golden values of the preference losses: formulas of papers and TRL in PyTorch, float64, gradients by autograd.

The best of n is enumerated over all choices.

python make_preference_golden.py > preference.json
"""

import json
from itertools import combinations
from math import sin

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

# Ordinary pairs, one that has not moved, and two whose margins leave exp of a float32.
pairs = {
    "chosen": [-12.0, -30.5, -7.0, -5.0, -2000.0, -3.0],
    "rejected": [-14.0, -25.0, -9.5, -6.0, -3.0, -2500.0],
    "referenceChosen": [-13.0, -29.0, -7.5, -5.0, -4.0, -5.0],
    "referenceRejected": [-12.5, -26.0, -8.0, -6.0, -3.5, -7.0],
}
lengths = {"chosen": [10, 25, 6, 1, 300, 2], "rejected": [11, 20, 9, 1, 2, 280]}
means = {
    "chosen": [-0.4, -1.2, -0.01, -6.0, -1e-5],
    "rejected": [-1.5, -0.9, -0.02, -0.3, -40.0],
}
answers = {
    "logprobs": [-10.0, -22.0, -4.0, -900.0, -6.0],
    "referenceLogprobs": [-11.5, -20.0, -4.0, -5.0, -8.0],
    "desirable": [1, 0, 1, 1, 0],
}
scores = {"chosen": [1.2, -0.4, 0.0, 60.0, -70.0], "rejected": [0.3, 0.9, 0.0, -50.0, 80.0]}
margins = [0.5, 0.0, 1.0, 2.0, 0.1]
uneven = [0.1, 0.4, 0.0, 0.3, 0.2, 0.05]


def over_pairs(inputs, formula, weights=None):
    chosen = torch.tensor(inputs["chosen"]).requires_grad_()
    rejected = torch.tensor(inputs["rejected"]).requires_grad_()
    losses = formula(chosen, rejected)
    weight = torch.full_like(chosen, 1 / len(chosen)) if weights is None else torch.tensor(weights)
    value = (weight * losses).sum()
    gradients = torch.autograd.grad(value, [chosen, rejected], allow_unused=True)
    return {
        "value": value.item(),
        "chosen": gradients[0].tolist(),
        "rejected": gradients[1].tolist(),
    }


ref_chosen, ref_rejected = torch.tensor(pairs["referenceChosen"]), torch.tensor(pairs["referenceRejected"])


def delta(c, r):
    return (c - ref_chosen) - (r - ref_rejected)


def dpo(beta=0.1, noise=0.0, against="conservative"):
    def formula(c, r):
        x = beta * delta(c, r)
        if against == "robust":
            return (-(1 - noise) * F.logsigmoid(x) + noise * F.logsigmoid(-x)) / (1 - 2 * noise)
        return -F.logsigmoid(x) * (1 - noise) - F.logsigmoid(-x) * noise

    return formula


def ipo(tau, use_lengths):
    nc = torch.tensor(lengths["chosen"]).double() if use_lengths else torch.ones(6)
    nr = torch.tensor(lengths["rejected"]).double() if use_lengths else torch.ones(6)

    def formula(c, r):
        return ((c - ref_chosen) / nc - (r - ref_rejected) / nr - 1 / (2 * tau)) ** 2

    return formula


def orpo(lam, sft):
    def formula(c, r):
        log_odds = (c - r) - (torch.log(-torch.expm1(c)) - torch.log(-torch.expm1(r)))
        return -sft * c - lam * F.logsigmoid(log_odds)

    return formula


def simpo(beta, gamma):
    def formula(c, r):
        return -F.logsigmoid(beta * (c - r - gamma / beta))

    return formula


def bradley_terry(centre, use_margins):
    m = torch.tensor(margins) if use_margins else torch.zeros(5)

    def formula(c, r):
        return -F.logsigmoid(c - r - m) + centre * (c + r) ** 2

    return formula


def kto(reference, beta, good, bad):
    logps = torch.tensor(answers["logprobs"]).requires_grad_()
    ratio = logps - torch.tensor(answers["referenceLogprobs"])
    desirable = torch.tensor(answers["desirable"]).bool()
    # sigmoid(-x) instead of 1 - sigmoid(x), which cancels.
    losses = torch.where(
        desirable,
        good * torch.sigmoid(-beta * (ratio - reference)),
        bad * torch.sigmoid(-beta * (reference - ratio)),
    )
    value = losses.mean()
    (gradient,) = torch.autograd.grad(value, logps)
    return {
        "settings": {"reference": reference, "beta": beta, "desirableWeight": good, "undesirableWeight": bad},
        "value": value.item(),
        "gradient": gradient.tolist(),
    }


def process():
    logits = torch.tensor([2.0, -1.0, 0.0, 300.0, -300.0]).requires_grad_()
    labels = torch.tensor([1.0, 0.0, 0.3, 0.0, 0.0])
    value = F.binary_cross_entropy_with_logits(logits, labels)
    (gradient,) = torch.autograd.grad(value, logits)
    return {
        "logits": logits.tolist(),
        "labels": labels.tolist(),
        "value": value.item(),
        "gradient": gradient.tolist(),
    }


samples = [sin(2.1 * i) for i in range(7)]
gold = [sin(1.3 * i + 1) for i in range(7)]


def best_of(n):
    picks = [max(choice, key=lambda i: samples[i]) for choice in combinations(range(7), n)]
    return {
        "n": n,
        "score": sum(samples[i] for i in picks) / len(picks),
        "outcome": sum(gold[i] for i in picks) / len(picks),
    }


print(
    json.dumps(
        {
            "source": f"torch {torch.__version__} over formulas of TRL 1.13.0 and the papers named in the docstrings",
            "pairs": pairs,
            "lengths": lengths,
            "means": means,
            "answers": answers,
            "scores": scores,
            "margins": margins,
            "weights": uneven,
            "dpo": [
                {"settings": s, **over_pairs(pairs, dpo(**s))}
                for s in [
                    {},
                    {"beta": 0.5},
                    {"noise": 0.1},
                    {"beta": 0.3, "noise": 0.2, "against": "robust"},
                ]
            ],
            "dpoWeighted": over_pairs(pairs, dpo(), uneven),
            "ipo": over_pairs(pairs, ipo(0.1, False)),
            "ipoByLength": over_pairs(pairs, ipo(0.2, True)),
            "kto": [kto(0.0, 0.1, 1.0, 1.0), kto(0.4, 0.5, 1.33, 0.7)],
            "orpo": [{"settings": {"lambda": a, "sft": b}, **over_pairs(means, orpo(a, b))} for a, b in [(0.1, 1), (1.5, 0)]],
            "simpo": [
                {"settings": {"beta": b, "gamma": g}, **over_pairs(means, simpo(b, g))} for b, g in [(2, 1), (2.5, 0.3)]
            ],
            "bradleyTerry": over_pairs(scores, bradley_terry(0.0, False)),
            "bradleyTerryMargins": over_pairs(scores, bradley_terry(0.01, True)),
            "process": process(),
            "bestOf": {"scores": samples, "outcomes": gold, "of": [best_of(n) for n in range(1, 8)]},
        }
    )
)
