"""Holds the golden values against TRL's own code: the methods are cut out of its source and run with a stand-in for self.

pip download --no-deps trl==1.13.0, unpack the wheel, then: python check_against_trl.py FOLDER_OF_THE_WHEEL
Prints the largest difference of values and gradients for each loss; all were below 1e-15.
"""

import ast
import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
# TRL casts to float32 in places; here everything stays float64.
torch.Tensor.float = lambda self: self
here = Path(__file__).parent
golden = json.loads((here / "losses.json").read_text())
preference = json.loads((here / "../../preference/golden/preference.json").read_text())


def methods(path, names):
    """Functions of these names in a file of TRL, without decorators and annotations, so that it need not be imported."""
    scope = {
        "torch": torch,
        "math": math,
        "F": F,
        "nanmin": torch.min,
        "nanmax": torch.max,
        "log1mexp": lambda x: torch.log(-torch.expm1(x)),
    }
    for node in ast.walk(ast.parse((Path(sys.argv[1]) / "trl" / path).read_text())):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            node.decorator_list, node.returns = [], None
            for argument in node.args.args:
                argument.annotation = None
            exec(compile(ast.fix_missing_locations(ast.Module([node], [])), path, "exec"), scope)
    return SimpleNamespace(**{name: scope[name] for name in names})


grpo = methods("trainer/grpo_trainer.py", ["_compute_loss", "get_off_policy_mask"])
defaults = {
    "loss_type": "grpo",
    "importance_sampling_level": "token",
    "epsilon_low": 0.2,
    "epsilon_high": 0.2,
    "beta": 0.0,
    "off_policy_mask_threshold": None,
    "aux_loss_enabled": False,
    "top_entropy_quantile": 1.0,
    "use_vllm": False,
    "current_gradient_accumulation_steps": 1,
    "_entropy_bonus_enabled": False,
}


def trl_loss(batch, temperatures=(1.0, 1.05), unbiased=False, **settings):
    """Value and gradient over the flat tokens, on the scale of the golden weights (empty sequences left out)."""
    n = len(batch["logprobs"])
    ranges = list(zip(batch["starts"], batch["starts"][1:] + [n]))
    width = max(b - a for a, b in ranges)
    rows, counted = len(ranges), sum(any(batch["weights"][a:b]) for a, b in ranges)

    def padded(key):
        return torch.tensor([(batch[key][a:b] + [0.0] * width)[:width] for a, b in ranges])

    logprobs = padded("logprobs").requires_grad_()
    mask = (padded("weights") != 0).double()
    trainer = MagicMock(**{**defaults, **settings})
    trainer._get_per_token_logps_and_entropies.return_value = (logprobs, torch.zeros_like(logprobs), None)
    trainer.get_off_policy_mask = grpo.get_off_policy_mask
    trainer.args.delta = None
    trainer.args.use_bias_correction_kl = unbiased
    trainer.args.sapo_temperature_pos, trainer.args.sapo_temperature_neg = temperatures
    trainer.args.steps_per_generation = trainer.accelerator.num_processes = 1
    trainer.accelerator.gather.side_effect = lambda x: x
    trainer.accelerator.reduce.side_effect = lambda x, **_: x
    inputs = {
        "prompt_ids": torch.zeros(rows, 1),
        "prompt_mask": torch.ones(rows, 1),
        "completion_ids": torch.zeros(rows, width),
        "completion_mask": mask,
        "advantages": padded("advantages"),
        "old_per_token_logps": padded("samplerLogprobs"),
        "ref_per_token_logps": padded("referenceLogprobs"),
        "num_items_in_batch": mask.sum(),
    }
    value = grpo._compute_loss(trainer, None, inputs)
    (gradient,) = torch.autograd.grad(value, logprobs)
    flat = torch.cat([gradient[i, : b - a] for i, (a, b) in enumerate(ranges)])
    return value.detach() * rows / counted, flat * rows / counted


def compare(label, value, gradient, expected):
    distance = max(
        abs(float(value) - expected["value"]),
        (gradient - torch.tensor(expected["gradient"])).abs().max().item(),
    )
    print(f"{label:32} {distance:.1e}")


def expected(name, batch, settings):
    return next(e for e in golden["losses"] if e["name"] == name and e["settings"] == settings)[batch]


for name in ["ordinary", "varied"]:
    batch = golden["batches"][name]
    plain = trl_loss(batch)
    compare(f"ppo {name}", *plain, expected("ppo", name, {"clipLow": 0.2, "clipHigh": 0.2}))
    compare(
        f"gspo {name}",
        *trl_loss(batch, importance_sampling_level="sequence", epsilon_high=0.3),
        expected("gspo", name, {"clipLow": 0.2, "clipHigh": 0.3}),
    )
    compare(f"sapo {name}", *trl_loss(batch, loss_type="sapo"), expected("sapo", name, {}))
    for label, unbiased, key in [("kl k3", False, ("kl", {"estimator": "k3"})), ("unbiased kl", True, ("unbiasedKl", {}))]:
        value, gradient = trl_loss(batch, beta=1.0, unbiased=unbiased)
        compare(f"{label} {name}", value - plain[0], gradient - plain[1], expected(key[0], name, key[1]))
    masked = {**batch, "weights": golden["offPolicyMask"][name]}
    _, gradient = trl_loss(batch, off_policy_mask_threshold=0.05, epsilon_low=1e9, epsilon_high=1e9)
    silent = [w == 0 or a == 0 for w, a in zip(masked["weights"], batch["advantages"])]
    print(f"{'off-policy mask ' + name:32} {'same' if silent == (gradient == 0).tolist() else 'differs'}")


def compare_pairs(label, losses, chosen, entry):
    (gradient,) = torch.autograd.grad(losses.mean(), chosen)
    compare(label, losses.mean().detach(), gradient, {"value": entry["value"], "gradient": entry["chosen"]})


cpo = methods("experimental/cpo/cpo_trainer.py", ["cpo_loss"])
orpo = methods("experimental/orpo/orpo_trainer.py", ["odds_ratio_loss"])
cpu = SimpleNamespace(device="cpu")
rejected = torch.tensor(preference["means"]["rejected"])
for entry in preference["simpo"]:
    chosen = torch.tensor(preference["means"]["chosen"]).requires_grad_()
    trainer = SimpleNamespace(
        alpha=0.0,
        loss_type="simpo",
        simpo_gamma=entry["settings"]["gamma"],
        beta=entry["settings"]["beta"],
        label_smoothing=0.0,
        accelerator=cpu,
    )
    compare_pairs("simpo", cpo.cpo_loss(trainer, chosen, rejected)[0], chosen, entry)
# The odds ratio alone; TRL adds the imitation elsewhere.
entry = next(e for e in preference["orpo"] if e["settings"]["sft"] == 0)
chosen = torch.tensor(preference["means"]["chosen"]).requires_grad_()
trainer = SimpleNamespace(beta=entry["settings"]["lambda"], accelerator=cpu)
compare_pairs("orpo", -orpo.odds_ratio_loss(trainer, chosen, rejected)[0], chosen, entry)
