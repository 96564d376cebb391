"""Golden values of losses with an exact bonus for entropy: torch over the models of golden/llama.json.

python make_entropy.py > entropy.json

loss = PPO (clips 0.1 and 0.3) + cross-entropy - 0.3 * sum(rl weight * entropy), and cross-entropy alone with the same bonus;
`gradientNorms` and `projections` (on sin(1), sin(2), ...) are its gradient by tensor.
"""
import json, math, os
import torch
from transformers import LlamaConfig, LlamaForCausalLM

here = os.path.dirname(os.path.abspath(__file__))
golden = json.load(open(os.path.join(here, "llama.json")))
coefficient, low, high = 0.3, 0.1, 0.3
wave = lambda count, step: torch.tensor([math.sin(step * (1 + t)) for t in range(count)])
cases = []
for case in golden["cases"]:
    extra = {key: case[key] for key in ("num_key_value_heads", "tie_word_embeddings")}
    config = LlamaConfig(**golden["config"], **extra, attention_bias=False, mlp_bias=False)
    model = LlamaForCausalLM._from_config(config, attn_implementation="eager").eval()
    weights = {name: torch.tensor(w["data"]).reshape(w["shape"]) for name, w in case["weights"].items()}
    missing, _ = model.load_state_dict(weights, strict=False)
    assert set(missing) <= {"lm_head.weight"}, missing
    model.tie_weights()
    for name in ("ppo", "cross_entropy"):
        model.zero_grad()
        loss = 0.0
        for row, tokens in enumerate(case["tokens"]):
            ids = torch.tensor(tokens)
            logs = torch.log_softmax(model(ids[None]).logits[0, :-1], -1)
            chosen = logs.gather(1, ids[1:, None])[:, 0]
            entropy = -(logs.exp() * logs).sum(-1)
            count = len(tokens) - 1
            rl, ce = wave(count, 1.3 + row).abs(), wave(count, 0.7 + row).abs()
            loss = loss - (ce * chosen).sum() - coefficient * (rl * entropy).sum()
            if name == "ppo":
                ratio = torch.exp(chosen - (-3.2 + 0.3 * wave(count, 2.1)))
                advantages = wave(count, 0.9)
                loss = loss - (rl * torch.minimum(ratio * advantages, ratio.clamp(1 - low, 1 + high) * advantages)).sum()
        loss.backward()
        gradients = {n: p.grad.flatten() for n, p in model.named_parameters()}
        cases.append(dict(
            **extra, name=name, loss=float(loss),
            gradientNorms={n: float(g.norm()) for n, g in gradients.items()},
            projections={n: float((g * wave(len(g), 1.0)).sum()) for n, g in gradients.items()},
        ))
source = "torch over transformers' LlamaForCausalLM; make_entropy.py"
print(json.dumps(dict(source=source, coefficient=coefficient, clipLow=low, clipHigh=high, cases=cases)))
