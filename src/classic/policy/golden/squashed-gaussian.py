"""Golden values of the squashed normal, in float64, by the formulas of PyTorch's distributions.

Normal.log_prob, TanhTransform.log_abs_det_jacobian and AffineTransform of torch.distributions, one after another; the
inverse by atanh; gradients by central differences; the entropy, which PyTorch has no form for, by a fine sum.

python squashed-gaussian.py > squashed-gaussian.json
"""

import json
from math import atanh, cos, exp, log, log1p, pi, sin, sqrt, tanh

low, high = [-2.0, 0.5, -1.0], [2.0, 1.5, 1.0]
half = [(h - l) / 2 for l, h in zip(low, high)]
centre = [(h + l) / 2 for l, h in zip(low, high)]
rows, k = 6, 3
means = [1.2 * sin(0.7 * i + 0.3) for i in range(rows * k)]
logs = [cos(0.9 * i) - 0.7 for i in range(rows * k)]
noise = [1.3 * sin(1.1 * i + 2) for i in range(rows * k)]


def normal_log_prob(x, mean, deviation):
    return -((x - mean) ** 2) / (2 * deviation**2) - log(deviation) - log(sqrt(2 * pi))


def softplus(x):
    return max(x, 0) + log1p(exp(-abs(x)))


def tanh_log_abs_det_jacobian(x):
    return 2 * (log(2) - x - softplus(-2 * x))


def density(u, i, mean, log_deviation):
    c = i % k
    return normal_log_prob(u, mean, exp(log_deviation)) - tanh_log_abs_det_jacobian(u) - log(half[c])


def sampled(i, mean, log_deviation):
    return density(mean + exp(log_deviation) * noise[i], i, mean, log_deviation)


def by_row(values):
    return [sum(values[r * k : (r + 1) * k]) for r in range(rows)]


indices = range(rows * k)
actions = [centre[i % k] + half[i % k] * tanh(means[i] + exp(logs[i]) * noise[i]) for i in indices]
h = 1e-5


def entropy(i):
    z = [-9 + 18 * j / 4000 for j in range(4001)]
    weights = [exp(-0.5 * x * x) for x in z]
    slope = sum(w * tanh_log_abs_det_jacobian(means[i] + exp(logs[i]) * x) for w, x in zip(weights, z))
    return 0.5 + 0.5 * log(2 * pi) + logs[i] + slope / sum(weights) + log(half[i % k])


print(
    json.dumps(
        {
            "low": low,
            "high": high,
            "means": means,
            "logs": logs,
            "noise": noise,
            "actions": actions,
            "logprobs": by_row(
                [density(atanh((actions[i] - centre[i % k]) / half[i % k]), i, means[i], logs[i]) for i in indices]
            ),
            "sampledLogprobs": by_row([sampled(i, means[i], logs[i]) for i in indices]),
            # of the rows' log-probabilities, weighted 1, 2, 3 ...
            "gradMeans": [
                (i // k + 1) * (sampled(i, means[i] + h, logs[i]) - sampled(i, means[i] - h, logs[i])) / (2 * h)
                for i in indices
            ],
            "gradLogs": [
                (i // k + 1) * (sampled(i, means[i], logs[i] + h) - sampled(i, means[i], logs[i] - h)) / (2 * h)
                for i in indices
            ],
            "entropy": by_row([entropy(i) for i in indices]),
        },
        indent=1,
    )
)
