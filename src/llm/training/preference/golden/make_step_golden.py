"""Golden values of one step of preference training: PyTorch over small Llamas of transformers.

python make_step_golden.py > step.json

Policy: src/llm/golden/checkpoints/llama3; reference: llama-bias beside it, another small model of the same vocabulary. For each
method, as TRL has it (losses of its DPO, KTO, ORPO and CPO trainers): the loss of a batch, the norm of its gradient, and the
log-probabilities of all answers after one step of AdamW.
"""
import json, os
import torch
import torch.nn.functional as F
from transformers import LlamaForCausalLM

here = os.path.dirname(os.path.abspath(__file__))
checkpoints = os.path.join(here, "..", "..", "..", "language", "golden", "checkpoints")
load = lambda name: LlamaForCausalLM.from_pretrained(os.path.join(checkpoints, name), dtype=torch.float32).eval()
pairs = [dict(prompt=[5, 17, 3], chosen=[22, 9, 1], rejected=[31, 2, 8, 30, 1]),
         dict(prompt=[8, 4], chosen=[14, 14, 27, 1], rejected=[6, 1]),
         dict(prompt=[12, 33, 33, 7], chosen=[19, 1], rejected=[19, 25, 1])]
adam = dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)


def logprob(model, prompt, answer):
    ids = torch.tensor([prompt + answer])
    rows = model(ids).logits[0, :-1].log_softmax(-1)
    return rows.gather(1, ids[0, 1:, None])[len(prompt) - 1:, 0].sum()


def sums(model, side):
    return torch.stack([logprob(model, p["prompt"], p[side]) for p in pairs])


def lengths(side):
    return torch.tensor([float(len(p[side])) for p in pairs])


def shifted(model):
    """KTO: every prompt with the answer of the next example, good answers first."""
    answers = [p["chosen"] for p in pairs] + [p["rejected"] for p in pairs]
    prompts = [p["prompt"] for p in pairs] * 2
    return torch.stack([logprob(model, prompt, answers[(i + 1) % 6]) for i, prompt in enumerate(prompts)])


def ratios(policy, reference):
    with torch.no_grad():
        of_chosen, of_rejected = sums(reference, "chosen"), sums(reference, "rejected")
    return sums(policy, "chosen") - of_chosen, sums(policy, "rejected") - of_rejected


def dpo(policy, reference):
    c, r = ratios(policy, reference)
    return -F.logsigmoid(0.1 * (c - r)).mean()


def ipo(policy, reference):
    c, r = ratios(policy, reference)
    return ((c / lengths("chosen") - r / lengths("rejected") - 1 / (2 * 0.1)) ** 2).mean()


def kto(policy, reference):
    c, r = ratios(policy, reference)
    with torch.no_grad():
        z = (shifted(policy) - shifted(reference)).mean().clamp(min=0)
    return torch.cat([1 - torch.sigmoid(0.1 * (c - z)), 1 - torch.sigmoid(0.1 * (z - r))]).mean()


def orpo(policy, _):
    c, r = sums(policy, "chosen") / lengths("chosen"), sums(policy, "rejected") / lengths("rejected")
    odds = (c - r) - (torch.log1p(-torch.exp(c)) - torch.log1p(-torch.exp(r)))
    return (-c - 0.1 * F.logsigmoid(odds)).mean()


def simpo(policy, _):
    c, r = sums(policy, "chosen") / lengths("chosen"), sums(policy, "rejected") / lengths("rejected")
    return -F.logsigmoid(2 * (c - r) - 1).mean()


def desensitised(policy, reference):
    """LD-DPO: tokens beyond the shorter answer's length count a half."""
    def total(model, side):
        result = []
        for p in pairs:
            ids = torch.tensor([p["prompt"] + p[side]])
            rows = model(ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[len(p["prompt"]) - 1:, 0]
            shared = min(len(p["chosen"]), len(p["rejected"]))
            result.append(rows[:shared].sum() + 0.5 * rows[shared:].sum())
        return torch.stack(result)
    with torch.no_grad():
        of_chosen, of_rejected = total(reference, "chosen"), total(reference, "rejected")
    return -F.logsigmoid(0.1 * ((total(policy, "chosen") - of_chosen) - (total(policy, "rejected") - of_rejected))).mean()


methods = {}
for method in (dpo, ipo, kto, orpo, simpo, desensitised):
    policy, reference = load("llama3"), load("llama-bias")
    optimiser = torch.optim.AdamW(policy.parameters(), **adam)
    loss = method(policy, reference)
    loss.backward()
    norm = torch.sqrt(sum((p.grad ** 2).sum() for p in policy.parameters())).item()
    optimiser.step()
    with torch.no_grad():
        after = {side: sums(policy, side).tolist() for side in ("chosen", "rejected")}
    methods[method.__name__] = dict(loss=loss.item(), gradientNorm=norm, after=after)
print(json.dumps(dict(pairs=pairs, methods=methods)))
